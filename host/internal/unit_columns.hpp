#pragma once

#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela::kernels {

/// The divisor of a column: norm 2^exponent, with a norm near 1 that neither overflows nor loses digits. T is real.
template <class T>
struct Unit {
  T norm = 0;
  int exponent = 0;
};

/// Divides each column by its norm; zero columns stay.
template <class T>
std::vector<Unit<real_t<T>>> scale_to_unit_columns(HostMatrix<T>& a);

template <class T>
void clear_below_diagonal(HostMatrix<T>& a);

}  // namespace tesela::kernels
