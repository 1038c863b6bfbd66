#include <tesela/codelets/qr/internal/block_reflector.hpp>
#include <tesela/codelets/qr/internal/householder.hpp>
#include <tesela/codelets/qr/tile_qr.hpp>

namespace tesela::kernels {
namespace {

using blas::Triangle;
using internal::BlockVectors;

template <class T>
BlockVectors<T> vectors(index_t m, index_t width, const T* v, index_t ldv) {
  return {Triangle::unit_lower, width, v, ldv, m - width, width};
}

/// Factors A = Q R with one T for all columns, by halves (Elmroth and Gustavson, "Applying recursion to serial and
/// parallel QR factorization leads to better performance"); m >= n.
template <class T>
void factor(index_t m, index_t n, T* a, index_t lda, T* t, index_t ldt) {
  if (n <= internal::panel_width) return internal::geqrt_panel(m, n, a, lda, t, ldt);
  const index_t n1 = internal::half(n, internal::panel_width), n2 = n - n1;
  T *const right = a + n1 * lda, *const t12 = t + n1 * ldt;
  factor(m, n1, a, lda, t, ldt);
  internal::apply<T>(vectors(m, n1, a, lda), Side::left, adjoint<T>, t, ldt, n2, nullptr, 1, right, lda, t12, ldt);
  factor(m - n1, n2, right + n1, lda, t12 + n1, ldt);
  // V1^H V2; V2 starts in row n1 with a unit lower triangle.
  for (index_t j = 0; j < n2; ++j)
    for (index_t i = 0; i < n1; ++i) t12[i + j * ldt] = conj(a[n1 + j + i * lda]);
  blas::trmm<T>(Side::right, Triangle::unit_lower, Op::none, n1, n2, 1, right + n1, lda, t12, ldt);
  if (m > n) blas::gemm<T>(adjoint<T>, Op::none, n1, n2, m - n, 1, a + n, lda, right + n, lda, 1, t12, ldt);
  internal::join(n1, n2, t, ldt);
}

}  // namespace

template <class T>
void Geqrt<T>::cpu(const Args& args, InOut<T> a, Out<T> t, Scratch<T> work) {
  const index_t m = a.rows - args.row, k = std::min(m, args.width);
  internal::clear<T>(t, std::min(args.ib, k), k);
  for (index_t c = 0; c < k; c += args.ib) {
    const index_t ib = std::min(args.ib, k - c), rest = a.cols - args.col - c - ib;
    T *const panel = &a(args.row + c, args.col + c), *const block_t = &t(0, c);
    factor(m - c, ib, panel, a.ld, block_t, t.ld);
    if (rest > 0)
      internal::apply<T>(vectors(m - c, ib, panel, a.ld), Side::left, adjoint<T>, block_t, t.ld, rest, nullptr, 1,
                         panel + ib * a.ld, a.ld, work.data, ib);
  }
}

template <class T>
void Unmqr<T>::cpu(const Args& args, In<T> v, In<T> t, InOut<T> c, Scratch<T> work) {
  const bool left = args.side == Side::left;
  const index_t m = v.rows - args.row, k = std::min(m, args.width), n = left ? c.cols : c.rows;
  if (k <= 0 || n == 0) return;
  const index_t blocks = ceil_div(k, args.ib);
  const bool forward = left == (args.op != Op::none);
  for (index_t i = 0; i < blocks; ++i) {
    const index_t at = (forward ? i : blocks - 1 - i) * args.ib, ib = std::min(args.ib, k - at), row = args.row + at;
    internal::apply<T>(vectors(m - at, ib, &v(row, args.col + at), v.ld), args.side, args.op, &t(0, at), t.ld, n,
                       nullptr, 1, left ? &c(row, 0) : &c(0, row), c.ld, work.data, left ? ib : n);
  }
}

TESELA_STRUCTS_FOR_NUMBERS(Geqrt, Unmqr)

}  // namespace tesela::kernels
