#include <tesela/algorithms/econometrics/internal/formula_evaluator.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace tesela::formulas {
namespace {

using Unary = double (*)(double);
using Binary = double (*)(double, double);

double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

constexpr std::array<std::pair<std::string_view, Unary>, 25> unary{{
    {"log", [](double x) { return std::log(x); }},
    {"log2", [](double x) { return std::log2(x); }},
    {"log10", [](double x) { return std::log10(x); }},
    {"log1p", [](double x) { return std::log1p(x); }},
    {"exp", [](double x) { return std::exp(x); }},
    {"expm1", [](double x) { return std::expm1(x); }},
    {"sqrt", [](double x) { return std::sqrt(x); }},
    {"abs", [](double x) { return std::abs(x); }},
    {"sin", [](double x) { return std::sin(x); }},
    {"cos", [](double x) { return std::cos(x); }},
    {"tan", [](double x) { return std::tan(x); }},
    {"asin", [](double x) { return std::asin(x); }},
    {"acos", [](double x) { return std::acos(x); }},
    {"atan", [](double x) { return std::atan(x); }},
    {"sinh", [](double x) { return std::sinh(x); }},
    {"cosh", [](double x) { return std::cosh(x); }},
    {"tanh", [](double x) { return std::tanh(x); }},
    {"sign", sign_of},
    {"floor", [](double x) { return std::floor(x); }},
    {"ceiling", [](double x) { return std::ceil(x); }},
    {"trunc", [](double x) { return std::trunc(x); }},
    {"round", [](double x) { return std::nearbyint(x); }},
    {"I", [](double x) { return x; }},
    {"(", [](double x) { return x; }},
    {"as.numeric", [](double x) { return x; }},
}};

constexpr std::array<std::pair<std::string_view, Binary>, 17> binary{{
    {"+", [](double a, double b) { return a + b; }},
    {"-", [](double a, double b) { return a - b; }},
    {"*", [](double a, double b) { return a * b; }},
    {"/", [](double a, double b) { return a / b; }},
    {"^", [](double a, double b) { return std::pow(a, b); }},
    {"log",
     [](double a, double b) { return b == 2    ? std::log2(a)
                                     : b == 10 ? std::log10(a)
                                               : std::log(a) / std::log(b); }},
    {"pmin", [](double a, double b) { return std::min(a, b); }},
    {"pmax", [](double a, double b) { return std::max(a, b); }},
    {"==", [](double a, double b) { return a == b ? 1.0 : 0.0; }},
    {"!=", [](double a, double b) { return a != b ? 1.0 : 0.0; }},
    {"<", [](double a, double b) { return a < b ? 1.0 : 0.0; }},
    {"<=", [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
    {">", [](double a, double b) { return a > b ? 1.0 : 0.0; }},
    {">=", [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
    {"&", [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }},
    {"|", [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }},
    {"power", [](double a, double b) { return std::pow(a, b); }},
}};

template <class All>
auto find(const All& all, std::string_view name) -> decltype(all.front().second) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == name; });
  return found == all.end() ? nullptr : found->second;
}

}  // namespace

Unary unary_function(std::string_view name) { return find(unary, name); }
Binary binary_function(std::string_view name) { return find(binary, name); }

bool is_comparison(std::string_view name) {
  constexpr std::array<std::string_view, 8> all{"==", "!=", "<", "<=", ">", ">=", "&", "|"};
  return std::ranges::find(all, name) != all.end();
}

std::string function_names() {
  std::string names = "C factor relevel poly lag diff scale center pmin pmax";
  for (const auto& [name, function] : unary)
    if (name != "(") names.append(" ").append(name);
  return names;
}

std::vector<std::vector<double>> orthogonal_polynomials(const std::vector<double>& x, const std::vector<bool>& used,
                                                        int degree) {
  std::vector<double> u;  // x about its mean, of size 1
  for (std::size_t t = 0; t < x.size(); ++t)
    if (used[t]) u.push_back(x[t]);
  double mean = 0, size = 0;
  for (const double value : u) mean += value / static_cast<double>(u.size());
  for (double& value : u) size = std::max(size, std::abs(value -= mean));
  for (double& value : u) value /= size;
  std::vector<std::vector<double>> basis{std::vector<double>(u.size(), 1 / std::sqrt(static_cast<double>(u.size())))};
  for (int k = 1; k <= degree; ++k) {
    std::vector<double> p = u;
    for (std::size_t t = 0; t < p.size(); ++t) p[t] *= basis.back()[t];
    for (int pass = 0; pass < 2; ++pass)  // orthogonal to rounding
      for (const std::vector<double>& q : basis) {
        double dot = 0;
        for (std::size_t t = 0; t < p.size(); ++t) dot += p[t] * q[t];
        for (std::size_t t = 0; t < p.size(); ++t) p[t] -= dot * q[t];
      }
    double norm = 0;
    for (const double value : p) norm = std::hypot(norm, value);
    for (double& value : p) value /= norm;
    basis.push_back(std::move(p));
  }
  std::vector<std::vector<double>> result;
  for (int k = 1; k <= degree; ++k) {
    std::vector<double>& column = result.emplace_back(x.size(), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t t = 0, next = 0; t < x.size(); ++t)
      if (used[t]) column[t] = basis[static_cast<std::size_t>(k)][next++];
  }
  return result;
}

}  // namespace tesela::formulas
