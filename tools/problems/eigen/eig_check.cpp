#include "tools/checks/eig_error.hpp"
#include "tools/checks/generalized_eig_error.hpp"
#include "tools/checks/worse.hpp"
#include "tools/problems/eigen/eig.hpp"
#include "tools/problems/eigen/eig_samples.hpp"
#include <tesela/host/blas.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tesela::cli {
namespace {

constexpr index_t sampled_on_host = 64, sampled_on_devices = 16;

/// Returns the moments of a matrix from a generator of its lower triangle.
template <class T>
Moments moments_of(index_t n, const Generator<T>& lower) {
  std::vector<double> squares(static_cast<std::size_t>(n));
  parallel_for(n, 64, [&](index_t first, index_t end) {
    for (index_t j = first; j < end; ++j) {
      double sum = 0;
      for (index_t i = j; i < n; ++i) {
        const auto a = static_cast<double>(lower(i, j));
        sum += (i == j ? 1 : 2) * a * a;
      }
      squares[static_cast<std::size_t>(j)] = sum;
    }
  });
  double trace = 0;
  for (index_t i = 0; i < n; ++i) trace += static_cast<double>(lower(i, i));
  return {trace, std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0))};
}

/// Returns the bounds for an iteration's result, at most 1e-2. The rounding errors of its similarities add up like a
/// random walk, and each row keeps one element below the tolerance.
EigBounds iteration_bounds(EigBounds bounds, index_t n, double growth, const IterationFacts& facts) {
  const double left = static_cast<double>(n) * facts.tolerance;
  return {std::min(bounds.value * growth + left, useful_bound), std::min(bounds.orthogonality * growth, useful_bound)};
}

/// Measures vectors where the workers keep them.
template <class T>
EigError error_of_tiles(const EigProblem<T>& p, const EigFound<T>& f, double norm) {
  const TileMatrix<T>& X = *f.X;
  const index_t samples = std::min(sampled_on_devices, X.n());
  const std::vector<index_t> columns = sample_indices(X.n(), samples, p.seed);
  const HostMatrix<double> x = bench::columns_of(*p.runtime, X, columns), product = p.times(x);
  double residual = 0;
  for (index_t j = 0; j < samples; ++j) {
    const double value = f.eig.values[static_cast<std::size_t>(columns[static_cast<std::size_t>(j)])];
    double squares = 0;
    for (index_t i = 0; i < p.n(); ++i) {
      const double r = product(i, j) - value * x(i, j);
      squares += r * r;
    }
    residual = worse(residual, std::sqrt(squares) / norm);
  }
  return {residual, bench::sampled_orthogonality(*p.runtime, X, samples, p.seed)};
}

/// Measures a generalized problem in B's norm; the bounds grow with B's condition.
template <class T>
EigErrors errors_of_pair(const EigProblem<T>& p, const EigFound<T>& f, bool compare) {
  const index_t n = p.n();
  const SymmetricEig<T>& eig = f.eig;
  const bool sample = n > p.whole;
  const GeneralizedEigError error =
      generalized_eig_error(p.kind(), p.a, p.b, eig.values, f.vectors, eig.first, compare && !sample,
                            sample ? sampled_on_host : f.vectors.cols(), p.seed);
  const EigBounds bounds = eig_bounds<T>(n);
  EigErrors errors;
  errors.condition = error.condition;
  if (sample && p.options.vectors) errors.sampled = std::min(sampled_on_host, f.vectors.cols());
  const auto refuse = [&](double most, const char* what) {
    if (n > 0 && !(most <= useful_bound) && errors.failure.empty())
      errors.failure = fmt::format("B is too ill-conditioned: with {:.3g} errors may be {:.2g} times the {}",
                                   error.condition, std::min(most, 1.0), what);
  };
  refuse(bounds.value * error.value_growth, "values");
  // The bound of C's vectors, plus the error of B's Cholesky factor.
  const double of_orthogonality = bounds.orthogonality + bounds.value * error.condition;
  if (p.options.vectors) refuse(std::max(bounds.value * error.residual_growth, of_orthogonality), "vectors");
  if (eig.norm == 0 && error.value.value_or(0) > 0 && errors.failure.empty())
    errors.failure = "underflow: every eigenvalue is less than the smallest number";
  // Underflow may have changed a value by up to the smallest number.
  const double rounding = eig.norm > 0 ? std::numeric_limits<double>::denorm_min() / eig.norm : 0;
  if (error.value)
    errors.value = Measured{*error.value, bounds.value * error.value_growth + rounding};
  else if (p.eigenvalues)
    errors.value = Measured{eigenvalue_error(eig.values, *p.eigenvalues, eig.first, eig.norm > 0 ? eig.norm : 1),
                            bounds.value * error.condition};
  if (!p.options.vectors) return errors;
  errors.residual = Measured{error.residual, bounds.value * error.residual_growth};
  errors.orthogonality = Measured{error.orthogonality, of_orthogonality};
  return errors;
}

/// Measures a tridiagonal problem without n x n numbers, the orthogonality of many vectors on random ones.
template <class T>
EigErrors errors_of_tridiagonal(const EigProblem<T>& p, const EigFound<T>& f, bool compare, const EigBounds& bounds,
                                EigErrors errors) {
  constexpr index_t values_counted = 256, vectors_multiplied = 512;
  const SymmetricEig<T>& eig = f.eig;
  const std::vector<double> d(p.d.begin(), p.d.end()), e(p.e.begin(), p.e.end());
  const double norm = tridiagonal_norm(d, e, eig.norm),
               rounding = static_cast<double>(std::numeric_limits<T>::denorm_min()) / norm;  // of results near zero
  if (compare)
    errors.value = Measured{
        tridiagonal_value_error(d, e, eig.values, eig.first, norm, bounds.value + rounding, values_counted, p.seed),
        bounds.value + rounding};
  if (std::ssize(eig.values) == p.n())
    errors.trace = Measured{trace_drift(std::accumulate(d.begin(), d.end(), 0.0L), eig.values, norm),
                            trace_bound(bounds, p.n()) + rounding};
  if (!p.options.vectors) return errors;
  const bool sample = f.vectors.cols() > vectors_multiplied;
  if (sample) errors.sampled = sampled_on_host;
  const blas::Threads threads(blas::all_cores());
  const EigError error =
      tridiagonal_eig_error(d, e, eig.values, f.vectors, norm, sample ? sampled_on_host : f.vectors.cols(), p.seed);
  errors.residual = Measured{error.residual, bounds.value + rounding};
  errors.orthogonality = Measured{error.orthogonality, bounds.orthogonality};
  return errors;
}

/// Returns ||A||_2 from the largest value, which a part of the spectrum need not contain, within the limits that A's
/// elements give.
template <class T>
double norm_of(EigProblem<T>& p, const SymmetricEig<T>& eig) {
  double largest = eig.norm;
  if (std::ssize(eig.spectrum) < p.n() && p.eigenvalues)
    for (const double value : *p.eigenvalues) largest = std::max(largest, std::abs(value));
  if (p.a.rows() == p.n() && p.n() > 0) return symmetric_norm(p.a, largest);
  if constexpr (!is_complex<T>)
    if (p.generator) {
      const double most = p.moments().frobenius;
      return std::clamp(largest, most / std::sqrt(static_cast<double>(p.n())), most);
    }
  return largest > 0 ? largest : 1;
}

}  // namespace

template <class T>
HostMatrix<double> EigProblem<T>::times(const HostMatrix<double>& y) const {
  if (generator) return bench::symmetric_product(*runtime, *generator, y);
  const PausedWorkers paused;
  const blas::Threads threads(blas::all_cores());
  const HostMatrix<double> full = scaled_whole(a, 0);
  HostMatrix<double> product(y.rows(), y.cols());
  blas::symm<double>(y.rows(), y.cols(), 1, full.data(), full.ld(), y.data(), y.ld(), 0, product.data(), product.ld());
  return product;
}

template <class T>
const Moments& EigProblem<T>::moments() {
  if (!known_moments) known_moments = generator ? moments_of<T>(n(), *generator) : tesela::moments_of(a);
  return *known_moments;
}

template <class T>
EigErrors eig_errors(EigProblem<T>& p, const EigFound<T>& f, bool compare) {
  if (p.input.generalized()) return errors_of_pair(p, f, compare);
  const index_t n = p.n();
  const SymmetricEig<T>& eig = f.eig;
  EigErrors errors;
  EigBounds bounds = eig_bounds<T>(n);
  if (f.facts) {
    const double growth = std::sqrt(1 + static_cast<double>(eig.iterations));
    errors.remaining =
        Measured{f.facts->remaining_norm, std::min(bounds.value * growth + f.facts->tolerance, useful_bound)};
    bounds = iteration_bounds(bounds, n, growth, *f.facts);
    errors.frobenius = Measured{f.facts->frobenius_drift, bounds.value};
  }
  if constexpr (!is_complex<T>)
    if (!p.d.empty()) return errors_of_tridiagonal(p, f, compare, bounds, std::move(errors));
  const bool dense = p.a.rows() == n;
  const double norm = norm_of(p, eig),
               rounding =
                   static_cast<double>(std::numeric_limits<real_t<T>>::denorm_min()) / norm;  // of results near zero
  if (compare && dense && !p.eigenvalues && n <= p.whole) p.eigenvalues = reference_eigenvalues(p.a);
  if (compare && (dense || p.generator) && p.eigenvalues)
    errors.value = Measured{eigenvalue_error(eig.values, *p.eigenvalues, eig.first, norm), bounds.value + rounding};
  if (dense && std::ssize(eig.values) == n)
    errors.trace = Measured{trace_drift(p.a, eig.values, norm), trace_bound(bounds, n) + rounding};
  if (!p.options.vectors) return errors;
  EigError error;
  if constexpr (!is_complex<T>)
    if (f.X) error = error_of_tiles(p, f, norm);
  if (!f.X) {
    const bool sample = n > p.whole;
    if (sample) errors.sampled = std::min(sampled_on_host, f.vectors.cols());
    error = eig_error(p.a, eig.values, f.vectors, norm, sample ? sampled_on_host : f.vectors.cols(), p.seed);
  }
  errors.residual = Measured{error.residual, bounds.value + rounding};
  errors.orthogonality = Measured{error.orthogonality, bounds.orthogonality};
  return errors;
}

template <class T>
double check_peer(const std::string& peer, EigProblem<T>& p, const EigFound<T>& f) {
  const SymmetricEig<T>& eig = f.eig;
  if (!eig.status.ok()) throw bench::WrongResult(peer + ": " + to_string(eig.status));
  double error = std::ssize(eig.values) == p.wanted() ? 0 : std::numeric_limits<double>::infinity();
  const bool all = std::ssize(eig.values) == p.n() && !p.input.generalized() && !f.facts;
  if (error == 0) {
    std::optional<PausedWorkers> paused(std::in_place);  // BLAS and LAPACK measure on all cores
    if constexpr (!is_complex<T>)
      if (all || f.X) p.moments();
    if (f.X) paused.reset();
    const EigErrors errors = eig_errors(p, f, true);
    if (!errors.failure.empty()) throw bench::WrongResult(peer + ": " + errors.failure);
    errors.for_each([&](const char*, const Measured& part) { error = worse(error, part.error / part.limit()); });
  }
  if constexpr (!is_complex<T>)
    if (error <= 1 && all) {
      // Errors of all values add up (Hoffman and Wielandt).
      const double norm = norm_of(p, eig), bound = eig_bounds<T>(p.n()).value * std::sqrt(static_cast<double>(p.n()));
      long double sum = 0, squares = 0;
      for (const double value : eig.values) {
        sum += static_cast<long double>(value);
        squares += static_cast<long double>(value / norm) * static_cast<long double>(value / norm);
      }
      error = worse(error, std::abs(static_cast<double>(sum) - p.moments().trace) / norm / bound);
      error = worse(error, std::abs(static_cast<double>(std::sqrt(squares)) - p.moments().frobenius / norm) / bound);
    }
  if (!(error <= 1))
    throw bench::WrongResult(fmt::format("{}: n = {}: an error is {:.3g} times its bound", peer, p.n(), error));
  if (!p.eigenvalues) p.eigenvalues = eig.values;
  return error;
}

std::string overflow_of(const std::vector<double>& values, double largest) {
  const bool over =
      std::any_of(values.begin(), values.end(), [&](double value) { return !(std::abs(value) <= largest); });
  return over ? "overflow: an eigenvalue is larger than the largest number" : "";
}

TESELA_FUNCTIONS_FOR_REALS(eig_errors, check_peer)
#define TESELA_INSTANTIATE(T)                                                        \
  template HostMatrix<double> EigProblem<T>::times(const HostMatrix<double>&) const; \
  template const Moments& EigProblem<T>::moments();
TESELA_FOR_REALS(TESELA_INSTANTIATE)
#undef TESELA_INSTANTIATE
#define TESELA_INSTANTIATE(T)                                              \
  template EigErrors eig_errors(EigProblem<T>&, const EigFound<T>&, bool); \
  template double check_peer(const std::string&, EigProblem<T>&, const EigFound<T>&);
TESELA_FOR_COMPLEX(TESELA_INSTANTIATE)

}  // namespace tesela::cli
