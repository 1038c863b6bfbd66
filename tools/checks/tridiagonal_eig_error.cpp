#include "tools/checks/eig_error.hpp"
#include "tools/checks/worse.hpp"
#include <tesela/tiles/parallel_for.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela {
namespace {

using Band = std::span<const double>;
using Wide = long double;

/// Returns the off-diagonal elements before and after the diagonal element i.
std::pair<double, double> beside(Band e, std::size_t i) { return {i > 0 ? e[i - 1] : 0.0, i < e.size() ? e[i] : 0.0}; }

/// Returns the number of negative pivots of T - x I.
index_t count_below(Band d, Band e, Wide x) {
  index_t below = 0;
  Wide pivot = 1;
  for (std::size_t i = 0; i < d.size(); ++i) {
    const Wide coupling = i > 0 ? Wide{e[i - 1]} : 0;
    pivot = Wide{d[i]} - x - (coupling == 0 ? 0 : coupling / pivot * coupling);
    if (pivot == 0) pivot = -std::numeric_limits<Wide>::min();
    below += pivot < 0 ? 1 : 0;
  }
  return below;
}

/// Returns the least eps/4 2^k norm, up to 2 most norm, within which eigenvalue number `at` is; or infinity.
double distance(Band d, Band e, double value, index_t at, double norm, double most) {
  if (!std::isfinite(value)) return std::numeric_limits<double>::quiet_NaN();
  for (double near = std::numeric_limits<double>::epsilon() / 4; near <= 2 * most; near *= 2) {
    const Wide step = Wide{near} * Wide{norm};
    if (count_below(d, e, Wide{value} - step) <= at && count_below(d, e, Wide{value} + step) > at) return near;
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace

double tridiagonal_norm(Band d, Band e, double largest_value) {
  double column = 0, row = 0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    const auto [before, after] = beside(e, i);
    column = std::max(column, std::hypot(d[i], before, after));
    row = std::max(row, std::abs(d[i]) + std::abs(before) + std::abs(after));
  }
  if (!(row > 0)) return 1;
  return std::min(std::max(largest_value, column), std::min(row, std::numeric_limits<double>::max()));
}

template <class T>
EigError tridiagonal_eig_error(Band d, Band e, const std::vector<double>& values, const HostMatrix<T>& x, double norm,
                               index_t sampled, std::uint64_t seed) {
  if (x.size() == 0) return {};
  std::vector<double> residuals(values.size());
  parallel_for(x.cols(), 8, [&](index_t first, index_t end) {
    for (index_t j = first; j < end; ++j) {
      const auto component = [&](std::size_t i) { return static_cast<double>(x(static_cast<index_t>(i), j)); };
      const double value = values[static_cast<std::size_t>(j)] / norm;
      double squares = 0;
      for (std::size_t i = 0; i < d.size(); ++i) {
        const auto [before, after] = beside(e, i);
        double r = (d[i] / norm - value) * component(i);
        if (i > 0) r += before / norm * component(i - 1);
        if (i < e.size()) r += after / norm * component(i + 1);
        squares += r * r;
      }
      residuals[static_cast<std::size_t>(j)] = std::sqrt(squares);
    }
  });
  double residual = 0;
  for (const double one : residuals) residual = worse(residual, one);
  return {residual, eigenvector_orthogonality(x, sampled, seed)};
}

double tridiagonal_value_error(Band d, Band e, const std::vector<double>& values, index_t first, double norm,
                               double most, index_t sampled, std::uint64_t seed) {
  const std::vector<index_t> chosen = sample_indices(std::ssize(values), sampled, seed);
  std::vector<double> errors(chosen.size());
  parallel_for(std::ssize(chosen), [&](index_t i) {
    const index_t at = chosen[static_cast<std::size_t>(i)];
    errors[static_cast<std::size_t>(i)] = distance(d, e, values[static_cast<std::size_t>(at)], first + at, norm, most);
  });
  double error = 0;
  for (const double one : errors) error = worse(error, one);
  return error;
}

TESELA_FUNCTIONS_FOR_REALS(tridiagonal_eig_error)

}  // namespace tesela
