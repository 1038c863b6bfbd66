#include <tesela/algorithms/econometrics/internal/formula_values.hpp>
#include <tesela/runtime/shortest.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>

namespace tesela::formulas {
namespace {

constexpr std::array<std::string_view, 3> true_words{"TRUE", "True", "true"}, false_words{"FALSE", "False", "false"};

/// Returns the number that is the whole text.
std::optional<double> number_in(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<bool> missing_in(const std::vector<double>& column) {
  std::vector<bool> missing;
  for (std::size_t t = 0; t < column.size(); ++t)
    if (std::isnan(column[t])) {
      if (missing.empty()) missing.resize(column.size());
      missing[t] = true;
    }
  return missing;
}

/// Returns the factor with levels `to[k]` in place of level k, and these names.
Values renumbered(Values factor, const std::vector<double>& to, std::vector<std::string> levels) {
  for (std::size_t t = 0; t < factor.x.size(); ++t)
    if (!factor.is_missing(t)) factor.x[t] = to[static_cast<std::size_t>(factor.x[t])];
  factor.levels = std::move(levels);
  return factor;
}

/// Returns 1 and 0 for texts that are true and false words; empty if one is neither.
std::vector<double> truths(const std::vector<std::string>& texts) {
  std::vector<double> values;
  for (const std::string& text : texts) {
    const bool is_true = std::ranges::find(true_words, text) != true_words.end();
    if (!is_true && std::ranges::find(false_words, text) == false_words.end()) return {};
    values.push_back(is_true ? 1 : 0);
  }
  return values;
}

/// Sorts numbers, merges equal ones, and gives them their shortest texts.
Values by_value(Values factor, const std::vector<double>& values) {
  std::map<double, double> order;
  for (const double value : values) order.emplace(value, 0);
  std::vector<std::string> levels;
  for (auto& [value, number] : order) {
    number = static_cast<double>(levels.size());
    levels.push_back(shortest(value));
  }
  std::vector<double> to;
  for (const double value : values) to.push_back(order.at(value));
  return renumbered(std::move(factor), to, std::move(levels));
}

}  // namespace

std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 5;
  std::string text;
  for (std::size_t k = 0; k < std::min(names.size(), most); ++k) text.append(k > 0 ? ", " : "").append(names[k]);
  return names.size() > most ? text + " and " + std::to_string(names.size() - most) + " more" : text;
}

std::string similar_name(const std::vector<std::string>& names, const std::string& name) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  for (const std::string& one : names) {
    const auto longer = std::ssize(std::max(one, name, [](auto&a, auto&b) { return a.size() < b.size(); })),
               front = std::mismatch(one.begin(), one.end(), name.begin(), name.end(), same).first - one.begin(),
               back = std::mismatch(one.rbegin(), one.rend(), name.rbegin(), name.rend(), same).first - one.rbegin();
    if (front == longer || (longer > 2 && front + back >= longer - 1)) return "did you mean " + one + "? ";
  }
  return {};
}

Values numbers_of_column(const std::vector<double>& column) { return {column, missing_in(column), {}, false, -1}; }

Values logical_of(std::vector<double> x, std::vector<bool> missing) {
  return {std::move(x), std::move(missing), {"FALSE", "TRUE"}, true, -1};
}

Values factor_of_column(const std::vector<double>& column, const std::vector<std::string>& texts, bool ordered) {
  Values factor{column, missing_in(column), texts, false, -1};
  if (const std::vector<double> values = truths(texts); !texts.empty() && !values.empty()) {
    factor = renumbered(std::move(factor), values, {"FALSE", "TRUE"});
    factor.logical = true;
    return factor;
  }
  if (ordered) {
    for (std::string& level : factor.levels)
      if (const std::optional<double> value = number_in(level)) level = shortest(*value);
    return factor;
  }
  std::vector<double> values;
  for (const std::string& text : texts) {
    const std::optional<double> value = number_in(text);
    if (!value) break;
    values.push_back(*value);
  }
  if (values.size() == texts.size()) return by_value(std::move(factor), values);
  std::vector<std::size_t> order(texts.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return texts[a] < texts[b]; });
  std::vector<double> to(texts.size());
  std::vector<std::string> levels;
  for (std::size_t k = 0; k < order.size(); ++k) {
    to[order[k]] = static_cast<double>(k);
    levels.push_back(texts[order[k]]);
  }
  return renumbered(std::move(factor), to, std::move(levels));
}

Values factor_of(Values values) {
  if (!values.levels.empty()) {
    values.logical = false;
    return values;
  }
  if (const std::vector<bool> undefined = missing_in(values.x); !undefined.empty()) values.missing = undefined;
  std::map<double, double> numbers;
  for (std::size_t t = 0; t < values.x.size(); ++t)
    if (!values.is_missing(t)) numbers.emplace(values.x[t], 0);
  for (auto& [value, number] : numbers) {
    number = static_cast<double>(values.levels.size());
    values.levels.push_back(shortest(value));
  }
  for (std::size_t t = 0; t < values.x.size(); ++t)
    if (!values.is_missing(t)) values.x[t] = numbers.at(values.x[t]);
  return values;
}

Values with_levels(const Values& factor, const std::vector<std::string>& levels) {
  std::vector<index_t> to(factor.levels.size(), -1);
  for (std::size_t k = 0; k < levels.size(); ++k)
    if (const index_t old = level_number(factor, levels[k]); old >= 0)
      to[static_cast<std::size_t>(old)] = static_cast<index_t>(k);
  Values result = factor;
  result.levels = levels;
  result.logical = false;
  result.missing.resize(factor.x.size());
  for (std::size_t t = 0; t < factor.x.size(); ++t) {
    if (result.missing[t]) continue;
    const index_t level = to[static_cast<std::size_t>(factor.x[t])];
    result.missing[t] = level < 0;
    result.x[t] = static_cast<double>(level);
  }
  if (factor.base >= 0) result.base = to[static_cast<std::size_t>(factor.base)];
  return result;
}

index_t level_number(const Values& factor, const std::string& name) {
  auto found = std::find(factor.levels.begin(), factor.levels.end(), name);
  if (const auto value = number_in(name); found == factor.levels.end() && value)
    found = std::find_if(factor.levels.begin(), factor.levels.end(),
                         [&](const std::string& level) { return number_in(level) == value; });
  return found == factor.levels.end() ? -1 : found - factor.levels.begin();
}

}  // namespace tesela::formulas
