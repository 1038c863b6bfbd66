#pragma once

#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tesela {

/// Sizes of a generated model.
struct ModelSizes {
  index_t observations = 200, equations = 4, exogenous = 8;  ///< exogenous variables include the constant 1
  /// Regressors per equation: half of them (rounded down) endogenous, the first one the constant 1.
  index_t included = 4;
  double noise = 0.1;  ///< standard deviation of the errors
};

/// A generated model with its true coefficients.
struct GeneratedModel {
  HostMatrix<double> data;  ///< 1, K - 1 standard normal columns, and the N columns Y of Y B = X C + U
  SimultaneousModel model;
  std::vector<std::string> names;          ///< "(Intercept)", x1 ..., y1 ...
  std::vector<std::vector<double>> truth;  ///< true coefficients of each equation's regressors
};

/// Returns a model with normal errors, which are correlated within an observation. Equal seeds give equal models.
/// Throws ArgumentError for sizes that are negative or contradict each other, and if the seed makes a singular model.
GeneratedModel generate_model(const ModelSizes& sizes, std::uint64_t seed);

/// The model without data, and its data as rows, computed on all cores. A different division into blocks of rows may
/// change the last digit of Y.
struct StreamedModel {
  GeneratedModel model;
  RowSource<double> rows;
};
StreamedModel stream_model(const ModelSizes& sizes, std::uint64_t seed);

/// Returns the model in the notation of model_formulas.hpp.
std::string formulas_of(const GeneratedModel& model);

}  // namespace tesela
