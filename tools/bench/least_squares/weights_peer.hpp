#pragma once

#include "tools/problems/least_squares/ols_data.hpp"

#include <vector>

namespace tesela::bench {

/// wls on the matrices that tesela_ols() solves without weights, with these, m of them, where those are.
template <class T>
Peer tesela_weights(const std::string& name, const OlsData<T>& data, std::vector<T> weights);

}  // namespace tesela::bench
