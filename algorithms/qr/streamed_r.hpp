#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/row_source.hpp>

namespace tesela {

/// Options of streamed_r.
struct StreamedQrOptions {
  index_t rows = 0;     ///< rows per block; 0 selects 1 to 2 GiB with a GPU, and the size of the caches on cores
  bool on_gpu = false;  ///< as QrOptions::on_gpu
};

/// Computes R of A = Q R in one pass over a matrix that may be larger than memory: 2 m n^2 operations. T
/// is real or complex.
///
///     [R; A_i] = Q_i [R'; 0]   (LAPACK tpqrt, over tiles of whole columns)
///
/// A        m x n, read in blocks of rows. Memory holds R and two blocks; one is read while tasks work on the other.
/// Returns  R, n x n, zeros below its diagonal, which is real. The signs of its rows are arbitrary. If m < n, the last
///          n - m rows vanish to rounding.
/// Throws   ArgumentError for negative options.rows, as Graph::wait, and the errors of reading.
/// Waits    for the graph.
/// Method   the recurrence above; tall_skinny_r if A is real, n <= 192 and A has many rows.
template <class T>
[[nodiscard]] HostMatrix<T> streamed_r(Graph& g, const RowSource<T>& A, const StreamedQrOptions& options = {});

}  // namespace tesela
