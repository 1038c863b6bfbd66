#include <tesela/algorithms/econometrics/internal/system_tasks.hpp>
#include <tesela/codelets/dense/cholesky.hpp>
#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <algorithm>
#include <cmath>

namespace tesela::detail {

using namespace kernels;
namespace {

constexpr index_t elements_per_thread = index_t{1} << 20;  // number of elements that is worth a thread

/// Computes U = U^-1 for an upper triangle in square tiles, from the last column to the first: n^3 / 3 flops. Tiles
/// below the diagonal are not accessed.
void invert_upper(Graph& g, const TileMatrix<double>& U) {
  const Priority where = large_enough_for_gpu(U.n(), U.n(), U.n()) ? on_gpu : Priority{};
  const index_t nb = U.tile_shape().nb, last = U.nt() - 1;
  const auto column = [&](index_t width) {
    return TileMatrix<double>(g.runtime(), U.m(), width, {nb, std::max<index_t>(width, 1)}, "copy");
  };
  // Copies of columns: the last, which may be narrow, has its own copy. The others alternate between two copies, so
  // that they need not wait.
  const TileMatrix<double> copies[] = {column(U.n() - std::max<index_t>(last, 0) * nb), column(nb), column(nb)};
  for (index_t j = last; j >= 0; --j) {
    const TileMatrix<double>& was = copies[j == last ? 0 : 1 + j % 2];
    for (index_t i = 0; i <= j; ++i) g.insert<Lacpy<double>>(where, {}, U(i, j), was(i, 0));
    g.insert<Laset<double>>(where, {1.0, 0}, U(j, j));
    g.insert<Trsm<double>>(where, {}, was(j, 0), U(j, j));
    for (index_t i = j - 1; i >= 0; --i) {
      g.insert<Gemm<double, Out>>(where, {.alpha = -1}, was(i, 0), U(j, j), U(i, j));
      for (index_t k = i + 1; k < j; ++k)
        g.insert<Gemm<double>>(where, {.alpha = -1, .beta = 1}, U(i, k), U(k, j), U(i, j));
      g.insert<Trsm<double>>(where, {}, U(i, i), U(i, j));
    }
  }
  g.wait();
}

/// The slopes of an equation in coordinates g = R b, after a reflection that maps the constant's column of R to a
/// multiple of the first unit vector: the other coordinates then do not depend on the constant's coefficient.
class Slopes {
 public:
  Slopes(const PickedEquation& e, const HostMatrix<double>& R, const std::vector<double>& b)
      : first_(e.constant >= 0 ? 1 : 0), g_(e.regressors.size(), 0.0) {
    const index_t r = e.size();
    for (index_t p = 0; p < r; ++p) {
      const index_t l = e.places[static_cast<std::size_t>(p)];
      for (index_t k = 0; k <= l && p != e.constant; ++k)
        g_[static_cast<std::size_t>(k)] += R(k, l) * b[static_cast<std::size_t>(p)];
    }
    if (first_ == 0) return;
    const index_t c = e.places[static_cast<std::size_t>(e.constant)];
    v_.assign(&R(0, c), &R(0, c) + c + 1);
    v_[0] += std::copysign(norm(c + 1, v_.data()), v_[0]);
    factor_ = 2 / along(v_, v_.data());
    reflect(g_.data());
  }

  index_t count() const { return std::ssize(g_) - first_; }
  /// Reflects a vector of coordinates.
  void reflect(double* x) const {
    const double share = factor_ * along(v_, x);
    for (std::size_t k = 0; k < v_.size(); ++k) x[k] -= share * v_[k];
  }
  /// Returns the rows of the slopes of reflected coordinates.
  HostMatrix<double> rows(const HostMatrix<double>& x) const {
    HostMatrix<double> result(count(), x.cols());
    std::vector<double> column(g_.size());
    for (index_t j = 0; j < x.cols(); ++j) {
      std::copy_n(&x(0, j), x.rows(), column.begin());
      reflect(column.data());
      std::copy_n(column.data() + first_, count(), &result(0, j));
    }
    return result;
  }
  /// Returns g^T (T^T T)^-1 g for the upper triangle T of the slopes.
  double wald(const HostMatrix<double>& T) const {
    std::vector<double> x(g_.begin() + first_, g_.end());
    blas::trsm(Op::transpose, count(), 1, T.data(), T.ld(), x.data(), count());
    return dot(count(), x.data(), x.data());
  }

 private:
  static double along(const std::vector<double>& v, const double* x) { return dot(std::ssize(v), v.data(), x); }
  index_t first_;
  double factor_ = 0;
  std::vector<double> v_, g_;
};

}  // namespace

/// `roots` holds rows whose products are the covariance of all g_i / s_i. Reads the equation's rows, some columns at a
/// time.
CoefficientErrors ThirdStage::errors_of(std::size_t i, const HostMatrix<double>& roots, double sigma,
                                        const std::vector<double>& b, const ErrorOptions& options) const {
  constexpr index_t at_once = 4096;
  const PickedEquation& e = equations_[i];
  const bool robust = options.scores != nullptr;
  const index_t r = e.size(), first = bases_.start(i), n = roots.cols(), begin = robust ? 0 : first;
  const HostMatrix<double> R = bases_.R(i);
  const Slopes slopes(e, R, b);
  HostMatrix<double> P = HostMatrix<double>::zeros(slopes.count(), slopes.count()),
                     V = HostMatrix<double>::zeros(options.covariances ? r : 0, options.covariances ? r : 0);
  std::vector<double> squares(static_cast<std::size_t>(r), 0.0);
  HostMatrix<double> some(r, std::min(at_once, n - begin));
  for (index_t from = begin; from < n; from += at_once) {
    const index_t columns = std::min(at_once, n - from);
    if (columns < some.cols()) some = HostMatrix<double>(r, columns);
    for (index_t j = 0; j < columns; ++j) {
      const index_t above = robust ? r : std::min(r, from + j - first + 1);  // zeros follow in an upper triangle
      std::fill_n(std::copy_n(&roots(first, from + j), above, &some(0, j)), r - above, 0.0);
    }
    if (!robust && slopes.count() > 0) {
      const HostMatrix<double> own = slopes.rows(some);
      blas::gemm(Op::none, Op::transpose, own.rows(), own.rows(), columns, 1.0, own.data(), own.ld(), own.data(),
                 own.ld(), 1.0, P.data(), P.ld());
    }
    blas::trsm(Op::none, r, columns, R.data(), r, some.data(), r);
    for (index_t j = 0; j < columns; ++j)
      for (index_t p = 0; p < r; ++p) {
        const double x = some(p, j) * sigma;
        squares[static_cast<std::size_t>(p)] += x * x;
      }
    if (options.covariances)
      blas::gemm(Op::none, Op::transpose, r, r, columns, sigma * sigma, some.data(), r, some.data(), r, 1.0, V.data(),
                 r);
  }
  CoefficientErrors result;
  const auto place = [&](index_t p) { return e.places[static_cast<std::size_t>(p)]; };
  for (index_t p = 0; p < r; ++p)
    result.standard_errors.push_back(std::sqrt(squares[static_cast<std::size_t>(place(p))]));
  if (options.covariances) {
    result.covariance = HostMatrix<double>(r, r);
    for (index_t q = 0; q < r; ++q)
      for (index_t p = 0; p < r; ++p) result.covariance(p, q) = V(place(p), place(q));
  }
  if (!robust && slopes.count() > 0 && lapack::potrf(P.rows(), P.data(), P.ld()) == 0)
    result.wald = slopes.wald(P) / sigma / sigma;
  return result;
}

std::vector<CoefficientErrors> ThirdStage::errors(Graph& g, const Weights& weights,
                                                  const std::vector<std::vector<double>>& b,
                                                  const ErrorOptions& options) {
  const index_t n = unknowns();
  std::vector<CoefficientErrors> all(equations_.size());
  if (by_gradients_) {
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i].standard_errors.assign(equations_[i].regressors.size(), std::numeric_limits<double>::quiet_NaN());
    return all;
  }
  {
    const index_t nb = g.runtime().gpus() > 0 ? 1024 : 256;
    const auto U = TileMatrix<double>::map(g.runtime(), factor_.data(), n, n, factor_.ld(), {nb, nb}, "G");
    invert_upper(g, U);
    U.bring_home();
  }
  HostMatrix<double> roots;  // only the upper triangle of the factor is used
  if (options.scores != nullptr) {
    for (index_t j = 0; j < n; ++j) std::fill(&factor_(0, j) + j + 1, &factor_(0, j) + n, 0.0);
    roots = product(g, Op::none, Op::none, factor_, product(g, Op::transpose, Op::transpose, factor_, *options.scores));
  }
  const HostMatrix<double>& X = options.scores != nullptr ? roots : factor_;
  const bool large = n * n > elements_per_thread;
  const auto count = std::ssize(equations_);
  parallel_for(count, large ? 1 : count, [&](index_t from, index_t end) {
    for (auto i = static_cast<std::size_t>(from); i < static_cast<std::size_t>(end); ++i)
      all[i] = errors_of(i, X, weights.sigmas[i], b[i], options);
  });
  for (std::size_t i = 0; i < all.size() && options.scores != nullptr; ++i) {
    const double correction = options.corrections[i];
    for (double& error : all[i].standard_errors) error *= std::sqrt(correction);
    for (double* x = all[i].covariance.data(); x != all[i].covariance.data() + all[i].covariance.size(); ++x)
      *x *= correction;
    const Slopes slopes(equations_[i], bases_.R(i), b[i]);
    // Scores sum to zero; therefore at most m - 1 of m scores are independent.
    if (slopes.count() == 0 || X.cols() - 1 < slopes.count()) continue;
    HostMatrix<double> own(equations_[i].size(), X.cols());
    for (index_t j = 0; j < X.cols(); ++j) std::copy_n(&X(bases_.start(i), j), own.rows(), &own(0, j));
    own = slopes.rows(own);
    HostMatrix<double> rows(own.cols(), own.rows());
    for (index_t j = 0; j < own.cols(); ++j)
      for (index_t k = 0; k < own.rows(); ++k) rows(j, k) = own(k, j);
    const HostMatrix<double> T = triangle_of(g, rows);
    if (triangle_condition(T, true) * options.tolerance <= 1)
      all[i].wald = slopes.wald(T) / weights.sigmas[i] / weights.sigmas[i] / correction;
  }
  return all;
}

}  // namespace tesela::detail
