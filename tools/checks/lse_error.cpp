#include "tools/checks/lse_error.hpp"

#include <tesela/host/blas.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela {

using namespace kernels;
namespace {

template <class T>
using Wide = HostMatrix<with_parts<T, double>>;

/// Returns 2^-exponent(i, j) times each element (i, j), in double precision.
template <class T>
Wide<T> divided(const HostMatrix<T>& x, const auto& exponent) {
  return filled<with_parts<T, double>>(x.shape(), [&](index_t i, index_t j) {
    return times_power_of_two(with_parts<T, double>(x(i, j)), -exponent(i, j));
  });
}

/// Computes C -= op(A) B.
template <class N>
void subtract_product(Op op, const HostMatrix<N>& a, const HostMatrix<N>& b, HostMatrix<N>& c) {
  const index_t k = apply(op, a.shape()).cols;
  if (c.size() > 0 && k > 0)
    blas::gemm(op, Op::none, c.rows(), c.cols(), k, N(-1), a.data(), a.ld(), b.data(), b.ld(), N(1), c.data(), c.ld());
}

template <class N>
double norm(const HostMatrix<N>& x) {
  return euclidean_norm(x.size(), x.data());
}
template <class N>
double norm(const HostMatrix<N>& x, index_t j) {
  return euclidean_norm(x.rows(), x.data() + j * x.ld());
}

void worst(double& so_far, double value, double size) {
  const double ratio = value == 0 ? 0 : value / size;
  if (!(ratio <= so_far)) so_far = ratio;
}

/// Returns the largest ||C x - d|| / (||C|| ||x|| + ||d||), with each matrix scaled by one factor.
template <class T>
double constraint_error(const HostMatrix<T>& c, const HostMatrix<T>& d, const HostMatrix<T>& x) {
  const int of_c = largest_exponent(c.size(), c.data());
  const auto of_x = [&](index_t k) {
    return std::max(largest_exponent(x.rows(), x.data() + k * x.ld()),
                    d.rows() > 0 ? largest_exponent(d.rows(), d.data() + k * d.ld()) - of_c : -100000);
  };
  const Wide<T> C = divided(c, [&](index_t, index_t) { return of_c; }),
                X = divided(x, [&](index_t, index_t k) { return of_x(k); }),
                D = divided(d, [&](index_t, index_t k) { return of_c + of_x(k); });
  Wide<T> off = D.clone();
  subtract_product(Op::none, C, X, off);
  double error = 0;
  for (index_t k = 0; k < x.cols(); ++k) worst(error, norm(off, k), norm(C) * norm(X, k) + norm(D, k));
  return error;
}

}  // namespace

template <class T>
LseError lse_error(const RowBlocks<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& c, const HostMatrix<T>& d,
                   const HostMatrix<T>& x, const HostMatrix<T>& multipliers, const std::vector<int>& exponents,
                   const std::vector<int>& row_exponents) {
  const blas::Threads threads(blas::all_cores());
  const index_t m = b.rows(), n = x.rows(), r = x.cols(), p = c.rows();
  // Columns of A, and then rows of C, are scaled to size 1; column j of x, b, d and the residual has units of
  // 2^unit(j).
  using Number = with_parts<T, double>;
  std::vector<real_t<T>> most(at(n));
  a([&](index_t, const Block<const T>& rows) {
    for (index_t j = 0; j < rows.cols; ++j)
      for (index_t i = 0; i < rows.rows; ++i) most[at(j)] = std::max(most[at(j)], largest_part(rows(i, j)));
  });
  std::vector<int> of_a, of_x, of_c;
  for (index_t j = 0; j < n; ++j) of_a.push_back(largest_exponent(1, &most[at(j)]));
  for (index_t i = 0; i < p; ++i) {
    int size = -100000;
    for (index_t j = 0; j < n; ++j)
      if (c(i, j) != T(0)) size = std::max(size, std::ilogb(largest_part(c(i, j))) - of_a[at(j)]);
    of_c.push_back(size == -100000 ? 0 : size);
  }
  for (index_t k = 0; k < r; ++k) {
    int size = -100000;
    for (index_t j = 0; j < n; ++j)
      if (x(j, k) != T(0)) size = std::max(size, std::ilogb(largest_part(x(j, k))) + of_a[at(j)]);
    if (m > 0) size = std::max(size, largest_exponent(m, b.data() + k * b.ld()));
    of_x.push_back(size == -100000 ? 0 : size);
  }
  const auto unit = [&](index_t k) { return of_x[at(k)]; };
  const Wide<T> C = divided(c, [&](index_t i, index_t j) { return of_c[at(i)] + of_a[at(j)]; }),
                X = divided(x, [&](index_t j, index_t k) { return unit(k) - of_a[at(j)]; }),
                B = divided(b, [&](index_t, index_t k) { return unit(k); });
  Wide<T> left = B.clone(), gradient = Wide<T>::zeros(n, r);
  double norm_a = 0;
  a([&](index_t first, const Block<const T>& rows) {
    const Wide<T> block = filled<Number>(
        {rows.rows, n}, [&](index_t i, index_t j) { return times_power_of_two(Number(rows(i, j)), -of_a[at(j)]); });
    norm_a = std::hypot(norm_a, norm(block));
    if (block.size() == 0 || r == 0) return;
    Number* const residual = left.data() + first;
    blas::gemm(Op::none, Op::none, rows.rows, r, n, Number(-1), block.data(), block.ld(), X.data(), X.ld(), Number(1),
               residual, left.ld());
    blas::gemm(adjoint<T>, Op::none, n, r, rows.rows, Number(1), block.data(), block.ld(), residual, left.ld(),
               Number(1), gradient.data(), gradient.ld());
  });
  const bool optimal = multipliers.cols() == r && multipliers.rows() == p;
  Wide<T> L;
  if (optimal) {
    L = divided(multipliers,
                [&](index_t i, index_t k) { return unit(k) - of_c[at(i)] - exponents[at(k)] - row_exponents[at(i)]; });
    subtract_product(adjoint<T>, C, L, gradient);
  }
  LseError error;
  int largest = std::numeric_limits<int>::min(), smallest = std::numeric_limits<int>::max();
  for (index_t j = 0; j < n; ++j)
    if (most[at(j)] > 0) largest = std::max(largest, of_a[at(j)]), smallest = std::min(smallest, of_a[at(j)]);
  if (largest >= smallest) error.column_ratio = std::ldexp(1.0, largest - smallest);
  error.constraint = constraint_error(c, d, x);
  const double norm_c = norm(C);
  for (index_t k = 0; k < r; ++k) {
    error.residual_norm = std::hypot(error.residual_norm, std::ldexp(norm(left, k), unit(k)));
    const double data = norm_a * norm(X, k) + norm(B, k);
    const auto rounding = static_cast<double>(std::max(m, n)) * std::numeric_limits<real_t<T>>::epsilon();
    if (!optimal || norm(left, k) <= rounding * data) continue;
    const double size = norm_a * norm(left, k) + norm_c * norm(L, k);
    worst(error.optimality, norm(gradient, k), std::max(size, norm_a * data));
  }
  return error;
}

template <class T>
LseError lse_error(const HostMatrix<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& c, const HostMatrix<T>& d,
                   const HostMatrix<T>& x, const HostMatrix<T>& multipliers, const std::vector<int>& exponents,
                   const std::vector<int>& row_exponents) {
  const RowBlocks<T> whole = [&](const auto& use) { use(0, {a.data(), a.rows(), a.cols(), a.ld()}); };
  return lse_error(whole, b, c, d, x, multipliers, exponents, row_exponents);
}

#define TESELA_INSTANTIATE(T)                                                                                         \
  template LseError lse_error(const RowBlocks<T>&, const HostMatrix<T>&, const HostMatrix<T>&, const HostMatrix<T>&,  \
                              const HostMatrix<T>&, const HostMatrix<T>&, const std::vector<int>&,                    \
                              const std::vector<int>&);                                                               \
  template LseError lse_error(const HostMatrix<T>&, const HostMatrix<T>&, const HostMatrix<T>&, const HostMatrix<T>&, \
                              const HostMatrix<T>&, const HostMatrix<T>&, const std::vector<int>&,                    \
                              const std::vector<int>&);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
