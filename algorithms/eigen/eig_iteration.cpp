#include <tesela/algorithms/eigen/eig_iteration.hpp>
#include <tesela/algorithms/eigen/internal/iteration_loop.hpp>
#include <tesela/algorithms/eigen/internal/scan.hpp>
#include <tesela/algorithms/eigen/internal/selection.hpp>
#include <tesela/algorithms/support/insert_or_run.hpp>
#include <tesela/codelets/eigen/symmetric_scan.hpp>
#include <tesela/codelets/iterations/inverse_iteration.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/runtime/shortest.hpp>
#include <tesela/tiles/parallel_zeros.hpp>

#include <array>
#include <numeric>

namespace tesela {

using namespace kernels;
namespace {

constexpr std::array methods{
    Named<EigIteration>{EigIteration::qr, "qr-iteration", "D = Q R, D = R Q until D is diagonal"},
    Named<EigIteration>{EigIteration::lr, "lr", "D = L U, D = U L, without pivoting"},
    Named<EigIteration>{EigIteration::cholesky_lr, "cholesky-lr", "D = R R^T, D = R^T R"},
};
constexpr std::array factors{
    Named<QrFactor>{QrFactor::givens, "givens", "chains of plane rotations"},
    Named<QrFactor>{QrFactor::householder, "householder", "reflectors"},
    Named<QrFactor>{QrFactor::gram_schmidt, "gram-schmidt", "classical Gram-Schmidt"},
    Named<QrFactor>{QrFactor::mgs, "mgs", "modified Gram-Schmidt"},
    Named<QrFactor>{QrFactor::cgs2, "cgs2", "classical Gram-Schmidt, twice"},
    Named<QrFactor>{QrFactor::cholesky_qr2, "cholesky-qr2", "Cholesky factor of D^T D, twice"},
    Named<QrFactor>{QrFactor::tiles, "tiles", "reflectors by tiles"},
};
constexpr std::array stops{
    Named<StopTest>{StopTest::off_diagonal, "off-diagonal", "all off-diagonal elements are negligible"},
    Named<StopTest>{StopTest::subdiagonal, "subdiagonal",
                    "the elements next to the diagonal are negligible (Cinvestav thesis, 5.1.1)"},
};
constexpr std::array shifts{
    Named<QrShift>{QrShift::none, "none", ""},
    Named<QrShift>{QrShift::wilkinson, "wilkinson",
                   "the eigenvalue of the last 2 x 2 block nearer to its last element"},
};

[[noreturn]] void refuse(const char* argument, const std::string& why) {
  throw ArgumentError("eig_iteration", argument, why);
}

void check(index_t n, const EigIterationOptions& o) {
  detail::require_selection("eig_iteration", n, o);
  if (!(o.tolerance >= 0 && o.tolerance <= largest_iteration_tolerance))
    refuse("tolerance", shortest(o.tolerance) + "; it must be from 0 to 1e-3");
  if (o.max_iterations < 0) refuse("max_iterations", std::to_string(o.max_iterations));
  if (o.method == EigIteration::qr) return;
  if (o.factor != QrFactor::givens) refuse("factor", "belongs to QR iterations");
  if (o.shift != QrShift::none) refuse("shift", "belongs to QR iterations");
  if (o.deflate) refuse("deflate", "belongs to QR iterations");
  if (o.positive_diagonal) refuse("positive_diagonal", "belongs to QR iterations");
}

/// Returns unit vectors of A's eigenvalues, n x values.size(): two steps of (A - l I) x = x from random vectors, with
/// partial pivoting in double precision, then orthogonalization from left to right (LAPACK stein orthogonalizes within
/// clusters). If A - l I is exactly singular, the value is changed by a rounding error. Waits for the graph.
template <class T>
HostMatrix<T> inverse_iteration(Graph& g, const detail::IteratedMatrix<T>& a, const std::vector<double>& values) {
  const index_t n = a.n(), count = static_cast<index_t>(values.size());
  HostMatrix<T> vectors(n, count);
  if (count == 0) return vectors;
  Runtime& runtime = g.runtime();
  const index_t wide = ceil_div(count, 4 * std::max<index_t>(runtime.cpus(), 1));
  const TileMatrix<double> A(runtime, n, n, {n, n}, "A"), W(runtime, count, 1, {wide, 1}, "W"),
      X(runtime, n, count, {n, wide}, "X");
  {
    const auto whole = A(0, 0).write();
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < n; ++i) whole(i, j) = static_cast<double>(a(i, j));
  }
  W.copy_from(values.data(), count);
  const Tile<double> work = g.scratch<double>(n, n);
  for (index_t t = 0; t < X.nt(); ++t)
    insert_or_run<InverseIteration>(g, Priority{}, {a.frobenius(), t * wide}, A(0, 0), W(t, 0), X(0, t), work);
  HostMatrix<double> x = X.to_host();
  // X = Q R: Q is X orthogonalized from left to right, up to signs.
  std::vector<double> tau(static_cast<std::size_t>(count));
  lapack::geqrf(n, count, x.data(), n, tau.data());
  HostMatrix<double> q = HostMatrix<double>::zeros(n, count);
  for (index_t j = 0; j < count; ++j) q(j, j) = 1;
  lapack::ormqr(Op::none, n, count, count, x.data(), n, tau.data(), q.data(), n);
  for (index_t i = 0; i < q.size(); ++i) vectors.data()[i] = static_cast<T>(q.data()[i]);
  return vectors;
}

/// Evaluates the last D: elements that are not negligible, drift, and the predicted speed.
template <class T>
void judge(const detail::IteratedMatrix<T>& a, const detail::Iterated<T>& end, EigIterationResult<T>& result) {
  const double norm = a.frobenius();
  if (norm > 0) result.remaining_norm = std::sqrt(end.remaining.squares) / norm;
  result.remain = end.remaining.count;
  result.remaining = end.remaining.largest;
  for (RemainingEntry& entry : result.remaining) entry.value = std::ldexp(entry.value, a.exponent());
  double trace = 0, squares = 0;
  std::vector<double> sizes;
  for (const T value : end.values) {
    const auto x = static_cast<double>(value);
    trace += x, squares += x * x;
    sizes.push_back(std::abs(x + end.shift));
  }
  if (norm > 0) result.trace_drift = std::abs(trace - a.trace()) / norm;
  if (norm > 0) result.frobenius_drift = std::abs(std::sqrt(squares) - norm) / norm;
  std::sort(sizes.begin(), sizes.end());
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i)
    if (sizes[i + 1] > 0) result.ratio = std::max(result.ratio, sizes[i] / sizes[i + 1]);
  result.predicted = result.ratio > 0 && result.ratio < 1 ? std::log(result.tolerance) / std::log(result.ratio)
                     : result.ratio > 0                   ? std::numeric_limits<double>::infinity()
                                                          : 0;
}

/// Returns the columns of P for these positions of the sorted values; without P computes the vectors by inverse
/// iteration.
template <class T>
TileMatrix<T> vectors(Graph& g, const detail::IteratedMatrix<T>& a, const detail::Iterated<T>& end,
                      const std::vector<index_t>& order, IndexRange range) {
  const index_t n = a.n(), rows = std::max<index_t>(n, 1);
  TileMatrix<T> X(g.runtime(), n, range.size(), {rows, eigenvectors_tile(g.runtime(), n, range.size())}, "X");
  HostMatrix<T> x(n, range.size());
  if (end.p.rows() == n) {
    for (index_t j = 0; j < range.size(); ++j)
      std::copy_n(end.p.data() + order[static_cast<std::size_t>(range.begin + j)] * n, n, x.data() + j * n);
  } else {
    std::vector<double> wanted;
    for (index_t j = range.begin; j < range.end; ++j)
      wanted.push_back(static_cast<double>(end.values[static_cast<std::size_t>(order[static_cast<std::size_t>(j)])]));
    x = inverse_iteration(g, a, wanted);
  }
  X.copy_from(x.data(), rows);
  X.for_each_tile([&](const Tile<T>& tile, index_t, index_t) { g.insert<TurnColumns<T>>(on_gpu, {}, tile); });
  return X;
}

template <class T>
EigIterationResult<T> iterate(Graph& g, const detail::IteratedMatrix<T>& a, EigIterationOptions o) {
  using Verdict = SymmetricEigStatus::Verdict;
  EigIterationResult<T> result;
  const index_t n = a.n();
  if (o.max_iterations == 0) {
    o.max_iterations = 2000 * n;
    // Here each step is a graph, and an iteration that does not converge must end in reasonable time.
    if (detail::supports_tiles(n, a.half_width(), o))
      o.max_iterations = std::min(o.max_iterations, std::max<index_t>(6000, 30 * n));
  }
  if (o.tolerance == 0) o.tolerance = sizeof(T) == 8 ? 1e-13 : 1e-5;
  result.tolerance = o.tolerance;
  if (n == 0) return result;
  const detail::Iterated<T> end = detail::run_iteration(g, a, o);
  result.iterations = end.progress.steps;
  result.rotations = end.progress.rotations;
  result.kernels = end.kernels;
  result.deflated = end.progress.deflations;
  result.half_width = end.half_width;
  result.shift = std::ldexp(end.shift, a.exponent());
  if (end.progress.broken > 0) {
    result.status = {Verdict::zero_pivot, end.progress.broken - 1, end.progress.steps};
    return result;
  }
  judge(a, end, result);
  if (!end.progress.converged) {
    result.status = {Verdict::entry_remains, 0, 0};
    if (!result.remaining.empty())
      result.status.row = result.remaining[0].row, result.status.column = result.remaining[0].column;
    return result;
  }
  std::vector<index_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), index_t{0});
  const auto value = [&](index_t i) { return end.values[static_cast<std::size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](index_t i, index_t j) { return value(i) < value(j); });
  std::vector<T> sorted;
  for (const index_t i : order) sorted.push_back(value(i));
  const IndexRange range = detail::select(result, sorted, a.exponent(), o);
  if (o.vectors) result.vectors = vectors(g, a, end, order, range);
  g.wait();
  return result;
}

template <class T>
EigIterationResult<T> not_finite(index_t row, index_t column) {
  EigIterationResult<T> result;
  result.status = {SymmetricEigStatus::Verdict::not_finite, row, column};
  return result;
}

}  // namespace

std::span<const Named<EigIteration>> eig_iterations() { return methods; }
std::span<const Named<QrFactor>> qr_factors() { return factors; }
std::span<const Named<StopTest>> stop_tests() { return stops; }
std::span<const Named<QrShift>> qr_shifts() { return shifts; }

template <class T>
EigIterationResult<T> eig_iteration(Graph& g, const TileMatrix<T>& A, const EigIterationOptions& options) {
  const index_t n = A.n();
  check(n, options);
  if (A.m() != n || A.mt() > 1)
    refuse("A", to_string(Shape{A.m(), n}) + "; it must be square, in tiles of whole columns");
  const detail::Scan found = detail::scan(g, A);
  if (found.row >= 0) return not_finite<T>(found.row, found.column);
  auto a = parallel_zeros<T>(n, n);
  A.copy_to(a.data(), a.ld());
  return iterate(
      g,
      detail::IteratedMatrix<T>(n, found.half_width, found.exponent(), [&](index_t i, index_t j) { return a(i, j); }),
      options);
}

template <class T>
EigIterationResult<T> eig_iteration(Graph& g, std::span<const T> d, std::span<const T> e,
                                    const EigIterationOptions& options) {
  const auto n = static_cast<index_t>(d.size());
  check(n, options);
  if (options.method != EigIteration::qr) refuse("method", "must be qr for a tridiagonal matrix");
  if (options.factor != QrFactor::givens) refuse("factor", "must be givens for a tridiagonal matrix");
  if (e.size() + 1 != std::max<std::size_t>(d.size(), 1))
    refuse("e", std::to_string(e.size()) + " off-diagonal elements for a diagonal of " + std::to_string(d.size()));
  double largest = 0;
  for (const auto& [numbers, below] : {std::pair{d, 0}, std::pair{e, 1}})
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto at = static_cast<index_t>(i);
      if (!std::isfinite(numbers[i])) return not_finite<T>(at + below, at);
      largest = std::max(largest, std::abs(static_cast<double>(numbers[i])));
    }
  return iterate(g,
                 detail::IteratedMatrix<T>(
                     n, std::min<index_t>(1, std::max<index_t>(n - 1, 0)), largest > 0 ? std::ilogb(largest) : 0,
                     [&](index_t i, index_t j) {
                       return i == j ? d[static_cast<std::size_t>(i)] : e[static_cast<std::size_t>(j)];
                     }),
                 options);
}

template EigIterationResult<float> eig_iteration(Graph&, const TileMatrix<float>&, const EigIterationOptions&);
template EigIterationResult<double> eig_iteration(Graph&, const TileMatrix<double>&, const EigIterationOptions&);
template EigIterationResult<float> eig_iteration(Graph&, std::span<const float>, std::span<const float>,
                                                 const EigIterationOptions&);
template EigIterationResult<double> eig_iteration(Graph&, std::span<const double>, std::span<const double>,
                                                  const EigIterationOptions&);

}  // namespace tesela
