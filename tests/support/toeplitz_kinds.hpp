#pragma once

#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <cmath>
#include <numbers>
#include <string>

// First columns of symmetric Toeplitz matrices that are difficult for different reasons.

namespace tesela::test {

struct ToeplitzCase {
  std::string kind;
  HostMatrix<double> t;
};

constexpr index_t toeplitz_cases = 22;

/// Returns number `kind` of toeplitz_cases with order n and random numbers from `seed`.
inline ToeplitzCase toeplitz_case(index_t kind, index_t n, std::uint64_t seed) {
  const Generator<double> random{Pattern::uniform, 0, 0, seed};
  const auto u = [&](index_t k) { return random.uniform(k, 0); };  // in [-1, 1)
  const auto pi = std::numbers::pi;
  ToeplitzCase c{"", HostMatrix<double>(n, 1)};
  const auto fill = [&](const char* name, auto f) {
    c.kind = name;
    for (index_t k = 0; k < n; ++k) c.t(k, 0) = f(k);
  };
  const auto x = [](index_t k) { return static_cast<double>(k); };
  switch (kind) {
    case 0:
      fill("random", u);
      break;
    case 1: {
      fill("positive definite", u);
      double sum = 0;
      for (index_t k = 1; k < n; ++k) sum += 2 * std::abs(c.t(k, 0));
      c.t(0, 0) = sum + 1;
      break;
    }
    case 2: {
      const double w = 0.25 + 0.2 * u(0);
      fill("prolate", [&](index_t k) { return k == 0 ? 2 * w : std::sin(2 * pi * w * x(k)) / (pi * x(k)); });
      break;
    }
    case 3:
      fill("Kac-Murdock-Szego", [&](index_t k) { return std::pow(0.95 * u(0), x(k)); });
      break;
    case 4:
      fill("second difference", [](index_t k) { return k == 0 ? 2 : k == 1 ? -1 : 0; });
      break;
    case 5:
      fill("singular minors", [&](index_t k) { return k == 1 || (n % 2 == 1 && k == n - 1) ? 1 : 0; });
      break;
    case 6:
      fill("ones", [](index_t) { return 1; });
      break;
    case 7:
      fill("zeros", [](index_t) { return 0; });
      break;
    case 8:
      fill("identity", [](index_t k) { return k == 0 ? 1 : 0; });
      break;
    case 9:
      fill("alternating", [](index_t k) { return k % 2 == 0 ? 1 : -1; });
      break;
    case 10:
      fill("1, 0, 1, 0", [](index_t k) { return k % 2 == 0 ? 1 : 0; });
      break;
    case 11:
      fill("tridiagonal", [&](index_t k) { return k < 2 ? u(k) : 0; });
      break;
    case 12:
      fill("banded", [&](index_t k) { return k < 6 ? u(k) : 0; });
      break;
    case 13:
      fill("a cosine", [&](index_t k) { return std::cos(x(k) * pi * u(0)); });
      break;
    case 14:
      fill("two cosines", [&](index_t k) { return std::cos(x(k) * pi * u(0)) + u(2) * std::cos(x(k) * pi * u(1)); });
      break;
    case 15:
      fill("circulant", [&](index_t k) { return u(std::min(k, n - k)); });
      break;  // double eigenvalues
    case 16:
      fill("decaying", [&](index_t k) { return 1 / ((1 + x(k)) * (1 + x(k))); });
      break;
    case 17:
      fill("increasing", x);
      break;
    case 18: {
      const auto m = static_cast<index_t>(std::abs(u(0)) * x(n));
      fill("one diagonal", [&](index_t k) { return k == m ? 1 : 0; });
      break;
    }
    case 19:
      fill("1e-150 to 1e150", [&](index_t k) { return u(k) * std::pow(10.0, 150 * u(k + n)); });
      break;
    case 20: {
      const double alpha = 0.45 * u(0);  // Fisher and Hartwig's symbol |1 - z|^(2 alpha)
      double element = 1;
      fill("Fisher-Hartwig", [&](index_t k) {
        if (k > 0) element *= (x(k) - 1 - alpha) / (x(k) + alpha);
        return element;
      });
      break;
    }
    default:
      fill("integers", [&](index_t k) { return std::floor(10 * u(k)); });
      break;
  }
  return c;
}

}  // namespace tesela::test
