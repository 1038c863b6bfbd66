#pragma once

#include <tesela/codelets/toeplitz/cauchy.hpp>

#include <algorithm>
#include <span>

namespace tesela::kernels {

/// Calls f(part, piece, row, at, rows) for the rows of each part in each piece of a basis: rows row ... row + rows - 1
/// of the piece are rows at ... of all n. The pieces hold the n rows in their order; one piece may hold both parts.
template <class T, class F>
void for_each_piece(index_t n, const std::span<const In<T>>& pieces, const F& f) {
  index_t begin = 0;
  for (const In<T>& piece : pieces) {
    for (int part = 0; part < 2; ++part) {
      const index_t first = part * cauchy_rows(n, 0), from = std::max(begin, first),
                    to = std::min(begin + piece.rows, first + cauchy_rows(n, part));
      if (from < to) f(part, piece, from - begin, from, to - from);
    }
    begin += piece.rows;
  }
}

}  // namespace tesela::kernels
