#include "codelets/qr_kernels.hpp"

extern "C" {
void dgeqrt_(const int*, const int*, const int*, double*, const int*, double*, const int*, double*, int*);
void sgeqrt_(const int*, const int*, const int*, float*, const int*, float*, const int*, float*, int*);
void dgemqrt_(const char*, const char*, const int*, const int*, const int*, const int*, const double*, const int*,
              const double*, const int*, double*, const int*, double*, int*, std::size_t, std::size_t);
void sgemqrt_(const char*, const char*, const int*, const int*, const int*, const int*, const float*, const int*,
              const float*, const int*, float*, const int*, float*, int*, std::size_t, std::size_t);
void dtpqrt_(const int*, const int*, const int*, const int*, double*, const int*, double*, const int*, double*,
             const int*, double*, int*);
void stpqrt_(const int*, const int*, const int*, const int*, float*, const int*, float*, const int*, float*, const int*,
             float*, int*);
void dtpmqrt_(const char*, const char*, const int*, const int*, const int*, const int*, const int*, const double*,
              const int*, const double*, const int*, double*, const int*, double*, const int*, double*, int*,
              std::size_t, std::size_t);
void stpmqrt_(const char*, const char*, const int*, const int*, const int*, const int*, const int*, const float*,
              const int*, const float*, const int*, float*, const int*, float*, const int*, float*, int*, std::size_t,
              std::size_t);
}

namespace tesela {
namespace {

int i32(index_t n) { return static_cast<int>(n); }
const char* to_lapack(Side side) { return side == Side::left ? "L" : "R"; }
const char* to_lapack(Op op) { return op == Op::none ? "N" : "T"; }

template <class T>
void gemqrt(Side side, Op op, index_t m, index_t n, index_t k, index_t ib, const T* v, index_t ldv, const T* t,
            index_t ldt, T* c, index_t ldc, T* work) {
  if (m == 0 || n == 0 || k == 0) return;
  const int im = i32(m), in = i32(n), ik = i32(k), iib = i32(std::min(ib, k)), iv = i32(ldv), it = i32(ldt),
            ic = i32(ldc);
  int info = 0;
  if constexpr (std::is_same_v<T, double>)
    dgemqrt_(to_lapack(side), to_lapack(op), &im, &in, &ik, &iib, v, &iv, t, &it, c, &ic, work, &info, 1, 1);
  else
    sgemqrt_(to_lapack(side), to_lapack(op), &im, &in, &ik, &iib, v, &iv, t, &it, c, &ic, work, &info, 1, 1);
}

template <class T>
void tpmqrt(Side side, Op op, index_t m, index_t n, index_t k, index_t l, index_t ib, const T* v, index_t ldv,
            const T* t, index_t ldt, T* a, index_t lda, T* b, index_t ldb, T* work) {
  if (m == 0 || n == 0 || k == 0) return;
  const int im = i32(m), in = i32(n), ik = i32(k), il = i32(l), iib = i32(std::min(ib, k)), iv = i32(ldv),
            it = i32(ldt), ia = i32(lda), iB = i32(ldb);
  int info = 0;
  if constexpr (std::is_same_v<T, double>)
    dtpmqrt_(to_lapack(side), to_lapack(op), &im, &in, &ik, &il, &iib, v, &iv, t, &it, a, &ia, b, &iB, work, &info, 1,
             1);
  else
    stpmqrt_(to_lapack(side), to_lapack(op), &im, &in, &ik, &il, &iib, v, &iv, t, &it, a, &ia, b, &iB, work, &info, 1,
             1);
}

}  // namespace

template <class T>
void Geqrt<T>::cpu(const Args& args, InOut<T> a, Out<T> t, Scratch<T> work) noexcept {
  const index_t m = a.rows - args.row, n = args.width, k = std::min(m, n), rest = a.cols - args.col - n;
  if (k <= 0) return;
  const int im = i32(m), in = i32(n), ib = i32(std::min(args.ib, k)), lda = i32(a.ld), ldt = i32(t.ld);
  int info = 0;
  if constexpr (std::is_same_v<T, double>)
    dgeqrt_(&im, &in, &ib, &a(args.row, args.col), &lda, t.data, &ldt, work.data, &info);
  else
    sgeqrt_(&im, &in, &ib, &a(args.row, args.col), &lda, t.data, &ldt, work.data, &info);
  if (rest > 0)
    gemqrt<T>(Side::left, Op::transpose, m, rest, k, args.ib, &a(args.row, args.col), a.ld, t.data, t.ld,
              &a(args.row, args.col + n), a.ld, work.data);
}

template <class T>
void Unmqr<T>::cpu(const Args& args, In<T> v, In<T> t, InOut<T> c, Scratch<T> work) noexcept {
  const bool left = args.side == Side::left;
  const index_t m = left ? c.rows - args.row : c.rows, n = left ? c.cols : c.cols - args.row,
                k = std::min(args.width, v.rows - args.row);
  if (m <= 0 || n <= 0 || k <= 0) return;
  gemqrt<T>(args.side, args.op, m, n, k, args.ib, &v(args.row, args.col), v.ld, t.data, t.ld,
            left ? &c(args.row, 0) : &c(0, args.row), c.ld, work.data);
}

template <class T>
void Tpqrt<T>::cpu(const Args& args, InOut<T> a, InOut<T> b, Out<T> t, Scratch<T> work) noexcept {
  const index_t m = height(args, b.rows), n = args.width, l = args.triangle ? m : 0, rest = b.cols - args.col - n;
  if (m <= 0 || n <= 0) return;
  const int im = i32(m), in = i32(n), il = i32(l), ib = i32(std::min(args.ib, n)), lda = i32(a.ld), ldb = i32(b.ld),
            ldt = i32(t.ld);
  int info = 0;
  if constexpr (std::is_same_v<T, double>)
    dtpqrt_(&im, &in, &il, &ib, &a(args.row, args.col), &lda, &b(0, args.col), &ldb, t.data, &ldt, work.data, &info);
  else
    stpqrt_(&im, &in, &il, &ib, &a(args.row, args.col), &lda, &b(0, args.col), &ldb, t.data, &ldt, work.data, &info);
  if (rest > 0)
    tpmqrt<T>(Side::left, Op::transpose, m, rest, n, l, args.ib, &b(0, args.col), b.ld, t.data, t.ld,
              &a(args.row, args.col + n), a.ld, &b(0, args.col + n), b.ld, work.data);
}

template <class T>
void Tpmqrt<T>::cpu(const Args& args, In<T> v, In<T> t, InOut<T> c1, InOut<T> c2, Scratch<T> work) noexcept {
  const bool left = args.side == Side::left;
  const index_t height = args.triangle ? std::min(v.rows, args.width) : v.rows, l = args.triangle ? height : 0;
  tpmqrt<T>(args.side, args.op, left ? height : c2.rows, left ? c2.cols : height, args.width, l, args.ib,
            &v(0, args.col), v.ld, t.data, t.ld, left ? &c1(args.row, 0) : &c1(0, args.row), c1.ld, c2.data, c2.ld,
            work.data);
}

template struct Geqrt<float>;
template struct Geqrt<double>;
template struct Unmqr<float>;
template struct Unmqr<double>;
template struct Tpqrt<float>;
template struct Tpqrt<double>;
template struct Tpmqrt<float>;
template struct Tpmqrt<double>;

}  // namespace tesela
