#pragma once

#include <tesela/algorithms/econometrics/formula_expression.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tesela {

// Models as text, in the notation of R's formulas (docs/files.md#formulas):
//
//     # a comment
//     demand: quantity ~ price + income
//     supply: log(quantity) ~ price + rain * trend + lag(price, 1:2) + C(region) - 1
//     wages:  wage ~ hours | hours + lag(wage)
//     labour: hours ~ age | wage | experience + I(age^2)
//     iv:     wage ~ 1 + age + [hours ~ experience]
//     instruments: ~ income + rain + trend
//
// Each line, or each part of a line between semicolons, is an equation. Its label precedes the colon; the default
// labels are eq1, eq2 ... An equation has an intercept unless it contains `- 1`, `+ 0` or `0 +`.

/// One equation of a model as text.
struct EquationFormula {
  std::string label;                           ///< name of the equation
  Expression dependent, regressors;            ///< left and right side of the formula
  std::optional<Expression> instruments = {};  ///< the equation's own instruments; without them the model's
  std::optional<Expression> endogenous = {};   ///< regressors that the formula marks as endogenous
};

/// A model as text.
struct ModelFormulas {
  std::string source;                          ///< name of the text in messages
  std::vector<EquationFormula> equations;      ///< in the order of the text
  std::optional<Expression> instruments = {};  ///< of the line `instruments:`
};

/// Parses a model. Throws FileError, with line and column, for a syntax error, a repeated label, and a text without
/// equations. The names of columns and functions are checked when a table is known (load_model).
ModelFormulas parse_model(std::string_view text, const std::string& source);

/// Parses a model in a file.
ModelFormulas read_model(const std::string& path);

/// Parses a model that is given as text, which contains ~, or as the path of a file.
ModelFormulas read_or_parse_model(const std::string& text_or_path);

/// Parses the right-hand side of a formula, with or without ~.
Expression parse_terms(std::string_view text, const std::string& source);

/// Name of the column of ones.
inline constexpr const char* intercept_name = "(Intercept)";

}  // namespace tesela
