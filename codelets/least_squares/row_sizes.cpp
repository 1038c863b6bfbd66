#include <tesela/codelets/least_squares/row_sizes.hpp>

#include <algorithm>
#include <cmath>

namespace tesela::kernels {

template <class T>
void RowSizes<T>::cpu(const Args&, Out<double> sizes, std::span<const In<T>> a) {
  std::fill_n(sizes.data, sizes.rows, 0.0);
  for (const In<T>& tile : a)
    for (index_t j = 0; j < tile.cols; ++j)
      for (index_t i = 0; i < tile.rows; ++i) {
        const double x = std::abs(static_cast<double>(tile(i, j)));
        double& size = sizes.data[i];
        size = size >= x || std::isnan(size) ? size : x;
      }
}

template struct RowSizes<float>;
template struct RowSizes<double>;

}  // namespace tesela::kernels
