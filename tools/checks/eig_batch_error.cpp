#include "tools/checks/eig_error.hpp"
#include "tools/checks/worse.hpp"
#include <tesela/runtime/scalar.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace tesela {

template <class T>
EigBatchError eig_batch_error(const HostMatrix<T>& a, const HostMatrix<real_t<T>>& values, const HostMatrix<T>* vectors,
                              bool compare, index_t most, std::uint64_t seed) {
  const index_t n = a.rows(), count = values.cols();
  return worst_of_batch<EigBatchError>(n > 0 ? count : 0, most, [&](EigBatchError& worst, index_t k) {
    const HostMatrix<T> one = matrix_of(a, k, count);
    const std::vector<double> w(&values(0, k), &values(0, k) + n);
    const double norm = symmetric_norm(one, std::max(std::abs(w.front()), std::abs(w.back())));
    worst.rounding = worse(worst.rounding, static_cast<double>(std::numeric_limits<real_t<T>>::denorm_min()) / norm);
    if (compare) worst.value = worse(worst.value, eigenvalue_error(w, reference_eigenvalues(one), 0, norm));
    if (vectors == nullptr) return;
    const EigError error = eig_error(one, w, matrix_of(*vectors, k, count), norm, n, seed);
    worst.residual = worse(worst.residual, error.residual);
    worst.orthogonality = worse(worst.orthogonality, error.orthogonality);
  });
}

TESELA_FUNCTIONS_FOR_NUMBERS(eig_batch_error)

}  // namespace tesela
