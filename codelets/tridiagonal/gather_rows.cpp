#include <tesela/codelets/tridiagonal/gather_rows.hpp>

#include <algorithm>

namespace tesela::kernels {

template <class T>
void GatherRows<T>::cpu(const Args&, Out<T> a, std::span<const In<T>> tiles) {
  index_t first = 0;
  for (const In<T>& tile : tiles) {
    for (index_t j = 0; j < tile.cols; ++j) std::copy_n(&tile(0, j), tile.rows, &a(first, j));
    first += tile.rows;
  }
}

template <class T>
void ExtractRows<T>::cpu(const Args& args, In<T> a, Out<T> tile) {
  for (index_t j = 0; j < tile.cols; ++j) std::copy_n(&a(args.first, j), tile.rows, &tile(0, j));
}

TESELA_STRUCTS_FOR_NUMBERS(GatherRows, ExtractRows)

}  // namespace tesela::kernels
