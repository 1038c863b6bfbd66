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
// One equation a line, its label before the colon (without one: eq1, eq2 ...). Each has an intercept unless `- 1`,
// `+ 0` or `0 +` stands in it. What follows `|` are all of this equation's own instruments. A term is a name,
// lag(name), lag(name, k) with k rows, or I(...) with + - * /, numbers, names, lags and parentheses. Names are letters,
// digits, points and underscores; others stand in backquotes.

/// Where something stands in a text, counted from 1.
struct TextPlace {
  index_t line = 0, column = 0;
};

/// One step of an expression, whose steps are in postfix order.
struct ExpressionStep {
  enum class Kind : std::uint8_t { number, variable, add, subtract, multiply, divide, negate };
  Kind kind = Kind::number;
  double number = 0;
  std::string variable = {};
  index_t lag = 0;  ///< of the variable, in rows
  TextPlace place = {};
};

/// A column of a model: equal texts are the same column.
struct ModelTerm {
  std::string text;  ///< as coefficients are named: "(Intercept)", "lag(x, 2)", "I(a + b)"
  std::vector<ExpressionStep> steps;
  TextPlace place = {};
};

struct EquationFormula {
  std::string label;
  ModelTerm dependent;
  std::vector<ModelTerm> regressors;   ///< the intercept first, where there is one
  std::vector<ModelTerm> instruments;  ///< its own, the intercept first; empty: the model's
};

struct ModelFormulas {
  std::string source;  ///< stands for the text in messages
  std::vector<EquationFormula> equations;
  std::vector<ModelTerm> instruments;  ///< of the line `instruments:`; empty without one
};

/// Reads a model. Throws FileError with line and column of what it cannot read, for a term that stands twice, a label
/// that does and a text without equations.
ModelFormulas parse_model(std::string_view text, const std::string& source);

/// The same of a file.
ModelFormulas read_model(const std::string& path);

/// The names of all variables that terms take, each once, in the order of their first mention.
std::vector<std::string> variables_of(const std::vector<ModelTerm>& terms);

inline constexpr const char* intercept_name = "(Intercept)";

}  // namespace tesela
