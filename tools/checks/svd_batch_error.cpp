#include "tools/checks/svd_error.hpp"
#include "tools/checks/worse.hpp"
#include <tesela/runtime/scalar.hpp>

#include <algorithm>
#include <limits>

namespace tesela {

template <class T>
SvdBatchError svd_batch_error(const HostMatrix<T>& a, const HostMatrix<real_t<T>>& values, const HostMatrix<T>* u,
                              const HostMatrix<T>* v, index_t most) {
  const index_t least = values.rows(), count = values.cols();
  return worst_of_batch<SvdBatchError>(least > 0 ? count : 0, most, [&](SvdBatchError& worst, index_t k) {
    const HostMatrix<T> one = matrix_of(a, k, count);
    const std::vector<double> found(&values(0, k), &values(0, k) + least), reference = reference_singular_values(one);
    worst.value = worse(worst.value, singular_value_error(found, reference));
    if (!found.empty() && found.front() > 0)
      worst.rounding =
          worse(worst.rounding, static_cast<double>(std::numeric_limits<real_t<T>>::denorm_min()) / found.front());
    if (u == nullptr) return;
    const SvdError error = svd_error(one, found, matrix_of(*u, k, count), matrix_of(*v, k, count));
    worst.vectors.residual = worse(worst.vectors.residual, error.residual);
    worst.vectors.orthogonality_u = worse(worst.vectors.orthogonality_u, error.orthogonality_u);
    worst.vectors.orthogonality_v = worse(worst.vectors.orthogonality_v, error.orthogonality_v);
  });
}

TESELA_FUNCTIONS_FOR_NUMBERS(svd_batch_error)

}  // namespace tesela
