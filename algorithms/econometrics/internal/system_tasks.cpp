#include <tesela/algorithms/dense/cholesky.hpp>
#include <tesela/algorithms/dense/triangular_solve.hpp>
#include <tesela/algorithms/econometrics/internal/system_gradients.hpp>
#include <tesela/algorithms/econometrics/internal/system_tasks.hpp>
#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/codelets/dense/trsm.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/runtime/memory.hpp>

#include <algorithm>
#include <cmath>

namespace tesela::detail {

using namespace kernels;
namespace {

/// The matrix of blocks, its factor and the factor's inverse.
bool fits(index_t n) {
  constexpr index_t most = 25000;
  return n <= most && 24.0 * static_cast<double>(n) * static_cast<double>(n) <= usable_host_bytes() / 2;
}

HostMatrix<double> identity(index_t n) {
  auto I = HostMatrix<double>::zeros(n, n);
  for (index_t i = 0; i < n; ++i) I(i, i) = 1;
  return I;
}

/// The largest sum of a column's magnitudes.
double column_sum(const HostMatrix<double>& A) {
  double most = 0;
  for (index_t j = 0; j < A.cols(); ++j) {
    double sum = 0;
    for (index_t i = 0; i < A.rows(); ++i) sum += std::abs(A(i, j));
    if (!(sum <= most)) most = sum;
    if (std::isnan(sum)) break;
  }
  return most;
}

/// X = U^-1 of upper triangles in square tiles: n^3 / 3 flops. Other tiles of X are not touched.
void invert_upper(Graph& g, const TileMatrix<double>& U, const TileMatrix<double>& X) {
  const Priority where = worth_a_gpu(U.n(), U.n(), U.n()) ? on_gpu : Priority{};
  for (index_t j = 0; j < U.nt(); ++j) {
    g.insert<Laset<double>>(where, {1.0, 0}, X(j, j));
    g.insert<Trsm<double>>(where, {}, U(j, j), X(j, j));
    for (index_t i = j - 1; i >= 0; --i) {
      g.insert<Gemm<double, Out>>(where, {.alpha = -1}, U(i, i + 1), X(i + 1, j), X(i, j));
      for (index_t k = i + 2; k <= j; ++k)
        g.insert<Gemm<double>>(where, {.alpha = -1, .beta = 1}, U(i, k), X(k, j), X(i, j));
      g.insert<Trsm<double>>(where, {}, U(i, i), X(i, j));
    }
  }
}

/// rows[k] <- R_i^-1 rows[k] for the equations from `first` on. Waits.
void solve_rows(Graph& g, const EquationBases& bases, std::size_t first, const std::vector<HostMatrix<double>>& rows) {
  std::vector<HostMatrix<double>> triangles;
  std::vector<TileMatrix<double>> tiles;
  const auto map = [&](const HostMatrix<double>& a, const char* name) {
    tiles.push_back(
        TileMatrix<double>::map(g.runtime(), a.data(), a.rows(), a.cols(), a.ld(), {a.rows(), a.cols()}, name));
    return tiles.back()(0, 0);
  };
  for (std::size_t k = 0; k < rows.size(); ++k) {
    triangles.push_back(bases.R(first + k));
    const Tile<double> R = map(triangles.back(), "Ri"), X = map(rows[k], "X");
    g.insert<Trsm<double>>(on_core, {}, R, X);  // which has them at hand
  }
  g.wait();
}

/// P^-1 of P_ij = products_ij / (norms_i norms_j); 0 x 0 where P is not as well conditioned as this takes.
HostMatrix<double> inverse_by_cholesky(Graph& g, const HostMatrix<double>& products, const std::vector<double>& norms) {
  constexpr double largest_condition = 1e6;  // in the 1-norm: 1e-10 of the inverse at the worst
  const index_t n = products.cols();
  HostMatrix<double> P(n, n), X = identity(n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i)
      P(i, j) = products(i, j) / norms[static_cast<std::size_t>(i)] / norms[static_cast<std::size_t>(j)];
  const double size = column_sum(P);
  const TileShape tile = suitable_cholesky_tile(g.runtime(), n);
  const auto A = TileMatrix<double>::map(g.runtime(), P.data(), n, n, P.ld(), tile, "P");
  const auto B = TileMatrix<double>::map(g.runtime(), X.data(), n, n, X.ld(), tile, "X");
  const auto factors = cholesky(g, A);
  factors.solve(g, B);
  g.wait();
  if (factors.minor() != 0) return {};
  B.bring_home();
  return size * column_sum(X) <= largest_condition ? std::move(X) : HostMatrix<double>();
}

}  // namespace

Weights weigh(Graph& g, const HostMatrix<double>& E, const HostMatrix<double>& products,
              const std::vector<double>& divisors) {
  const index_t n = E.cols();
  Weights w;
  std::vector<double> norms;
  for (index_t j = 0; j < n; ++j) {
    norms.push_back(E.rows() > 0 ? norm(E.rows(), &E(0, j)) : 0);
    w.sigmas.push_back(norms.back() / divisors[static_cast<std::size_t>(j)]);
    if (!(norms.back() > 0)) w.singular.push_back(j);
  }
  if (!w.singular.empty() || n == 0) return w;
  constexpr index_t many = 128;
  if (n >= many) w.inverse = inverse_by_cholesky(g, products, norms);
  if (w.inverse.size() > 0) return w;
  HostMatrix<double> unit = E.clone();
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < E.rows(); ++i) unit(i, j) /= norms[static_cast<std::size_t>(j)];
  HostMatrix<double> T = triangle_of(g, unit);
  std::vector<int> heights(static_cast<std::size_t>(n));
  const double tolerance = std::sqrt(10 * static_cast<double>(n) * std::numeric_limits<double>::epsilon());
  w.singular = drop_dependent(T, n, std::vector<double>(static_cast<std::size_t>(n), 1.0), tolerance, heights);
  if (!w.singular.empty()) return w;
  HostMatrix<double> inverse = identity(n);
  triangular_solve(g, Op::none, T, inverse);
  w.inverse = product(g, Op::none, Op::transpose, inverse, inverse);
  return w;
}

ThirdStage::ThirdStage(Graph& g, const Variables& model, const std::vector<PickedEquation>& equations,
                       const std::vector<const OwnBasis*>& own, const std::vector<double>& conditions,
                       SystemSolver solver)
    : equations_(equations),
      bases_(g, model, equations, own, conditions),
      by_gradients_(solver == SystemSolver::gradients || (solver == SystemSolver::automatic && !fits(unknowns()))),
      own_instruments_(std::any_of(own.begin(), own.end(), [](const OwnBasis* basis) { return basis != nullptr; })) {
  if (by_gradients_) return;
  const HostMatrix<double> Q = bases_.side_by_side();
  H_ = product(g, Op::transpose, Op::none, Q, Q);
}

HostMatrix<double> ThirdStage::of_fitted(Graph& g, const Variables& model, const std::vector<const Equation*>& in_model,
                                         const std::vector<std::vector<double>>& coefficients) const {
  HostMatrix<double> x(unknowns(), 1);
  for (std::size_t i = 0; i < in_model.size(); ++i) {
    const PickedEquation& e = equations_[i];
    const HostMatrix<double> R = bases_.R(i);
    std::vector<double> ordered(coefficients[i].size());
    for (std::size_t p = 0; p < ordered.size(); ++p)
      ordered[static_cast<std::size_t>(e.places[p])] = coefficients[i][p];
    for (index_t p = 0; p < e.size(); ++p) {
      double along = 0;
      for (index_t l = p; l < e.size(); ++l) along += R(p, l) * ordered[static_cast<std::size_t>(l)];
      x(bases_.start(i) + p, 0) = along;
    }
  }
  HostMatrix<double> E = bases_.times(g, x);
  for (index_t i = 0; i < E.cols(); ++i) {
    const double* y = &model.A(0, in_model[static_cast<std::size_t>(i)]->dependent);
    for (index_t k = 0; k < E.rows(); ++k) E(k, i) = y[k] - E(k, i);
  }
  return E;
}

Correction ThirdStage::correction(Graph& g, const HostMatrix<double>& E, const Weights& weights) {
  const index_t N = bases_.count();
  HostMatrix<double> first(bases_.rows(), N);
  for (index_t j = 0; j < N; ++j)
    for (index_t i = 0; i < first.rows(); ++i) first(i, j) = E(i, j) / weights.sigmas[static_cast<std::size_t>(j)];
  HostMatrix<double> x = bases_.transposed_times(g, product(g, Op::none, Op::none, first, weights.inverse));
  Correction result;
  if (by_gradients_) {
    SystemGradients s = solve_by_gradients(g, bases_, weights.inverse, x);
    gradient_steps_ += s.steps;
    if (!s.converged) result.status = SemStatus::not_converged;
    x = std::move(s.x);
  } else if (!solve(g, weights, x)) {
    result.status = SemStatus::singular_covariance;
    return result;
  }
  x = bases_.solve(g, x);
  for (std::size_t i = 0; i < equations_.size(); ++i) {
    result.changes.emplace_back(&x(bases_.start(i), 0), &x(bases_.start(i), 0) + equations_[i].size());
    for (double& change : result.changes.back()) change *= weights.sigmas[i];
  }
  return result;
}

bool ThirdStage::solve(Graph& g, const Weights& weights, HostMatrix<double>& x) {
  const index_t n = unknowns();
  factor_ = HostMatrix<double>(n, n);  // of which the upper triangle counts
  for (std::size_t i = 0; i < equations_.size(); ++i)
    for (index_t k = bases_.start(i); k < bases_.start(i + 1); ++k)
      for (std::size_t j = 0; j <= i; ++j) {
        const double weight = weights.inverse(static_cast<index_t>(j), static_cast<index_t>(i));
        const double* const from = &H_(0, k);
        double* const to = &factor_(0, k);
        for (index_t l = bases_.start(j); l < bases_.start(j + 1); ++l) to[l] = from[l] * weight;
      }
  const TileShape tile = suitable_cholesky_tile(g.runtime(), n);
  const auto A = TileMatrix<double>::map(g.runtime(), factor_.data(), n, n, factor_.ld(), tile, "G");
  const auto X = TileMatrix<double>::map(g.runtime(), x.data(), n, 1, x.ld(), {tile.mb, 1}, "x");
  const auto factors = cholesky(g, A);
  if (factors.minor() != 0) return g.wait(), false;
  factors.solve(g, X);
  g.wait();
  A.bring_home();
  X.bring_home();
  return true;
}

std::vector<std::vector<double>> ThirdStage::errors(Graph& g, const Weights& weights) const {
  const index_t n = unknowns();
  std::vector<std::vector<double>> all;
  if (by_gradients_) {
    for (const PickedEquation& e : equations_)
      all.emplace_back(static_cast<std::size_t>(e.size()), std::numeric_limits<double>::quiet_NaN());
    return all;
  }
  auto X = HostMatrix<double>::zeros(n, n);
  {
    const index_t nb = g.runtime().gpus() > 0 ? 1024 : 256;
    const auto map = [&](const HostMatrix<double>& a, const char* name) {
      return TileMatrix<double>::map(g.runtime(), a.data(), n, n, a.ld(), {nb, nb}, name);
    };
    const auto U = map(factor_, "G"), inverse = map(X, "X");
    invert_upper(g, U, inverse);
    g.wait();
    inverse.bring_home();
  }
  constexpr index_t some = index_t{1} << 24;  // elements of rows that are copied at a time
  for (std::size_t from = 0, end = 0; from < equations_.size(); from = end) {
    std::vector<HostMatrix<double>> rows;
    for (index_t elements = 0; end < equations_.size() && elements < some; ++end) {
      const index_t r = equations_[end].size(), first = bases_.start(end);
      rows.emplace_back(r, n - first);
      for (index_t j = first; j < n; ++j) std::copy_n(&X(first, j), r, &rows.back()(0, j - first));
      elements += rows.back().size();
    }
    solve_rows(g, bases_, from, rows);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      std::vector<double> squares(static_cast<std::size_t>(rows[k].rows()));
      for (index_t j = 0; j < rows[k].cols(); ++j)
        for (index_t p = 0; p < rows[k].rows(); ++p) {
          const double x = rows[k](p, j) * weights.sigmas[from + k];
          squares[static_cast<std::size_t>(p)] += x * x;
        }
      for (double& square : squares) square = std::sqrt(square);
      all.push_back(std::move(squares));
    }
  }
  return all;
}

}  // namespace tesela::detail
