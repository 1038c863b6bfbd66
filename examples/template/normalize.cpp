#include "normalize.hpp"

#include <cmath>

namespace normalize {

void AddSquares::cpu(const Args&, In<double> a, Commute<double> sums) {
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = 0; i < a.rows; ++i) sums(0, j) += a(i, j) * a(i, j);
}

void DivideByRoots::cpu(const Args&, In<double> sums, InOut<double> a) {
  for (index_t j = 0; j < a.cols; ++j) {
    const double length = std::sqrt(sums(0, j));
    for (index_t i = 0; i < a.rows && length > 0; ++i) a(i, j) /= length;
  }
}

void Clear::cpu(const Args&, Out<double> row) {
  for (index_t j = 0; j < row.cols; ++j) row(0, j) = 0;
}

void normalize_columns(Graph& g, const TileMatrix<double>& A, const TileMatrix<double>& sums) {
  for (index_t j = 0; j < A.nt(); ++j) {
    g.insert<Clear>({}, sums(0, j));
    for (index_t i = 0; i < A.mt(); ++i) g.insert<AddSquares>({}, A(i, j), sums(0, j));
    for (index_t i = 0; i < A.mt(); ++i) g.insert<DivideByRoots>({}, sums(0, j), A(i, j));
  }
}

}  // namespace normalize
