#pragma once

#include <tesela/algorithms/dense/lu.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <memory>

namespace tesela::detail {

/// LU factors of a general Toeplitz matrix in dense form, n^2 numbers in double precision, from its first column c and
/// its first row r (r(0) is not read).
template <class T>
class DenseLu {
 public:
  /// Inserts the factorization of the matrix at size 1.
  DenseLu(Graph& g, const HostMatrix<T>& c, const HostMatrix<T>& r);

  /// Computes X = T^-1 X with one step of refinement, X n x k in one tile; each column has size 1 during the solve.
  /// Waits. Returns the index, from 1, of the first pivot that is zero; X is unchanged then.
  index_t solve(Graph& g, const TileMatrix<T>& X) const;

  /// Returns an estimate, from below, of ||T||_1 ||T^-1||_1. Waits.
  double condition(Graph& g) const;

 private:
  using Wide = with_parts<T, double>;

  index_t n_;
  std::shared_ptr<HostMatrix<Wide>> t_;  // first column and first row, at size 1
  int exponent_;
  TileMatrix<Wide> a_;
  LuFactorization<Wide> lu_;
};

/// Returns the bytes of the factors.
template <class T>
constexpr double dense_lu_bytes(index_t n) {
  return static_cast<double>(n) * static_cast<double>(n) * sizeof(with_parts<T, double>);
}

}  // namespace tesela::detail
