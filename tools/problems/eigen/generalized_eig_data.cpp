#include "tools/problems/eigen/generalized_eig_data.hpp"

#include "tools/checks/eig_error.hpp"
#include "tools/checks/generalized_eig_error.hpp"
#include <tesela/tiles/filled.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tesela::bench {
namespace {

constexpr index_t largest_whole = 4096, sampled = 16;

}  // namespace

template <class T>
GeneralizedEigData<T>::GeneralizedEigData(Runtime& runtime, const GeneralizedEigCase& what, const SymmetricMatrix& a,
                                          const SymmetricMatrix& b)
    : runtime_(&runtime), what_(what) {
  const index_t n = what.n;
  const PausedWorkers paused;
  original_a_ = filled<T>({n, n}, [&](index_t i, index_t j) { return a.element<T>(i, j); });
  original_b_ = filled<T>({n, n}, [&](index_t i, index_t j) { return b.element<T>(i, j); });
  if (what.on_device) return;
  const std::size_t bytes = static_cast<std::size_t>(n * n) * sizeof(T);
  a_ = std::make_unique<HostBuffer>(runtime, bytes);
  b_ = std::make_unique<HostBuffer>(runtime, bytes);
  if (what.vectors) x_ = std::make_unique<HostBuffer>(runtime, bytes);
}

template <class T>
void GeneralizedEigData<T>::restore() const {
  const std::size_t bytes = static_cast<std::size_t>(original_a_.size()) * sizeof(T);
  std::memcpy(a(), original_a_.data(), bytes);
  std::memcpy(b(), original_b_.data(), bytes);
}

template <class T>
double GeneralizedEigData<T>::check(const std::string& peer, const std::vector<double>& values,
                                    const HostMatrix<T>& x) const {
  const index_t n = what_.n;
  const PausedWorkers paused;  // BLAS and LAPACK measure on all cores
  const EigBounds bounds = eig_bounds<T>(n);
  const bool whole = n <= largest_whole;
  double worst = static_cast<index_t>(values.size()) == n ? 0 : std::numeric_limits<double>::infinity();
  const auto take = [&](double error, double bound) {
    if (!std::isnan(worst) && !(error / bound <= worst)) worst = error / bound;
  };
  if (worst == 0) {
    const HostMatrix<T> none(n, 0);
    const GeneralizedEigError e =
        generalized_eig_error(GeneralizedKind::ax_lambda_bx, original_a_, original_b_, values, what_.vectors ? x : none,
                              0, whole, whole ? n : std::min(sampled, n), 1);
    take(e.residual, bounds.value * e.residual_growth);
    take(e.orthogonality, bounds.orthogonality * e.condition);
    if (e.value) take(*e.value, bounds.value * e.value_growth);
    if (!whole && known_) {
      const double size = std::max(std::abs(known_->front()), std::abs(known_->back()));
      take(eigenvalue_error(values, *known_, 0, size > 0 ? size : 1), bounds.value * e.condition);
    }
  }
  if (!(worst <= 1)) throw WrongResult(fmt::format("{}: n = {}: an error is {:.3g} times its bound", peer, n, worst));
  if (!known_) known_ = values;
  return worst;
}

template class GeneralizedEigData<float>;
template class GeneralizedEigData<double>;

}  // namespace tesela::bench
