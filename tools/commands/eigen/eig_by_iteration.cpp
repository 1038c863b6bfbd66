#include "tools/commands/eigen/eig_by_iteration.hpp"

#include "tools/app/choices.hpp"
#include "tools/app/help.hpp"
#include "tools/app/numbers.hpp"
#include <tesela/runtime/errors.hpp>

#include <algorithm>
#include <cmath>

namespace tesela::cli {

void IterationChoice::add_to(CLI::App& app) {
  Choices()
      .add(qr_factors())
      .add_option(app, "--factor", factor, "of qr-iteration: how Q and R are made")
      ->group(more_options);
  Choices().add(stop_tests()).add_option(app, "--stop", stop, "of iterations: when D is diagonal");
  Choices().add(qr_shifts()).add_option(app, "--shift", shift, "of qr-iteration: what is taken off the diagonal");
  app.add_flag("--deflate", deflate, "of qr-iteration: a last row that is done leaves the iteration");
  app.add_flag("--positive-diagonal", positive, "of qr-iteration: R's diagonal, so that Q R is unique");
  app.add_option("--tol", tolerance,
                 "of iterations: an element up to this times ||A||_F is nothing (default: 1e-13, single 1e-5)")
      ->check(positive_up_to(largest_iteration_tolerance));
  app.add_option("--max-iterations", most,
                 "of iterations (default: 2000 n; where a step is a graph at most max(6000, 30 n))")
      ->transform(cli::positive());
}

void IterationChoice::require_valid(const std::string& method, bool generalized) const {
  const auto named = find_named(eig_iterations(), method);
  const bool any = named.has_value(), qr = named == EigIteration::qr;
  if (any && generalized) throw ArgumentError("eig", "--method", method + " is not there for generalized problems");
  const auto only_for = [&](bool given, const char* option, const char* which, bool applies) {
    if (given && !applies)
      throw ArgumentError("eig", option, std::string("belongs to --method ") + which + ", not to " + method);
  };
  only_for(!factor.empty(), "--factor", "qr-iteration", qr);
  only_for(!shift.empty(), "--shift", "qr-iteration", qr);
  only_for(deflate, "--deflate", "qr-iteration", qr);
  only_for(positive, "--positive-diagonal", "qr-iteration", qr);
  only_for(!stop.empty(), "--stop", "qr-iteration, lr or cholesky-lr", any);
  only_for(tolerance > 0, "--tol", "qr-iteration, lr or cholesky-lr", any);
  only_for(most > 0, "--max-iterations", "qr-iteration, lr or cholesky-lr", any);
}

EigIterationOptions IterationChoice::options(EigIteration method, const SymmetricEigOptions& wanted) const {
  EigIterationOptions o{.method = method,
                        .factor = find_named(qr_factors(), factor).value_or(QrFactor::givens),
                        .stop = find_named(stop_tests(), stop).value_or(StopTest::off_diagonal),
                        .shift = find_named(qr_shifts(), shift).value_or(QrShift::none),
                        .deflate = deflate,
                        .positive_diagonal = positive,
                        .tolerance = tolerance,
                        .max_iterations = most,
                        .vectors = wanted.vectors,
                        .positions = wanted.positions};
  o.low = wanted.low;
  o.high = wanted.high;
  return o;
}

void IterationChoice::describe(const IterationFacts& facts, nlohmann::json& problem) const {
  if (problem["method"] == "qr-iteration") {
    problem["factor"] = factor.empty() ? qr_factors().front().name : factor;
    problem["shift"] = shift.empty() ? qr_shifts().front().name : shift;
    problem["deflate"] = deflate;
  }
  problem["stop"] = stop.empty() ? stop_tests().front().name : stop;
  problem["tolerance"] = facts.tolerance;
  if (facts.shift != 0) problem["gershgorin_shift"] = facts.shift;
  if (facts.remaining.empty()) return;
  problem["remaining"] = nlohmann::json::array();
  for (const RemainingEntry& entry : facts.remaining)
    problem["remaining"].push_back({{"row", entry.row + 1}, {"column", entry.column + 1}, {"value", entry.value}});
}

void report_iteration(const IterationFacts& facts, index_t deflations, Report& report) {
  report.count("rotations", facts.rotations);
  report.count("deflations", deflations);
  report.count("kernels", facts.kernels);
  report.check("remaining_entries", static_cast<double>(facts.remain));
  report.check("largest_ratio", facts.ratio);
  if (std::isfinite(facts.predicted)) report.check("predicted_iterations", facts.predicted);
}

namespace {

double growth_of(index_t iterations) { return std::sqrt(1 + static_cast<double>(iterations)); }

}  // namespace

EigBounds iteration_bounds(EigBounds bounds, index_t n, index_t iterations, const IterationFacts& facts) {
  const double growth = growth_of(iterations), left = static_cast<double>(n) * facts.tolerance;
  return {std::min(bounds.value * growth + left, useful_bound), std::min(bounds.orthogonality * growth, useful_bound)};
}

Measured remaining(EigBounds bounds, index_t iterations, const IterationFacts& facts) {
  return {facts.remaining_norm, std::min(bounds.value * growth_of(iterations) + facts.tolerance, useful_bound)};
}

}  // namespace tesela::cli
