#pragma once

#include "tests/support/matrices.hpp"
#include "tests/support/padded.hpp"
#include <tesela/algorithms/least_squares/least_squares.hpp>
#include <tesela/host/lapack/lapack.hpp>

/// Problems with LAPACK's and our solutions.
namespace tesela::test {

/// Returns F F^H with the same bits in both triangles.
template <class T>
HostMatrix<T> gram(const HostMatrix<T>& f) {
  return filled<T>({f.rows(), f.rows()}, [&](index_t i, index_t j) {
    const index_t row = std::max(i, j), column = std::min(i, j);
    T sum = 0;
    for (index_t l = 0; l < f.cols(); ++l) sum += f(row, l) * conj(f(column, l));
    return i == j ? T(real_part(sum)) : i > j ? sum : conj(sum);
  });
}

/// LAPACK's solution of least norm by gelsd.
template <class T>
struct Reference {
  HostMatrix<T> X;
  std::vector<double> residual_norms;
  index_t rank;
};

/// Returns LAPACK's solution; without rcond the rank is full.
template <class T>
Reference<T> reference_of(const HostMatrix<T>& a, const HostMatrix<T>& b, double rcond = -1) {
  const index_t m = a.rows(), n = a.cols(), r = b.cols();
  HostMatrix<T> factors = a.clone(), x = HostMatrix<T>::zeros(std::max(m, n), r);
  for (index_t j = 0; j < r; ++j)
    for (index_t i = 0; i < m; ++i) x(i, j) = b(i, j);
  index_t rank = std::min(m, n);
  if (rank > 0 && r > 0) {
    const auto found = lapack::gelsd(m, n, r, factors.data(), factors.ld(), x.data(), x.ld(), rcond);
    REQUIRE(found.info == 0);
    if (rcond >= 0) rank = found.rank;
  }
  Reference<T> result{filled<T>({n, r}, [&](index_t i, index_t j) { return x(i, j); }), {}, rank};
  const HostMatrix<T> rest = minus(b, product(a, result.X));
  for (index_t k = 0; k < r; ++k)
    result.residual_norms.push_back(static_cast<double>(blas::nrm2(m, rest.data() + k * rest.ld())));
  return result;
}

/// Calls solver(graph, A, B) for copies of a and b in tiles, or solver(runtime, A, B) for views of them if the tile is
/// 0 x 0. There are NaN between the columns, and they must be unchanged.
template <class T, class Solver>
auto on_copies(Runtime& runtime, const HostMatrix<T>& a, const HostMatrix<T>& b, TileShape tile, const Solver& solver,
               index_t rhs_tile = 5) {
  const auto padded = [](const HostMatrix<T>& from) {
    HostMatrix<T> to(from.rows() + 3, from.cols());
    std::fill_n(to.data(), to.size(), nan_of<T>);
    for (index_t j = 0; j < from.cols(); ++j) std::copy_n(from.data() + j * from.ld(), from.rows(), &to(0, j));
    return to;
  };
  HostMatrix<T> work = padded(a), rhs = padded(b);
  auto answer = [&] {
    const MatrixView A(work.data(), a.shape(), work.ld()), B(rhs.data(), b.shape(), rhs.ld());
    if constexpr (std::is_invocable_v<Solver, Runtime&, decltype(A), decltype(B)>)
      if (tile.mb == 0) return solver(runtime, A, B);
    Graph g(runtime);
    return solver(g, A.in_tiles(runtime, tile, "A"), B.in_tiles(runtime, {tile.mb, rhs_tile}, "B"));
  }();
  for (const auto* const matrix : {&work, &rhs})
    for (index_t j = 0; j < matrix->cols(); ++j)
      for (index_t i = matrix->rows() - 3; i < matrix->rows(); ++i) REQUIRE(std::isnan(real_part((*matrix)(i, j))));
  return answer;
}

template <class T>
LeastSquares<T> solve(Runtime& runtime, const HostMatrix<T>& a, const HostMatrix<T>& b, TileShape tile,
                      const OlsOptions& options = {}, index_t rhs_tile = 5) {
  return on_copies(
      runtime, a, b, tile, [&](auto& on, const auto& A, const auto& B) { return ols(on, A, B, options); }, rhs_tile);
}

template <class T>
void require_agreement(const LeastSquares<T>& ours, const Reference<T>& theirs, const HostMatrix<T>& b,
                       double tolerance) {
  REQUIRE(ours.rank == theirs.rank);
  const double difference = distance(ours.X, theirs.X);
  CAPTURE(difference, norm(theirs.X), tolerance);
  REQUIRE(difference <= tolerance * norm(theirs.X));
  REQUIRE(ours.residual_norms.size() == theirs.residual_norms.size());
  for (std::size_t k = 0; k < ours.residual_norms.size(); ++k)
    REQUIRE(std::abs(static_cast<double>(ours.residual_norms[k]) - theirs.residual_norms[k]) <= tolerance * norm(b));
}

/// Longley's data, of NIST's Statistical Reference Datasets. Columns: employment, price deflator, gross national
/// product, unemployed, armed forces, population, year (1947 to 1962).
inline constexpr double longley[16][7] = {
    {60323, 83.0, 234289, 2356, 1590, 107608, 1947},  {61122, 88.5, 259426, 2325, 1456, 108632, 1948},
    {60171, 88.2, 258054, 3682, 1616, 109773, 1949},  {61187, 89.5, 284599, 3351, 1650, 110929, 1950},
    {63221, 96.2, 328975, 2099, 3099, 112075, 1951},  {63639, 98.1, 346999, 1932, 3594, 113270, 1952},
    {64989, 99.0, 365385, 1870, 3547, 115094, 1953},  {63761, 100.0, 363112, 3578, 3350, 116219, 1954},
    {66019, 101.2, 397469, 2904, 3048, 117388, 1955}, {67857, 104.6, 419180, 2822, 2857, 118734, 1956},
    {68169, 108.4, 442769, 2936, 2798, 120445, 1957}, {66513, 110.8, 444546, 4681, 2637, 121950, 1958},
    {68655, 112.6, 482704, 3813, 2552, 123366, 1959}, {69564, 114.2, 502601, 3931, 2514, 125368, 1960},
    {69331, 115.7, 518173, 4806, 2572, 127852, 1961}, {70551, 116.9, 554894, 4007, 2827, 130081, 1962}};

}  // namespace tesela::test
