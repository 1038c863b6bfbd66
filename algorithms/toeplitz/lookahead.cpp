#include <tesela/algorithms/support/condition_estimate.hpp>
#include <tesela/algorithms/toeplitz/lookahead.hpp>
#include <tesela/codelets/toeplitz/lookahead.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela {

using namespace kernels;
namespace {

TileMatrix<double> one_tile(Graph& g, index_t rows, index_t cols, const char* name) {
  return {g.runtime(), rows, cols, {std::max<index_t>(rows, 1), cols}, name};
}

index_t transform_rows(index_t n) { return n > 0 ? toeplitz_rows(toeplitz_length(n)) : 0; }

}  // namespace

template <class T>
ToeplitzLookahead<T>::ToeplitzLookahead(Graph& g, const HostMatrix<T>& c, const HostMatrix<T>& r,
                                        const LookaheadOptions& options)
    : n_(c.rows()),
      t_(one_tile(g, n_, 2, "t")),
      generator_(one_tile(g, transform_rows(n_), 4, "generator")),
      report_(one_tile(g, lookahead_report_rows, 1, "report")) {
  require(c.cols() == 1 && r.cols() == 1 && r.rows() == n_ && n_ <= index_t{1} << 28, "ToeplitzLookahead", "r",
          r.shape(), ", c is ", c.shape(), "; they must be columns of the same length, at most 2^28");
  require(options.largest_block >= 1, "ToeplitzLookahead", "largest_block", options.largest_block, " is not positive");
  if (n_ == 0) return;
  HostMatrix<double> unit(n_, 2);
  std::copy_n(c.data(), n_, unit.data());
  std::copy_n(r.data(), n_, unit.data() + n_);
  unit(0, 1) = unit(0, 0);
  const std::span<double> numbers(unit.data(), static_cast<std::size_t>(2 * n_));
  exponent_ = exponent_of_largest<double>(numbers);
  scale_by_power_of_two(numbers, -exponent_);
  t_.copy_from(unit.data(), unit.ld());
  g.insert<LookaheadFactor>({options.largest_block}, t_(0, 0), generator_(0, 0), report_(0, 0));
  norm_ = general_toeplitz_norm_bound(n_, &unit(0, 0), &unit(0, 1));
  one_norm_ = general_toeplitz_one_norm(n_, &unit(0, 0), &unit(0, 1));
}

template <class T>
ToeplitzLookahead<T>::ToeplitzLookahead(Graph& g, const Toeplitz<T>& A, T sigma, const LookaheadOptions& options)
    : ToeplitzLookahead(g, shifted_column(A, sigma), A.column(), options) {}

template <class T>
void ToeplitzLookahead<T>::solve(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
                                 const ToeplitzRefinement& refinement) const {
  require_outcome("ToeplitzLookahead::solve", B, n_, outcome);
  if (n_ == 0) return;
  const RefinedSolveArgs<T> args = refinement.args<T>(exponent_, norm_);
  for (index_t j = 0; j < B.nt(); ++j)
    g.insert<LookaheadSolve<T>>({args.norm, args.steps, args.tolerance, args.exponent}, t_(0, 0), generator_(0, 0),
                                report_(0, 0), B(0, j), outcome(j, 0), g.status());
}

template <class T>
double ToeplitzLookahead<T>::condition(Runtime&) const {
  if (n_ == 0) return 0;
  if (report_(0, 0).read()(lookahead_breakdown, 0) > 0) return std::numeric_limits<double>::quiet_NaN();
  const auto t = t_(0, 0).read();
  const auto generator = generator_(0, 0).read();
  LookaheadInverse inverse({t.data, n_, 2, t.ld}, {generator.data, generator.rows, 4, generator.ld});
  std::vector<double> right(static_cast<std::size_t>(n_));
  double worst = 0;
  const double found = one_norm_ * norm1_estimate(n_, [&](std::vector<double>& x) {
                         std::reverse_copy(x.begin(), x.end(), right.begin());
                         worst = std::max(worst, inverse.solve(right.data(), x.data(), norm_, 8));
                       });
  return worst * found <= 0.05 ? found : std::numeric_limits<double>::quiet_NaN();
}

template <class T>
index_t ToeplitzLookahead<T>::largest_step() const {
  return n_ == 0 ? 0 : static_cast<index_t>(report_(0, 0).read()(lookahead_largest, 0));
}

template <class T>
index_t ToeplitzLookahead<T>::negative() const {
  return n_ == 0 ? 0 : static_cast<index_t>(report_(0, 0).read()(lookahead_negative, 0));
}

template class ToeplitzLookahead<float>;
template class ToeplitzLookahead<double>;

}  // namespace tesela
