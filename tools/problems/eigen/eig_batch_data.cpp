#include "tools/problems/eigen/eig_batch_data.hpp"

#include "tools/checks/eig_batch_error.hpp"
#include "tools/checks/eig_error.hpp"
#include <tesela/tiles/parallel_for.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tesela::bench {

template <class T>
EigBatchData<T>::EigBatchData(Runtime& runtime, const EigBatchCase& what)
    : runtime_(&runtime), what_(what), original_(what.n, what.n * what.count) {
  const index_t n = what.n;
  {
    const PausedWorkers paused;
    parallel_for(what.count, 16, [&](index_t first, index_t end) {
      for (index_t k = first; k < end; ++k) {
        const SymmetricMatrix one(what.kind.kind, n, what.kind.parameter, what.seed + static_cast<std::uint64_t>(k));
        for (index_t j = 0; j < n; ++j)
          for (index_t i = 0; i < n; ++i) original_(i, k * n + j) = one.element<T>(i, j);
      }
    });
  }
  if (what.on_device) return;
  a_ = std::make_unique<HostBuffer>(runtime, static_cast<std::size_t>(original_.size()) * sizeof(T));
  w_ = std::make_unique<HostBuffer>(runtime, static_cast<std::size_t>(n * what.count) * sizeof(T));
}

template <class T>
void EigBatchData<T>::restore() const {
  std::memcpy(a(), original_.data(), static_cast<std::size_t>(original_.size()) * sizeof(T));
}

template <class T>
double EigBatchData<T>::check(const std::string& peer, const HostMatrix<T>& values, const HostMatrix<T>& x) const {
  constexpr index_t measured = 256;
  const PausedWorkers paused;
  const EigBounds bounds = eig_bounds<T>(what_.n);
  const EigBatchError e = eig_batch_error(original_, values, what_.vectors ? &x : nullptr, true, measured, 1);
  double worst = 0;
  for (const double part : {e.value / bounds.value, e.residual / bounds.value, e.orthogonality / bounds.orthogonality})
    worst = part <= worst ? worst : part;  // NaN stays
  if (!(worst <= 1))
    throw WrongResult(
        fmt::format("{}: {} x {}: an error is {:.3g} times its bound", peer, what_.count, what_.n, worst));
  return worst;
}

template <class T>
double EigBatchData<T>::check(const std::string& peer) const {
  HostMatrix<T> values(what_.n, what_.count), x(what_.n, what_.n * what_.count);
  std::copy_n(w(), values.size(), values.data());
  std::copy_n(a(), x.size(), x.data());
  return check(peer, values, x);
}

template class EigBatchData<float>;
template class EigBatchData<double>;

}  // namespace tesela::bench
