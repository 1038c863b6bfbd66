#include <tesela/algorithms/toeplitz/toeplitz_matrices.hpp>
#include <tesela/codelets/toeplitz/toeplitz.hpp>
#include <tesela/tiles/generator.hpp>

#include <cmath>
#include <numbers>

namespace tesela {

using namespace kernels;
namespace {

double element(const ToeplitzGenerator& g, index_t k, index_t n) {
  const auto x = static_cast<double>(k);
  switch (g.kind) {
    case ToeplitzKind::prolate:
      return k == 0 ? 2 * g.parameter : std::sin(2 * std::numbers::pi * g.parameter * x) / (std::numbers::pi * x);
    case ToeplitzKind::kms:
      return std::pow(g.parameter, x);
    case ToeplitzKind::second_difference:
      return k == 0 ? 2 : k == 1 ? -1 : 0;
    case ToeplitzKind::singular_minors:
      return k == 1 || (n % 2 == 1 && k == n - 1) ? 1 : 0;
    case ToeplitzKind::random:
    case ToeplitzKind::spd:
      break;
  }
  return 0;
}

}  // namespace

template <class T>
HostMatrix<T> toeplitz_column(const ToeplitzGenerator& generator, index_t n) {
  const double p = generator.parameter;
  if (generator.kind == ToeplitzKind::prolate && !(p > 0 && p < 0.5))
    throw ArgumentError("toeplitz_column", "W", std::to_string(p) + " is not between 0 and 1/2");
  if (generator.kind == ToeplitzKind::kms && !(std::abs(p) < 1))
    throw ArgumentError("toeplitz_column", "r", std::to_string(p) + " is not between -1 and 1");
  HostMatrix<T> t(n, 1);
  const bool random = generator.kind == ToeplitzKind::random || generator.kind == ToeplitzKind::spd;
  const Generator<T> uniform{Pattern::uniform, T(0), 0, generator.seed};
  for (index_t k = 0; k < n; ++k) t(k, 0) = random ? uniform(k, 0) : static_cast<T>(element(generator, k, n));
  if (generator.kind == ToeplitzKind::spd && n > 0) {
    t(0, 0) = 0;
    // A little more than the bound, which the roundings of single precision could reach; alone, t(0) is 1.
    t(0, 0) = n == 1 ? T(1) : static_cast<T>(-1.0001 * toeplitz_symbol_range(n, t.data(), 0.0).low);
  }
  return t;
}

template HostMatrix<float> toeplitz_column(const ToeplitzGenerator&, index_t);
template HostMatrix<double> toeplitz_column(const ToeplitzGenerator&, index_t);

}  // namespace tesela
