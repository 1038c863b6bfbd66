#include <tesela/host/all_finite.hpp>
#include <tesela/host/range_exponent.hpp>
#include <tesela/tiles/parallel_for.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <span>

namespace tesela {
namespace {

/// Exponents of the least and the largest size of a largest element that needs no scaling.
template <class Real>
struct Moderate {
  explicit Moderate(index_t rows) : high(std::numeric_limits<Real>::max_exponent - growth - std::ilogb(rows)) {}
  static constexpr int growth = 8,
                       low = std::numeric_limits<Real>::min_exponent + 2 * std::numeric_limits<Real>::digits;
  int high;
};

}  // namespace

template <class T>
int range_exponent(const MatrixView<T>& a) {
  using Real = real_t<T>;
  if (a.device >= 0 || a.rows == 0 || a.cols == 0) return 0;
  const int high = Moderate<Real>(a.rows).high;
  constexpr int low = Moderate<Real>::low;
  std::atomic<bool> large = false, small = true;
  constexpr index_t most = 1 << 17;  // elements of a part
  const index_t parts = ceil_div(a.rows, most);
  parallel_for(a.cols * parts, std::max<index_t>(most / a.rows, 1), [&](index_t begin, index_t end) {
    for (index_t k = begin; k < end; ++k) {
      const index_t first = k % parts * most, count = std::min(most, a.rows - first) * (is_complex<T> ? 2 : 1);
      const auto* const x = reinterpret_cast<const Real*>(a.data + first + k / parts * a.ld);
      if (!kernels::all_below(x, count, high + 1)) large = true;
      if (small && !kernels::all_below(x, count, low)) small = false;
    }
  });
  if (!large && !small) return 0;
  Real largest = 0;
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = 0; i < a.rows; ++i) {
      const Real size = largest_part(a.data[i + j * a.ld]);
      if (size > largest && std::isfinite(size)) largest = size;
    }
  if (largest == 0) return 0;
  const int size = std::ilogb(largest);
  return small ? size : std::max(size - high, 0);
}

template <class T>
int scale_into_range(const Runtime& runtime, const MatrixView<T>& a) {
  using Real = real_t<T>;
  if (runtime.ranks() > 1 || a.device >= 0 || a.rows == 0 || a.cols == 0) return 0;
  constexpr index_t samples = 32;  // rows, and columns
  Real largest = 0;
  for (index_t j = 0; j < a.cols; j += ceil_div(a.cols, samples))
    for (index_t i = 0; i < a.rows; i += ceil_div(a.rows, samples))
      if (const Real size = largest_part(a.data[i + j * a.ld]); !(size <= largest)) largest = size;
  const Moderate<Real> moderate(a.rows);
  const bool is_moderate =
      largest >= std::ldexp(Real(1), moderate.low) && largest < std::ldexp(Real(1), moderate.high - moderate.growth);
  const int exponent = is_moderate ? 0 : range_exponent(a);
  static_cast<void>(scale_in_memory(a, -exponent));
  return exponent;
}

template <class T>
Status scale_in_memory(const MatrixView<T>& a, int e, bool upper) {
  Status status;
  for (index_t j = 0; j < a.cols && e != 0; ++j) {
    const std::span column(a.data + j * a.ld, static_cast<std::size_t>(upper ? std::min(j + 1, a.rows) : a.rows));
    scale_by_power_of_two(column, e);
    if (status.ok() && !std::ranges::all_of(column, [](T x) { return is_finite(x); })) status.info = 1 + j;
  }
  return status;
}

TESELA_FUNCTIONS_FOR_NUMBERS(range_exponent, scale_into_range, scale_in_memory)

}  // namespace tesela
