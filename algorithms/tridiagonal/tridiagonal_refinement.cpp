#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal_refinement.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal_residuals.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/codelets/support/tile_kernels.hpp>
#include <tesela/tiles/generator.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace tesela {

using namespace kernels;
namespace {

using tridiagonal::Verdict;

/// One refinement and its data between corrections. Solves in precision L.
template <class T, class L>
class Refinement {
 public:
  Refinement(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& X, const RefinementOptions& options)
      : g_(g),
        a_(A),
        x_(X),
        b_(alike<T>(g.runtime(), X, "b")),
        r_(alike<T>(g.runtime(), X, "r")),
        y_(alike<L>(g.runtime(), X, "y")),
        misfits_(g.runtime(), X, options.systems, options.periodic),
        tolerance_(options.tolerance > 0 ? static_cast<real_t<T>>(options.tolerance)
                                         : 4 * std::numeric_limits<real_t<T>>::epsilon()),
        low_(misfits_.template scaled<L>(g, A)) {
    misfits_.for_each_tile(
        [&](index_t t, index_t s) { g.insert<Lacpy<T>>({}, misfits_.tile(x_, t, s), misfits_.tile(b_, t, s)); });
    fill(g, x_, Generator<T>{});  // for X = 0 the first residual is B
  }

  /// Sets X = 0 and multiplies B by 2^exponent.
  void start_over(int exponent) {
    scale(b_, exponent);
    fill(g_, x_, Generator<T>{});
  }
  void scale(const TileMatrix<T>& a, int exponent) {
    a.for_each_tile([&](const Tile<T>& tile, index_t, index_t) { g_.insert<ScalePowerOfTwo<T>>({exponent}, tile); });
  }

  Verdict<real_t<T>> judge() { return misfits_.measure(g_, a_, x_, b_, &r_, {.tolerance = tolerance_}); }
  void correct() { misfits_.correct(g_, low_, r_, y_, x_, false); }

 private:
  Graph& g_;
  const Tridiagonal<T> a_;
  const TileMatrix<T> x_, b_, r_;
  const TileMatrix<L> y_;
  const TridiagonalResiduals<T> misfits_;
  const real_t<T> tolerance_;
  const Tridiagonal<L> low_;
};

template <class T, class L>
RefinedSolve iterate(Graph& g, Refinement<T, L>& refinement, const RefinementOptions& options) {
  RefinedSolve result;
  Verdict<real_t<T>> verdict = refinement.judge();
  double best = std::numeric_limits<double>::infinity();
  int solves = 0;
  // The first solve is done for every residual, because it shows whether A is singular.
  for (int slow = 0; solves == 0 || (verdict.open > 0 && solves <= options.iterations && slow < 2); ++solves) {
    refinement.correct();
    verdict = refinement.judge();
    const auto error = static_cast<double>(verdict.open_error);
    slow = error <= best / 2 ? 0 : slow + 1;
    best = std::min(best, error);
  }
  result.iterations = solves - 1;
  result.backward_error = static_cast<double>(verdict.backward_error);
  const Status broken = g.wait();
  result.broke_down = !broken.ok();
  result.converged = broken.ok() && verdict.open == 0 && std::isfinite(result.backward_error);
  if (!result.converged) result.status = broken.ok() ? Status{verdict.row} : broken;
  return result;
}

/// Returns i + 1 + n s for the first unknown i of system s that is not finite; 0 if all are finite.
template <class T>
index_t first_not_finite(const TileMatrix<T>& X, SystemsIn systems) {
  const bool columns = systems == SystemsIn::columns;
  const index_t n = columns ? X.m() : X.n();
  index_t first = 0;
  X.read_each_tile([&](const auto& block, index_t row, index_t column) {
    for (index_t j = 0; j < block.cols; ++j)
      for (index_t i = 0; i < block.rows; ++i) {
        if (is_finite(block(i, j))) continue;
        const index_t at = columns ? row + i + n * (column + j) : column + j + n * (row + i);
        first = first == 0 ? at + 1 : std::min(first, at + 1);
      }
  });
  return first;
}

template <class T, class L>
RefinedSolve refine(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B, const RefinementOptions& options) {
  RefinedSolve result;
  result.status = g.wait();
  if (!result.status.ok()) return result;
  result.converged = true;
  if (B.m() == 0 || B.n() == 0) return result;

  Refinement<T, L> refinement(g, A, B, options);
  result = iterate(g, refinement, options);
  if (result.broke_down || std::isfinite(result.backward_error)) return result;
  // The terms of a residual are up to 16 times as large as X or B, which may be near the largest number.
  constexpr int room = 8;
  refinement.start_over(-room);
  result = iterate(g, refinement, options);
  refinement.scale(B, room);
  g.wait();
  if (const index_t at = first_not_finite(B, options.systems); at > 0) {
    result.finite = result.converged = false;
    result.status = Status{at};
  }
  return result;
}

}  // namespace

template <class T>
RefinedSolve tridiagonal_solve_refined(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B,
                                       const RefinementOptions& options) {
  require_fit("tridiagonal_solve_refined", A, B, options.systems == SystemsIn::columns);
  if constexpr (std::is_same_v<real_t<T>, double>) {
    if (options.mixed) return refine<T, with_parts<T, float>>(g, A, B, options);
  } else if (options.mixed) {
    throw ArgumentError("tridiagonal_solve_refined", "mixed", "A and B are in single precision");
  }
  return refine<T, T>(g, A, B, options);
}

TESELA_FUNCTIONS_FOR_NUMBERS(tridiagonal_solve_refined)

}  // namespace tesela
