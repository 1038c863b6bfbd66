#include <tesela/algorithms/support/condition_estimate.hpp>
#include <tesela/algorithms/toeplitz/levinson.hpp>
#include <tesela/algorithms/toeplitz/lookahead.hpp>
#include <tesela/codelets/toeplitz/levinson.hpp>
#include <tesela/codelets/toeplitz/lookahead.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela {

using namespace kernels;
namespace {

template <class T>
TileMatrix<T> one_tile(Graph& g, index_t rows, index_t cols, const char* name) {
  return {g.runtime(), rows, cols, {std::max<index_t>(rows, 1), cols}, name};
}

template <class T>
index_t generator_rows(index_t n) {
  return n > 0 ? transform_rows<T>(toeplitz_length(n)) : 0;
}

template <class T>
HostMatrix<T> conjugates(const HostMatrix<T>& t) {
  HostMatrix<T> result = t.clone();
  std::transform(t.data(), t.data() + t.size(), result.data(), [](T value) { return conj(value); });
  return result;
}

}  // namespace

template <class T>
TransformedInverse<T>::TransformedInverse(Graph& g, const char* routine, const HostMatrix<T>& c, const HostMatrix<T>& r)
    : n_(c.rows()),
      t_(one_tile<Wide>(g, n_, 2, "t")),
      generator_(one_tile<Wide>(g, generator_rows<Wide>(n_), 4, "generator")),
      report_(one_tile<double>(g, lookahead_report_rows, 1, "report")) {
  require(c.cols() == 1 && r.cols() == 1 && r.rows() == n_ && n_ <= index_t{1} << 28, routine, "r", r.shape(),
          ", c is ", c.shape(), "; they must be columns of the same length, at most 2^28");
  if (n_ == 0) return;
  HostMatrix<Wide> unit(n_, 2);
  std::copy_n(c.data(), n_, unit.data());
  std::copy_n(r.data(), n_, unit.data() + n_);
  unit(0, 1) = unit(0, 0);
  const std::span<Wide> numbers(unit.data(), static_cast<std::size_t>(2 * n_));
  exponent_ = exponent_of_largest<Wide>(numbers);
  scale_by_power_of_two(numbers, -exponent_);
  t_.copy_from(unit.data(), unit.ld());
}

template <class T>
void TransformedInverse<T>::measure() {
  const auto t = t_(0, 0).read();
  norm_ = general_toeplitz_norm_bound(n_, &t(0, 0), &t(0, 1));
  one_norm_ = general_toeplitz_one_norm(n_, &t(0, 0), &t(0, 1));
}

template <class T>
void TransformedInverse<T>::solve(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
                                  const ToeplitzRefinement& refinement) const {
  require_outcome("TransformedInverse::solve", B, n_, outcome);
  if (n_ == 0) return;
  const RefinedSolveArgs<T> args = refinement.args<T>(exponent_, norm_);
  for (index_t j = 0; j < B.nt(); ++j)
    g.insert<LookaheadSolve<T>>({args.norm, args.steps, args.tolerance, args.exponent}, t_(0, 0), generator_(0, 0),
                                report_(0, 0), B(0, j), outcome(j, 0), g.status());
}

template <class T>
double TransformedInverse<T>::condition(Runtime&) const {
  if (n_ == 0) return 0;
  if (report_(0, 0).read()(lookahead_breakdown, 0) > 0) return std::numeric_limits<double>::quiet_NaN();
  const auto t = t_(0, 0).read();
  const auto generator = generator_(0, 0).read();
  LookaheadInverse<Wide> inverse({t.data, n_, 2, t.ld}, {generator.data, generator.rows, 4, generator.ld});
  std::vector<Wide> right(static_cast<std::size_t>(n_));
  double worst = 0;
  const double found = one_norm_ * norm1_estimate<Wide>(n_, [&](std::vector<Wide>& x) {
                         std::reverse_copy(x.begin(), x.end(), right.begin());
                         worst = std::max(worst, inverse.solve(right.data(), x.data(), norm_, 8));
                       });
  return worst * found <= 0.05 ? found : std::numeric_limits<double>::quiet_NaN();
}

template <class T>
ToeplitzLookahead<T>::ToeplitzLookahead(Graph& g, const HostMatrix<T>& c, const HostMatrix<T>& r,
                                        const LookaheadOptions& options)
    : TransformedInverse<T>(g, "ToeplitzLookahead", c, r) {
  require(options.largest_block >= 1, "ToeplitzLookahead", "largest_block", options.largest_block, " is not positive");
  if (this->n_ == 0) return;
  g.insert<LookaheadFactor<with_parts<T, double>>>({options.largest_block}, this->t_(0, 0), this->generator_(0, 0),
                                                   this->report_(0, 0));
  this->measure();
}

template <class T>
ToeplitzLookahead<T>::ToeplitzLookahead(Graph& g, const Toeplitz<T>& A, T sigma,
                                        const LookaheadOptions& options) requires(!is_complex<T>)
    : ToeplitzLookahead(g, shifted_column(A, sigma), A.column(), options) {}

template <class T>
index_t ToeplitzLookahead<T>::largest_step() const {
  return this->n_ == 0 ? 0 : static_cast<index_t>(this->report_(0, 0).read()(lookahead_largest, 0));
}

template <class T>
index_t ToeplitzLookahead<T>::negative() const {
  return this->n_ == 0 ? 0 : static_cast<index_t>(this->report_(0, 0).read()(lookahead_negative, 0));
}

template <class T>
HermitianInverse<T>::HermitianInverse(Graph& g, const HostMatrix<T>& t, InverseRecursion recursion)
    : TransformedInverse<T>(g, "HermitianInverse", t, conjugates(t)),
      recursion_(one_tile<double>(g, levinson_report_rows, 1, "recursion")) {
  const index_t n = t.rows();
  require(recursion == InverseRecursion::schur || n <= levinson_most, "HermitianInverse", "t", "its length ", n,
          " exceeds ", levinson_most);
  if (n == 0) return;
  using Number = typename TransformedInverse<T>::Wide;
  if (recursion == InverseRecursion::schur) {
    const TileMatrix<Number> inverse(g.runtime(), n, 1, {n, 1}, "inverse");
    schur(g, this->t_(0, 0), inverse, recursion_);
    g.insert<HermitianGenerator<Number>>({}, inverse(0, 0), recursion_(0, 0), this->generator_(0, 0),
                                         this->report_(0, 0));
  } else {
    g.insert<HermitianFactor<Number>>({}, this->t_(0, 0), this->generator_(0, 0), this->report_(0, 0),
                                      recursion_(0, 0));
  }
  this->measure();
}

TESELA_CLASSES_FOR_NUMBERS(TransformedInverse, ToeplitzLookahead)
template class HermitianInverse<std::complex<float>>;
template class HermitianInverse<std::complex<double>>;

}  // namespace tesela
