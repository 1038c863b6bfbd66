#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/runtime/errors.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>

namespace tesela {
namespace {

struct Kind {
  SymmetricKind kind;
  const char* name;
  const char* parameter;  ///< placeholder for the text after a colon; null for nothing
};
constexpr std::array kinds{
    Kind{SymmetricKind::uniform, "uniform", nullptr},
    Kind{SymmetricKind::normal, "normal", nullptr},
    Kind{SymmetricKind::band, "band", "B"},
    Kind{SymmetricKind::graded, "graded", nullptr},
    Kind{SymmetricKind::rank, "rank", "R"},
    Kind{SymmetricKind::diagonal, "diagonal", nullptr},
    Kind{SymmetricKind::identity, "identity", nullptr},
    Kind{SymmetricKind::zero, "zero", nullptr},
    Kind{SymmetricKind::spectrum, "spectrum", "FILE"},
    Kind{SymmetricKind::arithmetic, "arithmetic", nullptr},
    Kind{SymmetricKind::geometric, "geometric", "K"},
    Kind{SymmetricKind::clustered, "clustered", "K"},
    Kind{SymmetricKind::wilkinson, "wilkinson", nullptr},
    Kind{SymmetricKind::glued_wilkinson, "glued-wilkinson", nullptr},
    Kind{SymmetricKind::second_difference, "second-difference", nullptr},
    Kind{SymmetricKind::laplacian, "laplacian", nullptr},
    Kind{SymmetricKind::exchange, "exchange", nullptr},
    Kind{SymmetricKind::nbody, "nbody", nullptr},
};

/// Returns 2 - 2 cos(k pi / (n + 1)), k from 1.
double difference_value(index_t k, index_t n) {
  const double half = std::sin(0.5 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n + 1));
  return 4 * half * half;
}

index_t largest_divisor(index_t n) {
  index_t p = 1;
  for (index_t d = 2; d * d <= n; ++d)
    if (n % d == 0) p = d;
  return p;
}

std::vector<double> clusters(index_t n, index_t count, std::uint64_t seed) {
  const Generator<double> random{Pattern::uniform, 0, 0, seed};
  std::vector<double> values(at(n));
  for (index_t i = 0; i < n; ++i) {
    const index_t cluster = i % count;
    const double middle = count > 1 ? static_cast<double>(cluster) / static_cast<double>(count - 1) : 1;
    values[at(i)] = middle + 0.5e-12 * random(i, 0);
  }
  return values;
}

}  // namespace

SymmetricMatrix::SymmetricMatrix(SymmetricKind kind, index_t n, double parameter, std::uint64_t seed,
                                 std::vector<double> values)
    : kind_(kind), n_(n), parameter_(parameter), seed_(seed), values_(std::move(values)) {
  const auto refuse = [](const char* argument, const std::string& why) {
    throw ArgumentError("SymmetricMatrix", argument, why);
  };
  if (n < 0) refuse("n", std::to_string(n) + " is negative");
  if (kind == SymmetricKind::spectrum && static_cast<index_t>(values_.size()) != n)
    refuse("values", std::to_string(values_.size()) + " for a matrix of order " + std::to_string(n));
  if ((kind == SymmetricKind::band || kind == SymmetricKind::rank) && !(parameter >= 0))
    refuse("parameter", "must not be negative");
  if ((kind == SymmetricKind::geometric || kind == SymmetricKind::clustered) &&
      !(parameter >= 1 && std::isfinite(parameter)))
    refuse("parameter", "must be at least 1");
  const auto order = static_cast<double>(n);
  if (kind != SymmetricKind::spectrum) values_.assign(at(n), 0);
  bool product = true;  // whether H hides the spectrum
  switch (kind) {
    case SymmetricKind::rank:
      for (index_t i = 0; i < std::min(n, static_cast<index_t>(std::min(parameter, order))); ++i)
        values_[at(i)] = i % 2 == 0 ? 1 : -1;
      break;
    case SymmetricKind::spectrum: break;
    case SymmetricKind::arithmetic:
      for (index_t i = 0; i < n; ++i) values_[at(i)] = static_cast<double>(n - i) / order;
      break;
    case SymmetricKind::geometric:
      for (index_t i = 0; i < n; ++i)
        values_[at(i)] = n > 1 ? std::pow(parameter, -static_cast<double>(i) / (order - 1)) : 1;
      break;
    case SymmetricKind::clustered:
      values_ = clusters(n, static_cast<index_t>(std::min(parameter, std::max(order, 1.0))), seed);
      break;
    default: product = false;
  }
  const Generator<double> random{Pattern::uniform, 0, 0, seed};
  if (kind == SymmetricKind::diagonal)
    for (index_t i = 0; i < n; ++i) values_[at(i)] = random(i, i);
  if (kind == SymmetricKind::identity) values_.assign(at(n), 1);
  if (kind == SymmetricKind::second_difference)
    for (index_t i = 0; i < n; ++i) values_[at(i)] = difference_value(i + 1, n);
  if (kind == SymmetricKind::laplacian) {
    grid_ = largest_divisor(n);
    for (index_t i = 0; i < n; ++i)
      values_[at(i)] = difference_value(i % grid_ + 1, grid_) + difference_value(i / grid_ + 1, n / grid_);
  }
  if (kind == SymmetricKind::exchange)
    for (index_t i = 0; i < n; ++i) values_[at(i)] = i < n / 2 ? -1 : 1;
  if (kind >= SymmetricKind::rank) {
    eigenvalues_ = values_;
    std::sort(eigenvalues_->begin(), eigenvalues_->end());
  }
  if (!product) return;

  // H = I - W T W^T, so H D H^T = D - W Z^T - Z W^T with Z = D W T^T - 1/2 W (T W^T D W T^T).
  using Pair = std::array<long double, 2>;
  const Generator<double> vectors{Pattern::uniform, 0, 0, Generator<double>::mix(seed)};
  std::vector<Pair> w(at(n));
  long double w00 = 0, w01 = 0, w11 = 0, d00 = 0, d01 = 0, d11 = 0;
  for (index_t i = 0; i < n; ++i) {
    const long double x = vectors(i, 0), y = vectors(i, 1), d = values_[at(i)];
    w[at(i)] = {x, y};
    w00 += x * x, w01 += x * y, w11 += y * y;
    d00 += d * x * x, d01 += d * x * y, d11 += d * y * y;
  }
  const long double t00 = w00 > 0 ? 2 / w00 : 0, t11 = w11 > 0 ? 2 / w11 : 0, t01 = -t00 * w01 * t11;
  // M = T (W^T D W) T^T, symmetric.
  const long double a00 = t00 * d00 + t01 * d01, a01 = t00 * d01 + t01 * d11, a11 = t11 * d11, a10 = t11 * d01;
  const long double m00 = a00 * t00 + a01 * t01, m01 = a01 * t11, m10 = a10 * t00 + a11 * t01, m11 = a11 * t11;
  product_.resize(at(n));
  for (index_t i = 0; i < n; ++i) {
    const auto [x, y] = w[at(i)];
    const long double d = values_[at(i)], cross = (m01 + m10) / 2;
    product_[at(i)] = {x, y, d * (x * t00 + y * t01) - (x * m00 + y * cross) / 2,
                       d * (y * t11) - (x * cross + y * m11) / 2};
  }
}

template <class T>
T SymmetricMatrix::element(index_t i, index_t j) const {
  if constexpr (is_complex<T>) {
    if (i < j) return conj(element<T>(j, i));
    const Generator<T> random{Pattern::uniform, 0, n_, seed_, n_};
    if (i == j) return element<real_t<T>>(i, i);
    if (kind_ == SymmetricKind::uniform) return random.uniform(i, j);
    if (kind_ == SymmetricKind::normal) return random.normal(i, j);
    return T(static_cast<double>(element<real_t<T>>(i, j)) * random.phase(seed_, i) *
             std::conj(random.phase(seed_, j)));
  } else {
    return real_element<T>(i, j);
  }
}

template <class T>
T SymmetricMatrix::real_element(index_t i, index_t j) const {
  if (i < j) std::swap(i, j);
  const Generator<T> random{Pattern::uniform, 0, n_, seed_, n_};
  switch (kind_) {
    case SymmetricKind::uniform: return random.uniform(i, j);
    case SymmetricKind::normal: return random.normal(i, j);
    case SymmetricKind::band: return static_cast<double>(i - j) <= parameter_ ? random.uniform(i, j) : T(0);
    case SymmetricKind::graded: return std::ldexp(random.uniform(i, j), -static_cast<int>(40 * i / n_ + 40 * j / n_));
    case SymmetricKind::nbody: return i == j ? T(1) : random.uniform(i, 0) * random.uniform(j, 0);
    case SymmetricKind::wilkinson:
      return i == j ? std::abs(static_cast<T>(2 * i - (n_ - 1)) / 2) : T(i - j == 1 ? 1 : 0);
    case SymmetricKind::glued_wilkinson:
      if (i == j) return std::abs(static_cast<T>(i % 21 - 10));
      return i - j != 1 ? T(0) : i % 21 == 0 ? std::sqrt(std::numeric_limits<T>::epsilon()) : T(1);
    case SymmetricKind::second_difference: return static_cast<T>(i == j ? 2 : i - j == 1 ? -1 : 0);
    case SymmetricKind::laplacian:
      if (i == j) return 4;
      return static_cast<T>(i - j == grid_ || (i - j == 1 && i % grid_ != 0) ? -1 : 0);
    case SymmetricKind::exchange: return static_cast<T>(i + j == n_ - 1 ? 1 : 0);
    case SymmetricKind::diagonal:
    case SymmetricKind::identity:
    case SymmetricKind::zero: return i == j ? static_cast<T>(values_[at(i)]) : T(0);
    case SymmetricKind::rank:
    case SymmetricKind::spectrum:
    case SymmetricKind::arithmetic:
    case SymmetricKind::geometric:
    case SymmetricKind::clustered: break;
  }
  const auto &a = product_[at(i)], &b = product_[at(j)];
  const long double diagonal = i == j ? static_cast<long double>(values_[at(i)]) : 0;
  return static_cast<T>(diagonal - (a[0] * b[2] + a[1] * b[3] + a[2] * b[0] + a[3] * b[1]));
}

template <class T>
std::optional<Generator<T>> SymmetricMatrix::generator() const {
  Generator<T> random{Pattern::uniform, 0, n_, seed_, n_};
  switch (kind_) {
    case SymmetricKind::uniform: return random;
    case SymmetricKind::graded: random.pattern = Pattern::graded; return random;
    case SymmetricKind::band:
      random.pattern = Pattern::band;
      random.half_width = static_cast<index_t>(std::min(parameter_, static_cast<double>(n_)));
      return random;
    default: return std::nullopt;
  }
}

#define TESELA_INSTANTIATE(T) template T SymmetricMatrix::element(index_t, index_t) const;
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)
template std::optional<Generator<float>> SymmetricMatrix::generator() const;
template std::optional<Generator<double>> SymmetricMatrix::generator() const;

const char* symmetric_kinds() {
  static const std::string all = [] {
    std::string text;
    for (const Kind& kind : kinds) {
      if (!text.empty()) text.append(", ");
      text.append(kind.name);
      if (kind.parameter != nullptr) text.append(":").append(kind.parameter);
    }
    return text;
  }();
  return all.c_str();
}

SymmetricChoice parse_symmetric_kind(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon), rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  for (const Kind& kind : kinds) {
    if (name != kind.name || (kind.parameter != nullptr) != (colon != std::string::npos)) continue;
    SymmetricChoice choice{kind.kind, 0, ""};
    if (kind.kind == SymmetricKind::spectrum) return choice.file = rest, choice;
    if (kind.parameter == nullptr) return choice;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), choice.parameter);
    const double least = kind.kind == SymmetricKind::band || kind.kind == SymmetricKind::rank ? 0 : 1;
    const bool whole = kind.kind == SymmetricKind::geometric || std::floor(choice.parameter) == choice.parameter;
    if (error == std::errc() && end == rest.data() + rest.size() && std::isfinite(choice.parameter) &&
        choice.parameter >= least && whole)
      return choice;
  }
  throw ArgumentError("tesela", "--random", "'" + text + "' is none of " + symmetric_kinds());
}

}  // namespace tesela
