#include <tesela/algorithms/support/insert_or_run.hpp>
#include <tesela/algorithms/toeplitz/internal/dense_halves.hpp>
#include <tesela/codelets/toeplitz/toeplitz_dense.hpp>

#include <algorithm>
#include <cmath>

namespace tesela::detail {

using namespace kernels;
namespace {

template <class T>
OneTile<T> room(Graph& g, index_t rows, index_t columns, const char* name) {
  return {g.runtime(), {std::max<index_t>(rows, 1), std::max<index_t>(columns, 1)}, name};
}

/// Values and residuals of each half.
using Halves = std::array<OneTile<double>, 2>;

Halves room_for_values(Graph& g, index_t n) {
  return {room<double>(g, cauchy_rows(n, 0), 2, "values"), room<double>(g, cauchy_rows(n, 1), 2, "values")};
}

/// Returns values first ... first + count - 1 of both halves, ascending; none if a half did not converge.
std::vector<ComputedEigenvalue> merged(index_t n, const Halves& halves, index_t first, index_t count) {
  std::vector<ComputedEigenvalue> all;
  for (int part = 0; part < 2; ++part) {
    if (cauchy_rows(n, part) == 0) continue;
    const auto pairs = (*halves[static_cast<std::size_t>(part)]).read();
    for (index_t j = 0; j < pairs.rows; ++j) {
      if (std::isnan(pairs(j, 0))) return {};
      all.push_back({pairs(j, 0), pairs(j, 1), static_cast<std::size_t>(part), 0, j});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const ComputedEigenvalue& a, const ComputedEigenvalue& b) { return a.value < b.value; });
  const index_t from = std::min(first, n), to = std::min(n, first + count);
  return {all.begin() + from, all.begin() + to};
}

}  // namespace

template <class T>
DensePairs<T> dense_pairs(Graph& g, const SineToeplitz<T>& A, index_t first, index_t count) {
  const index_t n = A.n(), rows[] = {cauchy_rows(n, 0), cauchy_rows(n, 1)};
  const Halves values = room_for_values(g, n);
  DensePairs<T> dense{{}, {room<T>(g, rows[0], rows[0], "vectors"), room<T>(g, rows[1], rows[1], "vectors")}};
  for (std::size_t part = 0; part < 2; ++part)
    if (const index_t m = rows[part]; m > 0)
      insert_or_run<ToeplitzHalfPairs<T>>(g, {}, {static_cast<int>(part)}, A.column(), *room<T>(g, m, m, "half"),
                                          *dense.vectors[part], *values[part]);
  if (rows[1] == 0) (*dense.vectors[1]).write();  // initializes a tile that is not read
  dense.values = merged(n, values, first, count);
  return dense;
}

template <class T>
std::vector<ComputedEigenvalue> dense_values(Graph& g, const SineToeplitz<T>& A, index_t first, index_t count) {
  const index_t n = A.n();
  const Halves values = room_for_values(g, n);
  for (int part = 0; part < 2; ++part)
    if (const index_t m = cauchy_rows(n, part); m > 0)
      insert_or_run<ToeplitzHalfValues<T>>(g, {}, {part}, A.column(), *room<T>(g, m, m, "half"),
                                           *values[static_cast<std::size_t>(part)]);
  return merged(n, values, first, count);
}

TESELA_FUNCTIONS_FOR_REALS(dense_pairs, dense_values)

}  // namespace tesela::detail
