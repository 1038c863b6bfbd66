#include "tools/checks/glm_error.hpp"

#include <tesela/host/blas.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela {

using namespace kernels;
namespace {

/// The type of a matrix in double precision.
template <class T>
using Wide = HostMatrix<with_parts<T, double>>;

template <class T>
with_parts<T, double> times_two_to(T x, int exponent) {
  return times_power_of_two(with_parts<T, double>(x), exponent);
}

/// A in double precision, scaled to size 1; 2^exponent times it is the original.
template <class T>
struct Scaled {
  Wide<T> a;
  int exponent = 0;
  double norm = 0;
};

template <class T>
Scaled<T> scaled(const HostMatrix<T>& a) {
  Scaled<T> result{Wide<T>(a.rows(), a.cols()), largest_exponent(a.size(), a.data()), 0};
  for (index_t k = 0; k < a.size(); ++k) result.a.data()[k] = times_two_to(a.data()[k], -result.exponent);
  result.norm = euclidean_norm(result.a.size(), result.a.data());
  return result;
}

/// C += alpha op(A) op(B).
template <class N>
void add_product(double alpha, Op op_a, const HostMatrix<N>& a, Op op_b, const HostMatrix<N>& b, HostMatrix<N>& c) {
  const index_t k = apply(op_a, a.shape()).cols;
  if (c.size() > 0 && k > 0)
    blas::gemm(op_a, op_b, c.rows(), c.cols(), k, N(alpha), a.data(), a.ld(), b.data(), b.ld(), N(1), c.data(), c.ld());
}

double ratio(double error, double size) { return error == 0 ? 0 : error / size; }

/// Returns ||I - X^H X||_F.
template <class N>
double orthogonality(const HostMatrix<N>& x) {
  HostMatrix<N> gram = HostMatrix<N>::zeros(x.cols(), x.cols());
  add_product(-1, adjoint<N>, x, Op::none, x, gram);
  for (index_t i = 0; i < x.cols(); ++i) gram(i, i) += 1;
  return euclidean_norm(gram.size(), gram.data());
}

/// The result of scaled() for each column.
template <class T>
struct ScaledColumns {
  Wide<T> a;
  std::vector<int> exponents;
};

template <class T>
ScaledColumns<T> scaled_columns(const HostMatrix<T>& a) {
  ScaledColumns<T> result{Wide<T>(a.rows(), a.cols()), {}};
  for (index_t j = 0; j < a.cols(); ++j) {
    result.exponents.push_back(largest_exponent(a.rows(), a.data() + j * a.ld()));
    for (index_t i = 0; i < a.rows(); ++i) result.a(i, j) = times_two_to(a(i, j), -result.exponents.back());
  }
  return result;
}

template <class T>
Wide<T> times_two_to(const HostMatrix<T>& x, const auto& exponent) {
  Wide<T> result(x.rows(), x.cols());
  for (index_t j = 0; j < x.cols(); ++j)
    for (index_t i = 0; i < x.rows(); ++i) result(i, j) = times_two_to(x(i, j), exponent(j));
  return result;
}

constexpr int no_exponent = std::numeric_limits<int>::min();  // of a row of zeros

/// Returns the exponents of the rows' largest elements; empty unless they differ by more than `little`.
template <class N>
std::vector<int> sizes_of_rows(const HostMatrix<N>& a, int little) {
  std::vector<int> sizes(static_cast<std::size_t>(a.rows()), no_exponent);
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < a.rows(); ++i)
      if (a(i, j) != N(0)) {
        int& size = sizes[static_cast<std::size_t>(i)];
        size = std::max(size, std::ilogb(largest_part(a(i, j))));
      }
  int least = std::numeric_limits<int>::max(), most = no_exponent;
  for (const int size : sizes)
    if (size != no_exponent) least = std::min(least, size), most = std::max(most, size);
  if (most == no_exponent || most - least <= little) return {};
  for (int& size : sizes) size = size == no_exponent ? 0 : size - most;
  return sizes;
}

template <class N>
void divide_rows(HostMatrix<N>& x, const std::vector<int>& exponents, int sign = 1) {
  for (index_t j = 0; j < x.cols(); ++j)
    for (std::size_t i = 0; i < exponents.size(); ++i) {
      N& element = x(static_cast<index_t>(i), j);
      element = times_power_of_two(element, -sign * exponents[i]);
    }
}

template <class N>
std::vector<double> row_norms(const HostMatrix<N>& a) {
  std::vector<double> norms(static_cast<std::size_t>(a.rows()), 0.0);
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < a.rows(); ++i) {
      double& norm = norms[static_cast<std::size_t>(i)];
      norm = std::hypot(norm, std::abs(a(i, j)));
    }
  return norms;
}

/// Sizes that bound A x: norms of A and of its rows, and of each x, in the same units of the unknowns.
struct Sizes {
  double a = 0;
  std::vector<double> rows, x;
};

/// Returns the sizes, with columns times 2^exponents[j] and unknowns divided by them.
template <class N>
Sizes sizes_of(const HostMatrix<N>& a, const HostMatrix<N>& x, const std::vector<int>& exponents) {
  HostMatrix<N> A = a.clone(), X = x.clone();
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < a.rows(); ++i)
      A(i, j) = times_power_of_two(A(i, j), exponents[static_cast<std::size_t>(j)]);
  divide_rows(X, exponents);
  return {euclidean_norm(A.size(), A.data()), row_norms(A), column_norms(X)};
}

/// Returns exponents relative to the largest exponent of a nonzero column; 0 for zero columns.
template <class N>
std::vector<int> relative_exponents(const ScaledColumns<N>& A) {
  const std::vector<double> norms = column_norms(A.a);
  std::vector<int> exponents(norms.size(), 0);
  int most = no_exponent;
  for (std::size_t j = 0; j < norms.size(); ++j)
    if (norms[j] > 0) most = std::max(most, A.exponents[j]);
  for (std::size_t j = 0; j < norms.size(); ++j)
    if (norms[j] > 0) exponents[j] = A.exponents[j] - most;
  return exponents;
}

void update_nan_max(double& most, double error) {
  if (!(error <= most)) most = error;
}

}  // namespace

template <class T>
GlmError glm_error(const HostMatrix<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& rhs, const HostMatrix<T>& x,
                   const HostMatrix<T>& u, const HostMatrix<T>& multipliers, const std::vector<int>& exponents,
                   bool least_norm) {
  const blas::Threads threads(blas::all_cores());
  constexpr int little = std::numeric_limits<real_t<T>>::digits / 4;
  ScaledColumns<T> A = scaled_columns(a);
  Scaled<T> B = scaled(b);
  std::vector<int> units;  // units of an equation's largest term: terms may overflow
  for (index_t k = 0; k < rhs.cols(); ++k) {
    int unit = largest_exponent(rhs.rows(), rhs.data() + k * rhs.ld());
    for (index_t j = 0; j < x.rows(); ++j)
      if (x(j, k) != T(0))
        unit = std::max(unit, A.exponents[static_cast<std::size_t>(j)] + std::ilogb(largest_part(x(j, k))));
    for (index_t j = 0; j < u.rows(); ++j)
      if (u(j, k) != T(0)) unit = std::max(unit, B.exponent + std::ilogb(largest_part(u(j, k))));
    units.push_back(unit);
  }
  const auto unit = [&](index_t j) { return units[static_cast<std::size_t>(j)]; };
  Wide<T> rest = times_two_to(rhs, [&](index_t j) { return -unit(j); });
  // Rows are divided by the sizes of B's rows, as in glm().
  const std::vector<int> of_rows = sizes_of_rows(B.a, little);
  for (Wide<T>* const matrix : {&A.a, &B.a, &rest}) divide_rows(*matrix, of_rows);
  const std::vector<int> of_a = sizes_of_rows(A.a, little);
  B.norm = euclidean_norm(B.a.size(), B.a.data());
  Wide<T> X(x.rows(), x.cols());
  for (index_t k = 0; k < x.cols(); ++k)
    for (index_t j = 0; j < x.rows(); ++j)
      X(j, k) = times_two_to(x(j, k), A.exponents[static_cast<std::size_t>(j)] - unit(k));
  const Wide<T> U = times_two_to(u, [&](index_t j) { return B.exponent - unit(j); }), C = rest.clone();
  // An x of least norm has errors of the size of its largest element.
  const Sizes sizes = sizes_of(A.a, X, least_norm ? relative_exponents(A) : std::vector<int>(A.exponents.size(), 0));
  const auto c_norms = column_norms(rest), u_norms = column_norms(U);
  add_product(-1, Op::none, A.a, Op::none, X, rest);
  add_product(-1, Op::none, B.a, Op::none, U, rest);
  GlmError result;
  const auto r_norms = column_norms(rest);
  const std::vector<double> b_rows = row_norms(B.a);
  for (std::size_t j = 0; j < r_norms.size(); ++j) {
    if (of_a.empty())
      update_nan_max(result.constraint, ratio(r_norms[j], sizes.a * sizes.x[j] + B.norm * u_norms[j] + c_norms[j]));
    for (std::size_t i = 0; i < of_a.size(); ++i) {
      const auto row = static_cast<index_t>(i), column = static_cast<index_t>(j);
      update_nan_max(result.constraint,
                     ratio(std::abs(rest(row, column)),
                           sizes.rows[i] * sizes.x[j] + b_rows[i] * u_norms[j] + std::abs(C(row, column))));
    }
  }
  if (multipliers.cols() != rhs.cols()) return result;

  Wide<T> L = times_two_to(
      multipliers, [&](index_t j) { return exponents[static_cast<std::size_t>(j)] + 2 * B.exponent - unit(j); });
  divide_rows(L, of_rows, -1);
  Wide<T> gradient = Wide<T>::zeros(a.cols(), rhs.cols()), difference = U.clone();
  add_product(-1, adjoint<T>, B.a, Op::none, L, difference);
  const auto l_norms = column_norms(L), d_norms = column_norms(difference);
  divide_rows(A.a, of_a);
  divide_rows(L, of_a, -1);
  add_product(1, adjoint<T>, A.a, Op::none, L, gradient);
  const auto weighted = column_norms(L), g_norms = column_norms(gradient);
  const double norm_a = euclidean_norm(A.a.size(), A.a.data());
  for (std::size_t j = 0; j < l_norms.size(); ++j) {
    update_nan_max(result.gradient, ratio(g_norms[j], norm_a * weighted[j]));
    update_nan_max(result.optimality, result.gradient);
    update_nan_max(result.optimality, ratio(d_norms[j], u_norms[j]));
    update_nan_max(result.optimality_scale, ratio(B.norm * l_norms[j], u_norms[j]));
  }
  return result;
}

template <class T>
GqrError gqr_error(const HostMatrix<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& q, const HostMatrix<T>& r,
                   const HostMatrix<T>& s, const HostMatrix<T>& v) {
  const blas::Threads threads(blas::all_cores());
  const Scaled<T> A = scaled(a), B = scaled(b);
  const auto as_it_is = [](index_t) { return 0; };
  const Wide<T> Q = times_two_to(q, as_it_is), V = times_two_to(v, as_it_is),
                S = times_two_to(s, [&](index_t) { return -B.exponent; });
  Wide<T> R = Wide<T>::zeros(a.rows(), a.cols()), QS = Wide<T>::zeros(s.rows(), s.cols());
  for (index_t j = 0; j < r.cols(); ++j)
    for (index_t i = 0; i < std::min(j + 1, r.rows()); ++i) R(i, j) = times_two_to(r(i, j), -A.exponent);
  Wide<T> rest_a = A.a.clone(), rest_b = B.a.clone();
  add_product(-1, Op::none, Q, Op::none, R, rest_a);
  add_product(1, Op::none, Q, Op::none, S, QS);
  add_product(-1, Op::none, QS, adjoint<T>, V, rest_b);
  return {ratio(euclidean_norm(rest_a.size(), rest_a.data()), A.norm),
          ratio(euclidean_norm(rest_b.size(), rest_b.data()), B.norm), orthogonality(Q), orthogonality(V)};
}

TESELA_FUNCTIONS_FOR_NUMBERS(gqr_error)
#define TESELA_INSTANTIATE(T)                                                                                         \
  template GlmError glm_error(const HostMatrix<T>&, const HostMatrix<T>&, const HostMatrix<T>&, const HostMatrix<T>&, \
                              const HostMatrix<T>&, const HostMatrix<T>&, const std::vector<int>&, bool);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
