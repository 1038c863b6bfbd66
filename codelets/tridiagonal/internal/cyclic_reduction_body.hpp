#pragma once

#include <tesela/codelets/tridiagonal/cyclic_reduction.hpp>
#include <tesela/codelets/tridiagonal/internal/row_status.hpp>
#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/host_device.hpp>

#include <algorithm>
#include <span>
#include <type_traits>

namespace tesela::kernels::cr {

// Arithmetic of one row for both variants, and the positions of rows.

template <class T>
struct Equation {
  T dl, d, du;
};

/// `count` rows of one level. Row i of the diagonals is at start + i step, its right-hand sides at b_start + i b_step.
template <class E>
struct Rows {
  using T = std::remove_const_t<E>;
  E *dl, *d, *du;
  T* b;
  index_t start, step, b_start, b_step, ldb;
  index_t count, columns;
  bool first, last;  ///< row 0 is not coupled to rows above, or the last row not to rows below

  TESELA_BOTH index_t at(index_t i) const { return start + i * step; }
  TESELA_BOTH T& rhs(index_t i, index_t j) const { return b[b_start + i * b_step + j * ldb]; }
  TESELA_BOTH Equation<T> equation(index_t i) const {
    return {i == 0 && first ? T(0) : dl[at(i)], d[at(i)], i == count - 1 && last ? T(0) : du[at(i)]};
  }
  TESELA_BOTH void store(index_t i, const Equation<T>& e) const { dl[at(i)] = e.dl, d[at(i)] = e.d, du[at(i)] = e.du; }
  Rows<const T> read_only() const {
    return {dl, d, du, b, start, step, b_start, b_step, ldb, count, columns, first, last};
  }
};

/// A tile's rows at each level.
template <class T>
struct Levels {
  const CrArgs& args;
  const T *dl, *d, *du;
  Block<T> b, work;

  Rows<const T> operator[](int level) const {
    if (level > 0) return reduced(level).read_only();
    return {dl, d, du, b.data, 0, 1, 0, 1, b.ld, b.rows, b.cols, args.first, args.last};
  }
  Rows<T> reduced(int level) const {
    T *const x = work.data, *const y = x + work.ld, *const z = y + work.ld;
    // A level has a row, so it is less than 63. NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult)
    const index_t count = b.rows >> level, step = index_t{1} << (level - 1);
    if (args.how != Reduction::packed)
      return {x, y, z, b.data, step - 1, step, 2 * step - 1, 2 * step, b.ld, count, b.cols, args.first, args.last};
    index_t start = 0;
    for (int l = 1; l < level; ++l) start += b.rows >> l;
    return {x, y, z, z + work.ld, start, 1, start, 1, work.ld, count, b.cols, args.first, args.last};
  }
};

/// Factors of a row's neighbours, and the row without them. If there is no row below, `below` is all zeros.
template <class T>
struct Combination {
  T above_factor, below_factor;
  Equation<T> row;
  TESELA_BOTH Combination(const Equation<T>& above, const Equation<T>& e, bool has_below, const Equation<T>& below)
      : above_factor(-e.dl / above.d), below_factor(has_below ? -e.du / below.d : T(0)) {
    row.dl = above_factor * above.dl;
    row.d = e.d + above_factor * above.du;
    if (has_below) row.d += below_factor * below.dl;
    row.du = has_below ? below_factor * below.du : e.du;
  }
};

template <class T>
TESELA_BOTH bool finite(T x) {
  return x * T(0) == T(0);  // false if x is infinite or NaN
}
template <class T>
TESELA_BOTH bool usable(T pivot) {
  return pivot != T(0) && finite(pivot);
}

/// Eliminates row 2 k from row 2 k + 1, if that exists, which becomes row k of the next level. Returns false if row 2 k
/// has no usable diagonal.
template <class T>
TESELA_BOTH bool reduce_row(const Rows<const T>& from, const Rows<T>& to, index_t k) {
  const Equation<T> above = from.equation(2 * k);
  if (k < to.count) {
    const index_t i = 2 * k + 1;
    const bool has_below = i + 1 < from.count;
    const Combination<T> c(above, from.equation(i), has_below, has_below ? from.equation(i + 1) : Equation<T>{});
    to.store(k, c.row);
    for (index_t j = 0; j < from.columns; ++j) {
      T sum = from.rhs(i, j) + c.above_factor * from.rhs(i - 1, j);
      if (has_below) sum += c.below_factor * from.rhs(i + 1, j);
      to.rhs(k, j) = sum;
    }
  }
  return usable(above.d);
}

/// Failure at row i of a level. The least of several failures counts: on the lowest level, the first row. no_failure is
/// 0x7f in all bytes.
constexpr index_t no_failure = 0x7f7f7f7f7f7f7f7f;
TESELA_BOTH inline index_t failure_at(int level, index_t i) {
  return (static_cast<index_t>(level) << 48) | ((i + 1) << level);
}
TESELA_BOTH inline int failure_status(index_t failure, index_t stride) {
  return failure == no_failure ? 0 : row_status((failure & ((index_t{1} << 48) - 1)) * stride);
}

/// Returns the unknown of row i from the unknowns above and below it.
template <class T>
TESELA_BOTH T unknown(const Equation<T>& e, T rhs, bool has_above, T above, bool has_below, T below) {
  if (has_above) rhs -= e.dl * above;
  if (has_below) rhs -= e.du * below;
  return rhs / e.d;
}

/// Returns element (i, j), also on a device.
template <class T>
TESELA_BOTH T& at(const Block<T>& a, index_t i, index_t j) {
  return a.data[i + j * a.ld];
}

/// A tile's part of the coarse system, from its edge; its last row still needs the first rows of the next tile.
template <class T>
struct Join {
  Block<const T> edge, next;
  int levels, next_levels;  ///< number of levels on which the next tile has a row; 0 after the last tile
  index_t coarse_first;
  T *dl, *d, *du;
  Block<T> b;

  TESELA_BOTH index_t rows() const { return edge.rows - levels; }
  TESELA_BOTH void operator()(index_t k) const {
    const index_t i = levels + k, row = coarse_first + k;
    Equation<T> e{at(edge, i, 0), at(edge, i, 1), at(edge, i, 2)};
    for (index_t j = 0; j < b.cols; ++j) at(b, row, j) = at(edge, i, 3 + j);
    for (int l = 0; k == rows() - 1 && l < next_levels; ++l) {
      const T factor = -e.du / at(next, l, 1);
      e.d += factor * at(next, l, 0);
      e.du = factor * at(next, l, 2);
      for (index_t j = 0; j < b.cols; ++j) at(b, row, j) += factor * at(next, l, 3 + j);
    }
    dl[row] = e.dl, d[row] = e.d, du[row] = e.du;
  }
};

/// Calls f for each tile's part of the coarse system.
template <class T, class F>
void for_each_join(const typename CrJoin<T>::Args& args, T* dl, T* d, T* du, const Block<T>& b,
                   std::span<const In<T>> edges, F f) {
  index_t coarse_first = 0;
  for (std::size_t t = 0; t < edges.size(); ++t) {
    const bool has_next = t + 1 < edges.size();
    const index_t next_rows = has_next ? std::min(args.mb, args.n - static_cast<index_t>(t + 1) * args.mb) : 0;
    const int next_levels = std::min(args.levels, cr_levels(next_rows));
    const Join<T> join{edges[t], edges[has_next ? t + 1 : t], args.levels, next_levels, coarse_first, dl, d, du, b};
    if (join.rows() > 0) f(join);
    coarse_first += join.rows();
  }
}

}  // namespace tesela::kernels::cr
