#include <tesela/algorithms/least_squares/internal/graded_least_norm.hpp>
#include <tesela/codelets/least_squares/row_basis.hpp>
#include <tesela/codelets/libraries/blas.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tesela::detail {

using namespace kernels;
namespace {

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

std::vector<index_t> large_first(const std::vector<int>& sizes) {
  std::vector<index_t> order(sizes.size());
  std::iota(order.begin(), order.end(), index_t{0});
  std::stable_sort(order.begin(), order.end(), [&](index_t a, index_t b) { return sizes[at(a)] > sizes[at(b)]; });
  return order;
}

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
    for (const T norm : column_norms(c)) s.distances.push_back(static_cast<double>(norm));
    return s;
  }
  for (index_t j = 0; j < p; ++j)
    for (index_t i = 0; i < q; ++i) B2(i, j) = std::ldexp(B2(i, j), -of_columns[at(j)]);
  // Of columns of size 1, p together: what is below that is rounding.
  const double norm = static_cast<double>(euclidean_norm(B2.size(), B2.data())),
               most = std::sqrt(static_cast<double>(p));
  const RowBasis<T> basis(std::move(B2), norm > 0 ? std::min(1.0, rcond * std::max(1.0, most / norm)) : rcond);
  const index_t rank = s.rank = basis.rank;
  s.condition = basis.condition;
  s.cut = basis.cut / most * s.norm;
  basis.apply(Op::transpose, c);
  for (index_t k = 0; k < r; ++k)
    s.distances.push_back(static_cast<double>(q > rank ? euclidean_norm(q - rank, &c(rank, k)) : T(0)));
  if (rank == 0 || r == 0) return s;

  // The basis' rows in B2's own column sizes, transposed, large rows first.
  const std::vector<index_t> order = large_first(of_columns);
  std::vector<index_t> pivots;
  HostMatrix<T> G(p, rank);
  for (index_t j = 0; j < rank; ++j)
    for (index_t i = 0; i < p; ++i)
      G(i, j) = std::ldexp(basis.N(j, order[at(i)]), of_columns[at(order[at(i)])] - s.exponent);
  std::vector<T> tau(at(rank));
  lapack::geqp3(p, rank, G.data(), G.ld(), pivots, tau.data());
  HostMatrix<T> w = HostMatrix<T>::zeros(p, r);
  for (index_t k = 0; k < r; ++k)
    for (index_t j = 0; j < rank; ++j) w(j, k) = c(pivots[at(j)], k);
  blas::trsm(Op::transpose, rank, r, G.data(), G.ld(), w.data(), w.ld());
  if (multipliers) {
    HostMatrix<T> l = w.clone();
    blas::trsm(Op::none, rank, r, G.data(), G.ld(), l.data(), l.ld());
    for (index_t k = 0; k < r; ++k)
      for (index_t j = 0; j < rank; ++j) s.L(pivots[at(j)], k) = l(j, k);
    basis.apply(Op::none, s.L);
  }
  lapack::ormqr(Op::none, p, r, rank, G.data(), G.ld(), tau.data(), w.data(), w.ld());
  for (index_t k = 0; k < r; ++k)
    for (index_t i = 0; i < p; ++i) s.U(order[at(i)], k) = w(i, k);
  return s;
}

template <class T>
HostMatrix<T> graded_beyond(const HostMatrix<T>& B, index_t first, const std::vector<int>& of_columns) {
  const index_t q = B.rows() - first, p = B.cols();
  if (p <= q || first == 0) return HostMatrix<T>(first, std::max<index_t>(p - q, 0));
  const int most = *std::max_element(of_columns.begin(), of_columns.end());
  const std::vector<index_t> order = large_first(of_columns);
  HostMatrix<T> below(p, q), above(p, first);
  for (index_t i = 0; i < p; ++i)
    for (index_t j = 0; j < B.rows(); ++j)
      (j < first ? above(i, j) : below(i, j - first)) = std::ldexp(B(j, order[at(i)]), -most);
  std::vector<index_t> pivots;
  std::vector<T> tau(at(q));
  if (q > 0) {
    lapack::geqp3(p, q, below.data(), below.ld(), pivots, tau.data());
    lapack::ormqr(Op::transpose, p, first, q, below.data(), below.ld(), tau.data(), above.data(), above.ld());
  }
  HostMatrix<T> result(first, p - q);
  for (index_t j = 0; j < p - q; ++j)
    for (index_t i = 0; i < first; ++i) result(i, j) = std::ldexp(above(q + j, i), most);
  return result;
}

template HostMatrix<float> graded_beyond(const HostMatrix<float>&, index_t, const std::vector<int>&);
template HostMatrix<double> graded_beyond(const HostMatrix<double>&, index_t, const std::vector<int>&);
template LeastNorm<float> graded_least_norm(HostMatrix<float>, std::vector<int>, const HostMatrix<float>&, double,
                                            bool);
template LeastNorm<double> graded_least_norm(HostMatrix<double>, std::vector<int>, const HostMatrix<double>&, double,
                                             bool);

}  // namespace tesela::detail
