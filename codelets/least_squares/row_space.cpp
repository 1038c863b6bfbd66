#include <tesela/codelets/least_squares/internal/unit_columns.hpp>
#include <tesela/codelets/least_squares/minimum_norm.hpp>
#include <tesela/codelets/least_squares/rank_revealing.hpp>
#include <tesela/codelets/least_squares/row_space.hpp>
#include <tesela/codelets/libraries/blas.hpp>
#include <tesela/codelets/libraries/lapack.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <limits>
#include <utility>

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

/// turn R = [R11 R12; 0 0] P^T D 2^exponent, D the column norms relative to that power, R11 of the order `rank`.
template <class T>
struct Revealed {
  HostMatrix<T> turn, rows;  ///< and D P [R11 R12]^T, n x rank, from which R comes
  RelativeNorms<T> weights;
  RankRevealed found;

  index_t unknown(index_t j) const { return found.pivots[static_cast<std::size_t>(j)]; }
  T weight(index_t j) const { return weights.norms[static_cast<std::size_t>(unknown(j))]; }
};

/// R is lost: the triangle of its columns of unit norm.
template <class T>
Revealed<T> reveal(HostMatrix<T>& R, double rcond) {
  clear_below_diagonal(R);
  Revealed<T> result;
  result.weights = relative_norms(scale_to_unit_columns(R));
  result.turn = identity<T>(R.rows());
  result.found = reveal_rank(R, result.turn, rcond);
  const index_t n = R.cols(), rank = result.found.rank;
  result.rows = HostMatrix<T>::zeros(n, rank);
  for (index_t j = 0; j < n && rank > 0; ++j)
    for (index_t i = 0; i <= std::min(j, rank - 1); ++i) result.rows(result.unknown(j), i) = R(i, j) * result.weight(j);
  return result;
}

template <class T>
void scale(HostMatrix<T>& a, int e) {
  scale_by_power_of_two(std::span(a.data(), static_cast<std::size_t>(a.size())), e);
}

/// turn^T [w; 0] for the first rows of w.
template <class T>
HostMatrix<T> turned_back(const Revealed<T>& of, const HostMatrix<T>& w) {
  const index_t k = of.turn.rows();
  HostMatrix<T> result(k, w.cols());
  if (result.size() > 0)
    blas::gemm(Op::transpose, Op::none, k, w.cols(), of.found.rank, T(1), of.turn.data(), of.turn.ld(), w.data(),
               w.ld(), T(0), result.data(), result.ld());
  return result;
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
  const index_t k = R.rows(), n = R.cols(), r = C.cols();
  Revealed<T> of = reveal(R, rcond);
  const index_t rank = of.found.rank;
  RowSolution<T> result{HostMatrix<T>::zeros(k, r),
                        HostMatrix<T>::zeros(n, r),
                        column_norms(C),
                        rank,
                        condition_of(of.found.singular_values),
                        of.found.cut};
  if (rank == 0 || r == 0) return result;
  HostMatrix<T> w = C.clone();
  lapack::gels(n, rank, r, of.rows.data(), of.rows.ld(), w.data(), w.ld());
  for (index_t c = 0; c < r; ++c)
    result.distances[static_cast<std::size_t>(c)] = n > rank ? euclidean_norm(n - rank, &w(rank, c)) : T(0);
  result.W = turned_back(of, w);
  blas::trsm(Op::none, rank, r, R.data(), R.ld(), w.data(), w.ld());
  for (index_t c = 0; c < r; ++c)
    for (index_t j = 0; j < rank; ++j) result.L(of.unknown(j), c) = w(j, c) / of.weight(j);
  scale(result.W, -of.weights.exponent);
  scale(result.L, -2 * of.weights.exponent);
  return result;
}

template <class T>
RowSolution<T> solve_columns(HostMatrix<T> R, const HostMatrix<T>& C, double rcond) {
  const index_t n = R.cols(), r = C.cols();
  MinimumNorm<T> solution = minimum_norm(R.clone(), C.clone(), rcond);
  Revealed<T> of = reveal(R, rcond);
  RowSolution<T> result{std::move(solution.X),
                        HostMatrix<T>::zeros(n, r),
                        std::move(solution.residual_norms),
                        solution.rank,
                        condition_of(solution.singular_values),
                        solution.cut,
                        solution.original_units};
  if (solution.rank == 0 || r == 0) return result;
  HostMatrix<T> w = result.W.clone();
  lapack::gels(n, solution.rank, r, of.rows.data(), of.rows.ld(), w.data(), w.ld());
  result.L = turned_back(of, w);
  scale(result.L, -of.weights.exponent);
  return result;
}

template RankRows<float> rows_of_rank(HostMatrix<float>, double);
template RankRows<double> rows_of_rank(HostMatrix<double>, double);
template RowSolution<float> solve_rows(HostMatrix<float>, const HostMatrix<float>&, double);
template RowSolution<double> solve_rows(HostMatrix<double>, const HostMatrix<double>&, double);
template RowSolution<float> solve_columns(HostMatrix<float>, const HostMatrix<float>&, double);
template RowSolution<double> solve_columns(HostMatrix<double>, const HostMatrix<double>&, double);

}  // namespace tesela::kernels
