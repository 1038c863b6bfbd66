#pragma once

#include "tools/checks/tridiagonal_error.hpp"
#include "tools/peers/harness.hpp"
#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/generator.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace tesela::bench {

/// A dominant system of random coefficients in host memory, page-locked where there is a GPU, and room for its X.
template <class T>
class StudyData {
 public:
  StudyData(Runtime& runtime, index_t n, std::uint64_t seed)
      : runtime_(&runtime), n_(n), memory_(runtime, static_cast<std::size_t>(5 * n) * sizeof(T)) {
    const Generator<T> uniform{Pattern::uniform, 0, 0, seed};
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < 4; ++j) column(j)[i] = uniform(i, j);
      column(1)[i] = std::copysign(T(2.25) + column(1)[i] / 8, column(1)[i]);
    }
  }

  Runtime& runtime() const { return *runtime_; }
  index_t n() const { return n_; }
  /// dl, d, du, b, x
  T* column(index_t j) const { return static_cast<T*>(memory_.data()) + j * n_; }
  T* x() const { return column(4); }
  void copy_b_to_x() const { std::copy_n(column(3), n_, x()); }

  /// Returns the residual of TridiagonalError over its bound, 1e-14 (single: 1e-6). Throws WrongResult above it.
  double check(const std::string& peer) const {
    const auto numbers = [&](index_t j) { return SpacedNumbers<T>{column(j)}; };
    const double residual =
        tridiagonal_error(TridiagonalSystem<T>{n_, numbers(0), numbers(1), numbers(2), numbers(3), numbers(4)},
                          std::numeric_limits<double>::infinity())
            .residual;
    const double error = residual / (sizeof(T) == 8 ? 1e-14 : 1e-6);
    if (!(error <= 1))
      throw WrongResult("bench tridiag-study: " + peer + ": n = " + std::to_string(n_) + ": the residual is " +
                        std::to_string(error) + " times its bound");
    return error;
  }

 private:
  Runtime* runtime_;
  index_t n_;
  HostBuffer memory_;
};

}  // namespace tesela::bench
