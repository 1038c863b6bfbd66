#include <tesela/algorithms/econometrics/internal/system_gradients.hpp>

#include <cmath>

namespace tesela::detail {
namespace {

constexpr index_t most_steps = 3000;
constexpr double tolerance = 1e-14, good_enough = 1e-12;

double product(const HostMatrix<double>& a, const HostMatrix<double>& b) { return dot(a, 0, b, 0, a.rows()); }

/// a += factor b.
void add(HostMatrix<double>& a, double factor, const HostMatrix<double>& b) {
  for (index_t k = 0; k < a.rows(); ++k) a(k, 0) += factor * b(k, 0);
}

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
  HostMatrix<double> r = right.clone();
  const double size = std::sqrt(product(right, right));
  double left = size;
  // What is left by the recurrence differs from what is left in truth: begin again from that.
  for (int again = 0; again < 3 && left > tolerance * size; ++again) {
    HostMatrix<double> p = r.clone();
    double square = product(r, r);
    while (std::sqrt(square) > tolerance * size && s.steps < most_steps) {
      ++s.steps;
      const HostMatrix<double> q = bases.weighted_products(g, weights, p);
      const double curvature = product(p, q);
      if (!(curvature > 0)) return s;
      const double step = square / curvature, before = square;
      add(s.x, step, p);
      add(r, -step, q);
      square = product(r, r);
      const double turn = square / before;
      for (index_t k = 0; k < n; ++k) p(k, 0) = r(k, 0) + turn * p(k, 0);
    }
    r = right.clone();
    add(r, -1, bases.weighted_products(g, weights, s.x));
    left = std::sqrt(product(r, r));
  }
  s.converged = left <= good_enough * size;
  for (index_t k = 0; k < n; ++k) s.x(k, 0) *= units(k, 0);
  return s;
}

}  // namespace tesela::detail
