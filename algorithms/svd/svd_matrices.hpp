#pragma once

#include <tesela/tiles/host_matrix.hpp>

#include <string>

namespace tesela {

/// Returns a test matrix of svd: a kind of random_kinds(), "hilbert" or "kahan". Throws ArgumentError for other texts.
template <class T>
HostMatrix<T> svd_matrix(Shape shape, const std::string& kind, std::uint64_t seed);

/// Returns the kinds in one line.
std::string svd_kinds();

}  // namespace tesela
