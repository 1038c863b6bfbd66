#include <tesela/codelets/dense/potrf.hpp>
#include <tesela/host/lapack.hpp>

#include <cmath>

namespace tesela::kernels {

template <class T>
void Potrf<T>::cpu(const Args& args, InOut<T> a, InOut<double> minor) {
  if (minor(0, 0) > 0) return;
  index_t info = lapack::potrf(a.rows, a.data, a.ld);
  for (index_t j = 0; info == 0 && j < a.rows; ++j)  // some LAPACK libraries miss NaN, and all miss infinities
    if (!(a(j, j) > 0) || !std::isfinite(a(j, j))) info = j + 1;
  if (info != 0) minor(0, 0) = static_cast<double>(args.first + info);
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = j + 1; i < a.rows; ++i) a(i, j) = 0;
}

template struct Potrf<float>;
template struct Potrf<double>;

}  // namespace tesela::kernels
