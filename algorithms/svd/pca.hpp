#pragma once

#include <tesela/algorithms/svd/svd.hpp>
#include <tesela/tiles/row_source.hpp>

#include <optional>
#include <vector>

namespace tesela {

/// Options of pca.
struct PcaOptions {
  bool scale = false;                      ///< whether columns are divided by their standard deviations
  std::optional<index_t> components = {};  ///< number of components, at most min(m, n); empty: all
  bool scores = true;                      ///< whether to compute the scores
  index_t rows = 0;                        ///< rows per block that are read from a source; 0 selects about 16 MB
};

/// Principal components of a table.
template <class T>
struct Pca {
  SvdStatus status;                ///< whether to trust the result
  std::vector<double> means;       ///< of the columns
  std::vector<double> scales;      ///< the numbers that divide the centred columns: 1, or standard deviations
  std::vector<double> deviations;  ///< standard deviations of the scores, descending: singular values over sqrt(m - 1)
  std::vector<double> shares;      ///< of each component in the sum of the columns' variances
  HostMatrix<T> loadings;  ///< n x k, orthonormal columns; the largest element of each in absolute value is positive
  HostMatrix<T> scores;    ///< m x k: the centred and scaled table times the loadings; 0 x 0 without
};

/// Computes principal components: the singular value decomposition of the table about its means.
///
/// a        m x n, a row for each observation, m >= 2, on the host or on a device; only read.
/// Returns  means, deviations, shares, loadings, scores, and a status. NaN and infinities are a status.
/// Throws   ArgumentError for fewer than two rows, no column, wrong numbers of components, and a constant column if
///          columns are scaled.
/// Waits    for the computation.
/// Method   Subtracts means, then svd.
template <class T>
[[nodiscard]] Pca<T> pca(Runtime& runtime, MatrixView<T> a, const PcaOptions& options = {});

/// Computes it with the options of a graph.
template <class T>
[[nodiscard]] Pca<T> pca(Graph& g, MatrixView<T> a, const PcaOptions& options = {});

/// Computes it for a table that is read in blocks of rows and may be larger than memory: the scores are in memory.
///
/// Method   tall_skinny_r of [1 A - a] with the first row a. Its first row has the means, and the triangle below the
///          singular values and loadings. A second pass computes the scores.
template <class T>
[[nodiscard]] Pca<T> pca(Graph& g, const RowSource<T>& a, const PcaOptions& options = {});

}  // namespace tesela
