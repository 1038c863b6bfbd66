#pragma once

#include <tesela/algorithms/econometrics/model_formulas.hpp>
#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/io/csv_table.hpp>

#include <string>
#include <vector>

namespace tesela {

/// Formulas compiled to columns: the instruments first, an intercept first of them, then what is none.
struct CompiledModel {
  SimultaneousModel model;
  std::vector<ModelTerm> columns;
  std::vector<std::string> labels;     ///< of the equations
  std::vector<std::string> variables;  ///< that the columns take of the data
};

/// Throws FileError with its place for an equation without instruments where the method needs some. OLS and SUR leave
/// instruments out.
CompiledModel compile_model(const ModelFormulas& formulas, SemMethod method);

/// The data that a compiled model takes.
struct ModelData {
  HostMatrix<double> data;           ///< D x columns
  std::vector<index_t> rows;         ///< of the table, from 0, that stayed
  index_t dropped = 0;               ///< for a missing value
  index_t without_weight = 0;        ///< for a weight of zero
  std::vector<index_t> groups = {};  ///< of each row that stayed, where a column of them was named
  /// What each row that stayed was multiplied by, where a column of weights was named.
  std::vector<double> root_weights = {};
};

/// Columns of the data that no formula names: of weights and of what rows belong to; none where empty.
struct RowColumns {
  std::string weights = {}, groups = {};
};

/// Evaluates the columns: lags first, then rows with a missing value go, or with drop_missing = false throw FileError.
/// Rows are multiplied by the square root of their weight where there is such a column. Throws FileError
/// with the line of `source` for a value that is not finite, as after a division by zero, and for negative weights; and
/// with the formula's place for an unknown name. `first_row` is the number of the first row in messages, if the table
/// has no lines of a file.
ModelData evaluate(const CompiledModel& model, const ModelFormulas& formulas, const Table& table,
                   const std::string& source, bool drop_missing = true, const RowColumns& rows = {},
                   index_t first_row = 1);

/// As evaluate() says of an unknown name, before the data are read: `names` are the data's.
void require_names(const CompiledModel& model, const ModelFormulas& formulas, const std::vector<std::string>& names,
                   const std::string& source);

}  // namespace tesela
