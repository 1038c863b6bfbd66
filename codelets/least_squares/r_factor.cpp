#include <tesela/codelets/least_squares/r_factor.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <algorithm>
#include <exception>
#include <limits>

namespace tesela::kernels {

template <class T>
void GatherUpper<T>::cpu(const Args&, Out<T> r, std::span<const In<T>> tiles) {
  index_t j = 0;
  for (const In<T>& tile : tiles)
    for (index_t l = 0; l < tile.cols; ++l, ++j) {
      const index_t kept = std::min(j + 1, r.rows);
      std::copy_n(&tile(0, l), kept, &r(0, j));
      std::fill_n(r.data + kept + j * r.ld, r.rows - kept, T(0));
    }
}

template <class T>
void UnitCondition<T>::cpu(const Args&, In<T> r, Out<double> condition, Scratch<T>) {
  // NaN means unknown: the caller examines R itself.
  condition(0, 0) = std::numeric_limits<double>::quiet_NaN();
  try {
    auto copy = HostMatrix<T>::zeros(r.rows, r.cols);
    for (index_t j = 0; j < r.cols; ++j) std::copy_n(&r(0, j), j + 1, &copy(0, j));
    if (all_finite(copy)) condition(0, 0) = triangle_condition(copy, true);
  } catch (const std::exception&) {
  }
}

template <class T>
void ColumnNorms<T>::cpu(const Args& args, In<T> b, Out<real_t<T>> norms) {
  const index_t rows = std::max<index_t>(b.rows - args.first, 0);
  for (index_t j = 0; j < b.cols; ++j) norms(j, 0) = rows > 0 ? euclidean_norm(rows, &b(args.first, j)) : 0;
}

TESELA_STRUCTS_FOR_NUMBERS(GatherUpper, UnitCondition, ColumnNorms)

}  // namespace tesela::kernels
