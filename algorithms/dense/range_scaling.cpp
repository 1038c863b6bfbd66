#include <tesela/algorithms/dense/range_scaling.hpp>

namespace tesela {
namespace {

/// Returns the exponent of `size`, or `otherwise` for zero.
template <class T>
int exponent_of(T size, int otherwise) {
  return size > 0 ? std::isfinite(size) ? std::ilogb(size) : std::numeric_limits<T>::max_exponent : otherwise;
}

template <class T>
constexpr int least = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;

/// Returns 2^-e for each exponent e, clamped to the range of T.
template <class T>
std::vector<T> powers(const std::vector<int>& exponents) {
  constexpr int most = std::numeric_limits<T>::max_exponent - 1;
  std::vector<T> factors;
  for (const int e : exponents) factors.push_back(std::ldexp(T(1), std::clamp(-e, 1 - most, most)));
  return factors;
}

template <class T>
real_t<T> largest_of(index_t n, const T* x, const real_t<T>* factors) {
  real_t<T> most = 0;
  for (index_t i = 0; i < n; ++i) {
    const real_t<T> size = largest_part(x[i]) * factors[i];
    most = size > most ? size : most;
  }
  return most;
}

/// Returns the exponent of the largest finite element of each row.
template <class T>
std::vector<int> exponents_of_rows(const HostMatrix<T>& a) {
  using Real = real_t<T>;
  std::vector<Real> most(at(a.rows()));
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < a.rows(); ++i) {
      const Real size = largest_part(a(i, j));
      Real& yet = most[at(i)];
      yet = size > yet && size <= std::numeric_limits<Real>::max() ? size : yet;
    }
  std::vector<int> exponents;
  for (const Real size : most) exponents.push_back(exponent_of(size, 0));
  return exponents;
}

}  // namespace

double divided(const std::vector<double>& rest, const std::vector<double>& counts, std::vector<double>& mean) {
  double product = 0;
  for (std::size_t k = 0; k < rest.size(); ++k) {
    mean[k] = counts[k] > 0 ? rest[k] / counts[k] : 0;
    product += rest[k] * mean[k];
  }
  return product;
}

template <class T>
void SystemRange::add_right_hand_sides(const Block<const T>& b) {
  using Real = real_t<T>;
  const std::vector<Real> factors = powers<Real>(rows), ones(rows.size(), Real(1));
  for (index_t j = 0; j < b.cols; ++j) {
    if (largest_of(b.rows, &b(0, j), ones.data()) == 0) continue;
    const int top = exponent_of(largest_of(b.rows, &b(0, j), factors.data()), least<Real>);
    lowest = std::min(lowest, top);
    highest = std::max(highest, top);
  }
}

template <class T>
bool SystemRange::leaves() const {
  using Limits = std::numeric_limits<real_t<T>>;
  if (rows.empty()) return false;
  if (vanished) return true;
  constexpr int growth = 24;  // allowance for growth in the elimination and for sums
  const auto [low, high] = std::minmax_element(rows.begin(), rows.end());
  const int least_column = std::min(0, *std::min_element(columns.begin(), columns.end()));
  const int of_a =
      // bound of U and of its products with a column of X
      *high + std::max(0, std::max(highest, least<real_t<T>>) + Limits::digits);
  const int of_u = *low + std::min({least_column, lowest, 0});
  return of_a + growth >= Limits::max_exponent || of_u - 2 * Limits::digits < Limits::min_exponent ||
         *high - *low + 2 * Limits::digits > Limits::max_exponent;
}

template <class T>
SystemRange range_of(const HostMatrix<T>& a, const HostMatrix<T>& b) {
  SystemRange range;
  range.rows = exponents_of_rows(a);
  const auto factors = powers<real_t<T>>(range.rows);
  for (index_t j = 0; j < a.cols(); ++j)
    range.columns.push_back(exponent_of(largest_of(a.rows(), &a(0, j), factors.data()), least<real_t<T>>));
  range.add_right_hand_sides(Block<const T>{b.data(), b.rows(), b.cols(), b.ld()});
  return range;
}

template <class T>
RangeScaling<T>::RangeScaling(const HostMatrix<T>& a)
    : units_(units_of(a.rows(), a.cols(), [&](const auto& f) {
        for (index_t j = 0; j < a.cols(); ++j)
          for (index_t i = 0; i < a.rows(); ++i) f(i, j, largest_part(a(i, j)));
      })) {}

template <class T>
HostMatrix<T> RangeScaling<T>::matrix(HostMatrix<T> a) const {
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < a.rows(); ++i)
      a(i, j) = times_power_of_two(a(i, j), -units_.rows[at(i)] - units_.columns[at(j)]);
  return a;
}

template <class T>
HostMatrix<T> RangeScaling<T>::right_hand_sides(HostMatrix<T> b) {
  using Limits = std::numeric_limits<real_t<T>>;
  constexpr int high = Limits::max_exponent - 2 * Limits::digits, low = Limits::min_exponent + 2 * Limits::digits;
  shifts_.clear();
  for (index_t j = 0; j < b.cols(); ++j) {
    int top = std::numeric_limits<int>::min();
    for (index_t i = 0; i < b.rows(); ++i)
      if (b(i, j) != T(0) && is_finite(b(i, j)))
        top = std::max(top, std::ilogb(largest_part(b(i, j))) - units_.rows[at(i)]);
    shifts_.push_back(top == std::numeric_limits<int>::min() ? 0 : std::clamp(top, low, high) - top);
    for (index_t i = 0; i < b.rows(); ++i) b(i, j) = times_power_of_two(b(i, j), shifts_.back() - units_.rows[at(i)]);
  }
  return b;
}

template <class T>
HostMatrix<T> RangeScaling<T>::solution(HostMatrix<T> y) const {
  for (index_t j = 0; j < y.cols(); ++j)
    for (index_t i = 0; i < y.rows(); ++i)
      y(i, j) = times_power_of_two(y(i, j), -units_.columns[at(i)] - shifts_[at(j)]);
  return y;
}

#define TESELA_INSTANTIATE(T)                                                \
  template void SystemRange::add_right_hand_sides<T>(const Block<const T>&); \
  template bool SystemRange::leaves<T>() const;                              \
  template SystemRange range_of(const HostMatrix<T>&, const HostMatrix<T>&); \
  template class RangeScaling<T>;
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
