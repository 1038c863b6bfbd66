#pragma once

#include <tesela/algorithms/econometrics/formula_expression.hpp>
#include <tesela/algorithms/econometrics/internal/formula_values.hpp>
#include <tesela/tiles/io/csv_table.hpp>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tesela::formulas {

/// A factor of terms with its values in all rows: one or several columns of numbers, or levels.
struct Variable {
  std::vector<std::string> names = {};            ///< of the columns
  std::vector<std::vector<double>> columns = {};  ///< not finite: an error unless the row is left out
  std::vector<bool> missing = {};                 ///< rows that lack a value; empty: none
  std::string text = {};                          ///< of the expression
  std::vector<std::string> levels = {};           ///< empty: numbers; otherwise `columns` has their numbers
  index_t base = -1;                              ///< level of a named base; -1: the first level
};

/// Evaluates expressions on a table.
class Evaluator {
 public:
  /// `source` is the name of the formulas in messages, `names` are the names of all columns of the data `data`.
  Evaluator(const std::string& source, const std::vector<std::string>& names, std::string data)
      : source_(source), names_(names), data_(std::move(data)) {}

  /// Adds the columns that the expression needs to the requests, each once. Throws FileError, with the place, for an
  /// unknown function, and for a name that is not a column's.
  void need(const Expression& e) { need(e, ColumnKind::either); }
  /// Adds a column that options name to the requests.
  void need(const ColumnRequest& column);
  const std::vector<ColumnRequest>& requests() const { return requests_; }

  /// Sets the columns of the requests.
  void set(Table table) { table_ = std::move(table); }
  const Table& table() const { return table_; }
  /// Returns the values of a column that options name.
  Values column(const ColumnRequest& column) const;

  /// Returns a factor of terms. Throws FileError, with the place, if the expression has no value.
  Variable variable(const Expression& e) const;
  /// Returns one column of numbers.
  Variable numbers(const Expression& e) const;

 private:
  void need(const Expression& e, ColumnKind kind);
  [[noreturn]] void fail(const Expression& e, const std::string& problem) const { fail_at(source_, e.place, problem); }
  [[noreturn]] void no_column(const Expression& e) const;
  bool is_constant(const Expression& e) const;

  Values value(const Expression& e, ColumnKind kind = ColumnKind::either) const;
  Values number_values(const Expression& e) const;
  Values call(const Expression& e) const;
  Values binary(const Expression& e) const;
  Values logical_negation(const Expression& e) const;
  Values factor(const Expression& e) const;
  Values scaled(const Expression& e) const;
  Values lagged(const Expression& e, index_t rows) const;
  void set_base(const Expression& e, Values& factor) const;
  std::vector<index_t> lags(const Expression& e) const;
  Variable polynomials(const Expression& e) const;

  const std::string& source_;
  const std::vector<std::string>& names_;
  std::string data_;
  std::vector<ColumnRequest> requests_;
  std::map<std::pair<std::string, ColumnKind>, index_t> places_;  // of the requests
  Table table_;
};

/// Returns the function of one number with R's name; null without one.
double (*unary_function(std::string_view name))(double);

/// Returns the operator or function of two numbers with R's name; null without one.
double (*binary_function(std::string_view name))(double, double);

/// Returns whether an operator of binary_function() compares, so that its result is logical.
bool is_comparison(std::string_view name);

/// Returns the names of all functions for messages.
std::string function_names();

/// Returns the columns of R's poly(x, degree): polynomials of degree 1 to `degree` that are orthonormal on the elements
/// of x and orthogonal to 1, with positive leading coefficients. Elements where `used` is false are NaN and do not
/// count. Needs more distinct elements than the degree.
std::vector<std::vector<double>> orthogonal_polynomials(const std::vector<double>& x, const std::vector<bool>& used,
                                                        int degree);

}  // namespace tesela::formulas
