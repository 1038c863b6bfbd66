#include "tools/checks/eig_error.hpp"
#include <tesela/runtime/instantiate.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace tesela {
namespace {

template <class T>
HostMatrix<T> matrix_of(const HostMatrix<T>& batch, index_t k) {
  const index_t n = batch.rows();
  HostMatrix<T> one(n, n);
  std::copy_n(&batch(0, k * n), n * n, one.data());
  return one;
}

void take(double& most, double value) { most = std::isnan(most) || most > value ? most : value; }

}  // namespace

template <class T>
EigBatchError eig_batch_error(const HostMatrix<T>& a, const HostMatrix<real_t<T>>& values, const HostMatrix<T>* vectors,
                              bool compare, index_t most, std::uint64_t seed) {
  const index_t n = a.rows(), count = values.cols();
  EigBatchError worst;
  worst.matrices = n > 0 ? std::min(count, most) : 0;
  for (index_t s = 0; s < worst.matrices; ++s) {
    const auto k =
        static_cast<index_t>(static_cast<double>(s) * static_cast<double>(count) / static_cast<double>(worst.matrices));
    const HostMatrix<T> one = matrix_of(a, k);
    const std::vector<double> w(&values(0, k), &values(0, k) + n);
    const double norm = symmetric_norm(one, std::max(std::abs(w.front()), std::abs(w.back())));
    take(worst.rounding, static_cast<double>(std::numeric_limits<real_t<T>>::denorm_min()) / norm);
    if (compare) take(worst.value, eigenvalue_error(w, reference_eigenvalues(one), 0, norm));
    if (vectors == nullptr) continue;
    const EigError error = eig_error(one, w, matrix_of(*vectors, k), norm, n, seed);
    take(worst.residual, error.residual);
    take(worst.orthogonality, error.orthogonality);
  }
  return worst;
}

#define TESELA_INSTANTIATE(T)                                                                                      \
  template EigBatchError eig_batch_error(const HostMatrix<T>&, const HostMatrix<real_t<T>>&, const HostMatrix<T>*, \
                                         bool, index_t, std::uint64_t);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
