#include <tesela/codelets/qr/internal/block_reflector.hpp>
#include <tesela/codelets/qr/internal/householder.hpp>
#include <tesela/codelets/qr/tile_qr.hpp>

namespace tesela::kernels {
namespace {

/// The tile under a triangle: its first `height` rows and, in TT form, only its upper triangle.
template <class T>
struct Pentagon {
  T* data;
  index_t ld, height;
  bool triangle;

  T* column(index_t c) const { return data + c * ld; }
  index_t full(index_t c) const { return triangle ? std::min(c, height) : height; }
  index_t trapezoid(index_t c, index_t width) const { return triangle ? std::min(c + width, height) - full(c) : 0; }
  internal::BlockVectors<std::remove_const_t<T>> vectors(index_t c, index_t width) const {
    return {blas::Triangle::upper, width, column(c), ld, full(c), trapezoid(c, width)};
  }
};

/// Factors [R; B] = Q [R'; 0] for columns c … c + n - 1 of B, with one T for all of them, by halves; r points to R's
/// first element.
template <class T>
void factor(const Pentagon<T>& b, index_t c, index_t n, T* r, index_t ldr, T* t, index_t ldt) {
  if (n <= internal::panel_width)
    return internal::tpqrt_panel(b.full(c), b.trapezoid(c, n), n, r, ldr, b.column(c), b.ld, t, ldt);
  const index_t n1 = internal::half(n, internal::panel_width), n2 = n - n1;
  T *const r12 = r + n1 * ldr, *const t12 = t + n1 * ldt;
  factor(b, c, n1, r, ldr, t, ldt);
  const auto left = b.vectors(c, n1);
  internal::apply<T>(left, Side::left, adjoint<T>, t, ldt, n2, r12, ldr, b.column(c + n1), b.ld, t12, ldt);
  factor(b, c + n1, n2, r12 + n1, ldr, t12 + n1, ldt);
  internal::multiply<T>(left, n2, b.column(c + n1), b.ld, t12, ldt);
  internal::join(n1, n2, t, ldt);
}

}  // namespace

template <class T>
void Tpqrt<T>::cpu(const Args& args, InOut<T> a, InOut<T> b, Out<T> t, Scratch<T> work) {
  const Pentagon<T> v{&b(0, args.col), b.ld, height(args, b.rows), args.triangle};
  internal::clear<T>(t, std::min(args.ib, args.width), args.width);
  for (index_t c = 0; c < args.width; c += args.ib) {
    const index_t ib = std::min(args.ib, args.width - c), next = args.col + c + ib, rest = b.cols - next;
    T* const block_t = &t(0, c);
    factor(v, c, ib, &a(args.row + c, args.col + c), a.ld, block_t, t.ld);
    if (rest > 0)
      internal::apply<T>(v.vectors(c, ib), Side::left, adjoint<T>, block_t, t.ld, rest, &a(args.row + c, next), a.ld,
                         &b(0, next), b.ld, work.data, ib);
  }
}

template <class T>
void Tpmqrt<T>::cpu(const Args& args, In<T> v, In<T> t, InOut<T> c1, InOut<T> c2, Scratch<T> work) {
  const bool left = args.side == Side::left;
  const index_t n = left ? c2.cols : c2.rows, blocks = ceil_div(args.width, args.ib);
  const Pentagon<const T> b{&v(0, args.col), v.ld, args.triangle ? std::min(v.rows, args.width) : v.rows,
                            args.triangle};
  if (n == 0 || b.height == 0) return;
  const bool forward = left == (args.op != Op::none);
  for (index_t i = 0; i < blocks; ++i) {
    const index_t at = (forward ? i : blocks - 1 - i) * args.ib, ib = std::min(args.ib, args.width - at),
                  row = args.row + at;
    internal::apply<T>(b.vectors(at, ib), args.side, args.op, &t(0, at), t.ld, n, left ? &c1(row, 0) : &c1(0, row),
                       c1.ld, c2.data, c2.ld, work.data, left ? ib : n);
  }
}

TESELA_STRUCTS_FOR_NUMBERS(Tpqrt, Tpmqrt)

}  // namespace tesela::kernels
