#include <tesela/algorithms/support/calling_thread.hpp>
#include <tesela/algorithms/toeplitz/internal/toeplitz_attempt.hpp>
#include <tesela/codelets/toeplitz/general_toeplitz.hpp>
#include <tesela/codelets/toeplitz/toeplitz.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/lapack/lapack_complex_lu.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::detail {
namespace {

/// T - sigma I times 2^-exponent, dense and in diagonals, and its LU factors. S is double or std::complex<double>.
template <class S>
class SmallSystem {
 public:
  template <class T>
  SmallSystem(const HostMatrix<T>& c, const HostMatrix<T>* r, T sigma)
      : n_(c.rows()), diagonals_(static_cast<std::size_t>(2 * n_)), a_(n_, n_) {
    for (index_t i = 0; i < n_; ++i) {  // as shifted_column: rounded once to T
      column()[i] = converted<S>(i == 0 ? c(0, 0) - sigma : c(i, 0));
      row()[i] = converted<S>(i == 0 ? c(0, 0) - sigma : r != nullptr ? (*r)(i, 0) : conj(c(i, 0)));
    }
    finite_ = std::all_of(diagonals_.begin(), diagonals_.end(), [](S t) { return is_finite(t); });
    if (!finite_) return;
    exponent_ = exponent_of_largest<S>(diagonals_);
    scale_by_power_of_two(std::span<S>(diagonals_), -exponent_);
    for (index_t j = 0; j < n_; ++j)
      for (index_t i = 0; i < n_; ++i) a_(i, j) = i >= j ? column()[i - j] : row()[j - i];
    for (index_t j = 0; j < n_; ++j) {
      double sum = 0;
      for (index_t i = 0; i < n_; ++i) sum += std::abs(a_(i, j));
      one_norm_ = std::max(one_norm_, sum);
    }
    lu_ = a_.clone();
    swaps_.resize(static_cast<std::size_t>(n_));
    regular_ = lapack::getrf(n_, n_, lu_.data(), n_, swaps_.data()) == 0;
  }

  bool regular() const { return finite_ && regular_; }
  int exponent() const { return exponent_; }
  double condition() const { return 1 / lapack::gecon(n_, lu_.data(), n_, one_norm_); }
  double norm(bool symmetric) {
    if constexpr (!is_complex<S>)
      if (symmetric) return kernels::toeplitz_norm_bound<double>(n_, column(), 0);
    return kernels::general_toeplitz_norm_bound<S>(n_, column(), row());
  }
  void solve(HostMatrix<S>& x) const { lapack::getrs(n_, x.cols(), lu_.data(), n_, swaps_.data(), x.data(), n_); }
  /// Computes b -= A x.
  void subtract(const HostMatrix<S>& x, HostMatrix<S>& b) const {
    blas::gemm(Op::none, Op::none, n_, x.cols(), n_, S(-1), a_.data(), n_, x.data(), n_, S(1), b.data(), n_);
  }

 private:
  S* column() { return diagonals_.data(); }
  S* row() { return diagonals_.data() + n_; }

  index_t n_;
  std::vector<S> diagonals_;  // first column, then first row
  HostMatrix<S> a_, lu_;
  std::vector<int> swaps_;
  double one_norm_ = 0;
  int exponent_ = 0;
  bool finite_ = false, regular_ = false;
};

/// Returns the largest ||residual(j)|| / (norm ||x(j)|| + ||b(j)||).
template <class S>
double largest_residual(const HostMatrix<S>& residual, const HostMatrix<S>& x, const HostMatrix<S>& b, double norm) {
  const auto length = [&](const HostMatrix<S>& h, index_t j) { return blas::nrm2(h.rows(), h.data() + j * h.rows()); };
  double worst = 0;
  for (index_t j = 0; j < x.cols(); ++j) {
    const double size = norm * length(x, j) + length(b, j), error = length(residual, j);
    if (size > 0 && !(error / size <= worst)) worst = error / size;
  }
  return worst;
}

/// Rounds x to the precision of T.
template <class T, class S>
void round_to(HostMatrix<S>& x) {
  for (index_t i = 0; i < x.size(); ++i) x.data()[i] = converted<S>(converted<T>(x.data()[i]));
}

}  // namespace

template <class T>
std::optional<ToeplitzSolution> toeplitz_solve_here(const Runtime& runtime, const HostMatrix<T>& c,
                                                    const HostMatrix<T>* r, T sigma, const MatrixView<T>& b,
                                                    const ToeplitzSolveOptions& options) {
  using Wide = with_parts<T, double>;
  const index_t n = c.rows(), k = b.cols;
  if (!runs_here(runtime, static_cast<double>(std::max(n, n > 0 ? k : 0)), largest_small_toeplitz, b) || b.rows != n ||
      c.cols() != 1 || options.method != ToeplitzMethod::automatic || !options.verdict ||
      (r != nullptr && (r->rows() != n || r->cols() != 1)))
    return std::nullopt;
  SmallSystem<Wide> system(c, r, sigma);
  if (!system.regular()) return std::nullopt;
  HostMatrix<Wide> right(n, k);
  std::vector<int> exponents;
  for (index_t j = 0; j < k; ++j) {
    const std::span<Wide> column(right.data() + j * n, static_cast<std::size_t>(n));
    for (index_t i = 0; i < n; ++i) right(i, j) = converted<Wide>(b.data[i + j * b.ld]);
    if (!std::all_of(column.begin(), column.end(), [](Wide x) { return is_finite(x); })) return std::nullopt;
    exponents.push_back(exponent_of_largest<Wide>(column));
    scale_by_power_of_two(column, -exponents.back());
  }
  HostMatrix<Wide> x = right.clone(), correction = right.clone();
  system.solve(x);
  system.subtract(x, correction);
  system.solve(correction);
  for (index_t i = 0; i < x.size(); ++i) x.data()[i] += correction.data()[i];
  round_to<T>(x);
  HostMatrix<Wide> residual = right.clone();
  system.subtract(x, residual);
  ToeplitzSolution solution;
  const double eps = static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
  solution.taken.method = ToeplitzMethod::dense;
  solution.taken.residual = {largest_residual(residual, x, right, system.norm(r == nullptr)),
                             toeplitz_residual_bound<T>(n)};
  solution.rounding = eps / 2;
  solution.condition = system.condition();
  if (!(solution.taken.residual.error <= 4 * eps) || !(solution.condition < toeplitz_singular_condition<T>()) ||
      !solution.forward_bound().good())
    return std::nullopt;
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < n; ++i) {
      const int exponent = exponents[static_cast<std::size_t>(j)] - system.exponent();
      const auto value = converted<T>(times_power_of_two(x(i, j), exponent));
      // Overflow, or digits lost to underflow: the usual methods judge it.
      if (!is_finite(value) || times_power_of_two(converted<Wide>(value), -exponent) != x(i, j)) return std::nullopt;
      x(i, j) = converted<Wide>(value);
    }
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < n; ++i) b.data[i + j * b.ld] = converted<T>(x(i, j));
  solution.attempts = {solution.taken};
  return solution;
}

TESELA_FUNCTIONS_FOR_NUMBERS(toeplitz_solve_here)

}  // namespace tesela::detail
