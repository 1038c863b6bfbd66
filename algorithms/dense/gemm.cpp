#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/support/calling_thread.hpp>
#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <cmath>

namespace tesela {

using namespace kernels;
namespace {

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

/// Rounds down to a multiple of 64, which keeps every kernel on its aligned path.
index_t rounded(double size) { return std::max<index_t>(64, static_cast<index_t>(size) / 64 * 64); }

}  // namespace

template <class T>
void gemm(Graph& g, Op op_a, Op op_b, T alpha, const TileMatrix<T>& a, const TileMatrix<T>& b, T beta,
          const TileMatrix<T>& C, const GemmOptions& options) {
  op_a = op_for<T>(op_a);
  op_b = op_for<T>(op_b);
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
            const GemmArgs<T> args{op_a,           op_b,          alpha,           k == 0 ? beta : T(1),
                                   options.kernel, options.block, options.accuracy};
            if (args.beta == T(0))
              insert_product<T, Out>(g, options.priority, args, A(i, k), B(k, j), C(i, j));
            else
              insert_product<T>(g, options.priority, args, A(i, k), B(k, j), C(i, j));
            if (k == kt - 1 && options.bring_home) g.bring_home(C(i, j));
          }
}

namespace {

/// Returns whether the calling thread should multiply: for up to 96^3 products, less than tasks take to start.
template <class T>
bool is_small(const Runtime& runtime, T alpha, Shape left, Shape right, const MatrixView<const T>& a,
              const MatrixView<const T>& b, const MatrixView<T>& c) {
  constexpr double most = 96.0 * 96 * 96;
  const double products = static_cast<double>(c.rows) * static_cast<double>(c.cols) * static_cast<double>(left.cols);
  return runs_here(runtime, products, most, a, b, c) && alpha != T(0) && left.rows == c.rows && right.cols == c.cols &&
         left.cols == right.rows;
}

}  // namespace

template <class T>
Status gemm(Runtime& runtime, Op op_a, Op op_b, T alpha, std::type_identity_t<MatrixView<const T>> a,
            std::type_identity_t<MatrixView<const T>> b, T beta, std::type_identity_t<MatrixView<T>> c,
            const GemmOptions& options) {
  if (options.tile.mb == 0 && is_small(runtime, alpha, apply(op_a, a.shape()), apply(op_b, b.shape()), a, b, c)) {
    blas::gemm(op_a, op_b, c.rows, c.cols, apply(op_a, a.shape()).cols, alpha, a.data, a.ld, b.data, b.ld, beta, c.data,
               c.ld);
    return {};
  }
  const bool on_devices = a.device >= 0 && b.device >= 0 && c.device >= 0;
  const GemmTile tile =
      options.tile.mb > 0 ? options.tile : gemm_tile(runtime, c.rows, c.cols, apply(op_a, a.shape()).cols, on_devices);
  const Shape of_a = apply(op_a, {tile.mb, tile.kb}), of_b = apply(op_b, {tile.kb, tile.nb});
  const auto A = a.in_tiles(runtime, {of_a.rows, of_a.cols}, "A"), B = b.in_tiles(runtime, {of_b.rows, of_b.cols}, "B"),
             C = c.in_tiles(runtime, {tile.mb, tile.nb}, "C");
  Graph g(runtime);
  GemmOptions sent_home = options;
  sent_home.bring_home = true;
  gemm(g, op_a, op_b, alpha, A, B, beta, C, sent_home);
  const Status status = g.wait();
  C.bring_home();
  return status;
}

// - One GPU that has the data: few large tiles, since every kernel multiplies those at a higher rate; four of them fit.
// - GPUs that have the data: square tiles, small enough that the work can be shared (eight per side).
// - GPUs, from the host: tall tiles, narrow for a small product, so that it begins early. While kernels run, an H200
//   receives columns of 4, 8, 16, 32 and 128 KiB at 19, 27, 31, 47 and 54 GB/s.
// - Cores: each BLAS call packs its operands, so calls must be few and long: the whole inner size up to 4096, and four
//   tiles of C per worker for balance.
// - Several ranks: inner size 512, because a rank holds several tiles while they travel.
// All are measured (docs/benchmarks), except for several GPUs from the host: predicted (docs/predict.md).
GemmTile gemm_tile(const Runtime& runtime, index_t m, index_t n, index_t k, bool on_devices) {
  if (on_devices && runtime.gpus() == 1 && runtime.ranks() == 1) {
    const double fits = std::sqrt(static_cast<double>(runtime.device_bytes()) / (8 * sizeof(double)));
    const index_t most = std::clamp<index_t>(rounded(fits), 1024, 16384);
    const auto equal = [&](index_t size) {
      const index_t pieces = std::max<index_t>(1, ceil_div(size, most));
      return std::max<index_t>(1, ceil_div(ceil_div(size, pieces), 256) * 256);
    };
    return {equal(m), equal(n), equal(k)};
  }
  if (runtime.gpus() > 0) {
    const index_t size = std::max({m, n, k}), eighth = rounded(static_cast<double>(size) / 8);
    if (on_devices || runtime.ranks() > 1) {
      const index_t nb = std::clamp<index_t>(eighth, 1024, 4096);
      return {nb, nb, nb};
    }
    constexpr double passing = 12;  // tiles on a GPU: two tasks, their successors, and tiles of C on their way
    const index_t most =
        rounded(std::sqrt(static_cast<double>(runtime.device_bytes()) / runtime.gpus() / (passing * sizeof(double))));
    const bool one = runtime.gpus() == 1;
    const index_t tall = one || size < 8192 ? 4096 : std::clamp<index_t>(2 * eighth, 2048, 4096),
                  mb = one && size >= 8192 ? 8192 : tall,
                  nb = one && size >= 16384 ? 4096 : std::clamp<index_t>(eighth, 512, 4096);
    return {std::min(mb, most), std::min(nb, most), std::min(tall, most)};
  }
  const double area =
      static_cast<double>(m) * static_cast<double>(n) / (4.0 * std::max(1, runtime.cpus()) * runtime.ranks());
  const index_t nb = std::clamp<index_t>(rounded(std::sqrt(area / 2)), 64, 1024);
  return {2 * nb, nb, std::clamp<index_t>(k, 1, runtime.ranks() > 1 ? 512 : 4096)};
}

#define TESELA_INSTANTIATE(T)                                                                                \
  template void gemm(Graph&, Op, Op, T, const TileMatrix<T>&, const TileMatrix<T>&, T, const TileMatrix<T>&, \
                     const GemmOptions&);                                                                    \
  template Status gemm(Runtime&, Op, Op, T, MatrixView<const T>, MatrixView<const T>, T, MatrixView<T>,      \
                       const GemmOptions&);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
