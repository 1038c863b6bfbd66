#pragma once

#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/matrix_view.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <algorithm>
#include <vector>

namespace tesela {

/// Returns a copy in host memory of a matrix on the host or on a device.
template <class T>
HostMatrix<T> copy_of(Runtime& runtime, const MatrixView<T>& a) {
  HostMatrix<T> copy(a.rows, a.cols);
  if (copy.size() == 0) return copy;
  if (a.device >= 0)
    a.in_one_tile(runtime).copy_to(copy.data(), copy.ld());
  else
    for (index_t j = 0; j < a.cols; ++j) std::copy_n(a.data + j * a.ld, a.rows, &copy(0, j));
  return copy;
}

/// Subtracts the mean of each column from it, and returns the means; 0 for columns without elements.
template <class T>
std::vector<double> centre(HostMatrix<T>& a) {
  std::vector<double> means(static_cast<std::size_t>(a.cols()));
  if (a.rows() == 0) return means;
  parallel_for(a.cols(), 4, [&](index_t first, index_t end) {
    for (index_t j = first; j < end; ++j) {
      long double sum = 0;
      for (index_t i = 0; i < a.rows(); ++i) sum += static_cast<long double>(a(i, j));
      double& mean = means[static_cast<std::size_t>(j)];
      mean = static_cast<double>(sum / static_cast<long double>(a.rows()));
      for (index_t i = 0; i < a.rows(); ++i) a(i, j) = static_cast<T>(static_cast<double>(a(i, j)) - mean);
    }
  });
  return means;
}

}  // namespace tesela
