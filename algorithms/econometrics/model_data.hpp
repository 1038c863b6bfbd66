#pragma once

#include <tesela/algorithms/econometrics/model_formulas.hpp>
#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>
#include <tesela/tiles/io/csv_table.hpp>
#include <tesela/tiles/row_source.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tesela {

/// A table with named columns for load_model.
struct TableSource {
  std::string name;                ///< path of a file, or name of the table in messages
  std::vector<std::string> names;  ///< names of all columns
  std::string names_from = {};     ///< name in messages of the file of names, if there is one
  /// Reads the wanted columns, in this order. Null: a .npy file.
  std::function<Table(const std::vector<ColumnRequest>& wanted)> read = {};
  index_t first_row = 1;  ///< number of the first row in messages, for a table without line numbers
};

/// Opens a file, which may be a pipe: CSV, which is opened once and read to its header, or .npy, whose names the caller
/// adds. `missing` are further codes of missing values (csv_table.hpp). Throws FileError.
TableSource open_table(const std::string& path, const std::vector<std::string>& missing = {});

/// Rows that load_model uses.
struct LoadOptions {
  std::string weights = {}, groups = {};  ///< names of the columns with weights and groups of the rows; empty: none
  std::vector<double> row_weights = {};   ///< weights of all rows of the table, in place of a column; empty: none
  /// Whether rows with a missing value are dropped; otherwise they throw. Lags are evaluated first.
  bool drop_missing = true;
  bool hold = false;  ///< whether data in a .npy file are held in memory even if they could be read by rows
  bool scale = true;  ///< whether rows are multiplied by the square roots of their weights
};

/// A factor of a model whose columns are contrasts to its base.
struct FactorBase {
  std::string factor;               ///< as in the names of its columns
  std::string base;                 ///< level without a column
  std::vector<std::string> levels;  ///< all levels in the rows of the model
};

/// A model with its data: first the instruments (an intercept is the first), then the other variables.
struct ModelData {
  SimultaneousModel model = {};
  std::vector<std::string> labels = {}, names = {};     ///< of the equations, of the columns
  std::vector<FactorBase> factors = {};                 ///< factors with contrasts
  HostMatrix<double> data = {};                         ///< D x columns; 0 x 0 if the rows are read from a file
  RowSource<double> streamed = {};                      ///< rows of a file
  index_t table_rows = 0;                               ///< number of rows of the table
  std::optional<std::vector<index_t>> kept = {};        ///< index in the table of each row, if some rows were dropped
  index_t dropped = 0;                                  ///< number of rows dropped for a missing value
  index_t without_weight = 0;                           ///< number of rows dropped for a zero weight
  std::vector<index_t> groups = {};                     ///< group of each row, if a column of groups was named
  std::vector<double> weights = {}, root_weights = {};  ///< of each row, if there are weights

  /// Returns whether a reader supplies the rows instead of an array.
  bool is_streamed() const { return streamed.read != nullptr; }
  /// Returns the rows; they refer to this object.
  RowSource<double> rows() const { return is_streamed() ? streamed : rows_of(data); }
  const std::string& name(index_t column) const { return names[static_cast<std::size_t>(column)]; }
};

/// Loads a model: expands its formulas for a method as R does, reads the table once and evaluates the columns. Rows
/// are multiplied by the square roots of their weights. OLS and SUR ignore instruments. Columns are named as in R's
/// model.matrix; a column of text and a factor become treatment contrasts.
///
/// Returns  the model with its data in memory, or read by rows from a .npy file if all columns are columns of the file
///          or the intercept, without weights and groups.
/// Throws   FileError with the formula's place for an unknown name or function, a term without a meaning, a factor with
///          one level, and an equation without instruments if the method needs them; with the row or line for a value
///          that is not finite (as after a division by zero) and for a negative weight; and if all rows belong to one
///          group.
ModelData load_model(const TableSource& table, const ModelFormulas& formulas, SemMethod method,
                     const LoadOptions& options = {});

/// Loads the model that a matrix of 0 and 1, N x (K + N), selects from the columns of a table: row i contains the
/// regressors of the equation for column K + i; the first K columns are the instruments. Finds the constant column.
///
/// selection  name of the matrix in messages.
/// Throws     as above; FileError for other shapes and elements, and without instruments if the method needs them.
ModelData load_model(const TableSource& table, const HostMatrix<double>& S, const std::string& selection,
                     SemMethod method, const LoadOptions& options = {});

/// Returns y - Z b of each equation, or Z b, for each row of the table, in its units whatever the weights; NaN for
/// equations without coefficients and for dropped rows.
HostMatrix<double> equation_residuals(const ModelData& model, const SimultaneousEquations& answer, bool fitted = false);

}  // namespace tesela
