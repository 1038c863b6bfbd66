#include <tesela/codelets/least_squares/row_scaling.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::kernels {

template <class T>
void RowSizes<T>::cpu(const Args&, Out<double> sizes, std::span<const In<T>> a) {
  std::fill_n(sizes.data, sizes.rows, 0.0);
  for (const In<T>& tile : a)
    for (index_t j = 0; j < tile.cols; ++j)
      for (index_t i = 0; i < tile.rows; ++i) {
        const double x = static_cast<double>(largest_part(tile(i, j)));
        double& size = sizes.data[i];
        size = size >= x || std::isnan(size) ? size : x;
      }
}

template <class T>
void ScaleRows<T>::cpu(const Args&, In<real_t<T>> d, InOut<T> a) {
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = 0; i < a.rows; ++i) a(i, j) = d.data[i] == 0 ? T(0) : d.data[i] * a(i, j);
}

TESELA_STRUCTS_FOR_NUMBERS(RowSizes, ScaleRows)

template <class T>
void WeightRoots<T>::cpu(const Args&, In<T> w, Out<T> d, Out<double> ranges) {
  for (index_t k = 0; k < ranges.cols; ++k) {
    ranges(0, k) = ranges(2, k) = 0;
    ranges(1, k) = std::numeric_limits<double>::infinity();
  }
  double largest = 0, smallest = std::numeric_limits<double>::infinity(), counted = 0;
  bool good = true;
  for (index_t i = 0; i < w.rows; ++i) {
    const T weight = w.data[i];
    good = good && weight >= T(0) && weight <= std::numeric_limits<T>::max();
    d.data[i] = std::sqrt(weight);
    if (!(weight > T(0))) continue;
    largest = std::fmax(largest, static_cast<double>(weight));
    smallest = std::fmin(smallest, static_cast<double>(weight));
    ++counted;
  }
  ranges(0, 0) = good ? largest : std::numeric_limits<double>::quiet_NaN();
  ranges(1, 0) = smallest;
  ranges(2, 0) = counted;
}

TESELA_STRUCTS_FOR_REALS(WeightRoots)

}  // namespace tesela::kernels
