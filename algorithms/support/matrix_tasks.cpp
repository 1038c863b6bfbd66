#include <tesela/algorithms/support/matrix_tasks.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/codelets/support/tile_kernels.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <vector>

namespace tesela {

using namespace kernels;
namespace {

/// The intersection of a tile of A and a tile of B, along a dimension of B.
struct Piece {
  index_t tile = 0, from = 0, to = 0, size = 0;  ///< A's tile, and the first element in A's and in B's tile
};

/// Returns the pieces of B's elements begin … begin + size - 1 of `all`. Element 0 is A's element `first`; A has
/// `length` elements, and its tiles `cut`.
std::vector<Piece> pieces(index_t begin, index_t size, index_t all, index_t first, index_t length, index_t cut,
                          bool reversed) {
  std::vector<Piece> result;
  const index_t low = first + (reversed ? all - begin - size : begin), high = std::min(low + size, length);
  for (index_t at = low; at < high;) {
    const index_t end = std::min(high, (at / cut + 1) * cut);
    result.push_back({at / cut, at % cut, reversed ? high - end : at - low, end - at});
    at = end;
  }
  return result;
}

}  // namespace

template <class T>
void rearrange(Graph& g, const TileMatrix<T>& A, const Arrangement& how, const TileMatrix<T>& B) {
  const Op op = op_for<T>(how.op);
  const bool transposed = op != Op::none;
  const Shape needed = how.padded ? Shape{0, 0} : apply(how.op, {B.m(), B.n()});
  require(how.row >= 0 && how.column >= 0 && how.row + needed.rows <= A.m() && how.column + needed.cols <= A.n(),
          "rearrange", "A", A, "; its part is ", needed, " from row ", how.row, " and column ", how.column, " on");
  require(!how.padded || !(how.reverse_rows || how.reverse_columns), "rearrange", "padded", "with reversed orders");
  require(!B.shares_tiles(A), "rearrange", "B", "shares tiles with A");
  const TileShape cut = A.tile_shape();
  B.for_each_tile([&](const Tile<T>& tile, index_t row, index_t column) {
    const Priority where =
        how.on_gpus ? on_gpu_number(static_cast<std::size_t>(column / B.tile_shape().nb)) : Priority{};
    const auto down = pieces(row, tile.rows(), B.m(), transposed ? how.column : how.row, transposed ? A.n() : A.m(),
                             transposed ? cut.nb : cut.mb, how.reverse_rows),
               across = pieces(column, tile.cols(), B.n(), transposed ? how.row : how.column,
                               transposed ? A.m() : A.n(), transposed ? cut.mb : cut.nb, how.reverse_columns);
    const bool whole =
        down.size() == 1 && across.size() == 1 && down[0].size == tile.rows() && across[0].size == tile.cols();
    const auto copy = [&]<template <class> class Access>(const Piece& i, const Piece& j) {
      using Copy = CopyBlock<T, Access>;
      g.insert<Copy>(where, {i.from, j.from, i.to, j.to, i.size, j.size, op, how.reverse_rows, how.reverse_columns},
                     transposed ? A(j.tile, i.tile) : A(i.tile, j.tile), tile);
    };
    if (whole) return copy.template operator()<Out>(down[0], across[0]);
    g.insert<Laset<T>>(where, {how.padded ? T(1) : T(0), row - column}, tile);
    for (const Piece& i : down)
      for (const Piece& j : across) copy.template operator()<InOut>(i, j);
  });
}

template <class T>
void report_not_finite(Graph& g, const TileMatrix<T>& A, FinitePart part) {
  const auto [mb, nb] = A.tile_shape();
  const bool upper = part == FinitePart::upper, lower = part == FinitePart::lower;
  for (index_t j = 0; A.mt() > 0 && j < A.nt(); ++j) {
    const Tile<int> status = g.status(j * nb);
    const index_t last_column = j * nb + A(0, j).cols() - 1, rows = upper ? last_column / mb + 1 : A.mt();
    for (index_t i = lower ? j * nb / mb : 0; i < std::min(rows, A.mt()); ++i)
      g.insert<kernels::NotFinite<T>>({upper, lower, i * mb, j * nb}, A(i, j), status);
  }
}

TESELA_FUNCTIONS_FOR_NUMBERS(rearrange, report_not_finite)

}  // namespace tesela
