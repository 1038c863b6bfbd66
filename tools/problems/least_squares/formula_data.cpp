#include "tools/problems/least_squares/formula_data.hpp"

#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/shortest.hpp>
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/io/kept_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>

namespace tesela::cli {
namespace {

/// Returns these columns of m.
HostMatrix<double> columns_of(const HostMatrix<double>& m, const std::vector<index_t>& columns) {
  HostMatrix<double> some(m.rows(), std::ssize(columns));
  for (index_t j = 0; j < some.cols() && m.rows() > 0; ++j)
    std::copy_n(&m(0, columns[static_cast<std::size_t>(j)]), m.rows(), &some(0, j));
  return some;
}

/// Returns the model 1 ~ 0 + terms. Places in messages are places in `terms`.
ModelFormulas model_of_terms(const std::string& terms) {
  const Expression zero{Expression::Kind::number, "0", 0}, one{Expression::Kind::number, "1", 1};
  ModelFormulas model{"formula", {}, {}};
  model.equations.push_back(
      {"eq1", one, {Expression::Kind::call, "+", 0, {zero, parse_terms(terms, model.source)}, {"", ""}}});
  return model;
}

constexpr const char* source = "--constraints";

/// A linear equation sum coefficients x = right that is being read.
class LinearEquation {
 public:
  explicit LinearEquation(const FormulaData& data) : data_(data), coefficients(data.names.size()) {}

  /// Adds factor * e to the left side.
  void add(const Expression& e, double factor) {
    using Kind = Expression::Kind;
    if (e.kind == Kind::number) {
      right -= factor * e.number;
    } else if (const index_t j = unknown(e); j >= 0) {
      coefficients[static_cast<std::size_t>(j)] += factor;
      any = true;
    } else if (e.calls("+")) {
      for (const Expression& term : e.arguments) add(term, factor);
    } else if (e.calls("-")) {
      add(e.arguments[0], -factor);
    } else if (e.calls("(")) {
      add(e.arguments[0], factor);
    } else if (e.calls("*") && number_in(e.arguments[0])) {
      add(e.arguments[1], factor * *number_in(e.arguments[0]));
    } else if ((e.calls("*") || e.calls("/")) && number_in(e.arguments[1])) {
      const double number = *number_in(e.arguments[1]);
      if (e.calls("/") && number == 0) fail_at(source, e.place, "divides by 0");
      add(e.arguments[0], e.calls("*") ? factor * number : factor / number);
    } else {
      std::string names;
      for (std::size_t k = 0; k < std::min<std::size_t>(data_.names.size(), 8); ++k)
        names.append(k > 0 ? ", " : "").append(data_.names[k]);
      fail_at(source, e.place, text_of(e) + " is neither a number nor an unknown; there are " + names);
    }
  }

  const FormulaData& data_;
  std::vector<double> coefficients;
  double right = 0;
  bool any = false;

 private:
  static std::optional<double> number_in(const Expression& e) {
    if (e.kind == Expression::Kind::number) return e.number;
    if (!e.calls("-") && !e.calls("(")) return std::nullopt;
    const auto inner = number_in(e.arguments[0]);
    return inner ? std::optional(e.calls("-") ? -*inner : *inner) : std::nullopt;
  }
  index_t unknown(const Expression& e) const {
    if (e.kind == Expression::Kind::name)
      if (const index_t j = data_.find(e.text); j >= 0) return j;
    return data_.find(text_of(e));
  }
};

}  // namespace

template <class T>
bool FormulaData::is_rounding(const HostMatrix<T>& x, double residual_norm) const {
  double level = 0;  // of the terms of A x - b
  for (index_t i = 0; i < a.rows(); ++i) {
    double size = std::abs(b(i, 0));
    for (index_t j = 0; j < a.cols(); ++j) size += std::abs(a(i, j) * static_cast<double>(x(j, 0)));
    level = std::hypot(level, size * (weights.empty() ? 1.0 : std::sqrt(weights[static_cast<std::size_t>(i)])));
  }
  return residual_norm <= 4 * static_cast<double>(std::numeric_limits<T>::epsilon()) * level;
}

index_t FormulaData::find(const std::string& name) const {
  const auto at = std::find(names.begin(), names.end(), name == "Intercept" ? intercept_name : name);
  return at == names.end() ? -1 : at - names.begin();
}

void require_rows(const ModelData& m, const std::string& file, const std::string& weights) {
  if (m.rows().m > 0) return;
  if (m.without_weight == 0) throw FileError(file, "has no row with all values of the formula");
  const char* const rows = m.dropped > 0 ? " of rows with all values of the formula" : "";
  throw FileError(file, "weights " + weights + ": all weights" + rows + " are 0");
}

void choose_weights(const std::string& weights, const TableSource& table, LoadOptions& options) {
  const bool is_column = std::find(table.names.begin(), table.names.end(), weights) != table.names.end();
  if (weights.empty() || is_column || !std::filesystem::exists(weights)) {
    options.weights = weights;
    return;
  }
  const HostMatrix<double> given = read_matrix<double>(weights);
  if (given.cols() != 1) throw FileError(weights, "is " + to_string(given.shape()) + ", and weights are one column");
  options.row_weights.assign(given.data(), given.data() + given.rows());
}

FormulaData load_formula(const char* command, const FormulaInput& input) {
  const auto require = [&](bool good, const char* argument, const std::string& problem) {
    if (!good) throw ArgumentError(command, argument, problem);
  };
  require(!input.data.empty() && !input.formula.empty(), "DATA FORMULA",
          "needs both, as in `tesela " + std::string(command) + " data.csv \"y ~ x1 + x2\"`");
  const TableSource table = open_table(input.data, input.na);
  require(table.read != nullptr, "DATA", input.data + " is no CSV: its columns have no names");
  ModelFormulas formulas = input.one_sided ? model_of_terms(input.formula) : read_or_parse_model(input.formula);
  require(formulas.equations.size() == 1 && !formulas.instruments && !formulas.equations[0].instruments, "FORMULA",
          "must be one equation y ~ x without instruments, which belong to `tesela sem`");
  for (const std::string& text : input.further) {
    const ModelFormulas more =
        parse_model("further" + std::to_string(formulas.equations.size()) + ": " + text, "formula");
    formulas.equations.push_back(more.equations[0]);
  }
  LoadOptions options{.drop_missing = input.missing == "drop", .scale = false};
  choose_weights(input.weights, table, options);
  ModelData m = load_model(table, formulas, SemMethod::ols, options);
  FormulaData result;
  const Equation& e = m.model.equations[0];
  result.dependent = m.name(e.dependent);
  for (const index_t c : e.regressors) {
    result.names.push_back(m.name(c));
    result.intercept = result.intercept || c == m.model.constant;
  }
  result.factors = std::move(m.factors);
  result.dropped = m.dropped;
  result.without_weight = m.without_weight;
  require_rows(m, input.data, input.weights);
  result.a = columns_of(m.data, e.regressors);
  result.b = columns_of(m.data, {e.dependent});
  result.weights = std::move(m.weights);
  for (std::size_t k = 1; k < m.model.equations.size(); ++k) {
    result.dependents.push_back(columns_of(m.data, {m.model.equations[k].dependent}));
    result.more.push_back(columns_of(m.data, m.model.equations[k].regressors));
  }
  return result;
}

template <class T>
HostMatrix<T> in_precision(const char* command, const HostMatrix<double>& matrix) {
  HostMatrix<T> result(matrix.rows(), matrix.cols());
  for (index_t j = 0; j < matrix.cols(); ++j)
    for (index_t i = 0; i < matrix.rows(); ++i) {
      result(i, j) = static_cast<T>(matrix(i, j));
      if (!keeps(matrix(i, j), result(i, j)))
        throw PrecisionError(command, fmt::format("{} does not fit single precision", matrix(i, j)));
    }
  return result;
}

Constraints parse_constraints(const std::string& text, const FormulaData& data) {
  ExpressionReader reader(text, 1, source);
  std::vector<LinearEquation> equations;
  do {
    LinearEquation& one = equations.emplace_back(data);
    const TextPlace begin = reader.place();
    one.add(reader.read(), 1);
    reader.expect('=', "'='");
    one.add(reader.read(), -1);
    if (!one.any) fail_at(source, begin, "an equation without unknowns");
  } while (reader.take(',') || reader.take(';'));
  reader.expect_end();
  Constraints all{HostMatrix<double>(std::ssize(equations), std::ssize(data.names)),
                  HostMatrix<double>(std::ssize(equations), 1)};
  for (index_t i = 0; i < all.c.rows(); ++i) {
    const LinearEquation& one = equations[static_cast<std::size_t>(i)];
    for (index_t j = 0; j < all.c.cols(); ++j) all.c(i, j) = one.coefficients[static_cast<std::size_t>(j)];
    all.d(i, 0) = one.right;
  }
  return all;
}

TESELA_FUNCTIONS_FOR_REALS(in_precision)
template bool FormulaData::is_rounding(const HostMatrix<float>&, double) const;
template bool FormulaData::is_rounding(const HostMatrix<double>&, double) const;

void note_rows(index_t dropped, index_t without_weight, Report& report) {
  if (dropped > 0) report.note("left out for a missing value: " + counted(dropped, "row"));
  if (without_weight > 0) report.note("left out for weight 0: " + counted(without_weight, "row"));
}

void note_factors(const std::vector<FactorBase>& factors, Report& report) {
  nlohmann::json all = nlohmann::json::array();
  for (const FactorBase& one : factors) {
    all.push_back({{"factor", one.factor}, {"base", one.base}, {"levels", one.levels}});
    report.note(one.factor + ": contrasts to " + one.base);
  }
  if (!all.empty()) report.section("factors", all);
}

}  // namespace tesela::cli
