#include "codelets/minimum_norm.hpp"

#include "codelets/blas.hpp"
#include "codelets/lapack.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela {
namespace {

/// Divides each column by its norm; zero columns stay.
template <class T>
std::vector<T> scale_to_unit_columns(HostMatrix<T>& a) {
  std::vector<T> norms = column_norms(a);
  for (index_t j = 0; j < a.cols(); ++j)
    if (const T norm = norms[static_cast<std::size_t>(j)]; norm != T(0))
      for (index_t i = 0; i < a.rows(); ++i) a(i, j) /= norm;
  return norms;
}

template <class T>
void clear_below_diagonal(HostMatrix<T>& a) {
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = j + 1; i < a.rows(); ++i) a(i, j) = T(0);
}

/// The order of the largest leading triangle with a condition number below 1 / rcond (LAPACK gelsy's loop).
template <class T>
index_t leading_rank(const HostMatrix<T>& R, double rcond) {
  if (R.size() == 0 || R(0, 0) == T(0)) return 0;
  T smallest = std::abs(R(0, 0)), largest = smallest;
  std::vector<T> x_smallest{1}, x_largest{1};
  index_t rank = 1;
  for (; rank < std::min(R.rows(), R.cols()); ++rank) {
    const T* column = R.data() + rank * R.ld();
    lapack::laic1(false, x_smallest, smallest, column, column[rank]);
    lapack::laic1(true, x_largest, largest, column, column[rank]);
    if (!(static_cast<double>(largest) * rcond <= static_cast<double>(smallest))) break;
  }
  return rank;
}

/// Whether ||x||_2 in the units of x as they are can be minimized: see minimum_norm.
template <class T>
bool comparable(const std::vector<T>& norms) {
  T least = std::numeric_limits<T>::infinity(), most = 0;
  for (const T norm : norms)
    if (norm != T(0)) least = std::min(least, norm), most = std::max(most, norm);
  return most <= least / std::sqrt(std::numeric_limits<T>::epsilon());
}

}  // namespace

template <class T>
T euclidean_norm(index_t n, const T* x) {
  return n == 0 ? T(0) : blas::nrm2(n, x);
}

template <class T>
std::vector<T> column_norms(const HostMatrix<T>& a) {
  std::vector<T> norms(static_cast<std::size_t>(a.cols()));
  for (index_t j = 0; j < a.cols(); ++j)
    norms[static_cast<std::size_t>(j)] = euclidean_norm(a.rows(), a.data() + j * a.ld());
  return norms;
}

template <class T>
bool all_finite(const HostMatrix<T>& a) {
  for (index_t k = 0; k < a.size(); ++k)
    if (!std::isfinite(a.data()[k])) return false;
  return true;
}

template <class T>
double triangle_condition(const HostMatrix<T>& R, bool unit_columns) {
  HostMatrix<T> copy = R.clone();
  clear_below_diagonal(copy);
  if (unit_columns) scale_to_unit_columns(copy);
  const double reciprocal = lapack::trcon(copy.cols(), copy.data(), copy.ld());
  return reciprocal > 0 ? 1 / reciprocal : std::numeric_limits<double>::infinity();
}

template <class T>
MinimumNorm<T> minimum_norm(HostMatrix<T> R, HostMatrix<T> C, double rcond) {
  const index_t k = R.rows(), n = R.cols(), r = C.cols();
  clear_below_diagonal(R);
  const std::vector<T> norms = scale_to_unit_columns(R);
  std::vector<index_t> pivots;
  std::vector<T> tau(static_cast<std::size_t>(std::min(k, n)));
  if (R.size() > 0) {
    lapack::geqp3(k, n, R.data(), R.ld(), pivots, tau.data());
    lapack::ormqr(Op::transpose, k, r, std::min(k, n), R.data(), R.ld(), tau.data(), C.data(), C.ld());
  }
  MinimumNorm<T> result{HostMatrix<T>::zeros(n, r), leading_rank(R, rcond), {}, true};
  const index_t rank = result.rank;
  result.residual_norms.resize(static_cast<std::size_t>(r));
  for (index_t j = 0; j < r; ++j)
    if (rank < k) result.residual_norms[static_cast<std::size_t>(j)] = euclidean_norm(k - rank, &C(rank, j));
  if (rank == 0) return result;

  // A square triangle leaves no choice between solutions, and is solved best as it is scaled.
  const bool choice = rank < n;
  result.original_units = !choice || comparable(norms);
  const bool unscale = choice && result.original_units;
  HostMatrix<T> K(rank, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < rank; ++i)
      K(i, j) = i > j     ? T(0)
                : unscale ? R(i, j) * norms[static_cast<std::size_t>(pivots[static_cast<std::size_t>(j)])]
                          : R(i, j);
  if (choice) lapack::tzrzf(rank, n, K.data(), K.ld(), tau.data());
  HostMatrix<T> Y = HostMatrix<T>::zeros(n, r);
  for (index_t j = 0; j < r; ++j)
    for (index_t i = 0; i < rank; ++i) Y(i, j) = C(i, j);
  if (r == 0) return result;
  blas::trsm(Op::none, rank, r, K.data(), K.ld(), Y.data(), Y.ld());
  if (choice) lapack::ormrz(rank, n, r, K.data(), K.ld(), tau.data(), Y.data(), Y.ld());
  for (index_t i = 0; i < n; ++i) {
    const index_t unknown = pivots[static_cast<std::size_t>(i)];
    const T norm = norms[static_cast<std::size_t>(unknown)];
    for (index_t j = 0; j < r; ++j) result.X(unknown, j) = norm == T(0) ? T(0) : unscale ? Y(i, j) : Y(i, j) / norm;
  }
  return result;
}

template float euclidean_norm(index_t, const float*);
template double euclidean_norm(index_t, const double*);
template std::vector<float> column_norms(const HostMatrix<float>&);
template std::vector<double> column_norms(const HostMatrix<double>&);
template bool all_finite(const HostMatrix<float>&);
template bool all_finite(const HostMatrix<double>&);
template double triangle_condition(const HostMatrix<float>&, bool);
template double triangle_condition(const HostMatrix<double>&, bool);
template MinimumNorm<float> minimum_norm(HostMatrix<float>, HostMatrix<float>, double);
template MinimumNorm<double> minimum_norm(HostMatrix<double>, HostMatrix<double>, double);

}  // namespace tesela
