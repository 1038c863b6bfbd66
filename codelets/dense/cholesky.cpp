#include <tesela/codelets/dense/block_trsm.hpp>
#include <tesela/codelets/dense/cholesky.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>

#include <algorithm>

namespace tesela::kernels {

template <class T>
void Potrf<T>::cpu(const Args& args, InOut<T> a, InOut<double> minor) {
  if (minor(0, 0) > 0) return;
  index_t info = lapack::potrf(a.rows, a.data, a.ld);
  for (index_t j = 0; info == 0 && j < a.rows; ++j)  // some LAPACK libraries miss NaN, and all miss infinities
    if (!(real_part(a(j, j)) > 0) || !is_finite(a(j, j))) info = j + 1;
  if (info != 0) minor(0, 0) = static_cast<double>(args.first + info);
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = j + 1; i < a.rows; ++i) a(i, j) = 0;
}

template <class T>
void Trsm<T>::cpu(const Args& args, In<T> r, InOut<T> x) {
  blas::trsm(args.op, x.rows, x.cols - args.column, r.data, r.ld, &x(0, args.column), x.ld);
}

template <class T>
void RowUpdate<T>::cpu(const Args& args, In<T> a, In<T> b, InOut<T> c) {
  const index_t columns = c.cols - args.column, inner = args.op == Op::none ? b.rows : a.rows;
  if (c.rows == 0 || columns <= 0 || inner == 0) return;
  const T* const s = &a(0, args.a_column);
  if (args.symmetric)
    blas::herk<T>(c.rows, inner, -1, s, a.ld, c.data, c.ld);
  else
    blas::gemm<T>(args.op, Op::none, c.rows, columns, inner, -1, s, a.ld, &b(0, args.column), b.ld, 1,
                  &c(0, args.column), c.ld);
}

template <class T>
void RowGram<T>::cpu(const Args& args, Out<T> c, std::span<const In<T>> a) {
  for (index_t j = 0; j < c.cols; ++j) std::fill_n(&c(0, j), c.rows, T(0));
  for (const In<T>& tile : a)
    for_each_strip(args, c.shape(), [&](index_t row, index_t rows, index_t column, index_t columns) {
      blas::gemm<T>(Op::none, adjoint<T>, rows, columns, tile.cols, 1, &tile(args.row + row, 0), tile.ld,
                    &tile(args.other_row + column - args.column, 0), tile.ld, 1, &c(row, column), c.ld);
    });
}

template <class T>
void CholeskyDiagonal<T>::cpu(const Args& args, In<T> r, In<T>, In<T> a, InOut<T> d, Out<T> inverse,
                              InOut<double> minor, Scratch<T> s, Scratch<T>) {
  const index_t n = r.rows, w = d.rows;
  for (index_t j = 0; j < w; ++j) std::copy_n(&a(0, j), n, s.data + j * n);
  blas::trsm(adjoint<T>, n, w, r.data, r.ld, s.data, n);
  blas::herk<T>(w, n, -1, s.data, n, d.data, d.ld);
  Potrf<T>::cpu(args, {{d.data, w, w, d.ld}}, minor);
  InvertBlocks<T>::cpu({}, {{d.data, w, w, d.ld}}, inverse);
}

TESELA_STRUCTS_FOR_NUMBERS(Potrf, Trsm, RowGram, RowUpdate, CholeskyDiagonal)

}  // namespace tesela::kernels
