#pragma once

#include <tesela/algorithms/econometrics/internal/formula_evaluator.hpp>
#include <tesela/algorithms/econometrics/internal/formula_terms.hpp>
#include <tesela/algorithms/econometrics/model_data.hpp>

#include <functional>
#include <string>
#include <vector>

namespace tesela::formulas {

/// A part of a product: a column of a variable, or the indicator of a level.
struct Piece {
  index_t variable = 0, column = 0;
  index_t level = -1;  ///< -1: the numbers of the column
};

/// A column of a design: the product of its pieces; without pieces the intercept.
struct DesignColumn {
  std::string name;  ///< as R's model.matrix: "x", "regionnorth", "x:regionnorth"
  std::string key;   ///< equal keys denote equal columns
  std::vector<Piece> pieces;
};

/// The levels of a variable that occur in the rows of a model.
struct UsedLevels {
  std::vector<index_t> levels = {};
  index_t base = -1;        ///< the level that contrasts leave out
  bool contrasted = false;  ///< whether a column is a contrast to the base
};

/// Returns the columns of terms, the intercept first, each once. Levels become indicators of all levels but the base
/// (treatment contrasts), or of all levels if no earlier term contains the rest of their term, by R's rule; without an
/// intercept the first factor has all levels. A term's first variable varies fastest.
///
/// variables, used   of each factor by its number; sets used[].contrasted.
/// Throws            FileError with the place of a factor that needs contrasts and has one level.
std::vector<DesignColumn> design_columns(const Terms& terms, const Factors& factors,
                                         const std::vector<Variable>& variables, std::vector<UsedLevels>& used,
                                         const std::string& source);

/// Returns the column of one variable of numbers.
DesignColumn plain_column(index_t variable, const std::string& name);

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
