#include <tesela/algorithms/tridiagonal/internal/whole_columns.hpp>
#include <tesela/algorithms/tridiagonal/parallel_reduction.hpp>
#include <tesela/runtime/require.hpp>

#include <limits>
#include <vector>

namespace tesela {

using namespace kernels;
namespace {

template <class T>
void require_band(const TileMatrix<T>& band, const TileMatrix<T>& B, const char* name) {
  const bool single = band.n() == 1;
  require(band.m() == B.m() && (single || band.n() == B.n()), "parallel_reduction", name, band, "; B is ", B);
  require(single || (band.nt() == B.nt() && (B.nt() <= 1 || band.tile_shape().nb == B.tile_shape().nb)),
          "parallel_reduction", name, "its tiles have ", band.tile_shape().nb, " columns, B's have ",
          B.tile_shape().nb);
  require(!band.shares_tiles(B), "parallel_reduction", name, "shares tiles with B");
}

}  // namespace

template <class T>
void parallel_reduction(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B,
                        const ParallelReductionOptions& options) {
  require_band(A.dl, B, "A.dl");
  require_band(A.d, B, "A.d");
  require_band(A.du, B, "A.du");
  require(A.dl.n() == A.d.n() && A.du.n() == A.d.n(), "parallel_reduction", "A",
          "its diagonals differ in their number of columns");
  require(options.cut >= 1, "parallel_reduction", "options.cut", options.cut, " is less than 1");
  if (B.m() == 0 || B.n() == 0) return;
  const index_t n = B.m(), rows = parallel_work(n);
  const bool measured = options.variant == ParallelReduction::rd || options.variant == ParallelReduction::cr_rd;
  const double bound = measured ? 64 * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()) : 0;
  std::vector<Tile<T>> bands;
  for (index_t j = 0; j < B.nt(); ++j) {
    index_t which = 0;
    if (A.d.n() > 1) bands.clear();
    for (const TileMatrix<T>* band : {&A.dl, &A.d, &A.du}) {
      if (j == 0 || A.d.n() > 1) bands.push_back(detail::whole_column(g, *band, j, which));
      ++which;
    }
    const Tile<T> b = detail::whole_column(g, B, j, which);
    g.insert<ReduceSystems<T>>({options.variant, options.cut, bound}, bands[0], bands[1], bands[2], b,
                               g.scratch<T>(rows, rows > parallel_in_shared<T> ? b.cols() : 1),
                               g.scratch<index_t>(1, 1), g.status(j * B.tile_shape().nb * n));
    detail::extract_rows(g, b, B, j);
  }
}

TESELA_FUNCTIONS_FOR_NUMBERS(parallel_reduction)

}  // namespace tesela
