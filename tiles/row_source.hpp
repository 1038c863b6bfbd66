#pragma once

#include <tesela/runtime/access.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <algorithm>
#include <functional>

namespace tesela {

/// An m x n matrix that is read or computed in blocks of rows, and may be larger than memory.
template <class T>
struct RowSource {
  index_t m = 0, n = 0;
  /// Writes rows first … first + out.rows - 1 to out, which has n columns; callable for any rows in any order,
  /// repeatedly.
  std::function<void(index_t first, const Block<T>& out)> read;
};

/// Returns the rows of a matrix in host memory, which must outlive the source.
template <class T>
RowSource<T> rows_of(const HostMatrix<T>& A) {
  return {A.rows(), A.cols(), [&A](index_t first, const Block<T>& out) {
            for (index_t j = 0; j < out.cols && out.rows > 0; ++j) std::copy_n(&A(first, j), out.rows, &out(0, j));
          }};
}

}  // namespace tesela
