#include <tesela/codelets/libraries/internal/cublas.hpp>
#include <tesela/codelets/support/copy_block.hpp>
#include <tesela/codelets/support/lacpy.hpp>

namespace tesela::kernels {

template <class T, template <class> class B>
void CopyBlock<T, B>::cuda(CudaContext& context, const Args& args, In<T> a, B<T> b) {
  if (args.rows == 0 || args.columns == 0) return;
  T* const to = &b(args.b_row, args.b_column);
  if (args.op == Op::none)
    context.check(
        lacpy<T>(context.stream(), Part::all, 0, {&a(args.a_row, args.a_column), args.rows, args.columns, a.ld},
                 {to, args.rows, args.columns, b.ld}),
        "lacpy");
  else
    context.check(
        cublas::transpose(context.cublas(), args.rows, args.columns, &a(args.a_column, args.a_row), a.ld, to, b.ld),
        "cublas geam");
}

#define TESELA_INSTANTIATE(T)                               \
  template decltype(CopyBlock<T>::cuda) CopyBlock<T>::cuda; \
  template decltype(CopyBlock<T, Out>::cuda) CopyBlock<T, Out>::cuda;
TESELA_INSTANTIATE(float)
TESELA_INSTANTIATE(double)
#undef TESELA_INSTANTIATE

}  // namespace tesela::kernels
