#include <tesela/algorithms/econometrics/internal/formula_evaluator.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/shortest.hpp>
#include <tesela/tiles/io/csv_column.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

namespace tesela::formulas {
namespace {

using Kind = Expression::Kind;

constexpr double missing_value = std::numeric_limits<double>::quiet_NaN();

bool is_factor_call(const Expression& e) {
  return e.kind == Kind::call && (e.text == "factor" || e.text == "C" || e.text == "as.factor" || e.text == "relevel");
}

bool is_known(const Expression& e) {
  constexpr std::array<std::string_view, 6> others{"poly", "lag", "diff", "scale", "center", "!"};
  return is_factor_call(e) || std::ranges::find(others, e.text) != others.end() || unary_function(e.text) != nullptr ||
         binary_function(e.text) != nullptr;
}

/// Returns an argument by its name, or else the one at this place among those without names; null without.
const Expression* argument(const Expression& e, std::string_view name, std::size_t place) {
  for (std::size_t k = 0; k < e.arguments.size(); ++k)
    if (e.names[k] == name) return &e.arguments[k];
  for (std::size_t k = 0, unnamed = 0; k < e.arguments.size(); ++k)
    if (e.names[k].empty() && unnamed++ == place) return &e.arguments[k];
  return nullptr;
}

/// Returns the rows that lack a value of a or b.
std::vector<bool> either_missing(std::vector<bool> a, const std::vector<bool>& b) {
  if (a.empty()) return b;
  for (std::size_t t = 0; t < b.size(); ++t) a[t] = a[t] || b[t];
  return a;
}

/// Returns the number of elements of an operation on a and b: constants have one.
std::size_t size_of(const Values& a, const Values& b) { return a.x.size() == 1 ? b.x.size() : a.x.size(); }

/// Returns a text or a number of a call of Treatment, relevel and so on as text.
std::string level_text(const Expression& e) { return e.kind == Kind::number ? shortest(e.number) : e.text; }

}  // namespace

bool Evaluator::is_constant(const Expression& e) const {
  return (e.text == "TRUE" || e.text == "FALSE" || e.text == "pi") &&
         std::find(names_.begin(), names_.end(), e.text) == names_.end();
}

void Evaluator::no_column(const Expression& e) const {
  std::string problem = data_ + " has no column " + e.text;
  const bool numbers = !names_.empty() && std::ranges::all_of(names_, looks_like_number);
  if (numbers)
    problem += ": its first line has numbers (" + some_of(names_) + "), not names; put a line of names before it";
  else if (!names_.empty())
    problem += "; " + similar_name(names_, e.text) + "it has " + some_of(names_);
  fail(e, problem);
}

void Evaluator::need(const Expression& e, ColumnKind kind) {
  if (e.kind == Kind::name) {
    if (is_constant(e)) return;
    if (e.text == ".") fail(e, ". means all other columns, and only as a term");
    if (std::find(names_.begin(), names_.end(), e.text) == names_.end()) no_column(e);
    need(ColumnRequest{e.text, kind});
  }
  if (e.kind != Kind::call) return;
  if (e.calls("[")) fail(e, "[endogenous ~ instruments] must be a summand of its equation");
  if (!is_known(e)) fail(e, "no function is called " + e.text + "; there are " + function_names());
  if (e.arguments.empty()) fail(e, e.text + "() needs an argument");
  // The other arguments of these functions are numbers and names of levels.
  const bool first_only = is_factor_call(e) || e.text == "poly" || e.text == "lag" || e.text == "diff";
  for (std::size_t k = 0; k < (first_only ? 1 : e.arguments.size()); ++k)
    need(e.arguments[k], is_factor_call(e) ? ColumnKind::level : ColumnKind::either);
}

void Evaluator::need(const ColumnRequest& column) {
  if (std::find(names_.begin(), names_.end(), column.name) == names_.end())
    throw FileError(
        data_, "has no column " + column.name + "; " + similar_name(names_, column.name) + "it has " + some_of(names_));
  if (places_.emplace(std::pair{column.name, column.kind}, static_cast<index_t>(requests_.size())).second)
    requests_.push_back(column);
}

Values Evaluator::column(const ColumnRequest& column) const {
  const index_t place = places_.at({column.name, column.kind});
  const std::vector<double>& values = table_.columns[static_cast<std::size_t>(place)];
  const std::vector<std::string>& levels = table_.levels_of(place);
  return levels.empty() ? numbers_of_column(values) : factor_of_column(values, levels, table_.ordered);
}

Values Evaluator::value(const Expression& e, ColumnKind kind) const {
  if (e.kind == Kind::number) return {{e.number}, {}, {}, false, -1};
  if (e.kind == Kind::string) fail(e, text_of(e) + " is text, not a column");
  if (e.kind == Kind::call) return call(e);
  if (is_constant(e)) return {{e.text == "pi" ? std::numbers::pi : e.text == "TRUE" ? 1.0 : 0.0}, {}, {}, false, -1};
  return column({e.text, kind});
}

Values Evaluator::number_values(const Expression& e) const {
  Values values = value(e);
  if (!values.numeric()) fail(e, text_of(e) + " has text (" + some_of(values.levels) + "), not numbers");
  values.levels.clear();
  values.logical = false;
  return values;
}

Values Evaluator::call(const Expression& e) const {
  if (is_factor_call(e)) return factor(e);
  if (e.text == "poly") fail(e, "poly(...) must be a term");
  if (e.text == "scale" || e.text == "center") return scaled(e);
  if (e.text == "!") return logical_negation(e);
  if (e.text == "lag" || e.text == "diff") {
    const std::vector<index_t> rows = lags(e);
    if (rows.size() != 1) fail(e, "several lags must be a term");
    Values shifted = lagged(e.arguments[0], rows[0]);
    if (e.text == "lag") return shifted;
    const Values now = number_values(e.arguments[0]);
    if (!shifted.numeric()) fail(e, text_of(e.arguments[0]) + " has text, not numbers");
    for (std::size_t t = 0; t < shifted.x.size(); ++t)
      shifted.x[t] = (now.x.size() == 1 ? now.x[0] : now.x[t]) - shifted.x[t];
    shifted.missing = either_missing(shifted.missing, now.missing);
    shifted.levels.clear(), shifted.logical = false;
    return shifted;
  }
  if (e.text == "+" && e.arguments.size() != 2) {
    Values sum = number_values(e.arguments[0]);
    for (std::size_t k = 1; k < e.arguments.size(); ++k) {
      const Values next = number_values(e.arguments[k]);
      const std::size_t size = size_of(sum, next);
      const std::vector<double> left = std::move(sum.x);
      sum.x.assign(size, 0);
      for (std::size_t t = 0; t < sum.x.size(); ++t)
        sum.x[t] = left[left.size() == 1 ? 0 : t] + next.x[next.x.size() == 1 ? 0 : t];
      sum.missing = either_missing(std::move(sum.missing), next.missing);
    }
    return sum;
  }
  if (e.arguments.size() == 2) return binary(e);
  const auto function = e.arguments.size() == 1 ? unary_function(e.text) : nullptr;
  if (e.text == "-" || e.text == "+" || function != nullptr) {
    // I(x) and (x) keep levels.
    if (e.text == "I" || e.text == "(") return value(e.arguments[0]);
    Values values = number_values(e.arguments[0]);
    for (double& x : values.x) x = function != nullptr ? function(x) : e.text == "-" ? -x : x;
    return values;
  }
  fail(e, e.text + "(...) with " + std::to_string(e.arguments.size()) + " arguments is not a function");
}

Values Evaluator::binary(const Expression& e) const {
  const auto function = binary_function(e.text);
  if (function == nullptr) fail(e, e.text + "(...) has one argument");
  const Expression *left = &e.arguments[0], *right = &e.arguments[1];
  const bool compares = is_comparison(e.text);
  if (compares && left->kind == Kind::string) std::swap(left, right);
  Values a, b;
  if (compares && right->kind == Kind::string) {  // levels with a name
    if (e.text != "==" && e.text != "!=") fail(e, "text can be compared by == and != alone");
    a = value(*left);
    if (a.levels.empty()) fail(*left, text_of(*left) + " has numbers, not text");
    b.x = {static_cast<double>(level_number(a, right->text))};
  } else {
    a = number_values(*left);
    b = number_values(*right);
  }
  Values result;
  result.x.resize(size_of(a, b));
  for (std::size_t t = 0; t < result.x.size(); ++t)
    result.x[t] = function(a.x[a.x.size() == 1 ? 0 : t], b.x[b.x.size() == 1 ? 0 : t]);
  result.missing = either_missing(std::move(a.missing), b.missing);
  return compares ? logical_of(std::move(result.x), std::move(result.missing)) : result;
}

Values Evaluator::logical_negation(const Expression& e) const {
  Values values = number_values(e.arguments[0]);
  for (double& x : values.x) x = x == 0 ? 1 : 0;
  return logical_of(std::move(values.x), std::move(values.missing));
}

Values Evaluator::factor(const Expression& e) const {
  const bool column = e.arguments[0].kind == Kind::name;
  Values values = factor_of(value(e.arguments[0], column ? ColumnKind::level : ColumnKind::either));
  if (e.text == "relevel") {
    const Expression* const base = argument(e, "ref", 1);
    if (base == nullptr) fail(e, "relevel(x, ref = \"level\") needs a level");
    const index_t first = level_number(values, level_text(*base));
    if (first < 0) fail(*base, "no level is called " + level_text(*base) + "; there are " + some_of(values.levels));
    std::vector<std::string> levels = values.levels;
    std::rotate(levels.begin(), levels.begin() + first, levels.begin() + first + 1);
    return with_levels(values, levels);
  }
  if (const Expression* const order = argument(e, "levels", e.text == "factor" ? 1 : e.arguments.size())) {
    if (!order->calls("c")) fail(*order, "levels = c(\"a\", \"b\") lists the levels");
    std::vector<std::string> levels;
    for (const Expression& level : order->arguments) levels.push_back(level_text(level));
    if (std::set<std::string>(levels.begin(), levels.end()).size() < levels.size())
      fail(*order, "a level is listed twice");
    values = with_levels(values, levels);
  }
  set_base(e, values);
  return values;
}

void Evaluator::set_base(const Expression& e, Values& factor) const {
  const auto set = [&](const Expression& base, index_t from) {
    factor.base = level_number(factor, level_text(base));
    if (factor.base < 0 && base.kind == Kind::number && base.number == std::floor(base.number) &&
        base.number >= static_cast<double>(from) &&
        base.number - static_cast<double>(from) < static_cast<double>(factor.levels.size()))
      factor.base = static_cast<index_t>(base.number) - from;
    if (factor.base < 0) fail(base, "no level is called " + level_text(base) + "; there are " + some_of(factor.levels));
  };
  for (const char* name : {"base", "ref", "reference"})  // R's index counts from 1
    if (const Expression* const base = argument(e, name, e.arguments.size())) set(*base, 1);
  if (e.text != "C") return;
  const Expression* const contrasts = argument(e, "contr", 1);
  if (contrasts == nullptr) return;
  const bool treatment = contrasts->text == "Treatment" || contrasts->text == "contr.treatment";
  if (!treatment) fail(*contrasts, text_of(*contrasts) + ": there are treatment contrasts alone, Treatment(\"base\")");
  if (contrasts->kind != Kind::call) return;
  const bool python = contrasts->text == "Treatment";
  const Expression* base = argument(*contrasts, python ? "reference" : "base", python ? 0 : 1);
  if (base != nullptr) set(*base, python ? 0 : 1);
}

Values Evaluator::scaled(const Expression& e) const {
  Values values = number_values(e.arguments[0]);
  double mean = 0, squares = 0, count = 0;
  for (std::size_t t = 0; t < values.x.size(); ++t) count += values.is_missing(t) ? 0 : 1;
  for (std::size_t t = 0; t < values.x.size(); ++t) mean += values.is_missing(t) ? 0 : values.x[t] / count;
  for (std::size_t t = 0; t < values.x.size(); ++t)
    squares += values.is_missing(t) ? 0 : (values.x[t] - mean) * (values.x[t] - mean) / (count - 1);
  const double deviation = e.text == "scale" ? std::sqrt(squares) : 1;
  double least = HUGE_VAL, most = -HUGE_VAL;  // the mean of a constant column is rounded
  for (std::size_t t = 0; t < values.x.size(); ++t)
    if (!values.is_missing(t)) least = std::min(least, values.x[t]), most = std::max(most, values.x[t]);
  if (e.text == "scale" && !(least < most)) fail(e, text_of(e) + ": the column is constant");
  for (double& x : values.x) x = (x - mean) / deviation;
  return values;
}

Values Evaluator::lagged(const Expression& e, index_t rows) const {
  Values values = value(e);
  const index_t n = table_.rows;
  if (values.x.size() == 1 && n != 1) values.x.resize(static_cast<std::size_t>(n), values.x[0]);
  const Values before = values;
  values.missing.assign(static_cast<std::size_t>(n), false);
  for (index_t t = 0; t < n; ++t) {
    const index_t from = t - rows;
    const bool absent = from < 0 || from >= n || before.is_missing(static_cast<std::size_t>(from));
    values.missing[static_cast<std::size_t>(t)] = absent;
    values.x[static_cast<std::size_t>(t)] = absent ? missing_value : before.x[static_cast<std::size_t>(from)];
  }
  return values;
}

std::vector<index_t> Evaluator::lags(const Expression& e) const {
  const Expression* const given = argument(e, "k", 1);
  if (given == nullptr) return {1};
  const auto one = [&](const Expression& number) {
    const bool negative = number.calls("-");
    const Expression& size = negative ? number.arguments[0] : number;
    constexpr double most = 1e9;
    if (size.kind != Kind::number || size.number != std::floor(size.number) || size.number > most)
      fail(number, "a lag must be a whole number of rows");
    return static_cast<index_t>(negative ? -size.number : size.number);
  };
  std::vector<index_t> all;
  if (given->calls(":")) {
    const index_t first = one(given->arguments[0]), last = one(given->arguments[1]), step = first <= last ? 1 : -1;
    if (std::abs(last - first) > 10'000) fail(*given, "more than 10000 lags");
    for (index_t k = first; k != last + step; k += step) all.push_back(k);
  } else if (given->calls("c")) {
    for (const Expression& number : given->arguments) all.push_back(one(number));
    if (all.empty()) fail(*given, "c() has no lag");
  } else {
    all.push_back(one(*given));
  }
  return all;
}

Variable Evaluator::polynomials(const Expression& e) const {
  const Expression *const degree = argument(e, "degree", 1), *const raw = argument(e, "raw", 2);
  if (degree != nullptr && (degree->kind != Kind::number || degree->number != std::floor(degree->number) ||
                            degree->number < 1 || degree->number > 100))
    fail(e, "poly(x, degree) needs a whole degree from 1 to 100");
  const int d = degree != nullptr ? static_cast<int>(degree->number) : 1;
  Values values = number_values(e.arguments[0]);
  values.x.resize(static_cast<std::size_t>(table_.rows), values.x.size() == 1 ? values.x[0] : 0);
  Variable result{.missing = values.missing, .text = text_of(e)};
  if (raw != nullptr && (raw->text == "TRUE" || raw->text == "T" || raw->text == "True")) {
    for (int k = 1; k <= d; ++k) {
      result.columns.push_back(values.x);
      for (double& x : result.columns.back()) x = std::pow(x, k);
    }
  } else {
    std::set<double> distinct;
    std::vector<bool> used(values.x.size());
    for (std::size_t t = 0; t < used.size(); ++t) {
      used[t] = !values.is_missing(t);
      if (used[t]) distinct.insert(values.x[t]);
    }
    if (std::ssize(distinct) <= d && table_.rows > 0)
      fail(e, text_of(e) + " needs more than " + std::to_string(d) + " distinct values; there are " +
                  std::to_string(distinct.size()));
    result.columns = orthogonal_polynomials(values.x, used, d);
  }
  for (int k = 1; k <= d; ++k) result.names.push_back(d == 1 ? result.text : result.text + std::to_string(k));
  return result;
}

Variable Evaluator::variable(const Expression& e) const {
  if (e.calls("poly")) return polynomials(e);
  if (e.calls("lag"))
    if (const std::vector<index_t> rows = lags(e); rows.size() > 1) {
      Variable result{.text = text_of(e)};
      for (const index_t k : rows) {
        Values values = lagged(e.arguments[0], k);
        if (!values.numeric()) fail(e, "several lags of text are not supported");
        const std::string text = text_of(e.arguments[0]);
        result.names.push_back(k == 0   ? text
                               : k == 1 ? "lag(" + text + ")"
                                        : "lag(" + text + ", " + std::to_string(k) + ")");
        result.columns.push_back(std::move(values.x));
        result.missing = either_missing(std::move(result.missing), values.missing);
      }
      return result;
    }
  Values values = value(e);
  if (values.x.size() == 1) values.x.resize(static_cast<std::size_t>(table_.rows), values.x[0]);
  Variable result{.missing = std::move(values.missing), .text = text_of(e)};
  result.names = {result.text};
  result.columns.push_back(std::move(values.x));
  result.levels = std::move(values.levels);
  result.base = values.base;
  return result;
}

Variable Evaluator::numbers(const Expression& e) const {
  Variable result = variable(e);
  if (result.columns.size() > 1) fail(e, result.text + " has several columns");
  if (!result.levels.empty() && result.levels != std::vector<std::string>{"FALSE", "TRUE"})
    fail(e, result.text + " has text (" + some_of(result.levels) + "), not numbers");
  result.levels.clear();
  return result;
}

}  // namespace tesela::formulas
