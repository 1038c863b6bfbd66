#include <tesela/codelets/support/copy_block.hpp>

#include <algorithm>

namespace tesela::kernels {

template <class T, template <class> class B>
void CopyBlock<T, B>::cpu(const Args& args, In<T> a, B<T> b) {
  const index_t block = args.op == Op::none ? args.rows : 16;  // so that each cache line is read and written once
  const auto copy = [&](index_t i, index_t j) {
    const index_t row = args.a_row + (args.reverse_rows ? args.rows - 1 - i : i),
                  column = args.a_column + (args.reverse_columns ? args.columns - 1 - j : j);
    b(args.b_row + i, args.b_column + j) = args.op == Op::none ? a(row, column) : a(column, row);
  };
  for (index_t j0 = 0; j0 < args.columns; j0 += 16)
    for (index_t i0 = 0; i0 < args.rows; i0 += block)
      for (index_t j = j0; j < std::min(j0 + 16, args.columns); ++j)
        for (index_t i = i0; i < std::min(i0 + block, args.rows); ++i) copy(i, j);
}

template struct CopyBlock<float>;
template struct CopyBlock<double>;
template struct CopyBlock<float, Out>;
template struct CopyBlock<double, Out>;

}  // namespace tesela::kernels
