#pragma once

#include <tesela/algorithms/econometrics/internal/model_variables.hpp>
#include <tesela/algorithms/qr/qr.hpp>

#include <deque>
#include <optional>
#include <vector>

namespace tesela::detail {

/// An equation with its columns among some Variables, and their order in a staircase.
struct PickedEquation {
  const Variables* variables = nullptr;
  index_t dependent = 0;
  std::vector<index_t> regressors;  ///< columns of `variables`, in the equation's order
  std::vector<index_t> order;       ///< the regressors in staircase order, exogenous ones first
  /// Index of each of `regressors` in `order`.
  std::vector<index_t> places = {};
  index_t exogenous = 0;  ///< number of regressors that are instruments
  index_t constant = -1;  ///< index of the constant regressor
  HostMatrix<int> picks;  ///< in the form that kernels::EquationQr needs

  index_t size() const { return static_cast<index_t>(regressors.size()); }
};

/// Variables of an equation with its own instruments, and the transformation between the two bases.
struct OwnBasis {
  Variables variables;
  std::vector<index_t> columns;  ///< their columns among the model's variables
  HostMatrix<double> copy;       ///< storage of the factorization
  std::optional<QrFactorization<double>> factors;
};

/// Returns the equation's instruments, regressors and dependent variable in a basis that begins with the span of the
/// instruments. Waits for the graph.
OwnBasis own_basis(Graph& g, const Variables& model, const Equation& equation);

/// Returns the columns of an equation. `columns` holds the model's column of each variable; empty if they are equal.
PickedEquation pick(const Variables& variables, const Equation& equation, const std::vector<index_t>& columns,
                    index_t constant);

/// Returns the groups of equations that form one task: equations of similar sizes, the largest first, small enough that
/// all workers have some and that a group fits into a GPU's memory. Without GPUs each equation is a task.
std::vector<std::vector<std::size_t>> equation_groups(const Runtime& runtime,
                                                      const std::vector<PickedEquation>& equations,
                                                      std::vector<std::size_t> which);

/// Returns the picks of a group side by side, in the form that EquationGram needs.
HostMatrix<int> group_picks(const std::vector<PickedEquation>& equations, const std::vector<std::size_t>& group);

/// Results of a task: see EquationQr.
struct EquationResults {
  Block<const double> facts = {}, residual = {};
};
struct AllEquationResults {
  std::vector<EquationResults> of;  ///< results for each equation
  std::deque<HostMatrix<double>> memory;
};

/// Runs tasks for the equations that have at most as many regressors as their variables have rows; the results of the
/// others are empty. Equations of other variables than the model's, and equations whose products are too ill
/// conditioned, use QR. Waits for the graph.
AllEquationResults run_equations(Graph& g, const Variables& model, const std::vector<PickedEquation>& equations,
                                 SemEngine engine);

/// Runs tasks for these equations along the tree of reuse_tree. Waits for the graph.
void run_reuse(Graph& g, const Variables& model, const std::vector<PickedEquation>& equations,
               const std::vector<std::size_t>& which, AllEquationResults& all);

/// Returns the estimate of an equation by itself from its results. If the rank is deficient, determines the dependent
/// regressors, for which it waits for the graph, and with `least_norm` the coefficients of least norm.
EquationEstimate equation_estimate(Graph& g, const PickedEquation& equation, const EquationResults& facts,
                                   SemDivisor divisor, bool instrumental, bool least_norm);

/// Returns the largest ||e|| that rounding alone explains; b holds the coefficients of the equation's columns.
double rounding_of(const PickedEquation& equation, const double* b);

}  // namespace tesela::detail
