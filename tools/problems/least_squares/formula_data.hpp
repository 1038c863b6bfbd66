#pragma once

#include "tools/app/report.hpp"
#include <tesela/algorithms/econometrics/model_data.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <string>
#include <vector>

namespace tesela::cli {

/// A table, a formula, and further columns of the table.
struct FormulaInput {
  std::string data, formula;
  bool one_sided = false;  ///< whether the formula has no left side and no intercept
  std::string missing = "drop";
  std::vector<std::string> na = {};       ///< further codes of missing values
  std::string weights = {};               ///< column, or file with a weight for each row
  std::vector<std::string> further = {};  ///< formulas y ~ x of more columns

  bool given() const { return !data.empty() || !formula.empty(); }
};

/// A least squares problem of a formula: b = A x in the rows without missing values and with nonzero weights.
struct FormulaData {
  std::string dependent = {};
  std::vector<std::string> names = {};  ///< of the unknowns, the columns of A
  bool intercept = false;               ///< whether A has a column of ones
  std::vector<FactorBase> factors = {};
  index_t dropped = 0, without_weight = 0;  ///< rows that lack a value, rows of weight 0
  HostMatrix<double> a = {}, b = {};
  std::vector<double> weights = {};                            ///< of the rows; empty: none
  std::vector<HostMatrix<double>> dependents = {}, more = {};  ///< the further formulas' left and right sides

  /// Returns whether a residual of this weighted norm consists of rounding errors of A x - b.
  template <class T>
  bool is_rounding(const HostMatrix<T>& x, double residual_norm) const;
  /// Returns the number of the unknown that the text denotes, from 0; -1 without.
  index_t find(const std::string& name) const;
};

/// Throws FileError, with the reason, if the model uses no row of the file: the rows lack values, or all weights are 0.
void require_rows(const ModelData& model, const std::string& file, const std::string& weights);

/// Makes `weights` the column of this name, or the weights in the file of this name if the table lacks the column.
/// Throws FileError for a file that is not a vector.
void choose_weights(const std::string& weights, const TableSource& table, LoadOptions& options);

/// Reads a table and evaluates a formula with one equation. Throws FileError as load_model(), and ArgumentError for
/// several equations, instruments, and a table without names.
FormulaData load_formula(const char* command, const FormulaInput& input);

/// Returns a matrix in precision T. Throws PrecisionError for an element that T does not hold.
template <class T>
HostMatrix<T> in_precision(const char* command, const HostMatrix<double>& matrix);

/// The constraints C x = d of a problem of a formula.
struct Constraints {
  HostMatrix<double> c, d;
};

/// Parses equations such as "x1 + 2 * x2 = 1" of the unknowns, which other names need in backquotes; commas and
/// semicolons separate equations. Throws FileError, with the place, for a text that is no linear equation.
Constraints parse_constraints(const std::string& text, const FormulaData& data);

/// Notes the numbers of rows that a model leaves out: without a value, and of weight 0.
void note_rows(index_t dropped, index_t without_weight, Report& report);

/// Adds the factors of a model to a report: a note with the base of each, and `factors` with the levels.
void note_factors(const std::vector<FactorBase>& factors, Report& report);

}  // namespace tesela::cli
