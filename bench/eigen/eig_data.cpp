#include "bench/eigen/eig_data.hpp"

#include "bench/errors/eig_error.hpp"
#include <tesela/tiles/filled.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tesela::bench {
namespace {

/// Beyond this order LAPACK is no reference where there is another, and vectors are measured on a sample.
constexpr index_t largest_whole = 4096;
constexpr index_t sampled_vectors = 64;

}  // namespace

template <class T>
EigData<T>::EigData(Runtime& runtime, const EigCase& what, const SymmetricMatrix& matrix)
    : runtime_(&runtime), what_(what), known_(matrix.eigenvalues()) {
  const index_t n = what.n;
  {
    const PausedWorkers paused;
    original_ = filled<T>({n, n}, [&](index_t i, index_t j) { return matrix.element<T>(i, j); });
  }
  if (what.on_device) return;
  a_ = std::make_unique<HostBuffer>(runtime, static_cast<std::size_t>(n * n) * sizeof(T));
  if (what.vectors) x_ = std::make_unique<HostBuffer>(runtime, static_cast<std::size_t>(n * what.wanted()) * sizeof(T));
}

template <class T>
void EigData<T>::restore() const {
  std::memcpy(a(), original_.data(), static_cast<std::size_t>(original_.size()) * sizeof(T));
}

template <class T>
double EigData<T>::check(const std::string& peer, const std::vector<double>& values, const HostMatrix<T>& x) const {
  const PausedWorkers paused;  // BLAS and LAPACK measure on all cores
  const index_t n = what_.n;
  if (!known_) known_ = n > largest_whole && reference ? reference() : reference_eigenvalues(original_);
  double largest = 0;
  for (const double value : *known_) largest = std::max(largest, std::abs(value));
  const double norm = symmetric_norm(original_, largest);
  const EigBounds bounds = eig_bounds<T>(n);
  double worst = static_cast<index_t>(values.size()) == what_.wanted()
                     ? eigenvalue_error(values, *known_, 0, norm) / bounds.value
                     : std::numeric_limits<double>::infinity();
  if (what_.vectors) {
    const EigError e =
        eig_error(original_, values, x, norm, n > largest_whole ? std::min(sampled_vectors, x.cols()) : x.cols(), 1);
    for (const double part : {e.residual / bounds.value, e.orthogonality / bounds.orthogonality})
      worst = part <= worst ? worst : part;  // NaN stays
  }
  if (!(worst <= 1)) throw WrongResult(fmt::format("{}: n = {}: an error is {:.3g} times its bound", peer, n, worst));
  return worst;
}

template class EigData<float>;
template class EigData<double>;

}  // namespace tesela::bench
