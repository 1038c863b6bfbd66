#pragma once

#include <tesela/codelets/tridiagonal/tridiagonal_fill.hpp>

namespace tesela::kernels::internal {

// Element (i, j) of the tiles of TridiagonalFill and TridiagonalProduct, for cores and GPUs.

template <class T>
struct FillElement {
  typename TridiagonalFill<T>::Args args;
  Block<T> dl, d, du;
  TESELA_BOTH void operator()(index_t i, index_t j) const {
    const TridiagonalRow<T> row = args.in_rows ? args.generator(args.equation + j, args.system + i)
                                               : args.generator(args.equation + i, args.system + j);
    dl.data[i + j * dl.ld] = row.dl;
    d.data[i + j * d.ld] = row.d;
    du.data[i + j * du.ld] = row.du;
  }
};

template <class T>
struct ProductElement {
  typename TridiagonalProduct<T>::Args args;
  Block<const T> dl, d, du, before, x, after;
  Block<T> b;

  /// Returns unknown `e` of system s.
  TESELA_BOTH T at(const Block<const T>& block, index_t e, index_t s) const {
    return args.in_rows ? block.data[s + e * block.ld] : block.data[e + s * block.ld];
  }
  TESELA_BOTH index_t length(const Block<const T>& block) const { return args.in_rows ? block.cols : block.rows; }

  TESELA_BOTH void operator()(index_t i, index_t j) const {
    const index_t e = args.in_rows ? j : i, s = args.in_rows ? i : j;
    const index_t matrix = (args.in_rows ? d.rows : d.cols) == 1 ? 0 : s;
    T sum = at(d, e, matrix) * at(x, e, s);
    if (e > 0)
      sum += at(dl, e, matrix) * at(x, e - 1, s);
    else if (args.has_before)
      sum += at(dl, e, matrix) * at(before, length(before) - 1, s);
    if (e < length(x) - 1)
      sum += at(du, e, matrix) * at(x, e + 1, s);
    else if (args.has_after)
      sum += at(du, e, matrix) * at(after, 0, s);
    b.data[i + j * b.ld] = sum;
  }
};

}  // namespace tesela::kernels::internal
