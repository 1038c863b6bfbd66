#pragma once

#include <tesela/codelets/toeplitz/internal/cauchy_part_body.hpp>
#include <tesela/codelets/toeplitz/lanczos/lanczos_tiles.hpp>

#include <cmath>
#include <limits>

// The kernels of lanczos_tiles.hpp as steps that are common to a core and a GPU. A Machine has each() and transform()
// of toeplitz_body.hpp, and
//   gemv(op, m, n, alpha, a, lda, x, beta, y)   BLAS gemv
//   norm(n, x, to)                              *to = the Euclidean norm
// Internal to codelets/.

namespace tesela::kernels::toeplitz {

/// The same place in the tiles of several segments.
template <class T>
struct Pieces {
  const T* at[most_segments];
  int count = 0;
  explicit Pieces(const std::span<const In<T>>& tiles) {
    for (const In<T>& tile : tiles) at[count++] = tile.data;
  }
  TESELA_BOTH T sum(index_t row) const {
    T total = 0;
    for (int s = 0; s < count; ++s) total += at[s][row];
    return total;
  }
};

template <class T>
struct CopyRows {
  const T* from;
  T* to;
  TESELA_BOTH void operator()(index_t i, index_t) const { to[i] = from[i]; }
};

template <class T>
struct AddRows {
  const T* from;
  T* to;
  TESELA_BOTH void operator()(index_t i, index_t) const { to[i] += from[i]; }
};

/// Computes w / ||w||; zeros if the norm is zero. The start vector, of step 0, has a norm of 1.
template <class T>
struct Normalize {
  const T *w, *norm;
  bool first;
  T* to;
  TESELA_BOTH void operator()(index_t i, index_t) const {
    const T size = first ? T(1) : *norm;
    to[i] = size != 0 ? w[i] / size : T(0);
  }
};

/// Computes r = x - (r - sigma y).
template <class T>
struct ShiftedResidual {
  const T *x, *y;
  T sigma;
  T* r;
  TESELA_BOTH void operator()(index_t i, index_t) const { r[i] = x[i] - (r[i] - sigma * y[i]); }
};

/// Computes to(i) = the sum of row i of all segments.
template <class T>
struct SumPieces {
  Pieces<T> from;
  T* to;
  TESELA_BOTH void operator()(index_t i, index_t) const { to[i] = from.sum(i); }
};

/// Computes w = y - the last `recent` basis vectors times the sums of all segments.
template <class T>
struct SubtractRecent {
  const T *y, *v;
  index_t ld;
  int recent;
  Pieces<T> sums;
  T* w;
  TESELA_BOTH void operator()(index_t i, index_t) const {
    T value = y[i];
    for (int j = 0; j < recent; ++j) value -= sums.sum(j) * v[i + j * ld];
    w[i] = value;
  }
};

/// Writes the component along the last basis vector, and ||y||.
template <class T>
struct PassRecent {
  Pieces<T> sums;
  int recent;
  T* to;
  TESELA_BOTH void operator()(index_t, index_t) const {
    T squares = 0;
    for (int s = 0; s < sums.count; ++s) squares += sums.at[s][2] * sums.at[s][2];
    to[0] = sums.sum(recent - 1);
    to[1] = std::sqrt(squares);
  }
};

template <class Machine, class T>
void lanczos_product(Machine& machine, const typename LanczosProduct<T>::Args& args, const In<T>& c,
                     const In<T>& tables, const In<T>& inverse, const In<T>& norm, const Out<T>& y, T* work,
                     const std::span<const In<T>>& w) {
  const index_t n = c.rows, rows = y.rows, first = args.part * cauchy_rows(n, 0);
  T *const z = work, *const x = z + 2 * cauchy_length(n), *const r = x + rows, *const more = r + rows;
  index_t done = 0;
  for (const In<T>& piece : w) {
    machine.each(piece.rows, 1, Normalize<T>{piece.data, norm.data, args.k == 0, x + done});
    done += piece.rows;
  }
  const T* const block = &inverse(inverse.rows == n ? first : 0, args.column);
  cauchy_part_product(machine, CauchyPart<T>(n, args.part, tables, block, inverse.ld, x, y.data, z));
  if (!args.refine) return;
  cauchy_part_product(machine, CauchyPart<T>(n, args.part, tables, &c(first, 0), c.ld, y.data, r, z));
  machine.each(rows, 1, ShiftedResidual<T>{x, y.data, static_cast<T>(args.shift), r});
  cauchy_part_product(machine, CauchyPart<T>(n, args.part, tables, block, inverse.ld, r, more, z));
  machine.each(rows, 1, AddRows<T>{more, y.data});
}

template <class Machine, class T>
void lanczos_recent(Machine& machine, const LanczosPlace& at, const In<T>& y, const In<T>& w, const In<T>& norm,
                    const InOut<T>& basis, const Out<T>& sums) {
  const index_t rows = basis.rows, recent = at.k > 0 ? 2 : 1;
  const T* const from = y.data + at.row;
  machine.each(rows, 1, Normalize<T>{w.data, norm.data, at.k == 0, &basis(0, at.k)});
  machine.gemv(Op::transpose, rows, recent, T(1), &basis(0, at.k + 1 - recent), basis.ld, from, T(0), sums.data);
  machine.norm(rows, from, sums.data + 2);
}

template <class Machine, class T>
void lanczos_project(Machine& machine, const LanczosPlace& at, const In<T>& y, const In<T>& basis, const Out<T>& w,
                     const Out<T>& sums, const std::span<const In<T>>& recent) {
  const int count = at.k > 0 ? 2 : 1;
  const Pieces<T> all(recent);
  machine.each(w.rows, 1,
               SubtractRecent<T>{y.data + at.row, &basis(0, at.k + 1 - count), basis.ld, count, all, w.data});
  machine.each(1, 1, PassRecent<T>{all, count, sums.data});
  machine.gemv(Op::transpose, w.rows, at.k + 1, T(1), basis.data, basis.ld, w.data, T(0), sums.data + 2);
}

/// Writes the whole component along the last basis vector, and ||y||.
template <class T>
struct PassProjected {
  const T* sums;
  index_t k;
  T* to;
  TESELA_BOTH void operator()(index_t, index_t) const {
    to[1] = sums[0] + sums[2 + k];
    to[2] = sums[1];
  }
};

template <class Machine, class T>
void lanczos_subtract(Machine& machine, const LanczosPlace& at, const In<T>& basis, const InOut<T>& w,
                      const Out<T>& sums, T* work, const std::span<const In<T>>& projected) {
  // The first two rows are equal in all segments.
  machine.each(2, 1, CopyRows<T>{projected.front().data, work});
  SumPieces<T> products{Pieces<T>(projected), work + 2};
  for (int s = 0; s < products.from.count; ++s) products.from.at[s] += 2;
  machine.each(at.k + 1, 1, products);
  machine.gemv(Op::none, w.rows, at.k + 1, T(-1), basis.data, basis.ld, work + 2, T(1), w.data);
  machine.norm(w.rows, w.data, sums.data);
  machine.each(1, 1, PassProjected<T>{work, at.k, sums.data});
}

template <class T>
struct WholeNorm {
  Pieces<T> sums;
  T epsilon;
  T* norm;
  double* coefficients;
  TESELA_BOTH void operator()(index_t, index_t) const {
    T squares = 0;
    for (int s = 0; s < sums.count; ++s) squares += sums.at[s][0] * sums.at[s][0];
    T left = std::sqrt(squares);
    if (!(left > 4 * epsilon * sums.at[0][2])) left = 0;
    *norm = left;
    coefficients[0] = static_cast<double>(sums.at[0][1]);
    coefficients[1] = static_cast<double>(left);
  }
};

template <class Machine, class T>
void lanczos_norm(Machine& machine, const typename LanczosNorm<T>::Args& args, const Out<T>& norm,
                  const Commute<double>& coefficients, const std::span<const In<T>>& sums) {
  machine.each(1, 1,
               WholeNorm<T>{Pieces<T>(sums), std::numeric_limits<T>::epsilon(), norm.data,
                            &coefficients(2 * static_cast<index_t>(args.part), args.column)});
}

}  // namespace tesela::kernels::toeplitz
