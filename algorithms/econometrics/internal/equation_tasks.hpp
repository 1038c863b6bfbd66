#pragma once

#include <tesela/algorithms/econometrics/internal/model_variables.hpp>
#include <tesela/algorithms/qr/qr.hpp>

#include <deque>
#include <optional>
#include <vector>

namespace tesela::detail {

/// An equation whose columns are those of some Variables, and their order in a staircase.
struct PickedEquation {
  const Variables* variables = nullptr;
  index_t dependent = 0;
  std::vector<index_t> regressors;  ///< columns of `variables`, as the equation names them
  std::vector<index_t> order;       ///< of them as a staircase, the exogenous ones first
  /// Where each of `regressors` stands in `order`.
  std::vector<index_t> places = {};
  index_t exogenous = 0;  ///< so many of them are instruments
  index_t constant = -1;  ///< which regressor is constant
  HostMatrix<int> picks;  ///< as kernels::EquationQr has them

  index_t size() const { return static_cast<index_t>(regressors.size()); }
};

/// Variables of an equation with its own instruments, and the transformation between both bases.
struct OwnBasis {
  Variables variables;
  std::vector<index_t> columns;  ///< of the model's variables
  HostMatrix<double> copy;       ///< that the factorization stands in
  std::optional<QrFactorization<double>> factors;
};

/// The equation's instruments, regressors and dependent variable in a basis of their own that begins with what the
/// instruments span. Waits for the graph.
OwnBasis own_basis(Graph& g, const Variables& model, const Equation& equation);

/// `columns` names the variables' columns by the model's, or is empty where they are the same.
PickedEquation pick(const Variables& variables, const Equation& equation, const std::vector<index_t>& columns,
                    index_t constant);

/// Equations that are one task: of like sizes, the largest first, small enough for all workers to have some and for a
/// GPU's memory. On cores alone each is a task of its own.
std::vector<std::vector<std::size_t>> equation_groups(const Runtime& runtime,
                                                      const std::vector<PickedEquation>& equations,
                                                      std::vector<std::size_t> which);

/// Their picks side by side, as EquationGram has them.
HostMatrix<int> group_picks(const std::vector<PickedEquation>& equations, const std::vector<std::size_t>& group);

/// What the tasks find out: see EquationQr.
struct EquationFacts {
  Block<const double> facts = {}, residual = {};
};
struct FoundFacts {
  std::vector<EquationFacts> of;  ///< each equation
  std::deque<HostMatrix<double>> memory;
};

/// Tasks for the equations that have no more regressors than their variables have rows; the others' facts are empty.
/// Those of other variables than the model's, and those whose products are too ill conditioned, take QR. Waits.
FoundFacts run_equations(Graph& g, const Variables& model, const std::vector<PickedEquation>& equations,
                         SemEngine engine);

/// The same of these equations along the tree of reuse_tree. On cores alone. Waits.
void run_reuse(Graph& g, const Variables& model, const std::vector<PickedEquation>& equations,
               const std::vector<std::size_t>& which, FoundFacts& all);

/// The estimate by the equation itself, from its facts. Waits for the graph where it asks more of a deficient rank.
EquationEstimate judge_equation(Graph& g, const PickedEquation& equation, const EquationFacts& facts,
                                SemDivisor divisor, bool instrumental);

/// ||e|| up to this is rounding alone: coefficients b of the equation's columns.
double rounding_of(const PickedEquation& equation, const double* b);

}  // namespace tesela::detail
