#pragma once

#include <tesela/tiles/host_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace tesela::test {

/// A triangle of K instruments and some endogenous variables, for the equations below.
struct EquationModel {
  index_t K, M;
  HostMatrix<double> a, gram;

  EquationModel(index_t instruments, index_t variables, double closeness)
      : K(instruments), M(variables), a(M, M), gram(M, M) {
    std::mt19937 random(3);
    std::normal_distribution<double> normal;
    for (index_t j = 0; j < M; ++j)
      for (index_t i = 0; i < M; ++i)
        a(i, j) = i > j ? 0 : normal(random) + (i == j ? std::sqrt(static_cast<double>(M)) : 0);
    for (index_t i = 0; i < K && M > K + 1; ++i) a(i, K + 1) = a(i, K) + closeness * a(i, K + 1);
    for (index_t j = 0; j < M; ++j)
      for (index_t i = 0; i < M; ++i) {
        gram(i, j) = i > j ? std::numeric_limits<double>::quiet_NaN() : 0;  // must not be read
        for (index_t k = 0; k < K && i <= j; ++k) gram(i, j) += a(k, i) * a(k, j);
      }
  }

  /// Returns the columns of an equation: `exogenous` instruments, every other one if there are enough, then endogenous
  /// variables.
  HostMatrix<int> picks(index_t r, index_t exogenous, index_t room) const {
    HostMatrix<int> p(2, room + 2);
    for (index_t k = 0; k < room; ++k) {
      const index_t c = k >= exogenous ? K + k - exogenous : 2 * exogenous <= K ? 2 * k : k;
      p(0, k) = k < r ? static_cast<int>(c) : -1;
      p(1, k) = k < r ? static_cast<int>(std::min(c + 1, K)) : 0;
    }
    p(0, room) = static_cast<int>(M - 1);
    p(1, room) = static_cast<int>(K);
    p(0, room + 1) = static_cast<int>(exogenous);
    p(1, room + 1) = exogenous > 0 ? 0 : -1;
    return p;
  }

  /// Returns the norm of the last variable in the rows of the instruments.
  double norm_of_y() const {
    double squares = 0;
    for (index_t i = 0; i < K; ++i) squares += a(i, M - 1) * a(i, M - 1);
    return std::sqrt(squares);
  }
};

}  // namespace tesela::test
