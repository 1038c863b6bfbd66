#include <tesela/algorithms/toeplitz/internal/spectrum_options.hpp>
#include <tesela/algorithms/toeplitz/internal/toeplitz_accuracy.hpp>
#include <tesela/algorithms/toeplitz/internal/toeplitz_certificate.hpp>

#include <algorithm>
#include <cmath>

namespace tesela::detail {
namespace {

/// Returns the largest |value|, or the root mean square of all eigenvalues if that is larger.
template <class T>
double norm_found(const SineToeplitz<T>& A, const std::vector<ComputedEigenvalue>& values) {
  double norm = A.rms();
  for (const ComputedEigenvalue& v : values) norm = std::max(norm, std::abs(v.value));
  return norm > 0 ? norm : 1;
}

/// Returns the largest residual; NaN if one is NaN.
double largest_residual(const std::vector<ComputedEigenvalue>& values) {
  double largest = 0;
  for (const ComputedEigenvalue& v : values) largest = v.residual <= largest ? largest : v.residual;
  return largest;
}

/// Returns the accuracy, with a bound of all values' errors.
template <class T>
SpectrumAccuracy verdict_of(const SineToeplitz<T>& A, const SpectrumOptions& options,
                            const std::vector<ComputedEigenvalue>& values, double error, index_t uncertain) {
  const double norm = norm_found(A, values);
  const SpectrumBounds bounds = spectrum_bounds<T>(A.n(), options);
  return {{largest_residual(values) / norm, bounds.residual}, {error / norm, bounds.error}, uncertain};
}

/// Appends the values of a cluster: its middle, as often as counted, with its width as residual.
void add_cluster(std::vector<ComputedEigenvalue>& values, const SpectrumInterval& cluster) {
  for (std::size_t part = 0; part < 2; ++part)
    values.insert(values.end(), static_cast<std::size_t>(cluster.count[part]),
                  {(cluster.low + cluster.high) / 2, cluster.high - cluster.low, part});
}

}  // namespace

template <class T>
CertifiedValues certify_search(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options,
                               const CountedRange& range, std::vector<ComputedEigenvalue> values,
                               const std::vector<SpectrumInterval>& clusters) {
  const std::size_t pairs = values.size();
  for (const SpectrumInterval& cluster : clusters) add_cluster(values, cluster);
  if (A.norm() == 0 || range.empty) {
    const SpectrumAccuracy verdict = verdict_of(A, options, values, 0, 0);
    return {std::move(values), verdict};
  }
  CertifiedValues judged;
  std::vector<Claim> claims;
  for (std::size_t i = 0; i < values.size(); ++i)
    claims.push_back({values[i].value, values[i].residual, values[i].part, i >= pairs});
  const index_t uncertain = certify(g, A, range, claims, &judged.counts);
  if (!options.vectors && options.divide && uncertain == 0) {
    const SpectrumBounds bounds = spectrum_bounds<T>(A.n(), options);
    const double norm = norm_found(A, values);
    pin(g, A, claims, bounds.error * norm, bounds.residual * norm, &judged.counts);
    for (std::size_t i = 0; i < claims.size(); ++i) {
      values[i].value = claims[i].value;
      values[i].residual = claims[i].radius;
    }
  }
  double error = 0;
  for (const Claim& claim : claims) error = std::max(error, claim.error);
  judged.verdict = verdict_of(A, options, values, error, uncertain);
  judged.values = std::move(values);
  return judged;
}

template <class T>
CertifiedValues certify_dense(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options,
                              const CountedRange& range, std::vector<ComputedEigenvalue> values) {
  CertifiedValues judged;
  std::vector<Claim> claims;
  for (const ComputedEigenvalue& v : values) claims.push_back({v.value, v.residual, v.part, false, true});
  const index_t uncertain = range.empty ? 0 : certify(g, A, range, claims, &judged.counts);
  double error = 0;
  for (const Claim& claim : claims) error = std::max(error, claim.error);
  judged.verdict = verdict_of(A, options, values, error, uncertain);
  judged.values = std::move(values);
  return judged;
}

template <class T>
SpectrumAccuracy accuracy_of_orthogonal(const SineToeplitz<T>& A, const SpectrumOptions& options,
                                        const std::vector<ComputedEigenvalue>& values) {
  return verdict_of(A, options, values, largest_residual(values), 0);
}

TESELA_FUNCTIONS_FOR_REALS(certify_search, certify_dense, accuracy_of_orthogonal)

}  // namespace tesela::detail
