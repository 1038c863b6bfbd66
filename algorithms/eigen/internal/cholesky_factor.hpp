#pragma once

#include <tesela/codelets/dense/block_trsm.hpp>
#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/codelets/dense/trsm.hpp>
#include <tesela/codelets/eigen/cholesky.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <algorithm>
#include <optional>

namespace tesela {

/// With GPUs a column of tiles stays on one.
inline Priority on_column(index_t j, int value = 0) {
  Priority priority = on_gpu_number(static_cast<std::size_t>(j));
  priority.value = value;
  return priority;
}

/// B = R^T R of a symmetric matrix whose tiles are all there, R in the upper ones, and solves with R's diagonal tiles:
/// with GPUs by inverses of blocks.
template <class T>
class CholeskyFactor {
 public:
  CholeskyFactor(Graph& g, const TileMatrix<T>& B) : g_(g), R_(B), minor_(g.runtime(), 1, 1, {1, 1}, "minor") {
    const index_t nb = B.tile_shape().nb;
    if (g.runtime().gpus() > 0) inverses_.emplace(g.runtime(), B.n(), nb, TileShape{nb, nb}, "V");
    using namespace kernels;
    g.insert<Laset<double>>(on_gpu, {0.0}, minor_(0, 0));
    for (index_t k = 0; k < B.nt(); ++k) {
      g.insert<Potrf<T>>(on_column(k, highest_priority), {k * nb}, B(k, k), minor_(0, 0));
      if (inverses_) g.insert<InvertBlocks<T>>(on_column(k, highest_priority), {}, B(k, k), (*inverses_)(k, 0));
      for (index_t j = k + 1; j < B.nt(); ++j) solve(on_column(j, highest_priority), Op::transpose, k, B(k, j));
      for (index_t i = k + 1; i < B.nt(); ++i)
        for (index_t j = i; j < B.nt(); ++j)
          g.insert<Gemm<T>>(on_column(j, i == k + 1 ? highest_priority - 1 : 0), {Op::transpose, Op::none, T(-1), T(1)},
                            B(k, i), B(k, j), B(i, j));
    }
  }

  /// The order of the leading minor that is not positive, or 0. Waits.
  index_t minor() const { return static_cast<index_t>(minor_(0, 0).read()(0, 0)); }
  const TileMatrix<T>& R() const { return R_; }

  /// Inserts x = op(R(k, k))^-1 x.
  void solve(const Priority& where, Op op, index_t k, const Tile<T>& x) const {
    using namespace kernels;
    if (inverses_)
      g_.insert<BlockTrsm<T>>(where, {op}, R_(k, k), (*inverses_)(k, 0), x,
                              g_.scratch<T>(inverted_block, std::max<index_t>(x.shape().cols, 1)));
    else
      g_.insert<Trsm<T>>(where, {op}, R_(k, k), x);
  }

 private:
  Graph& g_;
  TileMatrix<T> R_;
  TileMatrix<double> minor_;
  std::optional<TileMatrix<T>> inverses_;
};

}  // namespace tesela
