#include "tools/problems/eigen/eig_data.hpp"

#include "tools/problems/eigen/eig_samples.hpp"
#include <tesela/host/blas.hpp>
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace tesela::bench {
namespace {

constexpr index_t sampled_on_host = 64, sampled_on_devices = 16;

double worst(double a, double b) { return std::isnan(a) || b <= a ? a : b; }  // NaN stays

/// As moments_of, without the matrix.
template <class T>
Moments moments_of(const Generator<T>& lower, index_t n) {
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

}  // namespace

template <class T>
EigData<T>::EigData(Runtime& runtime, const EigCase& what, const SymmetricMatrix& matrix)
    : runtime_(&runtime), what_(what), known_(matrix.eigenvalues()) {
  const index_t n = what.n;
  if (what.on_device && n > what.whole) generator_ = matrix.generator<T>();
  const PausedWorkers paused;
  if (!generator_) original_ = filled<T>({n, n}, [&](index_t i, index_t j) { return matrix.element<T>(i, j); });
  if (what.check) moments_ = generator_ ? moments_of(*generator_, n) : tesela::moments_of(original_);
  if (what.on_device) return;
  a_ = std::make_unique<HostBuffer>(runtime, static_cast<std::size_t>(n * n) * sizeof(T));
  if (what.vectors) x_ = std::make_unique<HostBuffer>(runtime, static_cast<std::size_t>(n * what.wanted()) * sizeof(T));
}

template <class T>
void EigData<T>::restore() const {
  std::memcpy(a(), original_.data(), static_cast<std::size_t>(original_.size()) * sizeof(T));
}

template <class T>
HostMatrix<double> EigData<T>::times(const HostMatrix<double>& y) const {
  if (generator_) return symmetric_product(*runtime_, *generator_, y);
  const PausedWorkers paused;
  const blas::Threads threads(blas::all_cores());
  const HostMatrix<double> whole = scaled_whole(original_, 0);
  HostMatrix<double> product(y.rows(), y.cols());
  blas::symm<double>(y.rows(), y.cols(), 1, whole.data(), whole.ld(), y.data(), y.ld(), 0, product.data(),
                     product.ld());
  return product;
}

/// Returns ||A||_2 as far as it is known: the largest value, which a part need not contain, within the limits from the
/// elements' squares.
template <class T>
double EigData<T>::norm(const std::vector<double>& values) const {
  double largest = 0;
  for (const auto* const some : {&values, known_ ? &*known_ : &values})
    for (const double value : *some) largest = std::max(largest, std::abs(value));
  const double most = moments_.frobenius, least = most / std::sqrt(static_cast<double>(std::max<index_t>(what_.n, 1)));
  return most > 0 ? std::clamp(largest, least, most) : 1;
}

/// Returns the error of the values alone, over its bound.
template <class T>
double EigData<T>::error_of(const std::vector<double>& values, double norm) const {
  if (static_cast<index_t>(values.size()) != what_.wanted()) return std::numeric_limits<double>::infinity();
  const EigBounds bounds = eig_bounds<T>(what_.n);
  if (!known_ && what_.n <= what_.whole) {
    const PausedWorkers paused;
    known_ = reference_eigenvalues(original_);
  }
  double error = known_ ? eigenvalue_error(values, *known_, 0, norm) / bounds.value : 0;
  if (what_.part > 0) return error;
  // Errors of all values add up (Hoffman and Wielandt).
  long double sum = 0, squares = 0;
  for (const double value : values) {
    sum += static_cast<long double>(value);
    squares += static_cast<long double>(value / norm) * static_cast<long double>(value / norm);
  }
  const double together = bounds.value * std::sqrt(static_cast<double>(what_.n));
  error = worst(error, std::abs(static_cast<double>(sum) - moments_.trace) / norm / together);
  return worst(error, std::abs(static_cast<double>(std::sqrt(squares)) - moments_.frobenius / norm) / together);
}

template <class T>
double EigData<T>::at_most_one(const std::string& peer, double error) const {
  if (error <= 1) return error;
  throw WrongResult(fmt::format("{}: n = {}: an error is {:.3g} times its bound", peer, what_.n, error));
}

template <class T>
double EigData<T>::finish(const std::string& peer, const std::vector<double>& values, double error) const {
  at_most_one(peer, error);
  if (!known_) known_ = values;
  return error;
}

template <class T>
double EigData<T>::check(const std::string& peer, const std::vector<double>& values, const HostMatrix<T>& x) const {
  const index_t n = what_.n;
  const double size = norm(values);
  double error = error_of(values, size);
  if (what_.vectors) {
    const PausedWorkers paused;  // BLAS measures on all cores
    const EigBounds bounds = eig_bounds<T>(n);
    const index_t sampled = n > what_.whole ? std::min(sampled_on_host, x.cols()) : x.cols();
    const EigError e = eig_error(original_, values, x, size, sampled, 1);
    error = worst(worst(error, e.residual / bounds.value), e.orthogonality / bounds.orthogonality);
  }
  return finish(peer, values, error);
}

template <class T>
double EigData<T>::check(const std::string& peer, const std::vector<double>& values, const TileMatrix<T>& X) const {
  if (!generator_ || !what_.vectors) {
    HostMatrix<T> x(what_.vectors ? X.m() : 0, what_.vectors ? X.n() : 0);
    if (what_.vectors) X.copy_to(x.data(), x.ld());
    return check(peer, values, x);
  }
  const double size = norm(values);
  double error = error_of(values, size);
  if (!(error <= 1)) return at_most_one(peer, error);
  const index_t samples = std::min(sampled_on_devices, X.n());
  const std::vector<index_t> columns = sample_indices(X.n(), samples, 1);
  const HostMatrix<double> x = columns_of(*runtime_, X, columns), product = times(x);
  double residual = 0;
  for (index_t j = 0; j < samples; ++j) {
    const double value = values[static_cast<std::size_t>(columns[static_cast<std::size_t>(j)])];
    double squares = 0;
    for (index_t i = 0; i < what_.n; ++i) {
      const double r = product(i, j) - value * x(i, j);
      squares += r * r;
    }
    residual = worst(residual, std::sqrt(squares) / size);
  }
  const EigBounds bounds = eig_bounds<T>(what_.n);
  error = worst(error, residual / bounds.value);
  error = worst(error, sampled_orthogonality(*runtime_, X, samples, 1) / bounds.orthogonality);
  return finish(peer, values, error);
}

template class EigData<float>;
template class EigData<double>;

}  // namespace tesela::bench
