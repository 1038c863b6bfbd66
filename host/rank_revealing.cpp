#include <tesela/host/blas.hpp>
#include <tesela/host/internal/unit_columns.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/rank_revealing.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tesela::kernels {
namespace {

template <class T>
std::vector<double> singular_values(const HostMatrix<T>& R) {
  HostMatrix<with_parts<T, double>> copy(R.rows(), R.cols());
  std::copy_n(R.data(), R.size(), copy.data());
  return lapack::gesvd(copy.rows(), copy.cols(), copy.data(), copy.ld());
}

double norm(const double* x, index_t count) {
  double sum = 0;
  for (index_t k = 0; k < count; ++k) sum += x[k] * x[k];
  return std::sqrt(sum);
}

/// Returns |x|^2 in double precision.
template <class T>
double square(T x) {
  return std::norm(with_parts<T, double>(x));
}

/// Returns ||R22||_F.
template <class T>
double norm_of_rest(const HostMatrix<T>& R, index_t rank) {
  double sum = 0;
  for (index_t j = rank; j < R.cols(); ++j)
    for (index_t i = rank; i < R.rows(); ++i) sum += square(R(i, j));
  return std::sqrt(sum);
}

/// A column of R11 and one of R22, and the factor by which swapping them multiplies |det R11|.
struct Swap {
  index_t of_11 = 0, of_22 = 0;
  double gain = 0;
};

/// Returns the swap with the largest sqrt(|(R11^-1 R12)_ij|^2 + (||row i of R11^-1|| ||column j of R22||)^2).
template <class T>
Swap best_swap(const HostMatrix<T>& R, index_t rank) {
  using Wide = with_parts<T, double>;
  const index_t n = R.cols();
  HostMatrix<Wide> r11(rank, rank), solved = HostMatrix<Wide>::zeros(rank, n);  // R11^-1 [I R12]
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < rank; ++i) {
      if (j < rank)
        r11(i, j) = Wide(R(i, j)), solved(i, j) = i == j ? 1 : 0;
      else
        solved(i, j) = Wide(R(i, j));
    }
  blas::trsm(Op::none, rank, n, r11.data(), r11.ld(), solved.data(), solved.ld());
  std::vector<double> rows(static_cast<std::size_t>(rank), 0.0);
  for (index_t j = 0; j < rank; ++j)
    for (index_t i = 0; i <= j; ++i) rows[static_cast<std::size_t>(i)] += square(solved(i, j));
  Swap best;
  for (index_t j = rank; j < n; ++j) {
    double column = 0;
    for (index_t i = rank; i < R.rows(); ++i) column += square(R(i, j));
    for (index_t i = 0; i < rank; ++i) {
      const double gain = std::sqrt(square(solved(i, j)) + rows[static_cast<std::size_t>(i)] * column);
      if (gain > best.gain) best = {i, j, gain};
    }
  }
  return best;
}

/// Restores R's triangular form, and updates C, after a permutation of R's columns.
template <class T>
void refactor(HostMatrix<T>& R, HostMatrix<T>& C) {
  std::vector<T> tau(static_cast<std::size_t>(R.rows()));
  lapack::geqrf(R.rows(), R.cols(), R.data(), R.ld(), tau.data());
  lapack::ormqr(adjoint<T>, R.rows(), C.cols(), R.rows(), R.data(), R.ld(), tau.data(), C.data(), C.ld());
  clear_below_diagonal(R);
}

}  // namespace

template <class T>
RankRevealed reveal_rank(HostMatrix<T>& R, HostMatrix<T>& C, double rcond) {
  const index_t k = R.rows(), n = R.cols();
  RankRevealed result;
  if (R.size() == 0) return result;
  result.singular_values = singular_values(R);
  const std::vector<double>& s = result.singular_values;
  while (result.rank < k && s[static_cast<std::size_t>(result.rank)] > rcond * s[0]) ++result.rank;

  std::vector<T> tau(static_cast<std::size_t>(k));
  lapack::geqp3(k, n, R.data(), R.ld(), result.pivots, tau.data());
  lapack::ormqr(adjoint<T>, k, C.cols(), k, R.data(), R.ld(), tau.data(), C.data(), C.ld());
  clear_below_diagonal(R);
  // Largest acceptable R22: zero up to rcond, or hardly larger than the best R22 of this rank.
  const double acceptable =
      std::max(rcond * s[0], 10 * norm(s.data() + result.rank, static_cast<index_t>(s.size()) - result.rank));
  constexpr double f = 2;
  for (index_t swaps = 0; swaps <= 2 * n; ++swaps) {  // each doubles a determinant: few suffice in theory
    result.cut = norm_of_rest(R, result.rank);
    if (result.rank == 0 || result.cut <= acceptable) break;
    const Swap swap = best_swap(R, result.rank);
    if (!(swap.gain > f)) break;
    std::swap_ranges(&R(0, swap.of_11), &R(0, swap.of_11) + k, &R(0, swap.of_22));
    std::swap(result.pivots[static_cast<std::size_t>(swap.of_11)], result.pivots[static_cast<std::size_t>(swap.of_22)]);
    refactor(R, C);
  }
  return result;
}

template RankRevealed reveal_rank(HostMatrix<float>&, HostMatrix<float>&, double);
template RankRevealed reveal_rank(HostMatrix<double>&, HostMatrix<double>&, double);
template RankRevealed reveal_rank(HostMatrix<std::complex<float>>&, HostMatrix<std::complex<float>>&, double);
template RankRevealed reveal_rank(HostMatrix<std::complex<double>>&, HostMatrix<std::complex<double>>&, double);

}  // namespace tesela::kernels
