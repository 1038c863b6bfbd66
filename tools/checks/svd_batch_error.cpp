#include "tools/checks/svd_error.hpp"
#include <tesela/runtime/instantiate.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

namespace tesela {
namespace {

/// Returns matrix k of `count` side by side.
template <class T>
HostMatrix<T> matrix_of(const HostMatrix<T>& batch, index_t k, index_t count) {
  const index_t columns = batch.cols() / count;
  HostMatrix<T> one(batch.rows(), columns);
  std::copy_n(batch.data() + k * columns * batch.ld(), one.size(), one.data());
  return one;
}

void take(double& most, double value) { most = std::isnan(most) || most > value ? most : value; }

}  // namespace

template <class T>
SvdBatchError svd_batch_error(const HostMatrix<T>& a, const HostMatrix<real_t<T>>& values, const HostMatrix<T>* u,
                              const HostMatrix<T>* v, index_t most) {
  const index_t least = values.rows(), count = values.cols();
  SvdBatchError worst;
  worst.matrices = least > 0 ? std::min(count, most) : 0;
  for (index_t s = 0; s < worst.matrices; ++s) {
    const auto k =
        static_cast<index_t>(static_cast<double>(s) * static_cast<double>(count) / static_cast<double>(worst.matrices));
    const HostMatrix<T> one = matrix_of(a, k, count);
    const std::vector<double> found(&values(0, k), &values(0, k) + least), reference = reference_singular_values(one);
    take(worst.value, singular_value_error(found, reference));
    if (!found.empty() && found.front() > 0)
      take(worst.rounding, static_cast<double>(std::numeric_limits<real_t<T>>::denorm_min()) / found.front());
    if (u == nullptr) continue;
    const SvdError error = svd_error(one, found, matrix_of(*u, k, count), matrix_of(*v, k, count));
    take(worst.vectors.residual, error.residual);
    take(worst.vectors.orthogonality_u, error.orthogonality_u);
    take(worst.vectors.orthogonality_v, error.orthogonality_v);
  }
  return worst;
}

#define TESELA_INSTANTIATE(T)                                                                                      \
  template SvdBatchError svd_batch_error(const HostMatrix<T>&, const HostMatrix<real_t<T>>&, const HostMatrix<T>*, \
                                         const HostMatrix<T>*, index_t);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
