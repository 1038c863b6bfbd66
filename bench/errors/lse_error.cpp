#include "bench/errors/lse_error.hpp"

#include <tesela/codelets/least_squares/minimum_norm.hpp>
#include <tesela/codelets/libraries/blas.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tesela {

using namespace kernels;
namespace {

using Matrix = HostMatrix<double>;

/// 2^-exponents(j) times column j, in double precision.
template <class T>
Matrix divided(const HostMatrix<T>& x, const auto& exponent) {
  Matrix result(x.rows(), x.cols());
  for (index_t j = 0; j < x.cols(); ++j)
    for (index_t i = 0; i < x.rows(); ++i) result(i, j) = std::ldexp(static_cast<double>(x(i, j)), -exponent(j));
  return result;
}

void add_product(double alpha, Op op, const Matrix& a, const Matrix& b, Matrix& c) {
  const index_t k = apply(op, a.shape()).cols;
  if (c.size() > 0 && k > 0)
    blas::gemm(op, Op::none, c.rows(), c.cols(), k, alpha, a.data(), a.ld(), b.data(), b.ld(), 1.0, c.data(), c.ld());
}

double norm(const Matrix& x) { return euclidean_norm(x.size(), x.data()); }
double norm(const Matrix& x, index_t j) { return euclidean_norm(x.rows(), x.data() + j * x.ld()); }

}  // namespace

template <class T>
LseError lse_error(const RowBlocks<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& c, const HostMatrix<T>& d,
                   const HostMatrix<T>& x, const HostMatrix<T>& multipliers) {
  const blas::Threads threads(blas::all_cores());
  const index_t m = b.rows(), n = x.rows(), r = x.cols();
  T most = 0;
  a([&](index_t, const Block<const T>& rows) {
    for (index_t j = 0; j < rows.cols; ++j)
      for (index_t i = 0; i < rows.rows; ++i) most = std::max(most, std::abs(rows(i, j)));
  });
  const int of_a = largest_exponent(1, &most), of_c = largest_exponent(c.size(), c.data());
  std::vector<int> of_x(static_cast<std::size_t>(r), 0);
  for (index_t j = 0; j < r; ++j) {  // x's size, or that of a b which is larger than A x
    of_x[static_cast<std::size_t>(j)] =
        std::max(largest_exponent(x.rows(), x.data() + j * x.ld()),
                 b.rows() > 0 ? largest_exponent(b.rows(), b.data() + j * b.ld()) - of_a : -100000);
  }
  const auto unit = [&](index_t j) { return of_x[static_cast<std::size_t>(j)]; };
  const Matrix C = divided(c, [&](index_t) { return of_c; }), X = divided(x, unit);
  const Matrix B = divided(b, [&](index_t j) { return of_a + unit(j); }),
               D = divided(d, [&](index_t j) { return of_c + unit(j); });
  Matrix left = B.clone(), off = D.clone(), gradient = Matrix::zeros(n, r);
  double norm_a = 0;
  a([&](index_t first, const Block<const T>& rows) {
    Matrix block(rows.rows, n);
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < rows.rows; ++i) block(i, j) = std::ldexp(static_cast<double>(rows(i, j)), -of_a);
    norm_a = std::hypot(norm_a, norm(block));
    if (block.size() == 0 || r == 0) return;
    double* const residual = left.data() + first;
    blas::gemm(Op::none, Op::none, rows.rows, r, n, -1.0, block.data(), block.ld(), X.data(), X.ld(), 1.0, residual,
               left.ld());
    blas::gemm(Op::transpose, Op::none, n, r, rows.rows, 1.0, block.data(), block.ld(), residual, left.ld(), 1.0,
               gradient.data(), gradient.ld());
  });
  add_product(-1, Op::none, C, X, off);
  const bool optimal = multipliers.cols() == r && multipliers.rows() == c.rows();
  Matrix L;
  if (optimal) {
    L = divided(multipliers, [&](index_t j) { return 2 * of_a + unit(j) - of_c; });
    add_product(-1, Op::transpose, C, L, gradient);
  }
  LseError error;
  const double norm_c = norm(C);
  const auto worst = [](double& so_far, double value, double size) {
    const double ratio = value == 0 ? 0 : value / size;
    if (!(ratio <= so_far)) so_far = ratio;
  };
  for (index_t j = 0; j < r; ++j) {
    error.residual_norm = std::hypot(error.residual_norm, std::ldexp(norm(left, j), of_a + unit(j)));
    worst(error.constraint, norm(off, j), norm_c * norm(X, j) + norm(D, j));
    const double data = norm_a * norm(X, j) + norm(B, j);
    const auto rounding = static_cast<double>(std::max(m, n)) * std::numeric_limits<T>::epsilon();
    if (!optimal || norm(left, j) <= rounding * data) continue;
    const double size = norm_a * norm(left, j) + norm_c * norm(L, j);
    worst(error.optimality, norm(gradient, j), size);
    worst(error.optimality_scale, norm_a * data, size);
  }
  return error;
}

template <class T>
LseError lse_error(const HostMatrix<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& c, const HostMatrix<T>& d,
                   const HostMatrix<T>& x, const HostMatrix<T>& multipliers) {
  const RowBlocks<T> whole = [&](const auto& use) { use(0, {a.data(), a.rows(), a.cols(), a.ld()}); };
  return lse_error(whole, b, c, d, x, multipliers);
}

template LseError lse_error(const RowBlocks<float>&, const HostMatrix<float>&, const HostMatrix<float>&,
                            const HostMatrix<float>&, const HostMatrix<float>&, const HostMatrix<float>&);
template LseError lse_error(const RowBlocks<double>&, const HostMatrix<double>&, const HostMatrix<double>&,
                            const HostMatrix<double>&, const HostMatrix<double>&, const HostMatrix<double>&);
template LseError lse_error(const HostMatrix<float>&, const HostMatrix<float>&, const HostMatrix<float>&,
                            const HostMatrix<float>&, const HostMatrix<float>&, const HostMatrix<float>&);
template LseError lse_error(const HostMatrix<double>&, const HostMatrix<double>&, const HostMatrix<double>&,
                            const HostMatrix<double>&, const HostMatrix<double>&, const HostMatrix<double>&);

}  // namespace tesela
