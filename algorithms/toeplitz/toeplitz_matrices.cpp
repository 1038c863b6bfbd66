#include <tesela/algorithms/toeplitz/toeplitz_matrices.hpp>
#include <tesela/codelets/toeplitz/toeplitz.hpp>
#include <tesela/runtime/shortest.hpp>
#include <tesela/tiles/generator.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string_view>

namespace tesela {

using namespace kernels;
namespace {

double element(const ToeplitzGenerator& g, index_t k, index_t n) {
  const auto x = static_cast<double>(k);
  switch (g.kind) {
    case ToeplitzKind::prolate:
      return k == 0 ? 2 * g.parameter : std::sin(2 * std::numbers::pi * g.parameter * x) / (std::numbers::pi * x);
    case ToeplitzKind::kms: return std::pow(g.parameter, x);
    case ToeplitzKind::second_difference: return k == 0 ? 2 : k == 1 ? -1 : 0;
    case ToeplitzKind::singular_minors: return k == 1 || (n % 2 == 1 && k == n - 1) ? 1 : 0;
    case ToeplitzKind::random:
    case ToeplitzKind::spd: break;
  }
  return 0;
}

struct Kind {
  ToeplitzKind kind;
  std::string_view name;  // with a placeholder for its parameter, if it has one
  const char* about;
  double low = 0, high = 0;  // range of the parameter
  constexpr bool has_parameter() const { return low < high; }
};

constexpr std::array<Kind, 6> kinds{{
    {ToeplitzKind::random, "random", "t uniform in [-1, 1)"},
    {ToeplitzKind::spd, "spd", "random, with a t(0) that makes it positive definite"},
    {ToeplitzKind::prolate, "prolate:W", "t(k) = sin(2 pi W k) / (pi k), 0 < W < 0.5", 0, 0.5},
    {ToeplitzKind::kms, "kms:R", "t(k) = R^k, -1 < R < 1", -1, 1},
    {ToeplitzKind::second_difference, "second-difference", "2, -1"},
    {ToeplitzKind::singular_minors, "singular-minors", "leading minors of odd order vanish"},
}};

std::string described(const Kind& kind) { return std::string(kind.name) + " (" + kind.about + ")"; }

}  // namespace

std::string toeplitz_kinds() {
  std::string all;
  for (const Kind& kind : kinds) all += (all.empty() ? "" : ", ") + described(kind);
  return all;
}

ToeplitzGenerator parse_toeplitz_kind(const std::string& text) {
  const auto refuse = [&](const std::string& what) {
    throw ArgumentError("toeplitz", "--random", "'" + text + "' is " + what);
  };
  std::string names;
  for (const Kind& kind : kinds) {
    names += (names.empty() ? "" : ", ") + std::string(kind.name);
    if (text == kind.name && !kind.has_parameter()) return {kind.kind};
    const std::string_view name = kind.name.substr(0, kind.name.find(':'));
    if (!kind.has_parameter() || text.substr(0, text.find(':')) != name) continue;
    double parameter = 0;
    const char *const to = text.data() + text.size(), *const from = std::min(text.data() + name.size() + 1, to);
    const auto [end, error] = std::from_chars(from, to, parameter);
    if (error != std::errc() || end != to || !(parameter > kind.low && parameter < kind.high))
      refuse("not " + described(kind));
    return {kind.kind, parameter};
  }
  refuse("none of " + names);
  return {};
}

template <class T>
HostMatrix<T> toeplitz_column(const ToeplitzGenerator& generator, index_t n) {
  const double p = generator.parameter;
  if (generator.kind == ToeplitzKind::prolate && !(p > 0 && p < 0.5))
    throw ArgumentError("toeplitz_column", "W", shortest(p) + " is not between 0 and 1/2");
  if (generator.kind == ToeplitzKind::kms && !(std::abs(p) < 1))
    throw ArgumentError("toeplitz_column", "r", shortest(p) + " is not between -1 and 1");
  HostMatrix<T> t(n, 1);
  const bool random = generator.kind == ToeplitzKind::random || generator.kind == ToeplitzKind::spd;
  const Generator<T> uniform{Pattern::uniform, T(0), 0, generator.seed};
  for (index_t k = 0; k < n; ++k) {
    t(k, 0) = random ? uniform(k, 0) : T(static_cast<real_t<T>>(element(generator, k, n)));
    if constexpr (is_complex<T>)
      t(k, 0) = k == 0 ? T(t(0, 0).real()) : random ? t(k, 0) : t(k, 0) * std::polar(real_t<T>(1), real_t<T>(k));
  }
  if (generator.kind == ToeplitzKind::spd && n > 0) {
    t(0, 0) = 0;
    // A little above the bound, which rounding in single precision could reach. For n = 1, t(0) is 1.
    t(0, 0) = n == 1 ? T(1) : T(static_cast<real_t<T>>(-1.0001 * toeplitz_symbol_range(n, t.data(), 0.0).low));
  }
  return t;
}

TESELA_FUNCTIONS_FOR_NUMBERS(toeplitz_column)

}  // namespace tesela
