#include <tesela/host/blas.hpp>
#include <tesela/host/internal/unit_columns.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/host/rank_revealing.hpp>
#include <tesela/host/row_space.hpp>

#include <algorithm>
#include <limits>

namespace tesela::kernels {
namespace {

template <class T>
HostMatrix<T> identity(index_t n) {
  HostMatrix<T> result = HostMatrix<T>::zeros(n, n);
  for (index_t i = 0; i < n; ++i) result(i, i) = T(1);
  return result;
}

double condition_of(const std::vector<double>& singular_values) {
  if (singular_values.empty()) return 1;
  return singular_values.back() > 0 ? singular_values.front() / singular_values.back()
                                    : std::numeric_limits<double>::infinity();
}

}  // namespace

template <class T>
RankRows<T> rows_of_rank(HostMatrix<T> R, double rcond) {
  clear_below_diagonal(R);
  scale_to_unit_columns(R);
  RankRows<T> result;
  result.turn = identity<T>(R.rows());
  const RankRevealed revealed = reveal_rank(R, result.turn, rcond);
  result.rank = revealed.rank;
  result.condition = condition_of(revealed.singular_values);
  result.cut = revealed.cut;
  return result;
}

template <class T>
RowSolution<T> solve_rows(HostMatrix<T> R, const HostMatrix<T>& C, double rcond) {
  const index_t n = R.cols(), r = C.cols();
  clear_below_diagonal(R);
  HostMatrix<T> turn = identity<T>(n), rows, w = C.clone();
  const RankRevealed found = reveal_rank(R, turn, rcond);
  const index_t rank = found.rank;
  RowSolution<T> result{HostMatrix<T>::zeros(n, r),
                        HostMatrix<T>::zeros(n, r),
                        HostMatrix<T>(n, n - rank),
                        column_norms(C),
                        rank,
                        condition_of(found.singular_values),
                        found.cut};
  for (index_t j = 0; j < n - rank; ++j)
    for (index_t i = 0; i < n; ++i) result.complement(i, j) = conj(turn(rank + j, i));
  if (rank == 0 || r == 0) return result;
  const auto row = [&](index_t j) { return found.pivots[static_cast<std::size_t>(j)]; };
  rows = HostMatrix<T>::zeros(n, rank);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i <= std::min(j, rank - 1); ++i) rows(row(j), i) = conj(R(i, j));
  lapack::gels(n, rank, r, rows.data(), rows.ld(), w.data(), w.ld());
  for (index_t c = 0; c < r; ++c)
    result.distances[static_cast<std::size_t>(c)] = n > rank ? euclidean_norm(n - rank, &w(rank, c)) : 0;
  blas::gemm(adjoint<T>, Op::none, n, r, rank, T(1), turn.data(), turn.ld(), w.data(), w.ld(), T(0), result.W.data(),
             result.W.ld());
  blas::trsm(Op::none, rank, r, R.data(), R.ld(), w.data(), w.ld());
  for (index_t c = 0; c < r; ++c)
    for (index_t j = 0; j < rank; ++j) result.L(row(j), c) = w(j, c);
  return result;
}

TESELA_FUNCTIONS_FOR_NUMBERS(rows_of_rank, solve_rows)

}  // namespace tesela::kernels
