#include "codelets/tridiagonal_error.hpp"

#include <cmath>
#include <limits>

namespace tesela {
namespace {

using Wide = long double;
// So that products of any two numbers neither overflow nor lose a bit to underflow: nothing needs scaling.
static_assert(std::numeric_limits<Wide>::max_exponent >= 4 * std::numeric_limits<double>::max_exponent);

Wide worse(Wide a, Wide b) { return b > a || std::isnan(b) ? b : a; }

/// Whatever is not finite comes out as NaN or infinity: Inf / Inf is NaN.
Wide ratio(Wide error, Wide size) { return error == 0 ? Wide(0) : error / size; }

}  // namespace

template <class T>
TridiagonalError tridiagonal_error(const TridiagonalSystem<T>& system) {
  const auto& [n, dl, d, du, b, x, periodic] = system;
  Wide largest_r = 0, largest_x = 0, largest_b = 0, norm = 0, componentwise = 0;
  Wide before = periodic && n > 0 ? Wide(x[n - 1]) : Wide(0), here = n > 0 ? Wide(x[0]) : Wide(0);
  for (index_t i = 0; i < n; ++i) {
    const bool has_after = i < n - 1 || periodic;
    const Wide after = has_after ? Wide(x[i < n - 1 ? i + 1 : 0]) : Wide(0);
    const Wide left = i > 0 || periodic ? Wide(dl[i]) : Wide(0), middle = d[i],
               right = has_after ? Wide(du[i]) : Wide(0);
    const Wide p = left * before, q = middle * here, s = right * after, rhs = b[i];
    const Wide r = std::fabs(p + q + s - rhs);
    const Wide size = std::fabs(p) + std::fabs(q) + std::fabs(s) + std::fabs(rhs);
    largest_r = worse(largest_r, r);
    largest_x = worse(largest_x, std::fabs(here));
    largest_b = worse(largest_b, std::fabs(rhs));
    norm = worse(norm, std::fabs(left) + std::fabs(middle) + std::fabs(right));
    componentwise = worse(componentwise, ratio(r, size));
    before = here;
    here = after;
  }
  // An infinite x gives r = NaN or Inf, and by an infinite size a ratio of NaN.
  return {static_cast<double>(ratio(largest_r, norm * largest_x + largest_b)), static_cast<double>(componentwise)};
}

template TridiagonalError tridiagonal_error(const TridiagonalSystem<float>&);
template TridiagonalError tridiagonal_error(const TridiagonalSystem<double>&);

}  // namespace tesela
