#pragma once

#include "tests/support/padded.hpp"
#include "tests/support/test.hpp"
#include <tesela/codelets/qr/tile_qr.hpp>

#include <cstring>
#include <functional>
#include <random>
#include <type_traits>

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

using Where = std::function<bool(index_t i, index_t j)>;

/// Random numbers where `active`, NaN elsewhere and in the padding, so that a read there changes the result.
template <class T>
Padded<T> random(index_t m, index_t n, const Where& active, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Padded<T> a(m, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i)
      if (active(i, j)) {
        a(i, j) = static_cast<T>(static_cast<real_t<T>>(uniform(engine)));
        if constexpr (is_complex<T>) a(i, j).imag(static_cast<real_t<T>>(uniform(engine)));
      }
  return a;
}

template <class T>
Padded<T> work_for(index_t width, index_t across) {
  const Shape shape = kernels::qr_work(width, across, 0, false);
  return Padded<T>(shape.rows, shape.cols);
}

/// Requires that all elements outside `active` and the padding have the bits of before.
template <class T>
bool untouched(Padded<T>& before, Padded<T>& after, const Where& active) {
  for (index_t j = 0; j < after.n; ++j)
    for (index_t i = 0; i < after.ld; ++i)
      if ((i >= after.m || !active(i, j)) && std::memcmp(before.at(i, j), after.at(i, j), sizeof(T)) != 0) return false;
  return true;
}

/// Returns max |x - y| where `active`, in units of rounding; infinite for NaN.
template <class T>
double distance(Padded<T>& x, Padded<T>& y, const Where& active) {
  double worst = 0;
  for (index_t j = 0; j < x.n; ++j)
    for (index_t i = 0; i < x.m; ++i)
      if (active(i, j)) {
        const double d = std::abs(with_parts<T, double>(x(i, j)) - with_parts<T, double>(y(i, j)));
        worst = d <= std::numeric_limits<double>::max() ? std::max(worst, d) : std::numeric_limits<double>::infinity();
      }
  return worst / static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
}

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
