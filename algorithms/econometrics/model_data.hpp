#pragma once

#include <tesela/algorithms/econometrics/model_formulas.hpp>
#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/io/csv_table.hpp>

#include <string>
#include <vector>

namespace tesela {

/// Formulas compiled to columns: first the instruments (an intercept is their first column), then the other variables.
struct CompiledModel {
  SimultaneousModel model;
  std::vector<ModelTerm> columns;
  std::vector<std::string> labels;     ///< labels of the equations
  std::vector<std::string> variables;  ///< names of the data columns that the columns use
};

/// Compiles formulas for a method. OLS and SUR ignore instruments. Throws FileError, with the place, for an equation
/// without instruments if the method needs them.
CompiledModel compile_model(const ModelFormulas& formulas, SemMethod method);

/// The data of a compiled model.
struct ModelData {
  HostMatrix<double> data;           ///< D x columns
  std::vector<index_t> rows;         ///< index, from 0, of each kept row in the table
  index_t dropped = 0;               ///< number of rows dropped for a missing value
  index_t without_weight = 0;        ///< number of rows dropped for a zero weight
  std::vector<index_t> groups = {};  ///< group of each kept row, if a column of groups was named
  /// Factor of each kept row, if a column of weights was named.
  std::vector<double> root_weights = {};
};

/// Names of the data columns with weights and with groups; empty: none.
struct RowColumns {
  std::string weights = {}, groups = {};
};

/// Evaluates the columns of a model.
///
/// drop_missing  whether rows with a missing value are dropped; otherwise they throw. Lags are evaluated first.
/// rows          if it names weights, rows are multiplied by the square roots of their weights.
/// first_row     number of the first row in messages, for a table without line numbers.
/// Returns       the data and the kept rows.
/// Throws        FileError with the line of `source` for a value that is not finite (as after a division by zero) and
///               for a negative weight; with the formula's place for an unknown name.
ModelData evaluate(const CompiledModel& model, const ModelFormulas& formulas, const Table& table,
                   const std::string& source, bool drop_missing = true, const RowColumns& rows = {},
                   index_t first_row = 1);

/// Throws FileError as evaluate() for a name that is not in `names`, the names of the data columns; needs no data.
void require_names(const CompiledModel& model, const ModelFormulas& formulas, const std::vector<std::string>& names,
                   const std::string& source);

}  // namespace tesela
