#pragma once

#include "tests/support/shared_runtime.hpp"
#include <tesela/algorithms/least_squares/least_squares.hpp>
#include <tesela/codelets/dense/product_form.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/tiles/generator.hpp>

extern "C" {
void dgels_(const char*, const int*, const int*, const int*, double*, const int*, double*, const int*, double*,
            const int*, int*, std::size_t);
void dgelsy_(const int*, const int*, const int*, double*, const int*, double*, const int*, int*, const double*, int*,
             double*, const int*, int*);
}

/// Problems with LAPACK's and our solutions.
namespace tesela::test {

using Matrix = HostMatrix<double>;

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double epsilon = std::numeric_limits<double>::epsilon();

template <class F>
inline Matrix made(index_t m, index_t n, const F& element) {
  Matrix a(m, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) a(i, j) = element(i, j);
  return a;
}

inline Matrix random(index_t m, index_t n, std::uint64_t seed) {
  return made(m, n, Generator<double>{Pattern::uniform, 0, n, seed});
}

inline Matrix of_rank(index_t m, index_t n, index_t rank, std::uint64_t seed) {
  return made(m, n, kernels::ProductForm<double>(m, n, kernels::spectrum(rank, 1), seed));
}

inline double norm(const Matrix& a) {
  double sum = 0;
  for (index_t k = 0; k < a.size(); ++k) sum = std::hypot(sum, a.data()[k]);
  return sum;
}

inline double distance(const Matrix& a, const Matrix& b) {
  REQUIRE(a.shape() == b.shape());
  double sum = 0;
  for (index_t k = 0; k < a.size(); ++k) sum = std::hypot(sum, a.data()[k] - b.data()[k]);
  return sum;
}

inline Matrix identity(index_t n) {
  return made(n, n, [](index_t i, index_t j) { return i == j ? 1.0 : 0.0; });
}

inline Matrix transposed(const Matrix& a) {
  return made(a.cols(), a.rows(), [&](index_t i, index_t j) { return a(j, i); });
}

inline Matrix difference(const Matrix& a, const Matrix& b) {
  return made(a.rows(), a.cols(), [&](index_t i, index_t j) { return a(i, j) - b(i, j); });
}

/// Returns op(A) op(B).
inline Matrix product(Op op_a, const Matrix& a, Op op_b, const Matrix& b) {
  const Shape s = apply(op_a, a.shape()), t = apply(op_b, b.shape());
  REQUIRE(s.cols == t.rows);
  Matrix c = Matrix::zeros(s.rows, t.cols);
  if (c.size() > 0 && s.cols > 0)
    blas::gemm(op_a, op_b, s.rows, t.cols, s.cols, 1.0, a.data(), a.ld(), b.data(), b.ld(), 0.0, c.data(), c.ld());
  return c;
}
inline Matrix product(Op op, const Matrix& a, const Matrix& b) { return product(op, a, Op::none, b); }
inline Matrix product(const Matrix& a, const Matrix& b) { return product(Op::none, a, Op::none, b); }

/// Returns F F^T, or F^T F, with the same bits in both triangles.
inline Matrix gram(const Matrix& f, bool transposed = false) {
  const index_t m = transposed ? f.cols() : f.rows(), k = transposed ? f.rows() : f.cols();
  return made(m, m, [&](index_t i, index_t j) {
    double sum = 0;
    for (index_t l = 0; l < k; ++l) sum += transposed ? f(l, i) * f(l, j) : f(i, l) * f(j, l);
    return sum;
  });
}

struct Reference {
  Matrix X;
  std::vector<double> residual_norms;
  int rank = 0;
};

/// Returns LAPACK's solution by gels, or by gelsy if rcond is given.
inline Reference reference_of(const Matrix& a, const Matrix& b, double rcond = -1) {
  const int m = static_cast<int>(a.rows()), n = static_cast<int>(a.cols()), r = static_cast<int>(b.cols()),
            ld = std::max(m, 1), ldb = std::max({m, n, 1}), lwork = 200 * (m + n + r + 10);
  Matrix factors = a.clone(), x = Matrix::zeros(ldb, r);
  for (index_t j = 0; j < r; ++j)
    for (index_t i = 0; i < m; ++i) x(i, j) = b(i, j);
  std::vector<double> work(static_cast<std::size_t>(lwork));
  std::vector<int> pivots(static_cast<std::size_t>(n));
  Reference result{Matrix(n, r), std::vector<double>(static_cast<std::size_t>(r)), std::min(m, n)};
  int info = 0;
  if (rcond < 0)
    dgels_("N", &m, &n, &r, factors.data(), &ld, x.data(), &ldb, work.data(), &lwork, &info, 1);
  else
    dgelsy_(&m, &n, &r, factors.data(), &ld, x.data(), &ldb, pivots.data(), &rcond, &result.rank, work.data(), &lwork,
            &info);
  REQUIRE(info == 0);
  for (index_t k = 0; k < r; ++k) {
    for (index_t i = 0; i < n; ++i) result.X(i, k) = x(i, k);
    double& sum = result.residual_norms[static_cast<std::size_t>(k)];
    for (index_t i = 0; i < m; ++i) {
      double residual = b(i, k);
      for (index_t j = 0; j < n; ++j) residual -= a(i, j) * x(j, k);
      sum = std::hypot(sum, residual);
    }
  }
  return result;
}

/// Calls solver(graph, A, B) for copies of a and b in tiles with NaN between the columns, and requires that the NaN are
/// unchanged.
template <class T, class Solver>
auto on_copies(Runtime& runtime, const HostMatrix<T>& a, const HostMatrix<T>& b, TileShape tile, const Solver& solver,
               index_t rhs_tile = 5) {
  const auto padded = [](const HostMatrix<T>& from) {
    HostMatrix<T> to(from.rows() + 3, from.cols());
    std::fill_n(to.data(), to.size(), std::numeric_limits<T>::quiet_NaN());
    for (index_t j = 0; j < from.cols(); ++j) std::copy_n(from.data() + j * from.ld(), from.rows(), &to(0, j));
    return to;
  };
  HostMatrix<T> work = padded(a), rhs = padded(b);
  auto answer = [&] {
    const auto A = MatrixView(work.data(), a.shape(), work.ld()).in_tiles(runtime, tile, "A");
    const auto B = MatrixView(rhs.data(), b.shape(), rhs.ld()).in_tiles(runtime, {tile.mb, rhs_tile}, "B");
    Graph g(runtime);
    return solver(g, A, B);
  }();
  for (const auto* const matrix : {&work, &rhs})
    for (index_t j = 0; j < matrix->cols(); ++j)
      for (index_t i = matrix->rows() - 3; i < matrix->rows(); ++i) REQUIRE(std::isnan((*matrix)(i, j)));
  return answer;
}

inline LeastSquares<double> solve(Runtime& runtime, const Matrix& a, const Matrix& b, TileShape tile,
                                  const OlsOptions& options = {}, index_t rhs_tile = 5) {
  return on_copies(
      runtime, a, b, tile, [&](Graph& g, const auto& A, const auto& B) { return ols(g, A, B, options); }, rhs_tile);
}

inline void require_agreement(const LeastSquares<double>& ours, const Reference& theirs, const Matrix& b,
                              double tolerance) {
  REQUIRE(ours.rank == theirs.rank);
  const double difference = distance(ours.X, theirs.X);
  CAPTURE(difference, norm(theirs.X), tolerance);
  REQUIRE(difference <= tolerance * norm(theirs.X));
  REQUIRE(ours.residual_norms.size() == theirs.residual_norms.size());
  for (std::size_t k = 0; k < ours.residual_norms.size(); ++k)
    REQUIRE(std::abs(ours.residual_norms[k] - theirs.residual_norms[k]) <= tolerance * norm(b));
}

}  // namespace tesela::test
