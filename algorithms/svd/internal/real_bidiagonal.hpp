#pragma once

#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <cmath>
#include <utility>
#include <vector>

namespace tesela::detail {

/// B' = D_left B D_right^H with a real B; D_left and D_right are diagonal, with numbers of magnitude 1. For real
/// numbers B is B', and there are no D.
template <class T>
struct RealBidiagonal {
  std::vector<real_t<T>> d, e;
  std::vector<T> left, right;

  RealBidiagonal(std::vector<T> diagonal, std::vector<T> above) {
    if constexpr (is_complex<T>) {
      const auto unit = [](T x, T otherwise) {
        const real_t<T> size = std::abs(x);
        return size > 0 ? x / size : otherwise;
      };
      for (std::size_t i = 0; i < diagonal.size(); ++i) {
        right.push_back(i == 0 ? T(1) : unit(times(conj(above[i - 1]), left.back()), T(1)));
        left.push_back(unit(times(diagonal[i], right.back()), right.back()));
        d.push_back(std::abs(diagonal[i]));
        if (i < above.size()) e.push_back(std::abs(above[i]));
      }
    } else {
      d = std::move(diagonal), e = std::move(above);
    }
  }

  /// Returns D X for vectors X of B.
  static HostMatrix<T> times_phases(const std::vector<T>& phases, HostMatrix<real_t<T>> x) {
    if constexpr (is_complex<T>) {
      HostMatrix<T> y(x.rows(), x.cols());
      parallel_for(x.cols(), 32, [&](index_t first, index_t end) {
        for (index_t j = first; j < end; ++j)
          for (index_t i = 0; i < x.rows(); ++i) y(i, j) = x(i, j) * phases[static_cast<std::size_t>(i)];
      });
      return y;
    } else {
      return x;
    }
  }
};

}  // namespace tesela::detail
