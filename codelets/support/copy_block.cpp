#include <tesela/codelets/support/copy_block.hpp>

namespace tesela::kernels {

template <class T, template <class> class B>
void CopyBlock<T, B>::cpu(const Args& args, In<T> a, B<T> b) {
  for (index_t j = 0; j < args.columns; ++j)
    for (index_t i = 0; i < args.rows; ++i)
      b(args.b_row + i, args.b_column + j) =
          args.op == Op::none ? a(args.a_row + i, args.a_column + j) : a(args.a_column + j, args.a_row + i);
}

template struct CopyBlock<float>;
template struct CopyBlock<double>;
template struct CopyBlock<float, Out>;
template struct CopyBlock<double, Out>;

}  // namespace tesela::kernels
