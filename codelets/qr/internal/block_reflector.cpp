#include <tesela/codelets/qr/internal/block_reflector.hpp>

namespace tesela::kernels::internal {
namespace {

using blas::Triangle;

/// Returns the operator of op(A)^H.
template <class T>
Op flip(Op op) {
  return op == Op::none ? adjoint<T> : Op::none;
}

/// Block whose rows Q changes: of C, or of its adjoint if Q multiplies from the right.
template <class T>
struct View {
  Side side;
  T* data;
  index_t ld;
  View from(index_t row) const { return {side, data + (side == Side::left ? row : row * ld), ld}; }
};

/// Computes y = factor x + (keep ? y : 0) on k rows of n.
template <class T, bool keep>
void combine(index_t k, index_t n, T factor, View<const T> x, View<T> y) {
  if (y.side == Side::right) std::swap(k, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < k; ++i) {
      T& element = y.data[i + j * y.ld];
      element = factor * x.data[i + j * x.ld] + (keep ? element : T(0));
    }
}

/// Computes W = V^H C + beta W for a rectangle of V.
template <class T>
void gather(index_t rows, index_t width, index_t n, const T* v, index_t ldv, View<const T> c, T beta, View<T> w) {
  if (c.side == Side::left)
    blas::gemm<T>(adjoint<T>, Op::none, width, n, rows, 1, v, ldv, c.data, c.ld, beta, w.data, w.ld);
  else
    blas::gemm<T>(Op::none, Op::none, n, width, rows, 1, c.data, c.ld, v, ldv, beta, w.data, w.ld);
}

/// Computes C -= V W for a rectangle of V.
template <class T>
void scatter(index_t rows, index_t width, index_t n, const T* v, index_t ldv, View<const T> w, View<T> c) {
  if (c.side == Side::left)
    blas::gemm<T>(Op::none, Op::none, rows, n, width, -1, v, ldv, w.data, w.ld, 1, c.data, c.ld);
  else
    blas::gemm<T>(Op::none, adjoint<T>, n, rows, width, -1, w.data, w.ld, v, ldv, 1, c.data, c.ld);
}

/// Computes W = op(A) W with a triangle A.
template <class T>
void scale(Triangle shape, Op op, index_t k, index_t n, const T* a, index_t lda, View<T> w) {
  if (w.side == Side::left)
    blas::trmm<T>(Side::left, shape, op, k, n, 1, a, lda, w.data, w.ld);
  else
    blas::trmm<T>(Side::right, shape, flip<T>(op), n, k, 1, a, lda, w.data, w.ld);
}

template <class T>
View<const T> read(View<T> x) {
  return {x.side, x.data, x.ld};
}

/// Computes W = V^H C, + C1 if that is not null.
template <class T>
void multiply(const BlockVectors<T>& v, index_t n, View<const T> c1, View<const T> c, View<T> w) {
  const index_t k = v.triangle, right_of = v.width - k;
  const T* triangle = v.data + v.triangle_row();
  const View<const T> c_triangle = c.from(v.triangle_row());
  if (k > 0) {
    combine<T, false>(k, n, 1, c_triangle, w);
    scale(v.shape, adjoint<T>, k, n, triangle, v.ld, w);
    gather(k, right_of, n, triangle + k * v.ld, v.ld, c_triangle, T(0), w.from(k));
    if (c1.data != nullptr) combine<T, true>(v.width, n, 1, c1, w);
  } else if (c1.data != nullptr) {
    combine<T, false>(v.width, n, 1, c1, w);
  }
  gather(v.full, v.width, n, v.data + v.full_row(), v.ld, c.from(v.full_row()),
         k > 0 || c1.data != nullptr ? T(1) : T(0), w);
}

}  // namespace

template <class T>
void multiply(const BlockVectors<T>& v, index_t n, const T* c, index_t ldc, T* w, index_t ldw) {
  multiply<T>(v, n, {Side::left, nullptr, 1}, {Side::left, c, ldc}, {Side::left, w, ldw});
}

template <class T>
void apply(const BlockVectors<T>& v, Side side, Op op, const T* t, index_t ldt, index_t n, T* c1, index_t ldc1, T* c,
           index_t ldc, T* work, index_t ldw) {
  const View<T> identity_rows{side, c1, ldc1}, rows{side, c, ldc}, w{side, work, ldw};
  multiply(v, n, read(identity_rows), read(rows), w);
  scale(Triangle::upper, side == Side::left ? op : flip<T>(op), v.width, n, t, ldt, w);
  if (c1 != nullptr) combine<T, true>(v.width, n, -1, read(w), identity_rows);
  scatter(v.full, v.width, n, v.data + v.full_row(), v.ld, read(w), rows.from(v.full_row()));
  if (const index_t k = v.triangle; k > 0) {
    const T* triangle = v.data + v.triangle_row();
    const View<T> triangle_rows = rows.from(v.triangle_row());
    scatter(k, v.width - k, n, triangle + k * v.ld, v.ld, read(w.from(k)), triangle_rows);
    scale(v.shape, Op::none, k, n, triangle, v.ld, w);
    combine<T, true>(k, n, -1, read(w), triangle_rows);
  }
}

template <class T>
void join(index_t k1, index_t k2, T* t, index_t ldt) {
  T* t12 = t + k1 * ldt;
  blas::trmm<T>(Side::left, Triangle::upper, Op::none, k1, k2, -1, t, ldt, t12, ldt);
  blas::trmm<T>(Side::right, Triangle::upper, Op::none, k1, k2, 1, t12 + k1, ldt, t12, ldt);
}

TESELA_FUNCTIONS_FOR_NUMBERS(apply, join)
#define TESELA_INSTANTIATE(T) template void multiply(const BlockVectors<T>&, index_t, const T*, index_t, T*, index_t);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela::kernels::internal
