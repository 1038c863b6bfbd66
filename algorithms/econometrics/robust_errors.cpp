#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/econometrics/internal/robust_system.hpp>
#include <tesela/host/minimum_norm.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tesela {

using namespace kernels;
namespace {

using detail::Clusters;
using detail::first_rows_of;
using detail::PickedEquation;
using detail::scaled_columns;
using detail::times_rows;
using detail::Variables;

/// Returns Hansen's J: the least g(b)^T S^-1 g(b), where g(b) = y - Z b in the basis, S = B^T B and B = diag(u) basis.
TestStatistic hansen(Graph& g, const PickedEquation& e, HostMatrix<double> B, const HostMatrix<double>& u,
                     const Clusters& clusters) {
  const Variables& v = *e.variables;
  const index_t r = e.size();
  if (v.rows <= r) return {};
  times_rows(B, u);
  B = clusters.sums(std::move(B));
  if (B.rows() < v.rows) return {};
  const HostMatrix<double> T = detail::triangle_of(g, B);
  if (!(triangle_condition(T, true) * v.tolerance <= 1)) return {};
  std::vector<index_t> columns = e.regressors;
  columns.push_back(e.dependent);
  HostMatrix<double> P = first_rows_of(v, columns);
  triangular_solve(g, Op::transpose, T, P);
  const HostMatrix<double> R = detail::triangle_of(g, P);
  return {R(r, r) * R(r, r), v.rows - r, 0};
}

/// Computes the robust errors of one equation.
TestStatistic robust_statistics(Graph& g, const HostMatrix<double>& data, const PickedEquation& e,
                                const std::vector<index_t>& own, bool instrumental, const SemOptions& options,
                                const Clusters& clusters, EquationEstimate& estimate) {
  const Variables& v = *e.variables;
  const index_t r = e.size(), D = data.rows();
  HostMatrix<double> Z = scaled_columns(data, v, own, e.regressors), u = scaled_columns(data, v, own, {e.dependent});
  const std::vector<int> units = detail::units_of(e);
  for (index_t p = 0; p < r; ++p) {
    const auto k = static_cast<std::size_t>(p);
    const double b = std::ldexp(estimate.coefficients[k], -units[k]);
    for (index_t t = 0; t < D; ++t) u(t, 0) -= b * Z(t, p);
  }
  TestStatistic j;
  if (instrumental) {
    HostMatrix<double> X = detail::instrument_basis(g, data, v, own);
    Z = detail::product(g, Op::none, Op::none, X, first_rows_of(v, e.regressors));
    j = hansen(g, e, std::move(X), u, clusters);
  }
  // Z^ = Q R with the constant first: the last rows and columns of R then belong to the slopes.
  const index_t constants = e.constant >= 0 ? 1 : 0, slopes = r - constants;
  std::vector<index_t> order, places;  // column k of Z^ is regressor places[k]
  if (constants > 0) places.push_back(e.constant);
  for (index_t p = 0; p < r; ++p)
    if (p != e.constant) places.push_back(p);
  for (const index_t p : places) order.push_back(e.regressors[static_cast<std::size_t>(p)]);
  const HostMatrix<double> R = detail::triangle_of(g, first_rows_of(v, order));
  const HostMatrix<double> inverse = detail::inverse_of(g, R);
  HostMatrix<double> G = detail::product(g, Op::none, Op::none, detail::columns_of(Z, places), inverse);
  times_rows(G, u);
  G = clusters.sums(std::move(G));
  const double correction = clusters.correction(options.divisor, D, r);
  for (double* x = G.data(); x != G.data() + G.size(); ++x) *x *= std::sqrt(correction);
  const HostMatrix<double> F = detail::product(g, Op::none, Op::transpose, G, inverse);
  const std::vector<double> norms = column_norms(F);
  for (std::size_t k = 0; k < norms.size(); ++k) {
    const auto p = static_cast<std::size_t>(places[k]);
    estimate.standard_errors[p] = std::ldexp(norms[k], units[p]);
  }
  if (options.covariances) {
    const HostMatrix<double> V = detail::product(g, Op::transpose, Op::none, F, F);
    for (index_t k = 0; k < r; ++k)
      for (index_t l = 0; l < r; ++l)
        estimate.covariance(places[static_cast<std::size_t>(k)], places[static_cast<std::size_t>(l)]) = V(k, l);
    estimate.covariance = detail::in_units(std::move(estimate.covariance), units);
  }

  estimate.f = {};
  // Scores sum to zero; therefore at most n - 1 of n scores are independent.
  if (slopes == 0 || G.rows() - 1 < slopes) return j;
  std::vector<index_t> last;
  for (index_t k = constants; k < r; ++k) last.push_back(k);
  const HostMatrix<double> T = detail::triangle_of(g, detail::columns_of(G, last));
  if (!(triangle_condition(T, true) * v.tolerance <= 1)) return j;
  auto b = HostMatrix<double>::zeros(slopes, 1);  // slopes from R's last rows, independent of Z^'s condition
  for (index_t k = 0; k < slopes; ++k)
    for (index_t l = k; l < slopes; ++l) {
      const auto p = static_cast<std::size_t>(places[static_cast<std::size_t>(constants + l)]);
      b(k, 0) += R(constants + k, constants + l) * std::ldexp(estimate.coefficients[p], -units[p]);
    }
  triangular_solve(g, Op::transpose, T, b);
  const double norm = euclidean_norm(slopes, b.data());
  estimate.f = {norm * norm / static_cast<double>(slopes), slopes, D - r};
  return j;
}

/// Returns an orthonormal basis of the instruments' span without the equation's exogenous regressors, in the basis of
/// the instruments: v.rows x excluded.
HostMatrix<double> excluded_basis(Graph& g, const PickedEquation& e) {
  const index_t rows = e.variables->rows, included = e.exogenous;
  const HostMatrix<double> E = first_rows_of(*e.variables, {e.order.begin(), e.order.begin() + included});
  auto both = HostMatrix<double>::zeros(rows, included + rows);  // [E, I] = Q [R, Q^T]
  for (index_t i = 0; i < rows; ++i) {
    for (index_t j = 0; j < included; ++j) both(i, j) = E(i, j);
    both(i, included + i) = 1;
  }
  const HostMatrix<double> R = detail::triangle_of(g, both);
  HostMatrix<double> N(rows, rows - included);
  for (index_t j = 0; j < N.cols(); ++j)
    for (index_t i = 0; i < rows; ++i) N(i, j) = R(included + j, included + i);
  return N;
}

}  // namespace

void detail::set_covariance(Graph& g, const PickedEquation& e, EquationEstimate& estimate) {
  const Variables& v = *e.variables;
  const HostMatrix<double> inverse = inverse_of(g, triangle_of(g, first_rows_of(v, e.regressors)));
  estimate.covariance = product(g, Op::none, Op::transpose, inverse, inverse);
  const double sigma = std::ldexp(estimate.sigma, -v.exponents[static_cast<std::size_t>(e.dependent)]);
  for (double* x = estimate.covariance.data(); x != estimate.covariance.data() + estimate.covariance.size(); ++x)
    *x *= sigma * sigma;
  estimate.covariance = in_units(std::move(estimate.covariance), units_of(e));
}

void detail::robust_first_stages(Graph& g, const DataRows& rows, const System& system, SimultaneousEquations& answer) {
  const Clusters clusters(rows.clusters);
  HostMatrix<double> common;  // basis of the model's instruments
  for (std::size_t i = 0; i < system.which.size(); ++i) {
    const PickedEquation& e = system.picked[i];
    const Variables& v = *e.variables;
    std::vector<TestStatistic>& stages = answer.equations[system.which[i]].first_stage;
    if (std::ranges::none_of(stages, [](const TestStatistic& f) { return f.df2 > 0; })) continue;
    const std::vector<index_t> own = system.own[i] != nullptr ? system.own[i]->columns : std::vector<index_t>();
    HostMatrix<double> separate;
    if (!own.empty())
      separate = instrument_basis(g, rows.data, v, own);
    else if (common.size() == 0)
      common = instrument_basis(g, rows.data, v, own);
    const HostMatrix<double>&Q = own.empty() ? common : separate, N = excluded_basis(g, e),
          X = product(g, Op::none, Op::none, Q, N);
    for (std::size_t p = 0; p < stages.size(); ++p) {
      if (!(stages[p].df2 > 0)) continue;
      const TestStatistic classical = std::exchange(stages[p], {});
      const HostMatrix<double> a = first_rows_of(v, {e.regressors[p]}), fitted = product(g, Op::none, Op::none, Q, a);
      HostMatrix<double> u = scaled_columns(rows.data, v, own, {e.regressors[p]}), B = X.clone();
      for (index_t t = 0; t < u.rows(); ++t) u(t, 0) -= fitted(t, 0);
      times_rows(B, u);
      B = clusters.sums(std::move(B));
      if (B.rows() - 1 < B.cols()) continue;  // scores sum to zero
      const HostMatrix<double> T = triangle_of(g, B);
      if (!(triangle_condition(T, true) * v.tolerance <= 1)) continue;
      HostMatrix<double> b = product(g, Op::transpose, Op::none, N, a);
      triangular_solve(g, Op::transpose, T, b);
      const double norm = euclidean_norm(b.rows(), b.data()),
                   correction = clusters.correction(SemDivisor::small, v.observations, v.rows);
      stages[p] = {norm * norm / (correction * static_cast<double>(classical.df)), classical.df, classical.df2};
    }
  }
}

void detail::robust_errors(Graph& g, const DataRows& rows, const SemOptions& options, const System& system,
                           SimultaneousEquations& answer) {
  const Clusters clusters(rows.clusters);
  const bool instrumental = uses_instruments(options.method);
  for (std::size_t i = 0; i < system.which.size(); ++i) {
    EquationEstimate& estimate = answer.equations[system.which[i]];
    if (estimate.perfect_fit) continue;
    const std::vector<index_t> columns = system.own[i] != nullptr ? system.own[i]->columns : std::vector<index_t>();
    estimate.hansen =
        robust_statistics(g, rows.data, system.picked[i], columns, instrumental, options, clusters, estimate);
  }
}

}  // namespace tesela
