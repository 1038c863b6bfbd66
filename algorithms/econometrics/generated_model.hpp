#pragma once

#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tesela {

struct ModelSizes {
  index_t observations = 200, equations = 4, exogenous = 8;
  index_t included = 4;  ///< regressors of an equation, half of them (rounded down) endogenous, the first 1
  double noise = 0.1;    ///< the errors' standard deviation
};

/// A model whose coefficients are known.
struct GeneratedModel {
  HostMatrix<double> data;  ///< 1, K - 1 standard normal columns, and N that Y B = X C + U makes of them
  SimultaneousModel model;
  std::vector<std::string> names;          ///< "(Intercept)", x1 ..., y1 ...
  std::vector<std::vector<double>> truth;  ///< of each equation's regressors
};

/// Errors are normal, and those of one observation correlated. The same for the same seed. Throws ArgumentError for
/// sizes that make no model.
GeneratedModel generate_model(const ModelSizes& sizes, std::uint64_t seed);

/// The same without data, and these by rows, on all cores: other blocks of rows change a last digit of Y at most.
struct StreamedModel {
  GeneratedModel model;
  RowSource<double> rows;
};
StreamedModel stream_model(const ModelSizes& sizes, std::uint64_t seed);

/// The model in the notation of model_formulas.hpp.
std::string formulas_of(const GeneratedModel& model);

}  // namespace tesela
