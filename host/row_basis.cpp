#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/host/rank_revealing.hpp>
#include <tesela/host/row_basis.hpp>

#include <algorithm>
#include <limits>

namespace tesela::kernels {
namespace {

/// Returns whether the rows are an upper trapezoid, with no more rows than columns.
template <class T>
bool trapezoid(const HostMatrix<T>& rows) {
  if (rows.rows() > rows.cols()) return false;
  for (index_t j = 0; j < rows.rows(); ++j)
    for (index_t i = j + 1; i < rows.rows(); ++i)
      if (rows(i, j) != T(0)) return false;
  return true;
}

}  // namespace

template <class T>
RowBasis<T>::RowBasis(HostMatrix<T> rows, double rcond) {
  const index_t q = rows.rows(), n = rows.cols(), k = std::min(q, n);
  const bool factored = trapezoid(rows);
  q_vectors_ = std::move(rows);
  if (k == 0) return;
  if (!factored) {
    tau_.resize(static_cast<std::size_t>(k));
    lapack::geqrf(q, n, q_vectors_.data(), q_vectors_.ld(), tau_.data());
  }
  HostMatrix<T> R = HostMatrix<T>::zeros(k, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i <= std::min(j, k - 1); ++i) R(i, j) = q_vectors_(i, j);
  if (k == n) {
    condition = triangle_condition(R, false);
    if (10 * rcond * condition < 1) {
      rank = k;
      N = std::move(R);
      return;
    }
  }
  turn_ = HostMatrix<T>::zeros(k, k);
  for (index_t i = 0; i < k; ++i) turn_(i, i) = T(1);
  const RankRevealed found = reveal_rank(R, turn_, rcond);
  rank = found.rank;
  cut = found.cut;
  const std::vector<double>& values = found.singular_values;
  if (!values.empty())
    condition = values.back() > 0 ? values.front() / values.back() : std::numeric_limits<double>::infinity();
  N = HostMatrix<T>::zeros(rank, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i <= std::min(j, rank - 1); ++i) N(i, found.pivots[static_cast<std::size_t>(j)]) = R(i, j);
}

template <class T>
void RowBasis<T>::apply(Op op, HostMatrix<T>& X) const {
  const index_t q = q_vectors_.rows(), r = X.cols(), k = turn_.rows();
  if (X.size() == 0) return;
  const auto by_turn = [&](Op how) {
    if (k == 0) return;
    HostMatrix<T> top(k, r);
    for (index_t j = 0; j < r; ++j) std::copy_n(&X(0, j), k, &top(0, j));
    blas::gemm(how, Op::none, k, r, k, T(1), turn_.data(), k, top.data(), top.ld(), T(0), X.data(), X.ld());
  };
  if (op == Op::none) by_turn(adjoint<T>);
  if (!tau_.empty())
    lapack::ormqr(op, q, r, static_cast<index_t>(tau_.size()), q_vectors_.data(), q_vectors_.ld(), tau_.data(),
                  X.data(), X.ld());
  if (op != Op::none) by_turn(Op::none);
}

TESELA_CLASSES_FOR_NUMBERS(RowBasis)

}  // namespace tesela::kernels
