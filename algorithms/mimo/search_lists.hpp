#pragma once

#include <tesela/algorithms/mimo/mimo_detect.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <vector>

// The candidates of each stream as detector kernels read them.

namespace tesela::mimo {

/// The lists that kernels read.
struct SearchLists {
  bool real_form = false;                     ///< whether streams are split into real and imaginary parts
  int labels = 0;                             ///< number of points of all streams together
  HostMatrix<kernels::SearchColumn> columns;  ///< first point and number of points of each column
  HostMatrix<kernels::SearchPoint> points;    ///< points, column after column
  index_t amplitudes = 0;                     ///< Number of points that are amplitudes, in lists of lists_with_parts().
  index_t most_amplitudes() const;            ///< Returns the largest number of amplitudes of one column.
};

/// Returns the candidates of each stream in real or complex form.
SearchLists lists_of(const std::vector<Constellation>& alphabets, SearchForm form);

/// Returns the complex form. If all streams are square QAM, the amplitudes of real and imaginary parts follow it, as
/// kernels::GpuSoftDetector reads them.
SearchLists lists_with_parts(const std::vector<Constellation>& alphabets);

}  // namespace tesela::mimo
