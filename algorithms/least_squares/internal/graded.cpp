#include <tesela/algorithms/least_squares/internal/graded.hpp>
#include <tesela/algorithms/least_squares/internal/scaled_rows.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/row_basis.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace tesela::detail {

using namespace kernels;
namespace {

std::vector<index_t> large_first(const std::vector<int>& sizes) {
  std::vector<index_t> order(sizes.size());
  std::iota(order.begin(), order.end(), index_t{0});
  std::stable_sort(order.begin(), order.end(), [&](index_t a, index_t b) { return sizes[at(a)] > sizes[at(b)]; });
  return order;
}

/// B2 = Q [N; 0] with an N of full row rank, and QR of N^H with rows sorted by size and columns pivoted.
template <class T>
struct GradedRows {
  int exponent = 0;   // exponent of the largest column
  RowBasis<T> basis;  // basis of the rows of B2 with columns of size 1; values below about rcond sqrt(p) count as zero
  std::vector<index_t> order, pivots;
  HostMatrix<T> factors;  // factors of N^H in units of 2^exponent; row i belongs to column order[i]
  std::vector<T> tau;

  GradedRows(HostMatrix<T> B2, const std::vector<int>& of_columns, double rcond)
      : exponent(of_columns.empty() ? 0 : *std::max_element(of_columns.begin(), of_columns.end())),
        basis(basis_of(std::move(B2), of_columns, rcond)),
        order(large_first(of_columns)),
        factors(std::ssize(of_columns), basis.rank),
        tau(at(basis.rank)) {
    const index_t p = factors.rows(), rank = basis.rank;
    for (index_t j = 0; j < rank; ++j)
      for (index_t i = 0; i < p; ++i)
        factors(i, j) = times_power_of_two(conj(basis.N(j, order[at(i)])), of_columns[at(order[at(i)])] - exponent);
    if (rank > 0) lapack::geqp3(p, rank, factors.data(), factors.ld(), pivots, tau.data());
  }

  /// Sets X = op(Q') X for an X of p rows; N^H = Q' R.
  void apply(Op op, HostMatrix<T>& X) const {
    if (X.size() > 0 && basis.rank > 0)
      lapack::ormqr(op, X.rows(), X.cols(), basis.rank, factors.data(), factors.ld(), tau.data(), X.data(), X.ld());
  }

 private:
  static RowBasis<T> basis_of(HostMatrix<T> B2, const std::vector<int>& of_columns, double rcond) {
    for (index_t j = 0; j < B2.cols(); ++j)
      for (index_t i = 0; i < B2.rows(); ++i) B2(i, j) = times_power_of_two(B2(i, j), -of_columns[at(j)]);
    const double norm = static_cast<double>(euclidean_norm(B2.size(), B2.data())),
                 most = std::sqrt(static_cast<double>(B2.cols()));
    return {std::move(B2), norm > 0 ? std::min(1.0, rcond * std::max(1.0, most / norm)) : rcond};
  }
};

}  // namespace

template <class T>
LeastNorm<T> graded_least_norm(HostMatrix<T> B2, std::vector<int> of_columns, const HostMatrix<T>& C2, double rcond,
                               bool multipliers) {
  const index_t q = B2.rows(), p = B2.cols(), r = C2.cols();
  LeastNorm<T> s;
  s.exponent = p > 0 ? *std::max_element(of_columns.begin(), of_columns.end()) : 0;
  s.norm = std::ldexp(static_cast<double>(euclidean_norm(B2.size(), B2.data())), -s.exponent);
  s.U = HostMatrix<T>::zeros(p, r);
  s.L = HostMatrix<T>::zeros(multipliers ? q : 0, multipliers ? r : 0);
  HostMatrix<T> c = C2.clone();
  if (q == 0 || p == 0) {
    for (const real_t<T> norm : column_norms(c)) s.distances.push_back(static_cast<double>(norm));
    return s;
  }
  const GradedRows<T> rows(std::move(B2), of_columns, rcond);
  const RowBasis<T>& basis = rows.basis;
  const index_t rank = s.rank = basis.rank;
  s.condition = basis.condition;
  s.cut = basis.cut / std::sqrt(static_cast<double>(p)) * s.norm;
  basis.apply(adjoint<T>, c);
  for (index_t k = 0; k < r; ++k)
    s.distances.push_back(static_cast<double>(q > rank ? euclidean_norm(q - rank, &c(rank, k)) : 0));
  if (rank == 0 || r == 0) return s;

  const HostMatrix<T>& G = rows.factors;
  HostMatrix<T> w = HostMatrix<T>::zeros(p, r);
  for (index_t k = 0; k < r; ++k)
    for (index_t j = 0; j < rank; ++j) w(j, k) = c(rows.pivots[at(j)], k);
  blas::trsm(adjoint<T>, rank, r, G.data(), G.ld(), w.data(), w.ld());
  if (multipliers) {
    HostMatrix<T> l = w.clone();
    blas::trsm(Op::none, rank, r, G.data(), G.ld(), l.data(), l.ld());
    for (index_t k = 0; k < r; ++k)
      for (index_t j = 0; j < rank; ++j) s.L(rows.pivots[at(j)], k) = l(j, k);
    basis.apply(Op::none, s.L);
  }
  rows.apply(Op::none, w);
  for (index_t k = 0; k < r; ++k)
    for (index_t i = 0; i < p; ++i) s.U(rows.order[at(i)], k) = w(i, k);
  return s;
}

template <class T>
HostMatrix<T> graded_null_space_part(const HostMatrix<T>& B, index_t first, const std::vector<int>& of_columns,
                                     double rcond) {
  const index_t q = B.rows() - first, p = B.cols();
  HostMatrix<T> below(q, p), above(p, first);
  for (index_t j = 0; j < p && q > 0; ++j) std::copy_n(&B(first, j), q, &below(0, j));
  const GradedRows<T> rows(std::move(below), of_columns, rcond);
  for (index_t i = 0; i < p; ++i)
    for (index_t j = 0; j < first; ++j) above(i, j) = times_power_of_two(conj(B(j, rows.order[at(i)])), -rows.exponent);
  rows.apply(adjoint<T>, above);
  const index_t rank = rows.basis.rank;
  HostMatrix<T> result(first, p - rank);
  for (index_t j = 0; j < p - rank; ++j)
    for (index_t i = 0; i < first; ++i) result(i, j) = times_power_of_two(conj(above(rank + j, i)), rows.exponent);
  return result;
}

namespace {

template <class T>
std::vector<RowsOfSize<T>> classes_of(const HostMatrix<T>& A, const std::vector<index_t>& order,
                                      const std::vector<int>& exponents) {
  std::vector<RowsOfSize<T>> classes;
  for (auto first = order.begin(); first != order.end();) {
    const int e = exponents[at(*first)];
    const auto end = std::find_if(first, order.end(), [&](index_t i) {  // zero rows are in the last class
      return exponents[at(i)] != std::numeric_limits<int>::min() && exponents[at(i)] <= e - class_width<T>;
    });
    HostMatrix<T> rows(end - first, A.cols());
    for (index_t i = 0; i < rows.rows(); ++i)
      for (index_t j = 0; j < A.cols(); ++j) rows(i, j) = times_power_of_two(A(*(first + i), j), -e);
    classes.push_back({e, std::move(rows)});
    first = end;
  }
  return classes;
}

template <class T>
HostMatrix<T> rows_in_order(const HostMatrix<T>& X, const std::vector<index_t>& order, bool back) {
  HostMatrix<T> result(X.rows(), X.cols());
  for (index_t j = 0; j < X.cols(); ++j)
    for (index_t i = 0; i < X.rows(); ++i)
      if (back)
        result(order[at(i)], j) = X(i, j);
      else
        result(i, j) = X(order[at(i)], j);
  return result;
}

}  // namespace

template <class T>
GradedRowsOfA<T>::GradedRowsOfA(HostMatrix<T> A, const std::vector<int>& exponents, double rcond)
    : order_(large_first(exponents)), qr_(classes_of(A, order_, exponents), rcond) {}

template <class T>
void GradedRowsOfA<T>::apply(Op op, HostMatrix<T>& X) const {
  if (op != Op::none) X = rows_in_order(X, order_, false);
  qr_.apply(op, X);
  if (op == Op::none) X = rows_in_order(X, order_, true);
}

TESELA_FUNCTIONS_FOR_NUMBERS(graded_null_space_part, graded_least_norm)
TESELA_CLASSES_FOR_NUMBERS(GradedRowsOfA)

}  // namespace tesela::detail
