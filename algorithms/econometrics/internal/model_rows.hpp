#pragma once

#include <tesela/algorithms/econometrics/internal/formula_columns.hpp>
#include <tesela/algorithms/econometrics/model_data.hpp>

#include <functional>
#include <string>
#include <vector>

namespace tesela::formulas {

/// Compiles a model on variables; appends its columns.
using Compile = std::function<SimultaneousModel(const std::vector<Variable>&, std::vector<UsedLevels>&,
                                                std::vector<DesignColumn>&)>;

/// Determines the rows of a model, its columns and their values; sets all parts of `m`.
///
/// variables  of the model, or empty ones for factors that it does not need.
/// data       evaluator that holds the table.
void fill(ModelData& m, const std::vector<Variable>& variables, const Evaluator& data, const TableSource& source,
          const LoadOptions& options, const Compile& compile);

}  // namespace tesela::formulas
