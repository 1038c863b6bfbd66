#pragma once

#include <tesela/runtime/types.hpp>

#include <algorithm>
#include <type_traits>
#include <vector>

// LAPACK's tile QR kernels as references. A program that includes this header must link LAPACK.
extern "C" {
#define TESELA_LAPACK_QR(p, T)                                                                                       \
  void p##geqrt_(const int*, const int*, const int*, T*, const int*, T*, const int*, T*, int*);                      \
  void p##gemqrt_(const char*, const char*, const int*, const int*, const int*, const int*, const T*, const int*,    \
                  const T*, const int*, T*, const int*, T*, int*, std::size_t, std::size_t);                         \
  void p##tpqrt_(const int*, const int*, const int*, const int*, T*, const int*, T*, const int*, T*, const int*, T*, \
                 int*);                                                                                              \
  void p##tpmqrt_(const char*, const char*, const int*, const int*, const int*, const int*, const int*, const T*,    \
                  const int*, const T*, const int*, T*, const int*, T*, const int*, T*, int*, std::size_t,           \
                  std::size_t);
TESELA_LAPACK_QR(s, float)
TESELA_LAPACK_QR(d, double)
#undef TESELA_LAPACK_QR
}

namespace tesela::test {

inline int i32(index_t n) { return static_cast<int>(n); }
inline const char* letter(Side side) { return side == Side::left ? "L" : "R"; }
inline const char* letter(Op op) { return op == Op::none ? "N" : "T"; }

/// Factors an m x n matrix by LAPACK's geqrt; does nothing for an empty matrix.
template <class T>
void geqrt(index_t m, index_t n, index_t ib, T* a, index_t lda, T* t, index_t ldt) {
  if (m == 0 || n == 0) return;
  const int im = i32(m), in = i32(n), nb = i32(std::min({ib, m, n})), ia = i32(lda), it = i32(ldt);
  int info = 0;
  std::vector<T> work(static_cast<std::size_t>(n * ib));
  if constexpr (std::is_same_v<T, float>)
    sgeqrt_(&im, &in, &nb, a, &ia, t, &it, work.data(), &info);
  else
    dgeqrt_(&im, &in, &nb, a, &ia, t, &it, work.data(), &info);
}

/// Computes op(Q) C or C op(Q) by LAPACK's gemqrt, for an m x n matrix C and k vectors.
template <class T>
void gemqrt(Side side, Op op, index_t m, index_t n, index_t k, index_t ib, const T* v, index_t ldv, const T* t,
            index_t ldt, T* c, index_t ldc) {
  if (m == 0 || n == 0 || k == 0) return;
  const int im = i32(m), in = i32(n), ik = i32(k), nb = i32(std::min(ib, k)), iv = i32(ldv), it = i32(ldt),
            ic = i32(ldc);
  int info = 0;
  std::vector<T> work(static_cast<std::size_t>(std::max(m, n) * ib));
  if constexpr (std::is_same_v<T, float>)
    sgemqrt_(letter(side), letter(op), &im, &in, &ik, &nb, v, &iv, t, &it, c, &ic, work.data(), &info, 1, 1);
  else
    dgemqrt_(letter(side), letter(op), &im, &in, &ik, &nb, v, &iv, t, &it, c, &ic, work.data(), &info, 1, 1);
}

/// Factors [A; B] by LAPACK's tpqrt; the last l rows of B (m x n) are upper trapezoidal.
template <class T>
void tpqrt(index_t m, index_t n, index_t l, index_t ib, T* a, index_t lda, T* b, index_t ldb, T* t, index_t ldt) {
  if (m == 0 || n == 0) return;
  const int im = i32(m), in = i32(n), il = i32(l), nb = i32(std::min(ib, n)), ia = i32(lda), iB = i32(ldb),
            it = i32(ldt);
  int info = 0;
  std::vector<T> work(static_cast<std::size_t>(n * ib));
  if constexpr (std::is_same_v<T, float>)
    stpqrt_(&im, &in, &il, &nb, a, &ia, b, &iB, t, &it, work.data(), &info);
  else
    dtpqrt_(&im, &in, &il, &nb, a, &ia, b, &iB, t, &it, work.data(), &info);
}

/// Applies Q to [A; B] or [A B] by LAPACK's tpmqrt; B is m x n.
template <class T>
void tpmqrt(Side side, Op op, index_t m, index_t n, index_t k, index_t l, index_t ib, const T* v, index_t ldv,
            const T* t, index_t ldt, T* a, index_t lda, T* b, index_t ldb) {
  if (m == 0 || n == 0 || k == 0) return;
  const int im = i32(m), in = i32(n), ik = i32(k), il = i32(l), nb = i32(std::min(ib, k)), iv = i32(ldv), it = i32(ldt),
            ia = i32(lda), iB = i32(ldb);
  int info = 0;
  std::vector<T> work(static_cast<std::size_t>((m + n + k) * ib));
  if constexpr (std::is_same_v<T, float>)
    stpmqrt_(letter(side), letter(op), &im, &in, &ik, &il, &nb, v, &iv, t, &it, a, &ia, b, &iB, work.data(), &info, 1,
             1);
  else
    dtpmqrt_(letter(side), letter(op), &im, &in, &ik, &il, &nb, v, &iv, t, &it, a, &ia, b, &iB, work.data(), &info, 1,
             1);
}

}  // namespace tesela::test
