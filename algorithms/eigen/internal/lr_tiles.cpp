#include <tesela/algorithms/eigen/internal/lr_tiles.hpp>
#include <tesela/codelets/dense/cholesky.hpp>
#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/codelets/dense/getrf.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/codelets/support/tile_kernels.hpp>

#include <algorithm>

namespace tesela::detail {

using namespace kernels;

template <class T>
LrTiles<T>::LrTiles(Graph& g, index_t n, index_t nb, index_t steps)
    : nb_(nb),
      lower_(g.runtime(), n, n, {nb, nb}, "L"),
      upper_(g.runtime(), n, n, {nb, nb}, "U"),
      none_(g.runtime(), 1, 1, {1, 1}, "none"),
      swaps_(g.runtime(), n, 1, {nb, 1}, "swaps"),
      zero_(g.runtime(), lower_.nt(), steps, {1, 1}, "zero") {}

template <class T>
void LrTiles<T>::insert_step(Graph& g, index_t step, const TileMatrix<T>& D, const TileMatrix<T>& next) const {
  factor(g, step, D);
  multiply(g, D, next);
}

/// Inserts D = L U.
template <class T>
void LrTiles<T>::factor(Graph& g, index_t step, const TileMatrix<T>& D) const {
  const index_t nt = D.nt();
  for (index_t k = 0; k < nt; ++k) {
    g.insert<Laset<double>>({0.0}, zero_(k, step));
    g.insert<Getrf<T>>(urgent, {0, Pivoting::none}, D(k, k), none_(0, 0), swaps_(k, 0), zero_(k, step),
                       g.scratch<int>(getrf_work<T>(nb_), 1));
    g.insert<Lacpy<T>>(urgent, {Part::unit_lower}, D(k, k), lower_(k, k));
    g.insert<Lacpy<T>>(urgent, {Part::upper}, D(k, k), upper_(k, k));
    for (index_t i = k + 1; i < nt; ++i) {
      g.insert<LuSubstitute<T>>({0, false}, D(k, k), D(k, i));  // U(k, i) = L(k, k)^-1 D(k, i)
      g.insert<Transpose<T>>({}, D(i, k), lower_(k, i));
      g.insert<Trsm<T>>({Op::transpose}, upper_(k, k), lower_(k, i));  // L(i, k)^T = U(k, k)^-T D(i, k)^T
    }
    for (index_t j = k + 1; j < nt; ++j)
      for (index_t i = k + 1; i < nt; ++i)
        g.insert<Gemm<T>>({.op_a = Op::transpose, .alpha = -1, .beta = 1}, lower_(k, i), D(k, j), D(i, j));
  }
}

/// Inserts D' = U L.
template <class T>
void LrTiles<T>::multiply(Graph& g, const TileMatrix<T>& D, const TileMatrix<T>& next) const {
  for (index_t j = 0; j < D.nt(); ++j)
    for (index_t i = 0; i < D.nt(); ++i)
      for (index_t k = std::max(i, j); k < D.nt(); ++k) {
        const Tile<T> u = k == i ? upper_(k, k) : D(i, k), l = lower_(j, k);
        const Op op = k == j ? Op::none : Op::transpose;
        if (k == std::max(i, j))
          g.insert<Gemm<T, Out>>({.op_b = op}, u, l, next(i, j));
        else
          g.insert<Gemm<T>>({.op_b = op, .beta = 1}, u, l, next(i, j));
      }
}

template <class T>
index_t LrTiles<T>::broken(index_t step) const {
  for (index_t k = 0; k < zero_.mt(); ++k)
    if (const auto row = static_cast<index_t>(zero_(k, step).read()(0, 0)); row > 0) return k * nb_ + row;
  return 0;
}

template <class T>
Tile<T> LrTiles<T>::below_diagonal(Graph& g, const TileMatrix<T>& D, index_t k) const {
  g.insert<Lacpy<T>>({Part::unit_lower}, D(k, k), lower_(k, k));
  return lower_(k, k);
}

TESELA_CLASSES_FOR_REALS(LrTiles)

}  // namespace tesela::detail
