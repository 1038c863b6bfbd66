#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>

#include <array>

namespace tesela {

std::span<const Named<SemMethod>> sem_methods() {
  static constexpr std::array<Named<SemMethod>, 5> all{{
      {SemMethod::two_stage, "2sls", "two-stage least squares, each equation by itself"},
      {SemMethod::three_stage, "3sls", "three-stage least squares"},
      {SemMethod::ols, "ols", "ordinary least squares, no instruments"},
      {SemMethod::sur, "sur", "seemingly unrelated regressions, no instruments"},
      {SemMethod::indirect, "ils", "indirect least squares, exactly identified equations alone"},
  }};
  return all;
}

std::span<const Named<SemDivisor>> sem_divisors() {
  static constexpr std::array<Named<SemDivisor>, 2> all{{
      {SemDivisor::observations, "n", "divisor D, normal distribution"},
      {SemDivisor::small, "small", "divisor D less coefficients, t distribution"},
  }};
  return all;
}

std::span<const Named<SemEngine>> sem_engines() {
  static constexpr std::array<Named<SemEngine>, 5> all{{
      {SemEngine::automatic, "auto", "selected by the largest equation"},
      {SemEngine::staircase, "staircase", "QR of each equation"},
      {SemEngine::batched, "batched", "Cholesky of shared products, corrected"},
      {SemEngine::givens, "givens", "rotations in the stages of each equation's staircase"},
      {SemEngine::reuse, "reuse", "as givens, from another equation's triangle, along a tree"},
  }};
  return all;
}

std::span<const Named<SystemSolver>> system_solvers() {
  static constexpr std::array<Named<SystemSolver>, 3> all{{
      {SystemSolver::automatic, "auto", "selected by the number of unknowns and the memory"},
      {SystemSolver::cholesky, "cholesky", "with standard errors"},
      {SystemSolver::gradients, "cg", "conjugate gradients, without standard errors"},
  }};
  return all;
}

const char* description(EquationStatus status) {
  switch (status) {
    case EquationStatus::ok: return "ok";
    case EquationStatus::not_identified_order: return "not identified: order";
    case EquationStatus::not_identified_rank: return "not identified: rank";
    case EquationStatus::collinear: return "collinear";
    case EquationStatus::too_few_observations: return "too few observations";
    case EquationStatus::overidentified: return "overidentified";
    case EquationStatus::not_finite: return "not finite";
  }
  return "";
}

std::string description(const EquationEstimate& e) {
  const std::string status = description(e.status);
  if (e.status != EquationStatus::not_identified_order) return status;
  const auto verb = [](index_t count) { return count == 1 ? " is " : " are "; };
  return status + " (" + std::to_string(e.endogenous) + " excluded instrument" + (e.endogenous == 1 ? "" : "s") +
         verb(e.endogenous) + "needed, " + std::to_string(e.excluded) + verb(e.excluded) + "given)";
}

const char* description(SemStatus status) {
  switch (status) {
    case SemStatus::ok: return "ok";
    case SemStatus::singular_covariance: return "singular residual covariance";
    case SemStatus::not_converged: return "not converged";
  }
  return "";
}

}  // namespace tesela
