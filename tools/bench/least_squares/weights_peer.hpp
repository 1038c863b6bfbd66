#pragma once

#include "tools/problems/least_squares/ols.hpp"

#include <vector>

namespace tesela::bench {

/// Returns the peer that runs wls on the problem's matrices with these m weights.
template <class T>
Peer tesela_weights(const std::string& name, cli::OlsProblem<T>& problem, std::vector<T> weights);

}  // namespace tesela::bench
