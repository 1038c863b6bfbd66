#include "tools/checks/tridiagonal_error.hpp"

#include <tesela/codelets/tridiagonal/exponent_recurrence.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <limits>
#include <mutex>
#include <vector>

namespace tesela {
namespace {

using Wide = long double;
// Products of any four numbers neither overflow nor lose bits to underflow, so nothing needs scaling.
static_assert(std::numeric_limits<Wide>::max_exponent >= 8 * std::numeric_limits<double>::max_exponent);

Wide worse(Wide a, Wide b) { return b > a || std::isnan(b) ? b : a; }

/// Returns |x|; NaN if a part is NaN.
Wide magnitude(Wide x) { return std::abs(x); }
Wide magnitude(std::complex<Wide> x) { return std::sqrt(x.real() * x.real() + x.imag() * x.imag()); }

/// Returns NaN or infinity for numbers that are not finite: Inf / Inf is NaN.
Wide ratio(Wide error, Wide size) { return error == 0 ? Wide(0) : error / size; }

template <class T>
std::vector<index_t> column_exponents(const TridiagonalSystem<T>& system) {
  const auto& [n, dl, d, du, b, x, periodic] = system;
  std::vector<index_t> g(static_cast<std::size_t>(n));
  kernels::internal::Walk<T> walk;
  for (index_t i = 0; i < n; ++i)
    g[static_cast<std::size_t>(i)] = walk.step(i > 0 ? dl[i] : T(0), d[i], i < n - 1 ? du[i] : T(0));
  if (periodic && n > 2) walk.close_cycle({dl[0], d[0], du[0]}, {dl[1], d[1], du[1]}, g[1], n);
  for (index_t i = 0; i < n; ++i) g[static_cast<std::size_t>(i)] = walk.closed(g[static_cast<std::size_t>(i)], i);
  for (index_t& e : g) e = walk.bounded(e);
  return g;
}

/// Returns the residual with rows scaled so that their largest entry is in [1, 2); each unknown is 2^g times the scaled
/// one.
template <class T>
Wide scaled_residual(const TridiagonalSystem<T>& system, const std::vector<index_t>& g) {
  using Number = with_parts<T, Wide>;
  const auto& [n, dl, d, du, b, x, periodic] = system;
  Wide largest_r = 0, largest_x = 0, largest_b = 0, norm = 0;
  for (index_t i = 0; i < n; ++i) {
    const index_t column[3] = {i > 0 ? i - 1 : n - 1, i, i < n - 1 ? i + 1 : 0};
    const T entry[3] = {i > 0 || periodic ? dl[i] : T(0), d[i], i < n - 1 || periodic ? du[i] : T(0)};
    Wide row[3], largest = 0, size = 0;
    Number r = -Number(b[i]);
    for (int k = 0; k < 3; ++k) {
      row[k] = std::scalbn(magnitude(Number(entry[k])), static_cast<int>(g[static_cast<std::size_t>(column[k])]));
      largest = worse(largest, row[k]);
      if (entry[k] != T(0)) r += times(Number(entry[k]), Number(x[column[k]]));
    }
    const int power = largest > 0 ? -std::ilogb(largest) : 0;
    for (const Wide entry_k : row) size += std::scalbn(entry_k, power);
    norm = worse(norm, size);
    largest_r = worse(largest_r, std::scalbn(magnitude(r), power));
    largest_b = worse(largest_b, std::scalbn(magnitude(Number(b[i])), power));
    largest_x =
        worse(largest_x, std::scalbn(magnitude(Number(x[i])), -static_cast<int>(g[static_cast<std::size_t>(i)])));
  }
  return ratio(largest_r, norm * largest_x + largest_b);
}

/// The largest sizes of the rows of a system.
struct Sizes {
  Wide r = 0, x = 0, b = 0, norm = 0, componentwise = 0;
  void include(const Sizes& other) {
    r = worse(r, other.r), x = worse(x, other.x), b = worse(b, other.b), norm = worse(norm, other.norm);
    componentwise = worse(componentwise, other.componentwise);
  }
};

/// Returns the sizes of rows first … end - 1.
template <class T>
Sizes sizes_of(const TridiagonalSystem<T>& system, index_t first, index_t end) {
  using Number = with_parts<T, Wide>;
  const auto& [n, dl, d, du, b, x, periodic] = system;
  Sizes largest;
  Number before = first > 0 ? Number(x[first - 1]) : periodic ? Number(x[n - 1]) : Number(0), here = Number(x[first]);
  Wide size_before = magnitude(before), size_here = magnitude(here);
  for (index_t i = first; i < end; ++i) {
    const bool has_after = i < n - 1 || periodic;
    const Number after = has_after ? Number(x[i < n - 1 ? i + 1 : 0]) : Number(0);
    const Number left = i > 0 || periodic ? Number(dl[i]) : Number(0), middle = d[i],
                 right = has_after ? Number(du[i]) : Number(0);
    const Number rhs = b[i];
    const Wide r = magnitude(times(left, before) + times(middle, here) + times(right, after) - rhs),
               size_after = magnitude(after), p = magnitude(left), q = magnitude(middle), s = magnitude(right),
               size_b = magnitude(rhs), size = p * size_before + q * size_here + s * size_after + size_b;
    largest.include({r, size_here, size_b, p + q + s, ratio(r, size)});
    before = here, size_before = size_here;
    here = after, size_here = size_after;
  }
  return largest;
}

}  // namespace

template <class T>
TridiagonalError tridiagonal_error(const TridiagonalSystem<T>& system, double enough) {
  constexpr index_t rows_at_once = 1 << 18;
  Sizes largest;
  std::mutex mutex;
  parallel_for(system.n, rows_at_once, [&](index_t first, index_t end) {
    const Sizes some = sizes_of(system, first, end);
    const std::lock_guard lock(mutex);
    largest.include(some);
  });
  // An infinite x makes r NaN or Inf, and the ratio NaN because its size is infinite too.
  TridiagonalError error{static_cast<double>(ratio(largest.r, largest.norm * largest.x + largest.b)),
                         static_cast<double>(largest.componentwise), static_cast<double>(largest.componentwise)};
  if (error.residual_componentwise > enough && std::isfinite(error.residual_componentwise))
    error.residual_equilibrated = static_cast<double>(scaled_residual(system, column_exponents(system)));
  return error;
}

template TridiagonalError tridiagonal_error(const TridiagonalSystem<float>&, double);
template TridiagonalError tridiagonal_error(const TridiagonalSystem<double>&, double);
template TridiagonalError tridiagonal_error(const TridiagonalSystem<std::complex<float>>&, double);
template TridiagonalError tridiagonal_error(const TridiagonalSystem<std::complex<double>>&, double);

}  // namespace tesela
