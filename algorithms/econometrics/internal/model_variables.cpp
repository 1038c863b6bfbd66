#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/econometrics/internal/model_variables.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/tiles/parallel_for.hpp>
#include <tesela/tiles/parallel_zeros.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace tesela::detail {

using namespace kernels;
namespace {

constexpr int sums_at_once = 8;  // sums of a product that a core's vectors compute at once

/// Applies to rows first ... last of columns j ... the Householder transformation that reduces column j to its first
/// row.
void eliminate(HostMatrix<double>& A, index_t j, index_t first, index_t last) {
  const index_t n = last - first + 1;
  std::vector<double> v(&A(first, j), &A(first, j) + n);
  const double norm = euclidean_norm(n, v.data());
  const double head = v[0] > 0 ? -norm : norm;
  v[0] -= head;
  double square = 0;
  for (const double x : v) square += x * x;
  for (index_t l = j + 1; l < A.cols(); ++l) {
    double* column = &A(first, l);
    double sum = 0;
    for (index_t i = 0; i < n; ++i) sum += v[static_cast<std::size_t>(i)] * column[i];
    for (index_t i = 0; i < n; ++i) column[i] -= 2 * sum / square * v[static_cast<std::size_t>(i)];
  }
  A(first, j) = head;
  std::fill_n(&A(first, j) + 1, n - 1, 0.0);
}

/// Returns R of QR of A's columns in the order `first`, `behind` (together 0 … count - 1), and the other columns; the
/// columns of R return to A's order.
HostMatrix<double> triangle_in_order(Graph& g, HostMatrix<double> A, const std::vector<index_t>& first,
                                     const std::vector<index_t>& behind, index_t count) {
  const index_t m = A.rows(), n = A.cols();
  std::vector<index_t> order = first, places(static_cast<std::size_t>(n));
  order.insert(order.end(), behind.begin(), behind.end());
  for (index_t c = count; c < n; ++c) order.push_back(c);
  for (index_t k = 0; k < n; ++k) places[static_cast<std::size_t>(order[static_cast<std::size_t>(k)])] = k;
  HostMatrix<double> B = columns_of(A, order);
  A = {};
  {
    const auto b = TileMatrix<double>::map(g.runtime(), B.data(), m, n, B.ld(), qr_tile(g.runtime(), m, n), "R");
    const auto factors = qr(g, b, qr_options(m, n));
    g.wait();
    b.bring_home();
  }
  for (index_t k = 0; k < n; ++k)
    for (index_t i = k + 1; i < m; ++i) B(i, k) = 0;
  return columns_of(B, places);
}

}  // namespace

HostMatrix<double> triangle_of(Graph& g, const HostMatrix<double>& A) {
  const index_t m = A.rows(), n = A.cols(), k = std::min(m, n);
  auto R = HostMatrix<double>::zeros(k, n);
  if (k == 0) return R;
  HostMatrix<double> copy = A.clone();
  const TileShape tile = qr_tile(g.runtime(), m, n);
  {
    const auto a = TileMatrix<double>::map(g.runtime(), copy.data(), m, n, copy.ld(), tile, "A");
    const auto r = TileMatrix<double>::map(g.runtime(), R.data(), k, n, R.ld(), tile, "R");
    const auto factors = qr(g, a, qr_options(m, n));
    factors.extract_r(g, r);
    g.wait();
    r.bring_home();
  }
  return R;
}

bool large_enough_for_gpu(index_t m, index_t n, index_t k) {
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) > 1e8;
}

QrOptions qr_options(index_t m, index_t n) {
  QrOptions options;
  options.on_gpu = large_enough_for_gpu(m, n, std::min(m, n));
  return options;
}

Block<const double> block_of(const HostMatrix<double>& A) { return {A.data(), A.rows(), A.cols(), A.ld()}; }

HostMatrix<double> product(Graph& g, Op op, Op op_b, const HostMatrix<double>& A, const HostMatrix<double>& B) {
  auto C = parallel_zeros<double>(tesela::apply(op, A.shape()).rows, tesela::apply(op_b, B.shape()).cols);
  multiply(g, op, op_b, block_of(A), block_of(B), C);
  return C;
}

void multiply(Graph& g, Op op, Op op_b, const Block<const double>& A, const Block<const double>& B,
              HostMatrix<double>& C) {
  const Shape a = tesela::apply(op, A.shape()), b = tesela::apply(op_b, B.shape());
  if (C.size() == 0 || a.cols == 0) return;
  GemmTile cut = gemm_tile(g.runtime(), a.rows, b.cols, a.cols);
  const bool same = A.data == B.data;  // one matrix for both
  if (same) cut.mb = cut.nb = std::min(cut.mb, cut.nb);
  const auto map = [&](const Block<const double>& m, Op o, TileShape tile, const char* name) {
    if (o == Op::transpose) tile = {tile.nb, tile.mb};
    return TileMatrix<double>::map(g.runtime(), m.data, m.rows, m.cols, m.ld, tile, name);
  };
  const auto a_tiles = map(A, op, {cut.mb, cut.kb}, "A");
  const auto b_tiles = same ? a_tiles : map(B, op_b, {cut.kb, cut.nb}, "B");
  const auto c_tiles =
      TileMatrix<double>::map(g.runtime(), C.data(), C.rows(), C.cols(), C.ld(), {cut.mb, cut.nb}, "C");
  gemm(g, op, op_b, 1.0, a_tiles, b_tiles, 0.0, c_tiles,
       {.priority = large_enough_for_gpu(a.rows, b.cols, a.cols) ? on_gpu : Priority{}});
  g.wait();
  c_tiles.bring_home();
}

std::vector<index_t> drop_dependent(HostMatrix<double>& A, index_t count, const std::vector<double>& norms,
                                    double tolerance, std::vector<int>& heights) {
  std::vector<index_t> dropped;
  index_t rank = 0;
  for (index_t j = 0; j < count; ++j) {
    const index_t last = std::min(j, A.rows() - 1), left = last - rank + 1;
    const double norm = left > 0 ? euclidean_norm(left, &A(rank, j)) : 0;
    if (!(norm > tolerance * norms[static_cast<std::size_t>(j)])) {
      if (left > 0) std::fill_n(&A(rank, j), left, 0.0);
      dropped.push_back(j);
    } else {
      if (left > 1) eliminate(A, j, rank, last);
      ++rank;
    }
    heights[static_cast<std::size_t>(j)] = static_cast<int>(rank);
  }
  return dropped;
}

double dependence_tolerance(const ModelTriangle& triangle, const SemOptions& options) {
  if (options.rcond > 0) return options.rcond;
  return 10 * static_cast<double>(std::max<index_t>({triangle.observations, triangle.R.cols(), 1})) *
         std::numeric_limits<double>::epsilon();
}

std::vector<index_t> drop_dependent_by_qr(Graph& g, HostMatrix<double>& A, index_t count,
                                          const std::vector<double>& norms, double tolerance,
                                          std::vector<int>& heights) {
  // A column with a large diagonal element is independent of the columns before it. Some of the other columns may be
  // independent as well: a dropped column used a row that they need.
  std::vector<index_t> stay, doubtful;
  for (index_t j = 0; j < count; ++j)
    (std::abs(A(j, j)) > tolerance * norms[static_cast<std::size_t>(j)] ? stay : doubtful).push_back(j);
  std::vector<index_t> dropped = doubtful;
  if (!doubtful.empty()) {
    A = triangle_in_order(g, std::move(A), stay, doubtful, count);
    const index_t u = std::ssize(stay), d = std::ssize(doubtful);
    HostMatrix<double> left(d, d);
    std::vector<double> sizes;
    for (index_t j = 0; j < d; ++j) {
      const index_t c = doubtful[static_cast<std::size_t>(j)];
      std::copy_n(&A(u, c), d, &left(0, j));
      sizes.push_back(norms[static_cast<std::size_t>(c)]);
    }
    std::vector<int> unused(static_cast<std::size_t>(d));
    const std::vector<index_t> places = drop_dependent(left, d, sizes, tolerance, unused);
    if (std::ssize(places) < d) {
      dropped.clear(), stay.clear();
      for (const index_t j : places) dropped.push_back(doubtful[static_cast<std::size_t>(j)]);
      for (index_t j = 0; j < count; ++j)
        if (!std::binary_search(dropped.begin(), dropped.end(), j)) stay.push_back(j);
      A = triangle_in_order(g, std::move(A), stay, dropped, count);
    }
  }
  int rank = 0;
  for (index_t j = 0; j < count; ++j) {
    if (std::binary_search(dropped.begin(), dropped.end(), j))
      std::fill(&A(0, j) + rank, &A(0, j) + A.rows(), 0.0);
    else
      ++rank;
    heights[static_cast<std::size_t>(j)] = rank;
  }
  return dropped;
}

Variables model_variables(Graph& g, const ModelTriangle& triangle, index_t instruments, bool all, double tolerance) {
  const index_t M = triangle.R.cols();
  Variables v;
  v.A = HostMatrix<double>(M, M);
  v.exponents.resize(static_cast<std::size_t>(M));
  v.norms.resize(static_cast<std::size_t>(M));
  constexpr index_t elements_per_thread = 128;  // columns
  parallel_for(M, elements_per_thread, [&](index_t first, index_t end) {
    for (index_t c = first; c < end; ++c) {
      double* const column = &v.A(0, c);
      std::fill(std::copy_n(&triangle.R(0, c), c + 1, column), column + M, 0.0);
      const int exponent = largest_exponent(c + 1, column);
      scale_by_power_of_two(std::span(column, static_cast<std::size_t>(c + 1)), -exponent);
      v.exponents[static_cast<std::size_t>(c)] = exponent;
      v.norms[static_cast<std::size_t>(c)] = norm(c + 1, column);
    }
  });
  v.observations = triangle.observations;
  v.tolerance = tolerance;
  for (index_t c = 0; c < v.count(); ++c) v.heights.push_back(static_cast<int>(std::min(c + 1, v.A.rows())));
  v.instruments = v.rows = v.count();
  if (all) return v;
  v.instruments = instruments;
  constexpr index_t few = 256;  // below this size a core is done before tasks would start
  v.dropped = M <= few ? drop_dependent(v.A, instruments, v.norms, tolerance, v.heights)
                       : drop_dependent_by_qr(g, v.A, instruments, v.norms, tolerance, v.heights);
  v.rows = instruments - static_cast<index_t>(v.dropped.size());
  v.tails = orthogonal_norms(v);
  return v;
}

std::vector<double> orthogonal_norms(const Variables& v) {
  std::vector<double> tails;
  const index_t below = v.A.rows() - v.rows;
  for (index_t c = v.instruments; c < v.count(); ++c)
    tails.push_back(norm(below, below > 0 ? &v.A(v.rows, c) : nullptr));
  return tails;
}

HostMatrix<double> columns_of(const HostMatrix<double>& A, const std::vector<index_t>& columns) {
  HostMatrix<double> result(A.rows(), std::ssize(columns));
  const index_t part = std::max<index_t>((index_t{1} << 20) / std::max<index_t>(A.rows(), 1), 1);
  parallel_for(A.rows() > 0 ? result.cols() : 0, part, [&](index_t first, index_t end) {
    for (index_t j = first; j < end; ++j)
      std::copy_n(&A(0, columns[static_cast<std::size_t>(j)]), A.rows(), &result(0, j));
  });
  return result;
}

HostMatrix<double> first_rows(const HostMatrix<double>& A, index_t rows) {
  HostMatrix<double> result(rows, A.cols());
  for (index_t j = 0; j < A.cols() && rows > 0; ++j) std::copy_n(&A(0, j), rows, &result(0, j));
  return result;
}

double dot(const HostMatrix<double>& A, index_t i, const HostMatrix<double>& B, index_t j, index_t n) {
  return n > 0 ? dot(n, &A(0, i), &B(0, j)) : 0;
}

double dot(index_t n, const double* a, const double* b) {
  double sums[sums_at_once] = {};
  index_t k = 0;
  for (; k + sums_at_once <= n; k += sums_at_once)
    for (index_t l = 0; l < sums_at_once; ++l) sums[l] += a[k + l] * b[k + l];
  for (; k < n; ++k) sums[0] += a[k] * b[k];
  return std::accumulate(sums, sums + sums_at_once, 0.0);
}

double norm(index_t n, const double* x) {
  const double square = dot(n, x, x);
  return square > 1e-200 && square < 1e200 ? std::sqrt(square) : euclidean_norm(n, x);
}

}  // namespace tesela::detail
