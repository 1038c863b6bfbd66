#include <tesela/algorithms/dense/cholesky.hpp>
#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/econometrics/internal/system_tasks.hpp>
#include <tesela/codelets/econometrics/gradient_step.hpp>
#include <tesela/runtime/machine/memory.hpp>
#include <tesela/tiles/parallel_for.hpp>
#include <tesela/tiles/parallel_zeros.hpp>

#include <algorithm>
#include <cmath>

namespace tesela::detail {

using namespace kernels;
namespace {

/// Number of elements that is worth a thread.
constexpr index_t elements_per_thread = index_t{1} << 20;

/// Returns whether there is memory for the matrix of blocks, a second one for its factor (the matrix is weighted more
/// than once), and the bases.
bool fits(index_t n, index_t rows) {
  constexpr index_t most = 25000;
  const auto square = static_cast<double>(n) * static_cast<double>(n);
  return n <= most &&
         16.0 * square + 8.0 * static_cast<double>(n) * static_cast<double>(rows) <= usable_host_bytes() / 2;
}

HostMatrix<double> identity(index_t n) {
  auto I = HostMatrix<double>::zeros(n, n);
  for (index_t i = 0; i < n; ++i) I(i, i) = 1;
  return I;
}

/// Returns the largest sum of a column's absolute values.
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

index_t all_of(const std::vector<PickedEquation>& equations) {
  index_t n = 0;
  for (const PickedEquation& e : equations) n += e.size();
  return n;
}

/// Returns P^-1 for P_ij = products_ij / (norms_i norms_j); 0 x 0 if P is not well conditioned enough.
HostMatrix<double> inverse_by_cholesky(Graph& g, const HostMatrix<double>& products, const std::vector<double>& norms) {
  constexpr double largest_condition = 1e6;  // in the 1-norm: the error of the inverse is at most about 1e-10
  const index_t n = products.cols();
  HostMatrix<double> P(n, n), X = identity(n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i)
      P(i, j) = products(i, j) / norms[static_cast<std::size_t>(i)] / norms[static_cast<std::size_t>(j)];
  const double size = column_sum(P);
  const TileShape tile = cholesky_tile(g.runtime(), n);
  const auto A = TileMatrix<double>::map(g.runtime(), P.data(), n, n, P.ld(), tile, "P");
  const auto B = TileMatrix<double>::map(g.runtime(), X.data(), n, n, X.ld(), tile, "X");
  const auto factors = cholesky(g, A);
  factors.solve(g, B);
  g.wait();
  if (factors.minor() != 0) return {};
  B.bring_home();
  return size * column_sum(X) <= largest_condition ? std::move(X) : HostMatrix<double>();
}

constexpr index_t most_steps = 3000;
constexpr double tolerance = 1e-14, good_enough = 1e-12;

/// The vectors of an iteration, which remain where tasks compute them; only sums return to the host.
struct Steps {
  const EquationBases& bases;
  const TileMatrix<double>& weights;
  EquationBases::Parts x, r, sums;  // p and q are the bases' x and y

  Steps(Graph& g, const EquationBases& of, const TileMatrix<double>& P)
      : bases(of), weights(P), x(of.new_parts(g.runtime())), r(of.new_parts(g.runtime())) {
    for (std::size_t k = 0; k < x.size(); ++k) sums.emplace_back(g.runtime(), 1, 1, TileShape{1, 1}, "sum");
  }

  double sum() const {
    double all = 0;
    for (const TileMatrix<double>& one : sums) all += one(0, 0).read()(0, 0);
    return all;
  }
  /// Computes q = A p; returns p^T q.
  double curvature(Graph& g) const {
    bases.insert_products(g, weights);
    for (std::size_t k = 0; k < x.size(); ++k)
      g.insert<GradientProduct>(on_gpu, {}, bases.x()[k](0, 0), bases.y()[k](0, 0), sums[k](0, 0));
    return sum();
  }
  /// Computes x += step p, r -= step q; returns r^T r.
  double step(Graph& g, double step) const {
    for (std::size_t k = 0; k < x.size(); ++k)
      g.insert<GradientStep>(on_gpu, {step}, bases.x()[k](0, 0), bases.y()[k](0, 0), x[k](0, 0), r[k](0, 0),
                             sums[k](0, 0));
    return sum();
  }
  /// Computes p = r + turn p.
  void turn(Graph& g, double turn) const {
    for (std::size_t k = 0; k < x.size(); ++k)
      g.insert<GradientDirection>(on_gpu, {turn}, r[k](0, 0), bases.x()[k](0, 0));
  }
};

struct SystemGradients {
  HostMatrix<double> x;
  index_t steps = 0;
  bool converged = false;
};

/// Solves sum_j P_ij Q_i^T Q_j x_j = b_i by conjugate gradients, in units that give P a unit diagonal, to a residual of
/// 1e-14 ||b||. P is symmetric and positive definite. Waits for the graph in every step.
SystemGradients solve_by_gradients(Graph& g, const EquationBases& bases, const HostMatrix<double>& P,
                                   const HostMatrix<double>& b) {
  const index_t n = b.rows(), N = bases.count();
  HostMatrix<double> scaled = P.clone(), units(n, 1), right = b.clone();
  for (index_t i = 0; i < N; ++i) {
    for (index_t j = 0; j < N; ++j) scaled(i, j) = P(i, j) / std::sqrt(P(i, i)) / std::sqrt(P(j, j));
    for (index_t k = bases.start(static_cast<std::size_t>(i)); k < bases.start(static_cast<std::size_t>(i) + 1); ++k)
      units(k, 0) = 1 / std::sqrt(P(i, i));
  }
  for (index_t k = 0; k < n; ++k) right(k, 0) *= units(k, 0);
  const TileMatrix<double> weights = bases.weights(g.runtime(), scaled);
  SystemGradients s{HostMatrix<double>::zeros(n, 1)};
  HostMatrix<double> left = right.clone();
  const double size = norm(n, right.data());
  const Steps steps(g, bases, weights);
  bases.fill(steps.x, s.x);
  // The residual of the recurrence differs from the true residual: restart from the true one.
  for (int again = 0; again < 3 && norm(n, left.data()) > tolerance * size; ++again) {
    bases.fill(steps.r, left);
    bases.fill(bases.x(), left);
    double square = dot(n, left.data(), left.data());
    while (std::sqrt(square) > tolerance * size && s.steps < most_steps) {
      ++s.steps;
      const double before = square, curvature = steps.curvature(g);
      if (!(curvature > 0)) break;
      square = steps.step(g, before / curvature);
      steps.turn(g, square / before);
    }
    s.x = bases.take(g, steps.x);
    left = bases.weighted_products(g, weights, s.x);
    for (index_t k = 0; k < n; ++k) left(k, 0) = right(k, 0) - left(k, 0);
  }
  s.converged = norm(n, left.data()) <= good_enough * size;
  for (index_t k = 0; k < n; ++k) s.x(k, 0) *= units(k, 0);
  return s;
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
      by_gradients_(solver == SystemSolver::gradients ||
                    (solver == SystemSolver::automatic && !fits(all_of(equations), model.rows))),
      own_instruments_(std::any_of(own.begin(), own.end(), [](const OwnBasis* basis) { return basis != nullptr; })),
      bases_(g, model, equations, own, conditions, !by_gradients_) {
  if (by_gradients_) return;
  const HostMatrix<double>& Q = bases_.run_concurrently();
  H_ = parallel_zeros<double>(Q.cols(), Q.cols());
  locked_.emplace(g.runtime(), H_.data(), static_cast<std::size_t>(H_.size()) * sizeof(double));
  multiply(g, Op::transpose, Op::none, block_of(Q), block_of(Q), H_);
}

HostMatrix<double> ThirdStage::fitted_residuals(Graph& g, const Variables& model,
                                                const std::vector<const Equation*>& in_model,
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

Correction ThirdStage::correction(Graph& g, const HostMatrix<double>& E, const Weights& weights, bool last) {
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
  } else if (!solve(g, weights, x, last)) {
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

bool ThirdStage::solve(Graph& g, const Weights& weights, HostMatrix<double>& x, bool last) {
  const index_t n = unknowns();
  if (last)
    factor_ = std::move(H_);
  else if (factor_.cols() < n)
    factor_ = HostMatrix<double>(n, n);  // only its upper triangle is used
  const HostMatrix<double>& H = last ? factor_ : H_;
  std::vector<std::size_t> equation_of;
  for (std::size_t i = 0; i < equations_.size(); ++i)
    equation_of.insert(equation_of.end(), static_cast<std::size_t>(equations_[i].size()), i);
  parallel_for(n, std::max<index_t>(elements_per_thread / n, 1), [&](index_t first, index_t end) {
    for (index_t k = first; k < end; ++k) {
      const std::size_t i = equation_of[static_cast<std::size_t>(k)];
      const double* const from = &H(0, k);
      double* const to = &factor_(0, k);
      for (std::size_t j = 0; j <= i; ++j) {
        const double weight = weights.inverse(static_cast<index_t>(j), static_cast<index_t>(i));
        for (index_t l = bases_.start(j); l < bases_.start(j + 1); ++l) to[l] = from[l] * weight;
      }
    }
  });
  const TileShape tile = cholesky_tile(g.runtime(), n);
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

}  // namespace tesela::detail
