#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/row_source.hpp>

namespace tesela {

struct StreamedQrOptions {
  index_t rows = 0;     ///< at once; 0: a gigabyte or two of them for a GPU, what caches hold for cores
  bool on_gpu = false;  ///< as QrOptions::on_gpu
};

/// The R of A = Q R, n x n with zeros below its diagonal, in one pass over an A that may be larger than memory: block
/// after block of rows,
///
///     [R; A_i] = Q_i [R'; 0]   (LAPACK tpqrt, over tiles of whole columns),
///
/// for n <= 192 and many rows by tall_skinny_r. Signs of R's rows are any; for m < n the last n - m rows vanish to
/// rounding. Holds R and two blocks; one is read while tasks work on the other. 2 m n^2 operations. Inserts into the
/// graph and waits for it. Throws ArgumentError for negative rows, what reading throws, and as Graph::wait.
template <class T>
[[nodiscard]] HostMatrix<T> streamed_r(Graph& g, const RowSource<T>& A, const StreamedQrOptions& options = {});

}  // namespace tesela
