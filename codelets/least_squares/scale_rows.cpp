#include <tesela/codelets/least_squares/scale_rows.hpp>

namespace tesela::kernels {

template <class T>
void ScaleRows<T>::cpu(const Args&, In<T> d, InOut<T> a) {
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = 0; i < a.rows; ++i) a(i, j) = d.data[i] == T(0) ? T(0) : d.data[i] * a(i, j);
}

template struct ScaleRows<float>;
template struct ScaleRows<double>;

}  // namespace tesela::kernels
