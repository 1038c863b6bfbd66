#pragma once

#include "tools/checks/sem_error.hpp"
#include "tools/problems/method.hpp"
#include <tesela/algorithms/econometrics/generated_model.hpp>
#include <tesela/algorithms/econometrics/model_data.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tesela::cli {

/// The sources of a model and its data.
struct SemInput {
  std::string data, names, model, select, weights, clusters;
  std::string missing = "drop";
  std::vector<std::string> na;  ///< further codes of missing values
  ModelSizes sizes;
  index_t rows_at_once = 0;  ///< rows of a block; 0 selects the number, and generated data are held if they fit
  bool hold = false;         ///< whether all data must be in memory
  bool generated() const { return data.empty(); }
};

/// Adds --samples, --endogenous, --exogenous, --included and --noise; each excludes `other`.
void add_sizes(App& app, ModelSizes& sizes, Option* other);

/// A model with its data, the options of its estimates, and the memory that the methods share.
struct SemProblem : ModelData {
  SemOptions options = {};                      ///< a row's engine replaces its engine
  index_t rows_at_once = 0;                     ///< rows of a block of streamed data; 0 selects the number
  std::vector<std::vector<double>> truth = {};  ///< coefficients of a generated model
  std::string formulas = {};                    ///< formulas of a generated model
  Runtime* runtime = nullptr;                   ///< null: only libraries run
  HostMatrix<double> work = {};                 ///< the data in a run
  HostMatrix<float> work_single = {};           ///< the same for a library in single precision
};

/// Generates a model, with its data in memory or by rows.
SemProblem generate_sem(const ModelSizes& sizes, std::uint64_t seed, bool by_rows = false);

/// Loads or generates a model. Throws FileError and ArgumentError, as the readers do.
SemProblem load_sem(const SemInput& input, SemMethod method, std::uint64_t seed);

/// The table of methods: Tesela's engines; and 2SLS by LAPACK, in double and single precision, and by cuSOLVER, whose
/// results have coefficients alone.
std::vector<Method<SemProblem, SimultaneousEquations>> sem_table();

/// Returns the flops of dense QR factorizations of the data and of every equation.
double sem_flops(const SemProblem& problem);

/// Measures the errors of estimates; computes the triangle if they lack it.
SemError measure_sem(Runtime& runtime, const SemProblem& problem, const SimultaneousEquations& answer);

/// Checks the estimates of a benchmark's peer and returns their error relative to the bound. Throws WrongResult if it
/// is above 1 or an equation has no coefficients.
double check_peer(const std::string& peer, const SemProblem& problem, const SimultaneousEquations& answer);

}  // namespace tesela::cli
