#include "tools/checks/eig_error.hpp"
#include "tools/checks/svd_error.hpp"
#include <tesela/algorithms/support/measured.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/tiles/filled.hpp>

#include <algorithm>
#include <cmath>

namespace tesela {
namespace {

constexpr index_t rows_at_once = 8192;

double larger(double x, double y) { return std::isnan(x) || std::isnan(y) ? x + y : std::max(x, y); }

/// Calls use(first row, block) for all rows.
template <class T, class Use>
void for_each_block(const RowSource<T>& a, const Use& use) {
  HostMatrix<T> block(std::min(rows_at_once, a.m), a.n);
  for (index_t first = 0; first < a.m; first += block.rows()) {
    const index_t count = std::min(block.rows(), a.m - first);
    a.read(first, {block.data(), count, a.n, block.ld()});
    use(first, count, block);
  }
}

/// Means and root mean squares of the columns, from scaled elements.
struct Columns {
  std::vector<double> means, roots;
  int unit = 0;  ///< elements are multiplied by 2^-unit
};

template <class T>
Columns columns_of(const RowSource<T>& a) {
  double largest = 0;
  for_each_block(a, [&](index_t, index_t count, const HostMatrix<T>& block) {
    for (index_t j = 0; j < a.n; ++j)
      for (index_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(static_cast<double>(block(i, j))));
  });
  Columns columns{std::vector<double>(at(a.n)), std::vector<double>(at(a.n)), largest > 0 ? std::ilogb(largest) : 0};
  std::vector<long double> sums(at(a.n)), squares(at(a.n));
  for_each_block(a, [&](index_t, index_t count, const HostMatrix<T>& block) {
    for (index_t j = 0; j < a.n; ++j)
      for (index_t i = 0; i < count; ++i) {
        const long double x = std::ldexp(static_cast<double>(block(i, j)), -columns.unit);
        sums[at(j)] += x, squares[at(j)] += x * x;
      }
  });
  for (std::size_t j = 0; j < sums.size(); ++j) {
    columns.means[j] = static_cast<double>(sums[j] / static_cast<long double>(a.m));
    columns.roots[j] = static_cast<double>(std::sqrt(squares[j] / static_cast<long double>(a.m)));
  }
  return columns;
}

}  // namespace

template <class T>
PcaBounds pca_bounds(index_t m, index_t n) {
  const EigBounds bounds = eig_bounds<T>(std::max(m, n));
  return {std::min(4 * bounds.value, useful_bound), bounds.orthogonality};
}

template <class T>
PcaError pca_error(const RowSource<T>& a, const Pca<T>& found) {
  const blas::Threads threads(blas::all_cores());
  const index_t n = a.n, k = found.loadings.cols();
  const Columns columns = columns_of(a);
  PcaError error;
  for (std::size_t j = 0; j < columns.means.size(); ++j)
    if (columns.roots[j] > 0)
      error.means = larger(error.means,
                           std::abs(std::ldexp(found.means[j], -columns.unit) - columns.means[j]) / columns.roots[j]);
  error.orthogonality = eigenvector_orthogonality(found.loadings, k, 1);
  // Scaled columns have size 1; otherwise the table's unit keeps squares in range.
  const bool scaled = std::any_of(found.scales.begin(), found.scales.end(), [](double s) { return s != 1; });
  const auto v = filled<double>(found.loadings.shape(),
                                [&](index_t i, index_t j) { return static_cast<double>(found.loadings(i, j)); });
  auto gradient = HostMatrix<double>::zeros(n, k);
  std::vector<double> squares(at(k));
  double total = 0, missed = 0;
  for_each_block(a, [&](index_t first, index_t count, const HostMatrix<T>& block) {
    const auto x = filled<double>({count, n}, [&](index_t i, index_t j) {
      const double centred = std::ldexp(static_cast<double>(block(i, j)), -columns.unit) - columns.means[at(j)];
      return scaled ? centred / std::ldexp(found.scales[at(j)], -columns.unit) : centred;
    });
    for (index_t e = 0; e < x.size(); ++e) total += x.data()[e] * x.data()[e];
    HostMatrix<double> scores(count, k);
    blas::gemm<double>(Op::none, Op::none, count, k, n, 1, x.data(), x.ld(), v.data(), v.ld(), 0, scores.data(),
                       scores.ld());
    blas::gemm<double>(Op::transpose, Op::none, n, k, count, 1, x.data(), x.ld(), scores.data(), scores.ld(), 1,
                       gradient.data(), gradient.ld());
    for (index_t j = 0; j < k; ++j)
      for (index_t i = 0; i < count; ++i) {
        squares[at(j)] += scores(i, j) * scores(i, j);
        if (found.scores.cols() == 0) continue;
        const auto given = static_cast<double>(found.scores(first + i, j));
        const double distance = scores(i, j) - (scaled ? given : std::ldexp(given, -columns.unit));
        missed += distance * distance;
      }
  });
  if (!(total > 0)) return error;
  error.scores = std::sqrt(missed / total);
  const double root = std::sqrt(static_cast<double>(a.m - 1));
  double norm = 0;  // the largest value, squared
  for (index_t j = 0; j < k; ++j) {
    const double s = found.deviations[at(j)] * root, value = scaled ? s : std::ldexp(s, -columns.unit);
    norm = std::max(norm, value * value);
    double apart = 0;
    for (index_t i = 0; i < n; ++i) {
      const double difference = gradient(i, j) - value * value * v(i, j);
      apart += difference * difference;
    }
    error.residual = larger(error.residual, std::sqrt(apart));
    error.shares = larger(error.shares, std::abs(found.shares[at(j)] - squares[at(j)] / total));
  }
  error.residual /= norm > 0 ? std::min(norm, total) : total;
  return error;
}

TESELA_FUNCTIONS_FOR_REALS(pca_bounds, pca_error)

}  // namespace tesela
