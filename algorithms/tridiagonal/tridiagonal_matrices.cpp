#include <tesela/algorithms/tridiagonal/tridiagonal_matrices.hpp>
#include <tesela/runtime/require.hpp>

#include <array>
#include <string>

namespace tesela {

using namespace kernels;
namespace {

constexpr std::array kinds{
    Named<TridiagonalKind>{TridiagonalKind::dominant, "dominant", "|d| = |dl| + |du| + 1, off-diagonals in [-1, 1)"},
    Named<TridiagonalKind>{TridiagonalKind::uniform, "uniform", "all in [-1, 1)"},
    Named<TridiagonalKind>{TridiagonalKind::toeplitz, "toeplitz", "-1, 2.5, -1"},
    Named<TridiagonalKind>{TridiagonalKind::zero_diagonal, "zero-diagonal",
                           "off-diagonals +-[1/2, 1]; d(0) is not zero where n is odd"},
    Named<TridiagonalKind>{TridiagonalKind::near_singular, "near-singular", "rows sum to 256 eps"},
};

struct Extent {
  index_t size, tiles, tile;
};

std::string text(const Extent& e) { return std::to_string(e.size) + " in tiles of " + std::to_string(e.tile); }

/// Returns the size and tile size along the rows, or along the columns.
template <class T>
Extent extent(const TileMatrix<T>& a, bool rows) {
  return rows ? Extent{a.m(), a.mt(), a.tile_shape().mb} : Extent{a.n(), a.nt(), a.tile_shape().nb};
}

/// Returns whether two extents have equal sizes and cuts. A single tile may have any requested size.
bool alike(const Extent& a, const Extent& b) {
  return a.size == b.size && a.tiles == b.tiles && (a.tiles <= 1 || a.tile == b.tile);
}

template <class T>
void require_alike(const char* routine, const char* argument, const TileMatrix<T>& a, const TileMatrix<T>& b) {
  for (const bool rows : {true, false})
    require(alike(extent(a, rows), extent(b, rows)), routine, argument, std::string(rows ? "rows" : "columns"), ": ",
            text(extent(a, rows)), ", expected ", text(extent(b, rows)));
}

template <class T>
void require_diagonals(const char* routine, const Tridiagonal<T>& A) {
  require_alike(routine, "A.dl", A.dl, A.d);
  require_alike(routine, "A.du", A.du, A.d);
}

}  // namespace

std::span<const Named<TridiagonalKind>> tridiagonal_kinds() { return kinds; }

template <class T>
void fill(Graph& g, const Tridiagonal<T>& A, TridiagonalKind kind, std::uint64_t seed,
          const TridiagonalOptions& options) {
  require_diagonals("fill", A);
  const bool in_rows = options.systems == SystemsIn::rows;
  const auto [mb, nb] = A.d.tile_shape();
  const TridiagonalGenerator<T> generator{kind, in_rows ? A.d.n() : A.d.m(), seed, options.periodic};
  for (index_t j = 0; j < A.d.nt(); ++j)
    for (index_t i = 0; i < A.d.mt(); ++i)
      g.insert<TridiagonalFill<T>>({generator, in_rows ? j * nb : i * mb, in_rows ? i * mb : j * nb, in_rows},
                                   A.dl(i, j), A.d(i, j), A.du(i, j));
}

template <class T>
void tridiagonal_multiply(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& X, const TileMatrix<T>& B,
                          const TridiagonalOptions& options) {
  constexpr auto routine = "tridiagonal_multiply";
  const bool in_rows = options.systems == SystemsIn::rows;
  require_diagonals(routine, A);
  require_alike(routine, "B", B, X);
  require(!B.shares_tiles(X), routine, "B", "shares tiles with X");
  const Extent along = extent(X, !in_rows), across = extent(X, in_rows), matrices = extent(A.d, in_rows);
  require(alike(extent(A.d, !in_rows), along), routine, "A", text(extent(A.d, !in_rows)), " along the systems, X has ",
          text(along));
  require(matrices.size == 1 || alike(matrices, across), routine, "A", text(matrices), " across the systems, X has ",
          text(across));

  const auto tile = [in_rows](const TileMatrix<T>& a, index_t t, index_t s) { return in_rows ? a(s, t) : a(t, s); };
  const index_t last = along.tiles - 1;
  for (index_t s = 0; s < across.tiles; ++s)
    for (index_t t = 0; t <= last; ++t) {
      const index_t of = matrices.size == 1 ? 0 : s;
      const index_t before = t > 0 ? t - 1 : options.periodic ? last : t;
      const index_t after = t < last ? t + 1 : options.periodic ? 0 : t;
      g.insert<TridiagonalProduct<T>>({in_rows, t > 0 || options.periodic, t < last || options.periodic},
                                      tile(A.dl, t, of), tile(A.d, t, of), tile(A.du, t, of), tile(X, before, s),
                                      tile(X, t, s), tile(X, after, s), tile(B, t, s));
    }
}

TESELA_FUNCTIONS_FOR_NUMBERS(fill, tridiagonal_multiply)

}  // namespace tesela
