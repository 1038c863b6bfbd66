#include <tesela/algorithms/econometrics/internal/system_gradients.hpp>
#include <tesela/codelets/econometrics/gradient_step.hpp>

#include <cmath>

namespace tesela::detail {

using namespace kernels;
namespace {

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

}  // namespace

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

}  // namespace tesela::detail
