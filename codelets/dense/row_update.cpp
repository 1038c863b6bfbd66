#include <tesela/codelets/dense/row_update.hpp>
#include <tesela/host/blas.hpp>

namespace tesela::kernels {

template <class T>
void RowUpdate<T>::cpu(const Args& args, In<T> a, In<T> b, InOut<T> c) {
  const index_t columns = c.cols - args.column, inner = args.op == Op::transpose ? a.rows : b.rows;
  if (c.rows == 0 || columns <= 0 || inner == 0) return;
  const T* const s = &a(0, args.a_column);
  if (args.symmetric)
    blas::syrk<T>(c.rows, inner, -1, s, a.ld, c.data, c.ld);
  else
    blas::gemm<T>(args.op, Op::none, c.rows, columns, inner, -1, s, a.ld, &b(0, args.column), b.ld, 1,
                  &c(0, args.column), c.ld);
}

template struct RowUpdate<float>;
template struct RowUpdate<double>;

}  // namespace tesela::kernels
