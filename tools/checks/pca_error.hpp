#pragma once

#include <tesela/algorithms/svd/pca.hpp>
#include <tesela/tiles/row_source.hpp>

namespace tesela {

/// Measured errors of principal components, X the centred and scaled table.
struct PcaError {
  double means = 0;          ///< of the means, relative to the root mean square of the column
  double residual = 0;       ///< max ||X^T X v - s^2 v||_2 over the loadings v, relative to ||X||_2^2
  double orthogonality = 0;  ///< ||I - V^T V||_F
  double scores = 0;         ///< ||X V - scores||_F / ||X||_F; 0 without scores
  double shares = 0;         ///< max |share - ||X v||^2 / ||X||_F^2|
};

/// Limits for a good result: of the orthogonality, and of all other errors.
struct PcaBounds {
  double value, orthogonality;
};
template <class T>
PcaBounds pca_bounds(index_t m, index_t n);

/// Measures the errors in double precision, in two passes over the table.
template <class T>
PcaError pca_error(const RowSource<T>& a, const Pca<T>& found);

}  // namespace tesela
