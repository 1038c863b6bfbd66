#include <tesela/codelets/least_squares/row_sizes.hpp>

#include <algorithm>
#include <cmath>

namespace tesela::kernels {

template <class T>
void RowSizes<T>::cpu(const Args&, In<T> a, Out<double> sizes) {
  std::fill_n(sizes.data, a.rows, 0.0);
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = 0; i < a.rows; ++i) {
      const double x = std::abs(static_cast<double>(a(i, j)));
      double& size = sizes.data[i];
      size = size >= x || std::isnan(size) ? size : x;
    }
}

template struct RowSizes<float>;
template struct RowSizes<double>;

}  // namespace tesela::kernels
