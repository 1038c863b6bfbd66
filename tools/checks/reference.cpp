#include "tools/checks/reference.hpp"

#include <tesela/algorithms/support/measured.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <random>

namespace tesela {
namespace {

/// Squares and their sums are long double, whose exponent range holds the square of any double.
template <class X>
long double square(X x) {
  return std::norm(with_parts<X, long double>(x));
}

template <class T>
bool all_finite(const T* x, index_t count) {
  bool finite = true;
  for (index_t i = 0; i < count; ++i) finite &= is_finite(x[i]);
  return finite;
}

/// Scales the largest of the numbers near 1 by a power of two, and returns its exponent.
template <class Wide>
int scale(std::vector<Wide>& x) {
  const auto count = static_cast<index_t>(x.size());
  const int exponent = largest_exponent(count, x.data());
  scale_by_power_of_two(std::span(x.data(), static_cast<std::size_t>(count)), -exponent);
  return exponent;
}

/// Returns columns [first, first + count) of op(X), an r-row matrix, in double precision.
template <class T>
std::vector<with_parts<T, double>> columns_of(Op op, const T* x, Shape stored, index_t first, index_t count) {
  using Wide = with_parts<T, double>;
  const index_t rows = apply(op, stored).rows;
  std::vector<Wide> out(static_cast<std::size_t>(rows * count));
  for (index_t j = 0; j < count; ++j)
    for (index_t i = 0; i < rows; ++i)
      out[static_cast<std::size_t>(i + j * rows)] =
          apply_to(op, Wide(op == Op::none ? x[i + (first + j) * stored.rows] : x[(first + j) + i * stored.rows]));
  return out;
}

}  // namespace

template <class T>
ProductError product_error(const ProductProblem<T>& p, const std::vector<index_t>& rows) {
  if (p.m == 0 || p.n == 0) return {};
  const auto r = static_cast<index_t>(rows.size());
  using Wide = with_parts<T, double>;
  using Widest = with_parts<T, long double>;
  const Widest alpha = p.alpha, beta = p.beta;
  long double norm_a = 0, norm_b = 0, norm_c = 0, error = 0;
  std::vector<Wide> a(static_cast<std::size_t>(r * p.k));
  for (index_t l = 0; l < p.k; ++l)
    for (index_t i = 0; i < r; ++i) {
      const index_t row = rows[static_cast<std::size_t>(i)];
      const Wide value = apply_to(p.op_a, Wide(p.op_a == Op::none ? p.a[row + l * p.m] : p.a[l + row * p.k]));
      a[static_cast<std::size_t>(i + l * r)] = value;
      norm_a += square(value);
    }
  const int exponent_a = scale(a);
  const blas::Threads threads(blas::threads_for(std::max(p.n, p.k)));
  constexpr index_t width = 512;  // columns at once: B in double need not fit in memory
  for (index_t first = 0; first < p.n; first += width) {
    const index_t count = std::min(width, p.n - first);
    auto b = columns_of(p.op_b, p.b, apply(p.op_b, {p.k, p.n}), first, count);
    for (const Wide value : b) norm_b += square(value);
    const int exponent = exponent_a + scale(b);  // exponent of a product of both, which may overflow
    std::vector<Wide> c(static_cast<std::size_t>(r * count));
    if (r > 0 && p.k > 0)
      blas::gemm<Wide>(Op::none, Op::none, r, count, p.k, 1, a.data(), r, b.data(), p.k, 0, c.data(), r);
    for (index_t j = 0; j < count; ++j)
      for (index_t i = 0; i < r; ++i) {
        const index_t at = rows[static_cast<std::size_t>(i)] + (first + j) * p.m;
        Widest reference = alpha * times_power_of_two(Widest(c[static_cast<std::size_t>(i + j * r)]), exponent);
        if (p.beta != T(0)) {
          const Widest before = p.c_before[at];
          reference += beta * before;
          norm_c += square(before);
        }
        error += square(Widest(p.c[at]) - reference);
      }
  }
  return product_error_of({error, norm_a, norm_b, norm_c, std::abs(alpha), std::abs(beta),
                           static_cast<long double>(std::numeric_limits<real_t<T>>::min()), r, p.n, p.k,
                           all_finite(p.c, p.m * p.n)});
}

ProductError product_error_of(const ProductSums& p) {
  const long double distance = std::sqrt(p.error), product = std::sqrt(p.norm_a) * std::sqrt(p.norm_b);
  const long double scale = std::abs(p.alpha) * product + std::abs(p.beta) * std::sqrt(p.norm_c);
  // Each of the k terms of an entry may have lost up to the smallest normal number.
  const long double lost = (1 + std::abs(p.alpha)) * static_cast<long double>(p.k + 1) *
                           std::sqrt(static_cast<long double>(p.rows) * static_cast<long double>(p.n)) * p.smallest;
  ProductError result;
  result.relative = static_cast<double>(product > 0 ? distance / product : distance);
  if (!std::isfinite(scale) || std::isnan(distance))
    result.scaled = std::numeric_limits<double>::quiet_NaN();
  else if (distance > lost)  // scale 0 correctly gives infinity then: R is 0, and C is not
    result.scaled = static_cast<double>((distance - lost) / scale);
  result.finite = p.finite;
  return result;
}

template <class T>
double product_bound(index_t k) {
  return std::min((static_cast<double>(is_complex<T> ? 2 * k : k) + 8) *
                      static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()),
                  useful_bound);
}

std::vector<index_t> sample_rows(index_t m, index_t count, std::uint64_t seed) {
  std::vector<index_t> rows;
  if (count >= m) {
    for (index_t i = 0; i < m; ++i) rows.push_back(i);
    return rows;
  }
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<index_t> any(0, m - 1);
  while (static_cast<index_t>(rows.size()) < count) {
    const index_t row = any(random);
    if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

#define TESELA_INSTANTIATE(T)                \
  template double product_bound<T>(index_t); \
  template ProductError product_error(const ProductProblem<T>&, const std::vector<index_t>&);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
