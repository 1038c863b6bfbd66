#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/support/internal/blas_sizes.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace tesela {

using namespace kernels;
namespace {

constexpr std::array all_kernels{
    Named<GemmKernel>{GemmKernel::cublas, "cublas", "the vendor's"},
    Named<GemmKernel>{GemmKernel::naive, "naive", "a thread for each element"},
    Named<GemmKernel>{GemmKernel::shared, "shared", "tiles in shared memory"},
    Named<GemmKernel>{GemmKernel::coarse, "coarse", "the same with two elements a thread"},
    Named<GemmKernel>{GemmKernel::tuned, "tuned", "ours"},
};

/// op(A) in tiles: its shape, its tile shape, and its tile (i, k).
template <class T>
struct Operand {
  const TileMatrix<T>& A;
  Op op;
  Shape shape() const { return apply(op, {A.m(), A.n()}); }
  Shape tile_shape() const { return apply(op, {A.tile_shape().mb, A.tile_shape().nb}); }
  Tile<T> operator()(index_t i, index_t j) const { return op == Op::none ? A(i, j) : A(j, i); }
};

/// Returns whether two tile sizes cut `size` at the same places.
bool same_cuts(index_t size, index_t tile, index_t other) { return tile == other || (size <= tile && size <= other); }

template <class T>
void require_conforming(const Operand<T>& A, const Operand<T>& B, const TileMatrix<T>& C) {
  const Shape a = A.shape(), b = B.shape();
  require(a.rows == C.m() && b.cols == C.n() && a.cols == b.rows, "gemm", "shapes", "op(A) is ", a, ", op(B) ", b,
          ", C ", C, "; they must be m x k, k x n, m x n");
  const Shape ta = A.tile_shape(), tb = B.tile_shape();
  require(same_cuts(C.m(), ta.rows, C.tile_shape().mb) && same_cuts(C.n(), tb.cols, C.tile_shape().nb) &&
              same_cuts(a.cols, ta.cols, tb.rows),
          "gemm", "tiles", "op(A) has tiles of ", ta, ", op(B) of ", tb, ", C of ", C.tile_shape(),
          "; they must be mb x kb, kb x nb, mb x nb");
}

/// Returns the edge, in tiles, of the blocks of C that are updated together, step k by step k.
/// - One tile on cores: it stays in a cache through all its updates.
/// - On GPUs, as much of C as fits in half of their memory: a step of a larger block does more work per tile of A and
///   B, and each tile of C moves once.
/// - All of C on cores of several ranks, so that tiles of A and B travel once; each rank updates its own tiles.
template <class T>
index_t block_edge(const Runtime& runtime, const TileMatrix<T>& C) {
  const double tile_bytes = static_cast<double>(C.tile_shape().mb) * static_cast<double>(C.tile_shape().nb) * sizeof(T);
  if (runtime.ranks() > 1 && runtime.gpus() == 0) return std::max({index_t{1}, C.mt(), C.nt()});
  const double tiles = static_cast<double>(runtime.device_bytes()) * runtime.ranks() / 2 / tile_bytes;
  return std::clamp(static_cast<index_t>(std::sqrt(tiles)), index_t{1}, std::max({index_t{1}, C.mt(), C.nt()}));
}

}  // namespace

std::span<const Named<GemmKernel>> gemm_kernels() { return all_kernels; }

template <class T>
void gemm(Graph& g, Op op_a, Op op_b, T alpha, const TileMatrix<T>& a, const TileMatrix<T>& b, T beta,
          const TileMatrix<T>& C, const GemmOptions& options) {
  const Operand<T> A{a, op_a}, B{b, op_b};
  require_conforming(A, B, C);
  require(options.block == 16 || options.block == 32, "gemm", "options.block", options.block, " is neither 16 nor 32");
  const index_t kt = ceil_div(A.shape().cols, A.tile_shape().cols);
  if (C.m() == 0 || C.n() == 0) return;
  if (kt == 0 || alpha == T(0)) return scale(g, beta, C);
  require(!C.shares_tiles(a) && !C.shares_tiles(b), "gemm", "C",
          "shares tiles with A or B, which are read while C is written");
  require_blas_sizes("gemm", "A", a);
  require_blas_sizes("gemm", "B", b);
  require_blas_sizes("gemm", "C", C);

  const index_t edge = block_edge(g.runtime(), C);
  for (index_t J = 0; J < C.nt(); J += edge)
    for (index_t I = 0; I < C.mt(); I += edge)
      for (index_t k = 0; k < kt; ++k)
        for (index_t j = J; j < std::min(J + edge, C.nt()); ++j)
          for (index_t i = I; i < std::min(I + edge, C.mt()); ++i) {
            if (k == 0 && beta == T(0))
              g.insert<Gemm<T, Out>>(options.priority, {op_a, op_b, alpha, T(0), options.kernel, options.block},
                                     A(i, k), B(k, j), C(i, j));
            else
              g.insert<Gemm<T>>(options.priority,
                                {op_a, op_b, alpha, k == 0 ? beta : T(1), options.kernel, options.block}, A(i, k),
                                B(k, j), C(i, j));
            if (k == kt - 1 && options.bring_home) g.bring_home(C(i, j));
          }
}

template void gemm(Graph&, Op, Op, float, const TileMatrix<float>&, const TileMatrix<float>&, float,
                   const TileMatrix<float>&, const GemmOptions&);
template void gemm(Graph&, Op, Op, double, const TileMatrix<double>&, const TileMatrix<double>&, double,
                   const TileMatrix<double>&, const GemmOptions&);

}  // namespace tesela
