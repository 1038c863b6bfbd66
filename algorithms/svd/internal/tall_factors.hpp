#pragma once

#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <algorithm>
#include <utility>

namespace tesela::detail {

/// A factorization A = Q R of a tall matrix.
template <class T>
class TallFactors {
 public:
  TallFactors(Graph& g, HostMatrix<T> a)
      : a_(std::move(a)),
        tile_(qr_tile(g.runtime(), a_.rows(), a_.cols(), is_complex<T>)),
        A_(TileMatrix<T>::map(g.runtime(), a_.data(), a_.rows(), a_.cols(), a_.ld(), tile_)),
        factors_(qr(g, A_)) {}

  /// Returns R, n x n. Waits.
  HostMatrix<T> triangle(Graph& g) {
    const index_t n = a_.cols();
    g.wait();
    A_.bring_home();
    auto r = HostMatrix<T>::zeros(n, n);
    for (index_t j = 0; j < n; ++j) std::copy_n(&a_(0, j), j + 1, &r(0, j));
    return r;
  }
  /// Returns Q [X 0; 0 I] with `columns` columns. Waits.
  HostMatrix<T> times(Graph& g, const HostMatrix<T>& x, index_t columns) {
    const index_t m = a_.rows(), n = a_.cols();
    auto product = HostMatrix<T>::zeros(m, columns);
    for (index_t j = 0; j < columns; ++j)
      if (j < x.cols())
        std::copy_n(&x(0, j), n, &product(0, j));
      else
        product(j, j) = 1;
    if (columns == 0) return product;
    const auto C = TileMatrix<T>::map(g.runtime(), product.data(), m, columns, product.ld(), {tile_.mb, tile_.nb}, "U");
    factors_.apply(g, Side::left, Op::none, C);
    g.wait();
    C.bring_home();
    return product;
  }

 private:
  HostMatrix<T> a_;
  TileShape tile_;
  TileMatrix<T> A_;
  QrFactorization<T> factors_;
};

}  // namespace tesela::detail
