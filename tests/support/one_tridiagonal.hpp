#pragma once

#include "tests/support/padded.hpp"
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/tridiagonal.hpp>

#include <cstring>

namespace tesela::test {

/// One system A x = B on the host. Elements that must not be read are NaN: dl(0), du(n - 1), and rows of B after the
/// n-th.
template <class T>
struct OneTridiagonal {
  static constexpr index_t padding = 3;
  index_t n, r, ldb = n + padding;
  std::vector<T> dl, d, du, b;

  /// Each diagonal element is larger than the other two together, with either sign.
  OneTridiagonal(index_t rows, index_t columns, std::uint64_t seed) : n(rows), r(columns) {
    const Generator<T> uniform{Pattern::uniform, 0, 0, seed};
    const auto size = static_cast<std::size_t>(n);
    for (auto* band : {&dl, &d, &du}) band->assign(size, nan_of<T>);
    b.assign(static_cast<std::size_t>(ldb * r), nan_of<T>);
    for (index_t i = 0; i < n; ++i) {
      const auto e = static_cast<std::size_t>(i);
      if (i > 0) dl[e] = uniform(i, 0);
      if (i + 1 < n) du[e] = uniform(i, 1);
      const real_t<T> sign = real_part(uniform(i, 2)) < 0 ? -1 : 1, eighth = real_t<T>(1) / 8;
      d[e] = sign * number<T>(1, 1) * (T(2.25) + uniform(i, 3) * eighth);
      for (index_t j = 0; j < r; ++j) b[static_cast<std::size_t>(i + j * ldb)] = uniform(i, 4 + j);
    }
  }

  /// Maps the diagonals in tiles of mb rows.
  Tridiagonal<T> map(Runtime& runtime, index_t mb) const {
    const auto column = [&](const std::vector<T>& x) {
      return TileMatrix<T>::map(runtime, x.data(), n, 1, std::max<index_t>(n, 1), {mb, 1});
    };
    return {column(dl), column(d), column(du)};
  }

  /// Returns LAPACK's solution in the layout of B.
  std::vector<T> reference() const {
    std::vector<T> below = dl, diagonal = d, above = du, x = b;
    if (n > 0) REQUIRE(lapack::gtsv(n, r, below.data() + 1, diagonal.data(), above.data(), x.data(), ldb) == 0);
    return x;
  }
};

/// Returns the problem with a bad number in row `row` of dl (array 0), d, du or the second column of b, where it is
/// read.
template <class T>
OneTridiagonal<T> spoiled(OneTridiagonal<T> problem, int array, std::size_t row, T bad) {
  const auto last = static_cast<std::size_t>(problem.n - 1), column = static_cast<std::size_t>(problem.ldb);
  if (array == 0) problem.dl[std::max<std::size_t>(row, 1)] = bad;
  if (array == 1) problem.d[row] = bad;
  if (array == 2) problem.du[std::min(row, last - 1)] = bad;
  if (array == 3) problem.b[column + row] = bad;
  return problem;
}

/// Returns the problem with a row of zeros that no other row couples to.
template <class T>
OneTridiagonal<T> uncoupled(OneTridiagonal<T> problem, std::size_t row) {
  problem.d[row] = 0;
  if (row > 0) problem.dl[row] = problem.du[row - 1] = 0;
  if (row + 1 < problem.d.size()) problem.du[row] = problem.dl[row + 1] = 0;
  return problem;
}

inline bool same_bits(const auto& x, const auto& y) {
  return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof x[0]) == 0);
}

/// Returns max |x - y| over the unknowns; NaN if an element is NaN.
template <class T>
double difference(const OneTridiagonal<T>& problem, const std::vector<T>& x, const std::vector<T>& y) {
  double largest = 0;
  for (index_t j = 0; j < problem.r; ++j)
    for (index_t i = 0; i < problem.n; ++i) {
      const auto e = static_cast<std::size_t>(i + j * problem.ldb);
      const double error = std::abs(with_parts<T, double>(x[e]) - with_parts<T, double>(y[e]));
      if (!(error <= largest) && !std::isnan(largest)) largest = error;
    }
  return largest;
}

/// Returns X by solve(graph, A, B) in tiles of mb x nb; requires success and that only B changes.
template <class T, class Solve>
std::vector<T> solution(Runtime& runtime, const OneTridiagonal<T>& problem, index_t mb, index_t nb, Solve solve) {
  const OneTridiagonal<T> before = problem;
  std::vector<T> x = problem.b;
  {
    const Tridiagonal<T> A = problem.map(runtime, mb);
    const auto B = TileMatrix<T>::map(runtime, x.data(), problem.n, problem.r, problem.ldb, {mb, nb});
    Graph g(runtime);
    solve(g, A, B);
    REQUIRE(g.wait().info == 0);
  }
  CHECK(same_bits(problem.dl, before.dl));
  CHECK(same_bits(problem.d, before.d));
  CHECK(same_bits(problem.du, before.du));
  for (index_t j = 0; j < problem.r; ++j)
    for (index_t i = problem.n; i < problem.ldb; ++i)
      CHECK(std::isnan(real_part(x[static_cast<std::size_t>(i + j * problem.ldb)])));
  return x;
}

/// Returns the status of solve(graph, A, B) in tiles of mb rows.
template <class T, class Solve>
index_t status_of(Runtime& runtime, const OneTridiagonal<T>& problem, index_t mb, Solve solve) {
  std::vector<T> x = problem.b;
  const Tridiagonal<T> A = problem.map(runtime, mb);
  const auto B = TileMatrix<T>::map(runtime, x.data(), problem.n, problem.r, problem.ldb, {mb, problem.r});
  Graph g(runtime);
  solve(g, A, B);
  return g.wait().info;
}

inline constexpr index_t classic_sizes[] = {0, 1, 2, 3, 255, 256, 257, 1000, 65537};

}  // namespace tesela::test
