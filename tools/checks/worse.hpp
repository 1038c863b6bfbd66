#pragma once

#include <tesela/tiles/host_matrix.hpp>

#include <algorithm>

namespace tesela {

/// Returns the larger number, or NaN if one is NaN.
inline double worse(double a, double b) { return b > a || b != b ? b : a; }

/// Returns the errors of at most `most` of the `count` matrices of a batch, evenly spaced; check(errors, k) adds the
/// errors of matrix k.
template <class Errors, class Check>
Errors worst_of_batch(index_t count, index_t most, const Check& check) {
  Errors worst;
  worst.matrices = std::min(count, most);
  for (index_t s = 0; s < worst.matrices; ++s)
    check(worst, static_cast<index_t>(static_cast<double>(s) * static_cast<double>(count) /
                                      static_cast<double>(worst.matrices)));
  return worst;
}

/// Returns matrix k of `count` side by side.
template <class T>
HostMatrix<T> matrix_of(const HostMatrix<T>& batch, index_t k, index_t count) {
  const index_t columns = batch.cols() / count;
  HostMatrix<T> one(batch.rows(), columns);
  std::copy_n(batch.data() + k * columns * batch.ld(), one.size(), one.data());
  return one;
}

}  // namespace tesela
