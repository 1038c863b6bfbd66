#include <tesela/codelets/dense/row_gram.hpp>
#include <tesela/host/blas.hpp>

#include <algorithm>

namespace tesela::kernels {

template <class T>
void RowGram<T>::cpu(const Args& args, Out<T> c, std::span<const In<T>> a) {
  for (index_t j = 0; j < c.cols; ++j) std::fill_n(&c(0, j), c.rows, T(0));
  for (const In<T>& tile : a)
    for_each_strip(args, c.shape(), [&](index_t row, index_t rows, index_t column, index_t columns) {
      blas::gemm<T>(Op::none, Op::transpose, rows, columns, tile.cols, 1, &tile(args.row + row, 0), tile.ld,
                    &tile(args.other_row + column - args.column, 0), tile.ld, 1, &c(row, column), c.ld);
    });
}

template struct RowGram<float>;
template struct RowGram<double>;

}  // namespace tesela::kernels
