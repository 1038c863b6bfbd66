#pragma once

#include <tesela/codelets/toeplitz/internal/toeplitz_body.hpp>
#include <tesela/codelets/toeplitz/schur.hpp>

// Steps of the Schur tasks that are common to a core and a GPU. Internal to codelets/.

namespace tesela::kernels::schur {

/// Returns conj(x), also on a GPU.
template <class T>
TESELA_BOTH T conjugate(T x) {
  if constexpr (is_complex<T>)
    return T(x.real(), -x.imag());
  else
    return x;
}

/// Copies pairs of the initial generator, with zeros behind the last one.
template <class T>
struct Pairs {
  const T* t;
  index_t n, first;
  T* to;
  index_t ld;
  TESELA_BOTH void operator()(index_t i, index_t j) const {
    const index_t from = first + i + j;
    to[i + j * ld] = from < n ? t[from] : T(0);
  }
};

/// Transfer polynomials of some steps.
template <class T>
struct Transfer {
  const T *a, *c;
};

/// Copies the six polynomials of each join, a1, c1, a2, c2 and the reversed conj(c2) and conj(a2), with zeros behind
/// them; a1 of all joins comes first. Join p has the steps from p (m1 + m2) on in both transfers.
template <class T>
struct JoinColumns {
  Transfer<T> first, second;
  index_t m1, m2, count, rows;
  T* to;
  TESELA_BOTH void operator()(index_t i, index_t column) const {
    const index_t which = column / count, offset = column % count * (m1 + m2);
    const T* const from =
        (which % 2 == (which < 4 ? 0 : 1) ? (which < 2 ? first.a : second.a) : (which < 2 ? first.c : second.c)) +
        offset;
    const index_t m = which < 2 ? m1 : m2, k = which < 4 ? i : m2 - i;
    to[i + column * rows] = k < 0 || k >= m ? T(0) : which < 4 ? from[k] : conjugate(from[k]);
  }
};

/// Computes the transforms of a and c, which replace the transforms of a1 and c1.
template <class T>
struct JoinProducts {
  using Real = real_t<T>;
  index_t count, rows;
  T* columns;
  TESELA_BOTH void operator()(index_t k, index_t join) const {
    constexpr index_t parts = is_complex<T> ? 2 : 1;
    const index_t next = parts * count * rows;
    Real* const x = reinterpret_cast<Real*>(columns) + parts * join * rows + 2 * k;
    const auto product = [&](index_t i, index_t j, Real& re, Real& im) {
      const Real *const p = x + i * next, *const q = x + j * next;
      re += p[0] * q[0] - p[1] * q[1];
      im += p[0] * q[1] + p[1] * q[0];
    };
    Real re_a = 0, im_a = 0, re_c = 0, im_c = 0;
    product(2, 0, re_a, im_a), product(4, 1, re_a, im_a);
    product(5, 1, re_c, im_c), product(3, 0, re_c, im_c);
    x[0] = re_a, x[1] = im_a;
    x[next] = re_c, x[next + 1] = im_c;
  }
};

/// Copies a or c of each join.
template <class T>
struct JoinedColumns {
  const T* columns;
  index_t count, rows, m;
  real_t<T> scale;
  T *a, *c;
  TESELA_BOTH void operator()(index_t i, index_t column) const {
    (column < count ? a : c)[i + column % count * m] = scale * columns[i + column * rows];
  }
};

/// Joins `count` pairs of transfers, which lie one behind the other, m1 + m2 steps each. `a` and `c` may be the memory
/// of the transfers.
template <class Machine, class T>
void join(Machine& machine, const Transfer<T>& first, const Transfer<T>& second, index_t m1, index_t m2, index_t count,
          T* a, T* c, T* work) {
  const index_t m = m1 + m2, length = fft::good_size(m), rows = is_complex<T> ? length : toeplitz_rows(length);
  machine.each(rows, 6 * count, JoinColumns<T>{first, second, m1, m2, count, rows, work});
  if constexpr (is_complex<T>) {
    fft::transform(fft::Direction::forward, length, 6 * count, work, rows);
    machine.each(rows, count, JoinProducts<T>{count, rows, work});
    fft::transform(fft::Direction::backward, length, 2 * count, work, rows);
  } else {
    machine.real_to_complex(length, 6 * count, work, rows);
    machine.each(rows / 2, count, JoinProducts<T>{count, rows, work});
    machine.complex_to_real(length, 2 * count, work, rows);
  }
  machine.each(m, 2 * count, JoinedColumns<T>{work, count, rows, m, 1 / static_cast<real_t<T>>(length), a, c});
}

/// Computes one number of the inverse's first column.
template <class T>
struct InverseColumn {
  const T *a, *c;
  index_t m;
  const T *broken, *pivot;
  T* x;
  TESELA_BOTH void operator()(index_t i, index_t) const {
    const T sum = (i < m ? a[i] : T(0)) + (i > 0 ? conjugate(c[m - i]) : T(0));
    x[i] = *broken != T(0) ? T(0) : sum / *pivot;
  }
};

}  // namespace tesela::kernels::schur
