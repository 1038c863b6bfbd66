#include <tesela/algorithms/tridiagonal/cyclic_reduction.hpp>
#include <tesela/algorithms/tridiagonal/internal/whole_columns.hpp>
#include <tesela/codelets/tridiagonal/cyclic_reduction.hpp>
#include <tesela/codelets/tridiagonal/elimination.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <bit>
#include <vector>

namespace tesela {

using namespace kernels;
namespace {

/// One tile row of the matrix.
template <class T>
struct Rows {
  Tile<T> dl, d, du, b;
};

Reduction reduction_of(CyclicReduction variant) {
  switch (variant) {
    case CyclicReduction::shared: return Reduction::staged;
    case CyclicReduction::coalesced: return Reduction::packed;
    case CyclicReduction::plain:
    case CyclicReduction::hybrid: break;
  }
  return Reduction::in_place;
}

template <class T>
class Solver {
 public:
  Solver(Graph& g, const CyclicReductionOptions& options)
      : g_(g), options_(options), place_{0, options.gpu_only, -1, options.cores_only} {}

  /// Solves a system of n equations in tiles of mb rows: every stride-th equation of the user's system.
  void solve(const std::vector<Rows<T>>& tiles, index_t n, index_t mb, index_t stride = 1) {
    const bool single = tiles.size() == 1, hybrid = options_.variant == CyclicReduction::hybrid;
    const index_t columns = tiles.front().b.cols();
    if (single && hybrid && n <= options_.cut) {
      const Rows<T>& t = tiles.front();
      g_.insert<Thomas<T>>({stride}, t.dl, t.d, t.du, t.b, g_.scratch<T>(n, 1), g_.status());
      return;
    }
    const Reduction how = reduction_of(options_.variant);
    int levels = cr_levels(n, hybrid ? options_.cut : 0);
    if (!single) levels = std::min(levels, std::countr_zero(static_cast<std::uint64_t>(mb)));
    const index_t coarse_rows = n >> levels;

    const Tile<index_t> failure = g_.scratch<index_t>(1, 1);

    // Statuses count in the order of their creation: a bad diagonal spoils unknowns everywhere, so its status must come
    // first.
    const auto status = [&](std::size_t t) { return g_.status(static_cast<index_t>(t) * mb * stride); };
    std::vector<CrArgs> args;
    std::vector<Tile<T>> work, edges, coarse;
    for (std::size_t t = 0; t < tiles.size(); ++t) {
      const auto& [dl, d, du, b] = tiles[t];
      args.push_back({how, levels, t == 0, t + 1 == tiles.size(), stride, static_cast<index_t>(t) * (mb >> levels)});
      const Shape shape = cr_work(how, b.rows(), columns);
      work.push_back(own(shape.rows, shape.cols));
      if (coarse_rows > 0) edges.push_back(own(levels + (b.rows() >> levels), 3 + columns));
      const auto edge = edges.empty() ? edges : std::vector{edges.back()};
      g_.insert<CrReduce<T>>(place_, args.back(), dl, d, du, b, work.back(), failure, status(t), edge);
    }
    if (coarse_rows > 0) {
      const Rows<T> c{own(coarse_rows, 1), own(coarse_rows, 1), own(coarse_rows, 1), own(coarse_rows, columns)};
      g_.insert<CrJoin<T>>({levels, n, mb}, c.dl, c.d, c.du, c.b, edges);
      solve({c}, coarse_rows, coarse_rows, stride << levels);
      coarse.push_back(c.b);
    }
    for (std::size_t t = 0; t < tiles.size(); ++t) {
      const auto& [dl, d, du, b] = tiles[t];
      g_.insert<CrSubstitute<T>>(place_, args[t], dl, d, du, work[t], b, failure, status(t), coarse);
    }
  }

 private:
  /// Returns a scratch tile that the graph keeps, with a number that no kernel requests.
  Tile<T> own(index_t rows, index_t cols) { return g_.scratch<T>(rows, cols, next_++); }

  Graph& g_;
  const CyclicReductionOptions& options_;
  Priority place_;
  index_t next_ = 1 << 22;
};

}  // namespace

template <class T>
void cyclic_reduction(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B,
                      const CyclicReductionOptions& options) {
  detail::require_one_system("cyclic_reduction", A, B);
  const index_t mb = B.tile_shape().mb;
  for (const auto* diagonal : {&A.dl, &A.d, &A.du})
    require(B.mt() <= 0 || (diagonal->mt() == B.mt() && (B.mt() <= 1 || diagonal->tile_shape().mb == mb)),
            "cyclic_reduction", "A", "its tiles have ", diagonal->tile_shape().mb, " rows, B's have ", mb);
  require(options.cut >= 1, "cyclic_reduction", "options.cut", options.cut, " is less than 1");
  require(!options.gpu_only || !options.cores_only, "cyclic_reduction", "options.cores_only",
          "must not be set together with gpu_only");
  if ((options.variant == CyclicReduction::hybrid || options.cores_only) && g.runtime().cpus() == 0)
    throw NoWorkerError(
        "cyclic_reduction: the variant hybrid and cores_only need a core, and this runtime has "
        "none: "
        "set STARPU_NCPU to 1 or more");
  for (index_t j = 0; B.mt() > 0 && j < B.nt(); ++j) {
    std::vector<Rows<T>> tiles;
    for (index_t i = 0; i < B.mt(); ++i) tiles.push_back({A.dl(i, 0), A.d(i, 0), A.du(i, 0), B(i, j)});
    Solver<T>(g, options).solve(tiles, B.m(), mb);
  }
}

TESELA_FUNCTIONS_FOR_NUMBERS(cyclic_reduction)

}  // namespace tesela
