#include <tesela/algorithms/econometrics/internal/robust_system.hpp>
#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <algorithm>
#include <cmath>
#include <deque>

namespace tesela {

using namespace kernels;
namespace {

using detail::PickedEquation;
using detail::System;
using detail::Weights;

void require_valid(const ModelTriangle& triangle, const SimultaneousModel& model) {
  const index_t variables = triangle.R.cols();
  const auto require = [&](bool good, const std::string& argument, const std::string& problem) {
    if (!good) throw ArgumentError("estimate", argument, problem);
  };
  require(triangle.R.rows() == variables, "triangle", to_string(triangle.R.shape()) + " is not square");
  require(model.instruments >= 0 && model.instruments <= variables, "instruments",
          std::to_string(model.instruments) + " of " + std::to_string(variables) + " variables");
  require(model.constant < variables, "constant", std::to_string(model.constant) + " is not a variable");
  for (std::size_t i = 0; i < model.equations.size(); ++i) {
    const Equation& e = model.equations[i];
    const std::string name = "equation " + std::to_string(i + 1);
    const auto each = [&](const std::vector<index_t>& columns, const char* what) {
      std::vector<index_t> sorted = columns;
      if (!std::is_sorted(sorted.begin(), sorted.end())) std::sort(sorted.begin(), sorted.end());
      for (std::size_t p = 0; p < sorted.size(); ++p) {
        if (sorted[p] < 0 || sorted[p] >= variables)
          require(false, name, std::to_string(sorted[p]) + " is not a variable");
        if (p > 0 && sorted[p] == sorted[p - 1])
          require(false, name, std::string(what) + " " + std::to_string(sorted[p]) + " appears twice");
      }
    };
    require(e.dependent >= 0 && e.dependent < variables, name, std::to_string(e.dependent) + " is not a variable");
    require(!e.regressors.empty(), name, "has no regressors");
    each(e.regressors, "regressor");
    each(e.instruments, "instrument");
    require(std::find(e.regressors.begin(), e.regressors.end(), e.dependent) == e.regressors.end(), name,
            "its dependent variable is a regressor");
  }
}

/// Returns y_i - Z_i b_i of all equations by one product; for equations with a large part of all variables.
HostMatrix<double> dense_residuals(Graph& g, const detail::Variables& v, const System& system) {
  const auto N = static_cast<index_t>(system.which.size());
  auto B = HostMatrix<double>::zeros(v.count(), N);
  for (index_t i = 0; i < N; ++i) {
    const auto k = static_cast<std::size_t>(i);
    for (std::size_t p = 0; p < system.scaled[k].size(); ++p)
      B(system.in_model[k]->regressors[p], i) = system.scaled[k][p];
  }
  HostMatrix<double> E = detail::product(g, Op::none, Op::none, v.A, B);
  for (index_t i = 0; i < N; ++i) {
    const double* y = &v.A(0, system.in_model[static_cast<std::size_t>(i)]->dependent);
    for (index_t k = 0; k < E.rows(); ++k) E(k, i) = y[k] - E(k, i);
  }
  return E;
}

/// Returns the residuals y_i - Z_i b_i; uses those in `facts` if tasks have computed them.
HostMatrix<double> residuals(Graph& g, const detail::Variables& v, const System& system,
                             const std::vector<detail::EquationResults>& facts = {}) {
  const index_t m = v.A.rows();
  double some = 0;
  for (const Equation* e : system.in_model) some += static_cast<double>(e->regressors.size());
  const auto all = static_cast<double>(v.count()) * static_cast<double>(system.which.size());
  if (facts.empty() && all > 500 && all < 8 * some) return dense_residuals(g, v, system);
  HostMatrix<double> E(m, std::ssize(system.which));
  const auto residual = [&](std::size_t i) {
    const Equation& e = *system.in_model[i];
    double* out = &E(0, static_cast<index_t>(i));
    if (!facts.empty() && system.own[i] == nullptr) {
      std::copy_n(facts[system.which[i]].residual.data, m, out);
      return;
    }
    std::copy_n(&v.A(0, e.dependent), m, out);
    for (std::size_t p = 0; p < e.regressors.size(); ++p) {
      const double b = system.scaled[i][p], *column = &v.A(0, e.regressors[p]);
      for (index_t k = 0; k < m; ++k) out[k] -= b * column[k];
    }
  };
  constexpr double elements_per_thread = 1e7;  // multiplications
  parallel_for(E.cols(), static_cast<double>(m) * some < elements_per_thread ? E.cols() : 1,
               [&](index_t first, index_t end) {
                 for (index_t i = first; i < end; ++i) residual(static_cast<std::size_t>(i));
               });
  return E;
}

/// Adds the corrections to system.scaled. Returns the largest change relative to the size of a coefficient plus its
/// error.
double move(System& system, const std::vector<std::vector<double>>& changes,
            const std::vector<std::vector<double>>& errors) {
  double most = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const PickedEquation& e = system.picked[i];
    for (std::size_t own = 0; own < changes[i].size(); ++own) {
      const double change = changes[i][static_cast<std::size_t>(e.places[own])];
      double& b = system.scaled[i][own];
      b += change;
      const double size = std::abs(b) + errors[i][own];
      if (change != 0) most = std::max(most, std::abs(change) / size);
    }
  }
  return most;
}

/// Updates the statistics of an equation for new residuals.
void update_statistics(const detail::Variables& v, const Equation& e, const std::vector<double>& b,
                       const detail::CoefficientErrors& errors, double norm, double divisor,
                       EquationEstimate& estimate) {
  const int unit = v.exponents[static_cast<std::size_t>(e.dependent)];
  const double before = estimate.sigma;
  estimate.sigma = std::ldexp(norm / divisor, unit);
  // Sums of squares are proportional to the square of sigma.
  const double ratio = estimate.sigma / before, rest = (1 - estimate.r2) * ratio * ratio;
  estimate.adjusted_r2 = 1 - (1 - estimate.adjusted_r2) * ratio * ratio;
  estimate.r2 = 1 - rest;
  const index_t slopes = estimate.f.df;  // the covariance of its coefficients comes from the system
  estimate.f = {};
  if (!std::isnan(errors.wald))
    estimate.f = {errors.wald / static_cast<double>(slopes), slopes, estimate.degrees_of_freedom};
  std::vector<int> exponents;
  for (std::size_t p = 0; p < b.size(); ++p) {
    exponents.push_back(unit - v.exponents[static_cast<std::size_t>(e.regressors[p])]);
    estimate.coefficients[p] = std::ldexp(b[p], exponents[p]);
    estimate.standard_errors[p] = std::ldexp(errors.standard_errors[p], exponents[p]);
  }
  estimate.covariance = detail::in_units(errors.covariance.clone(), exponents);
}

/// Removes the coefficients, because the covariance of the residuals is singular.
void refuse_system(const System& system, const std::vector<index_t>& singular, SimultaneousEquations& result) {
  result.status = SemStatus::singular_covariance;
  for (const index_t i : singular)
    result.singular.push_back(static_cast<index_t>(system.which[static_cast<std::size_t>(i)]));
  for (const std::size_t i : system.which) {
    EquationEstimate& e = result.equations[i];
    e.coefficients.clear(), e.standard_errors.clear();
  }
}

/// Returns the standard errors in the variables' units.
std::vector<std::vector<double>> scaled_errors(const detail::Variables& v, const System& system,
                                               const SimultaneousEquations& result) {
  std::vector<std::vector<double>> errors;
  for (std::size_t i = 0; i < system.which.size(); ++i) {
    const Equation& e = *system.in_model[i];
    errors.push_back(result.equations[system.which[i]].standard_errors);
    for (std::size_t p = 0; p < errors.back().size(); ++p)
      errors.back()[p] = std::ldexp(errors.back()[p], v.exponents[static_cast<std::size_t>(e.regressors[p])] -
                                                          v.exponents[static_cast<std::size_t>(e.dependent)]);
  }
  return errors;
}

/// Stores the covariance of the last weights and, for residuals E after the last correction, Hansen's and Sargan's
/// statistic.
void store_weights(Graph& g, const detail::Variables& v, const SemOptions& options, const System& system,
                   index_t unknowns, const Weights& weights, const HostMatrix<double>& products,
                   const HostMatrix<double>& E, SimultaneousEquations& result) {
  result.weighting_covariance = detail::covariance_of(v, system, products, result.equations.size());
  result.weighting_correlation = detail::correlation_of(system, products, result.equations.size());
  for (std::size_t i = 0; i < weights.sigmas.size(); ++i)
    result.weighting_sigmas.push_back(
        std::ldexp(weights.sigmas[i], v.exponents[static_cast<std::size_t>(system.in_model[i]->dependent)]));
  const index_t moments = std::ssize(system.which) * v.rows;
  if (std::all_of(system.own.begin(), system.own.end(), [](const auto* own) { return own == nullptr; }) &&
      moments > unknowns && options.method == SemMethod::three_stage && v.rows < v.observations)
    result.hansen_sargan = {detail::weighted_sum(weights, detail::products_of(g, detail::first_rows(E, v.rows))),
                            moments - unknowns, 0};
}

/// Refuses an equation with more instruments than regressors.
void require_exact(const PickedEquation& equation, EquationEstimate& e) {
  if (e.status != EquationStatus::ok || equation.variables->rows == equation.size()) return;
  e = {.status = EquationStatus::overidentified, .degrees_of_freedom = e.degrees_of_freedom};
}

void third_stage(Graph& g, const detail::Variables& v, const SemOptions& options, const detail::DataRows* rows,
                 System& system, SimultaneousEquations& result) {
  for (std::size_t i = 0; i < system.which.size(); ++i)
    if (result.equations[system.which[i]].perfect_fit) return refuse_system(system, {static_cast<index_t>(i)}, result);
  const std::vector<std::vector<double>> before = scaled_errors(v, system, result);
  std::vector<double> conditions;
  for (const std::size_t i : system.which) conditions.push_back(result.equations[i].condition);
  detail::ThirdStage stage(g, v, system.picked, system.own, conditions, options.system_solver);
  result.system_solver = stage.by_gradients() ? SystemSolver::gradients : SystemSolver::cholesky;
  Weights weights;
  const index_t most = options.iterate ? std::max<index_t>(options.iterations, 1) : 1;
  for (bool done = false; !done;) {
    const HostMatrix<double> products = detail::products_of(g, system.E);
    weights = detail::weigh(g, system.E, products, system.divisors);
    if (!weights.singular.empty()) return refuse_system(system, weights.singular, result);
    const bool last = most == 1;  // the stage is not repeated
    const auto correction =
        stage.own_instruments()
            ? stage.correction(g, stage.fitted_residuals(g, v, system.in_model, system.scaled), weights, last)
            : stage.correction(g, system.E, weights, last);
    if (correction.status == SemStatus::singular_covariance) return refuse_system(system, {}, result);
    ++result.iterations;
    result.gradient_steps = stage.gradient_steps();
    result.last_change = move(system, correction.changes, before);
    system.E = residuals(g, v, system);
    const bool lost = correction.status != SemStatus::ok, converged = result.last_change <= options.tolerance;
    if (lost || (options.iterate && result.iterations == most && !converged)) result.status = SemStatus::not_converged;
    done = lost || result.iterations == most || converged;
    if (done) store_weights(g, v, options, system, stage.unknowns(), weights, products, system.E, result);
  }
  detail::ErrorOptions wanted{.covariances = options.covariances, .tolerance = v.tolerance};
  detail::RobustSystem robust;
  if (rows != nullptr && !stage.by_gradients()) {
    const detail::Clusters clusters(rows->clusters);
    robust =
        detail::robust_system(g, *rows, clusters, v, system, weights, stage, options.method == SemMethod::three_stage);
    result.hansen = robust.hansen;
    wanted.scores = &robust.scores;
    for (const PickedEquation& e : system.picked)
      wanted.corrections.push_back(clusters.correction(options.divisor, v.observations, e.size()));
  }
  const auto errors = stage.errors(g, weights, system.scaled, wanted);
  const std::vector<double> norms = column_norms(system.E);
  for (std::size_t i = 0; i < system.which.size(); ++i)
    update_statistics(v, *system.in_model[i], system.scaled[i], errors[i], norms[i], system.divisors[i],
                      result.equations[system.which[i]]);
}

}  // namespace

SimultaneousEquations estimate(Graph& g, const ModelTriangle& triangle, const SimultaneousModel& model,
                               const SemOptions& options) {
  if (options.robust) throw ArgumentError("estimate", "robust", "needs the data; their triangle does not suffice");
  return detail::estimate_all(g, triangle, model, options, nullptr);
}

SimultaneousEquations detail::estimate_all(Graph& g, const ModelTriangle& triangle, const SimultaneousModel& model,
                                           const SemOptions& options, const DataRows* rows) {
  require_valid(triangle, model);
  SimultaneousEquations result;
  const index_t D = triangle.observations;
  const bool instrumental = uses_instruments(options.method);
  const detail::Variables v = detail::model_variables(g, triangle, model.instruments, !instrumental,
                                                      detail::dependence_tolerance(triangle, options));
  // Page-locked once for all mappings.
  const PinnedMemory locked(g.runtime(), const_cast<double*>(v.A.data()),
                            static_cast<std::size_t>(v.A.size()) * sizeof(double));
  if (!std::all_of(v.norms.begin(), v.norms.end(), [](double norm) { return std::isfinite(norm); })) {
    result.equations.resize(model.equations.size());
    for (EquationEstimate& e : result.equations) e.status = EquationStatus::not_finite;
    return result;
  }
  result.dropped_instruments = v.dropped;

  std::deque<detail::OwnBasis> bases;
  std::vector<const detail::OwnBasis*> own;
  std::vector<PickedEquation> picked;
  for (const Equation& e : model.equations) {
    if (!instrumental || e.instruments.empty()) {
      picked.push_back(detail::pick(v, e, {}, model.constant));
      own.push_back(nullptr);
    } else {
      bases.push_back(detail::own_basis(g, v, e));
      own.push_back(&bases.back());
      picked.push_back(detail::pick(bases.back().variables, e, bases.back().columns, model.constant));
    }
  }
  const detail::AllEquationResults found = detail::run_equations(g, v, picked, options.engine);
  System system;
  for (std::size_t i = 0; i < picked.size(); ++i) {
    EquationEstimate e = detail::equation_estimate(g, picked[i], found.of[i], options.divisor, instrumental,
                                                   options.method == SemMethod::ols);
    if (options.method == SemMethod::indirect) require_exact(picked[i], e);
    if (own[i] != nullptr)
      for (index_t& c : e.dependent_regressors) c = own[i]->columns[static_cast<std::size_t>(c)];
    if (e.status == EquationStatus::ok) {
      system.which.push_back(i);
      system.own.push_back(own[i]);
      std::vector<double> b;
      for (const index_t p : picked[i].places) b.push_back(found.of[i].facts(p, 0));
      system.scaled.push_back(std::move(b));
      const index_t divisor = options.divisor == SemDivisor::small ? e.degrees_of_freedom : D;
      system.divisors.push_back(std::sqrt(static_cast<double>(divisor)));
    }
    result.equations.push_back(std::move(e));
  }
  for (const std::size_t i : system.which) {
    system.picked.push_back(std::move(picked[i]));
    system.in_model.push_back(&model.equations[i]);
  }
  if (system.which.empty()) {
    result.residual_covariance = detail::covariance_of(v, system, {}, result.equations.size());
    result.residual_correlation = detail::correlation_of(system, {}, result.equations.size());
    return result;
  }
  system.E = residuals(g, v, system, found.of);
  if (is_joint(options.method)) {
    third_stage(g, v, options, rows, system, result);
  } else {
    for (std::size_t i = 0; i < system.which.size() && options.covariances; ++i)
      detail::set_covariance(g, system.picked[i], result.equations[system.which[i]]);
    if (rows != nullptr) detail::robust_errors(g, *rows, options, system, result);
  }
  if (result.status == SemStatus::singular_covariance) return result;
  if (rows != nullptr && instrumental) detail::robust_first_stages(g, *rows, system, result);
  for (std::size_t i = 0; i < system.which.size(); ++i)  // residuals of a perfect fit are rounding errors
    if (result.equations[system.which[i]].perfect_fit)
      std::fill_n(&system.E(0, static_cast<index_t>(i)), system.E.rows(), 0.0);
  const HostMatrix<double> products = detail::products_of(g, system.E);
  result.residual_correlation = detail::correlation_of(system, products, result.equations.size());
  result.residual_covariance = detail::covariance_of(v, system, products, result.equations.size());
  result.mcelroy_r2 = detail::mcelroy(g, v, model, system, system.E, products);
  return result;
}

}  // namespace tesela
