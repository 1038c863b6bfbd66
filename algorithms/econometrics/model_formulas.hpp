#pragma once

#include <tesela/runtime/types.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tesela {

// Models as text, in the notation of R's formulas:
//
//     # a comment
//     demand: quantity ~ price + income
//     supply: quantity ~ price + rain + lag(price, 2) + I(rain * trend) - 1
//     wages:  wage ~ hours | hours + lag(wage)
//     instruments: ~ income + rain + trend
//
// Each line is an equation. Its label precedes the colon; the default labels are eq1, eq2 ... An equation has an
// intercept unless it contains `- 1`, `+ 0` or `0 +`. The terms after `|` are the equation's own instruments. A term is
// a name, lag(name), lag(name, k) with k rows, or I(...) with + - * /, numbers, names, lags and parentheses. Names
// consist of letters, digits, points and underscores; other names need backquotes.

/// A place in a text, counted from 1.
struct TextPlace {
  index_t line = 0, column = 0;
};

/// One step of an expression in postfix order.
struct ExpressionStep {
  /// Operand, or operation on the last two operands (negate: on the last one).
  enum class Kind : std::uint8_t { number, variable, add, subtract, multiply, divide, negate };
  Kind kind = Kind::number;
  double number = 0;
  std::string variable = {};
  index_t lag = 0;  ///< lag of the variable, in rows
  TextPlace place = {};
};

/// A column of a model; equal texts denote the same column.
struct ModelTerm {
  std::string text;  ///< name of its coefficient: "(Intercept)", "lag(x, 2)", "I(a + b)"
  std::vector<ExpressionStep> steps;
  TextPlace place = {};
};

/// One equation of a model as text.
struct EquationFormula {
  std::string label;
  ModelTerm dependent;
  std::vector<ModelTerm> regressors;   ///< the intercept first, if there is one
  std::vector<ModelTerm> instruments;  ///< the equation's own instruments, the intercept first; empty: the model's
};

/// A model as text.
struct ModelFormulas {
  std::string source;  ///< name of the text in messages
  std::vector<EquationFormula> equations;
  std::vector<ModelTerm> instruments;  ///< instruments of the line `instruments:`; empty without this line
};

/// Parses a model. Throws FileError, with line and column, for a syntax error, a repeated term or label, and a text
/// without equations.
ModelFormulas parse_model(std::string_view text, const std::string& source);

/// Parses a model in a file.
ModelFormulas read_model(const std::string& path);

/// Returns the names of all variables in `terms`, each once, in the order of their first occurrence.
std::vector<std::string> variables_of(const std::vector<ModelTerm>& terms);

inline constexpr const char* intercept_name = "(Intercept)";

}  // namespace tesela
