#pragma once

#include <tesela/codelets/toeplitz/cauchy_product.hpp>

// Products with one block of a matrix of cauchy.hpp as steps that are common to a core and a GPU. A Machine has each()
// and transform() of toeplitz_body.hpp. Internal to codelets/.

namespace tesela::kernels::toeplitz {

/// One block of a matrix, the tables of its rows, and y = the block times x.
template <class T>
struct CauchyPart {
  index_t rows, length;
  const T *toeplitz, *hankel, *inverse_sine, *cotangent;
  const T *g, *h, *d;
  const T* x;
  T *y, *z;  // z: 2 length numbers

  /// `block`: its first row of g; h and the diagonal follow at distances ld.
  CauchyPart(index_t n, int part, const In<T>& tables, const T* block, index_t ld, const T* from, T* to, T* work)
      : rows(cauchy_rows(n, part)),
        length(cauchy_length(n)),
        toeplitz(tables.data + 2 * part * tables.ld),
        hankel(toeplitz + tables.ld),
        inverse_sine(tables.data + 4 * tables.ld + part * cauchy_rows(n, 0)),
        cotangent(inverse_sine + tables.ld),
        g(block),
        h(block + ld),
        d(block + 2 * ld),
        x(from),
        y(to),
        z(work) {}
};

template <class T>
struct PartBegin {
  CauchyPart<T> m;
  TESELA_BOTH void operator()(index_t a, index_t) const {
    m.z[2 * a] = m.h[a] * m.inverse_sine[a] * m.x[a];
    m.z[2 * a + 1] = m.g[a] * m.x[a];
  }
};

template <class T>
struct PartClear {
  T* z;
  TESELA_BOTH void operator()(index_t i, index_t) const { z[i] = 0; }
};

/// Fills the input of the first transform.
template <class Machine, class T>
void cauchy_part_begin(const Machine& machine, const CauchyPart<T>& m) {
  machine.each(m.rows, 1, PartBegin<T>{m});
  machine.each(2 * (m.length - m.rows), 1, PartClear<T>{m.z + 2 * m.rows});
}

template <class T>
struct PartMiddle {
  CauchyPart<T> m;
  TESELA_BOTH void operator()(index_t k, index_t) const {
    const T *const t = m.toeplitz + 2 * k, *const h = m.hankel + 2 * k;
    T* const z = m.z + 2 * k;
    const T re = z[0], im = z[1];
    z[0] = t[0] * re - t[1] * im - (h[0] * re + h[1] * im);
    z[1] = t[0] * im + t[1] * re - (h[1] * re - h[0] * im);
  }
};

template <class T>
struct PartEnd {
  CauchyPart<T> m;
  TESELA_BOTH void operator()(index_t a, index_t) const {
    const T g = m.g[a], h = m.h[a] * m.inverse_sine[a];
    m.y[a] = g * m.z[2 * a] - h * m.z[2 * a + 1] + (m.d[a] + g * h * m.cotangent[a]) * m.x[a];
  }
};

/// Computes y = the block times x.
template <class Machine, class T>
void cauchy_part_product(const Machine& machine, const CauchyPart<T>& m) {
  cauchy_part_begin(machine, m);
  machine.transform(fft::Direction::forward, m.length, 1, m.z, m.length);
  machine.each(m.length, 1, PartMiddle<T>{m});
  machine.transform(fft::Direction::backward, m.length, 1, m.z, m.length);
  machine.each(m.rows, 1, PartEnd<T>{m});
}

}  // namespace tesela::kernels::toeplitz
