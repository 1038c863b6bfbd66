#pragma once

#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/matrix_view.hpp>

#include <cmath>
#include <limits>

namespace tesela {

/// Returns whether the calling thread should solve a problem with these matrices by itself: they are in host memory of
/// a single process that may use cores, and up to `most` products take less time than starting tasks.
template <class... Matrices>
bool runs_here(const Runtime& runtime, double products, double most, const Matrices&... matrices) {
  return products > 0 && products <= most && runtime.ranks() == 1 && runtime.cpus() > 0 &&
         ((matrices.device < 0) && ...);
}

/// Largest number of products for a factorization by LAPACK instead of tasks.
inline constexpr double largest_factored_here = 128.0 * 128 * 128;

/// Returns whether all elements of a, or of its lower triangle, are 0 or so far from over- and underflow that their
/// fourth powers are in range. False for NaN and infinity.
template <class T>
bool has_moderate_size(const MatrixView<T>& a, bool lower = false) {
  using Number = real_t<T>;
  constexpr int most = std::numeric_limits<Number>::max_exponent / 4;
  const Number high = std::ldexp(Number(1), most), low = std::ldexp(Number(1), -most);
  bool moderate = true;
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = lower ? j : 0; i < a.rows; ++i) {
      const Number size = largest_part(a.data[i + j * a.ld]);
      moderate = moderate && (size == 0 || (size >= low && size <= high));
    }
  return moderate;
}

}  // namespace tesela
