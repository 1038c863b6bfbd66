#include <tesela/codelets/toeplitz/internal/superfast_skeleton.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tesela::kernels::superfast {
namespace {

/// The rows near ... far of a range, and the columns next ... last on the side of `near`.
struct Side {
  index_t n, o, near, far, next, last;

  double step() const { return std::numbers::pi / static_cast<double>(n + 1); }
  /// Returns |cos(2 a + o) - cos(2 b + o)|.
  double distance(index_t a, index_t b) const {
    return 2 * std::sin(static_cast<double>(a + b + o) * step()) *
           std::sin(static_cast<double>(std::abs(a - b)) * step());
  }
  /// Returns the column whose cosine is at this distance from the cosine of `next`.
  index_t column_at(double distance) const {
    const double start = std::pow(std::sin(static_cast<double>(2 * next + o) * step() / 2), 2);
    const double square = start + (last > next ? distance : -distance) / 2;
    const double angle = 2 * std::asin(std::sqrt(std::clamp(square, 0.0, 1.0)));
    const auto column = static_cast<index_t>(std::llround((angle / step() - static_cast<double>(o)) / 2));
    return std::clamp(column, std::min(next, last), std::max(next, last));
  }
};

void add_proxies(const Side& s, double tolerance, std::vector<index_t>& to) {
  const index_t columns = std::abs(s.last - s.next) + 1, sign = s.last > s.next ? 1 : -1;
  if (s.near == s.far || columns <= 2) {  // a column's kernel is one number, or there is little to choose
    for (index_t j = 0; j < std::min<index_t>(columns, 2); ++j) to.push_back(s.next + sign * j);
    return;
  }
  const double gamma =
      s.distance(s.next, s.far) * s.distance(s.last, s.near) / (s.distance(s.next, s.near) * s.distance(s.last, s.far));
  // k poles leave 4 exp(-k pi^2 / log(16 gamma)).
  const double poles = std::log(16 * gamma) * std::log(4 / tolerance) / (std::numbers::pi * std::numbers::pi);
  const index_t k = static_cast<index_t>(std::ceil(poles)) + 1;
  if (columns <= k) {
    for (index_t j = 0; j < columns; ++j) to.push_back(s.next + sign * j);
    return;
  }
  // The poles for [-1, -kappa] and [kappa, 1] are dn(u) = 1 / cosh(u) = kappa cosh(K - u), nearly; Moebius' map takes
  // kappa to `next` and 1 to `last`.
  const double kappa = 1 / (2 * gamma - 1 + 2 * std::sqrt(gamma * (gamma - 1))), period = std::log(4 / kappa);
  const double ratio = s.distance(s.next, s.far) / s.distance(s.last, s.far);
  to.push_back(s.next);
  for (index_t j = 0; j < k; ++j) {
    const double u = (static_cast<double>(j) + 0.5) / static_cast<double>(k) * period;
    const double q = u < period / 2 ? 1 / std::cosh(u) : kappa * std::cosh(period - u);
    const double mu = std::max(0.0, q - kappa) / (1 - q) * 2 / (1 + kappa) * ratio;
    to.push_back(s.column_at(s.distance(s.last, s.next) * mu / (1 + mu)));
  }
}

/// Returns the norm of g or h over the columns that proxy j represents, or slightly more.
double weight(const double* sums, index_t rows, index_t lo, index_t hi, const std::vector<index_t>& columns,
              std::size_t j) {
  const index_t b = columns[j];
  index_t from = j == 0 ? 0 : (columns[j - 1] + b + 1) / 2;
  index_t to = j + 1 == columns.size() ? rows : (columns[j + 1] + b + 1) / 2;
  if (b >= hi)
    from = std::max(from, hi);
  else
    to = std::min(to, lo);
  return std::sqrt(std::abs(sums[to] - sums[from]) + 1e-12 * sums[rows]);
}

/// Returns the proxy columns times the weights of g and of h, transposed: one column for each row.
template <class T>
std::vector<T> proxy_matrix(const CauchyBlock<T>& block, index_t lo, index_t hi, const std::vector<index_t>& columns,
                            const std::vector<index_t>& rows) {
  const std::size_t count = columns.size();
  std::vector<T> weight_g(count), weight_h(count), matrix(2 * count * rows.size());
  for (std::size_t j = 0; j < count; ++j) {
    weight_g[j] = static_cast<T>(weight(block.sums_h, block.rows, lo, hi, columns, j));
    weight_h[j] = static_cast<T>(weight(block.sums_g, block.rows, lo, hi, columns, j));
  }
  T* to = matrix.data();
  for (const index_t a : rows) {
    for (std::size_t j = 0; j < count; ++j) {
      const T kernel = block.kernel(a, columns[j]);
      to[j] = block.g[a] * kernel * weight_g[j];
      to[j + count] = block.h[a] * kernel * weight_h[j];
    }
    to += 2 * count;
  }
  return matrix;
}

}  // namespace

std::vector<index_t> proxies(index_t n, index_t rows, index_t o, index_t lo, index_t hi, double tolerance) {
  std::vector<index_t> to;
  if (lo > 0) add_proxies({n, o, lo, hi - 1, lo - 1, 0}, tolerance, to);
  if (hi < rows) add_proxies({n, o, hi - 1, lo, hi, rows - 1}, tolerance, to);
  std::sort(to.begin(), to.end());
  to.erase(std::unique(to.begin(), to.end()), to.end());
  return to;
}

template <class T>
Interpolation<T> interpolate(const CauchyBlock<T>& block, index_t lo, index_t hi, const std::vector<index_t>& rows,
                             index_t most) {
  const std::vector<index_t> columns = proxies(block.n, block.rows, block.o, lo, hi, block.tolerance);
  const auto m = static_cast<index_t>(rows.size()), height = 2 * static_cast<index_t>(columns.size());
  const index_t steps = std::min(height, m);
  std::vector<T> matrix = proxy_matrix(block, lo, hi, columns, rows), tau(static_cast<std::size_t>(steps));
  Interpolation<T> result;
  lapack::geqp3(height, m, matrix.data(), height, result.order, tau.data());
  const T least = static_cast<T>(block.tolerance * block.norm);
  index_t& r = result.r;
  while (r < std::min(steps, most) && std::abs(matrix[static_cast<std::size_t>(r * (height + 1))]) > least) ++r;
  result.others.resize(static_cast<std::size_t>(r * (m - r)));
  for (index_t j = r; j < m; ++j) std::copy_n(matrix.data() + j * height, r, result.others.data() + (j - r) * r);
  if (r > 0 && r < m) blas::trsm<T>(Op::none, r, m - r, matrix.data(), height, result.others.data(), r);
  return result;
}

TESELA_FUNCTIONS_FOR_REALS(interpolate)

}  // namespace tesela::kernels::superfast
