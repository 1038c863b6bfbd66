#include <tesela/algorithms/toeplitz/internal/toeplitz_attempt.hpp>
#include <tesela/codelets/toeplitz/general_toeplitz.hpp>
#include <tesela/codelets/toeplitz/toeplitz.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::detail {
namespace {

/// T - sigma I times 2^-exponent, dense and in diagonals, and its LU factors.
class SmallSystem {
 public:
  template <class T>
  SmallSystem(const HostMatrix<T>& c, const HostMatrix<T>* r, T sigma)
      : n_(c.rows()), diagonals_(static_cast<std::size_t>(2 * n_)), a_(n_, n_) {
    for (index_t i = 0; i < n_; ++i) {  // as shifted_column: rounded once to T
      column()[i] = static_cast<double>(i == 0 ? c(0, 0) - sigma : c(i, 0));
      row()[i] = static_cast<double>(i == 0 ? c(0, 0) - sigma : r != nullptr ? (*r)(i, 0) : c(i, 0));
    }
    finite_ = std::all_of(diagonals_.begin(), diagonals_.end(), [](double t) { return std::isfinite(t); });
    if (!finite_) return;
    exponent_ = exponent_of_largest<double>(diagonals_);
    scale_by_power_of_two(std::span<double>(diagonals_), -exponent_);
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
    return symmetric ? kernels::toeplitz_norm_bound<double>(n_, column(), 0) : general_norm();
  }
  void solve(HostMatrix<double>& x) const { lapack::getrs(n_, x.cols(), lu_.data(), n_, swaps_.data(), x.data(), n_); }
  /// Computes b -= A x.
  void subtract(const HostMatrix<double>& x, HostMatrix<double>& b) const {
    blas::gemm(Op::none, Op::none, n_, x.cols(), n_, -1.0, a_.data(), n_, x.data(), n_, 1.0, b.data(), n_);
  }

 private:
  double* column() { return diagonals_.data(); }
  double* row() { return diagonals_.data() + n_; }
  double general_norm() { return kernels::general_toeplitz_norm_bound(n_, column(), row()); }

  index_t n_;
  std::vector<double> diagonals_;  // first column, then first row
  HostMatrix<double> a_, lu_;
  std::vector<int> swaps_;
  double one_norm_ = 0;
  int exponent_ = 0;
  bool finite_ = false, regular_ = false;
};

/// Returns the largest ||residual(j)|| / (norm ||x(j)|| + ||b(j)||).
double largest_residual(const HostMatrix<double>& residual, const HostMatrix<double>& x, const HostMatrix<double>& b,
                        double norm) {
  const auto length = [&](const HostMatrix<double>& h, index_t j) {
    return blas::nrm2<double>(h.rows(), h.data() + j * h.rows());
  };
  double worst = 0;
  for (index_t j = 0; j < x.cols(); ++j) {
    const double size = norm * length(x, j) + length(b, j), error = length(residual, j);
    if (size > 0 && !(error / size <= worst)) worst = error / size;
  }
  return worst;
}

/// Returns x rounded to T, as doubles.
template <class T>
void round_to(HostMatrix<double>& x) {
  for (index_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<double>(static_cast<T>(x.data()[i]));
}

}  // namespace

template <class T>
std::optional<ToeplitzSolution> toeplitz_solve_here(const Runtime& runtime, const HostMatrix<T>& c,
                                                    const HostMatrix<T>* r, T sigma, const MatrixView<T>& b,
                                                    const ToeplitzSolveOptions& options) {
  const index_t n = c.rows(), k = b.cols;
  if (n == 0 || n > largest_small_toeplitz || k > largest_small_toeplitz || b.rows != n || c.cols() != 1 ||
      b.device >= 0 || options.method != ToeplitzMethod::automatic || !options.verdict || runtime.cpus() == 0 ||
      (r != nullptr && (r->rows() != n || r->cols() != 1)))
    return std::nullopt;
  SmallSystem system(c, r, sigma);
  if (!system.regular()) return std::nullopt;
  HostMatrix<double> right(n, k);
  std::vector<int> exponents;
  for (index_t j = 0; j < k; ++j) {
    const std::span<double> column(right.data() + j * n, static_cast<std::size_t>(n));
    for (index_t i = 0; i < n; ++i) right(i, j) = static_cast<double>(b.data[i + j * b.ld]);
    if (!std::all_of(column.begin(), column.end(), [](double x) { return std::isfinite(x); })) return std::nullopt;
    exponents.push_back(exponent_of_largest<double>(column));
    scale_by_power_of_two(column, -exponents.back());
  }
  HostMatrix<double> x = right.clone(), correction = right.clone();
  system.solve(x);
  system.subtract(x, correction);
  system.solve(correction);
  for (index_t i = 0; i < x.size(); ++i) x.data()[i] += correction.data()[i];
  round_to<T>(x);
  HostMatrix<double> residual = right.clone();
  system.subtract(x, residual);
  ToeplitzSolution solution;
  const double eps = static_cast<double>(std::numeric_limits<T>::epsilon());
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
      const auto value = static_cast<T>(std::ldexp(x(i, j), exponent));
      // Overflow, or digits lost to underflow: the usual methods judge it.
      if (!std::isfinite(value) || std::ldexp(static_cast<double>(value), -exponent) != x(i, j)) return std::nullopt;
      x(i, j) = static_cast<double>(value);
    }
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < n; ++i) b.data[i + j * b.ld] = static_cast<T>(x(i, j));
  solution.attempts = {solution.taken};
  return solution;
}

template std::optional<ToeplitzSolution> toeplitz_solve_here(const Runtime&, const HostMatrix<float>&,
                                                             const HostMatrix<float>*, float, const MatrixView<float>&,
                                                             const ToeplitzSolveOptions&);
template std::optional<ToeplitzSolution> toeplitz_solve_here(const Runtime&, const HostMatrix<double>&,
                                                             const HostMatrix<double>*, double,
                                                             const MatrixView<double>&, const ToeplitzSolveOptions&);

}  // namespace tesela::detail
