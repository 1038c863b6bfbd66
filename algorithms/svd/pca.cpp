#include <tesela/algorithms/qr/tall_skinny.hpp>
#include <tesela/algorithms/support/centred.hpp>
#include <tesela/algorithms/svd/pca.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela {

using namespace kernels;
namespace {

void check(Shape a, const PcaOptions& o) {
  require(a.rows >= 2 && a.cols >= 1, "pca", "A", a, ": needs two rows and a column");
  const index_t most = std::min(a.rows, a.cols);
  require(o.components.value_or(1) >= 1 && o.components.value_or(1) <= most, "pca", "components",
          o.components.value_or(0), " is not between 1 and ", most);
}

/// Sets the scales from the norms of the centred columns; throws for a constant column.
template <class T>
void set_scales(const std::vector<T>& norms, index_t m, bool scale, Pca<T>& result) {
  result.scales.assign(norms.size(), 1);
  if (!scale) return;
  const double root = std::sqrt(static_cast<double>(m - 1));
  const double rounding = 4 * static_cast<double>(std::numeric_limits<T>::epsilon()) * root;
  for (std::size_t j = 0; j < norms.size(); ++j) {
    const auto norm = static_cast<double>(norms[j]);
    require(norm > rounding * std::abs(result.means[j]), "pca", "A", "column ", j + 1,
            " is constant and has no unit variance");
    result.scales[j] = norm / root;
  }
}

/// Sets deviations, shares and loadings, whose signs become the convention's. Returns the signs.
template <class T>
std::vector<T> set_components(const Svd<T>& found, const std::vector<T>& norms, index_t m, Pca<T>& result) {
  double total = 0;  // of squares relative to the largest value's
  for (std::size_t j = 0; j < norms.size() && found.norm > 0; ++j) {
    const double ratio = static_cast<double>(norms[j]) / result.scales[j] / found.norm;
    total += ratio * ratio;
  }
  for (const double value : found.values) {
    const double ratio = found.norm > 0 ? value / found.norm : 0;
    result.deviations.push_back(value / std::sqrt(static_cast<double>(m - 1)));
    result.shares.push_back(total > 0 ? ratio * ratio / total : 0);
  }
  std::vector<T> signs;
  for (index_t c = 0; c < found.v->cols(); ++c) {
    const T *const first = &(*found.v)(0, c), *const end = first + found.v->rows();
    const T largest = *std::max_element(first, end, [](T x, T y) { return std::abs(x) < std::abs(y); });
    signs.push_back(largest < 0 ? T(-1) : T(1));
  }
  result.loadings = filled<T>(found.v->shape(), [&](index_t i, index_t c) { return signs[at(c)] * (*found.v)(i, c); });
  return signs;
}

template <class T>
void scale_columns_by(HostMatrix<T>& a, const std::vector<double>& scales) {
  parallel_for(a.cols(), 4, [&](index_t first, index_t end) {
    for (index_t j = first; j < end; ++j)
      for (index_t i = 0; i < a.rows(); ++i) a(i, j) = static_cast<T>(static_cast<double>(a(i, j)) / scales[at(j)]);
  });
}

/// Returns whether all norms are finite; sets the status `overflow` otherwise.
template <class T>
bool all_representable(const std::vector<T>& norms, Pca<T>& result) {
  const bool all = std::all_of(norms.begin(), norms.end(), [](T norm) { return std::isfinite(norm); });
  if (!all) result.status.verdict = SvdStatus::Verdict::overflow;
  return all;
}

/// Returns where the first element is that is not finite.
template <class T>
SvdStatus first_not_finite(const HostMatrix<T>& a) {
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < a.rows(); ++i)
      if (!std::isfinite(a(i, j))) return {SvdStatus::Verdict::not_finite, i, j};
  return {};
}

}  // namespace

template <class T>
Pca<T> pca(Graph& g, MatrixView<T> a, const PcaOptions& options) {
  check(a.shape(), options);
  Pca<T> result;
  HostMatrix<T> work = copy_of<T>(g.runtime(), a);
  const index_t m = a.rows, n = a.cols;
  result.status = first_not_finite(work);
  if (!result.status.ok()) return result;
  result.means = centre(work);
  if (!all_finite(work)) {
    result.status.verdict = SvdStatus::Verdict::overflow;
    return result;
  }
  const std::vector<T> norms = column_norms(work);
  set_scales(norms, m, options.scale, result);
  if (!all_representable(norms, result)) return result;
  if (options.scale) scale_columns_by(work, result.scales);
  const auto tiles = TileMatrix<T>::map(g.runtime(), work.data(), m, n, work.ld(), {m, n}, "A");
  Svd<T> found = svd(g, tiles, {.largest = options.components});
  result.status = found.status;
  if (!found.status.ok()) return result;
  const std::vector<T> signs = set_components(found, norms, m, result);
  if (options.scores)
    result.scores = filled<T>({m, std::ssize(found.values)}, [&](index_t i, index_t c) {
      return static_cast<T>(static_cast<double>(signs[at(c)] * (*found.u)(i, c)) * found.values[at(c)]);
    });
  return result;
}

template <class T>
Pca<T> pca(Runtime& runtime, MatrixView<T> a, const PcaOptions& options) {
  Graph g(runtime);
  return pca(g, a, options);
}

template <class T>
Pca<T> pca(Graph& g, const RowSource<T>& a, const PcaOptions& options) {
  check({a.m, a.n}, options);
  require(options.rows >= 0, "pca", "rows", options.rows, " is negative");
  const index_t m = a.m, n = a.n;
  Pca<T> result;
  HostMatrix<T> shift(1, n);
  a.read(0, {shift.data(), 1, n, 1});
  const RowSource<T> shifted{m, n + 1, [&](index_t first, const Block<T>& out) {
                               a.read(first, {out.data + out.ld, out.rows, n, out.ld});
                               for (index_t i = 0; i < out.rows; ++i) out(i, 0) = 1;
                               for (index_t j = 0; j < n; ++j)
                                 for (index_t i = 0; i < out.rows; ++i) out(i, j + 1) -= shift(0, j);
                             }};
  HostMatrix<T> r(n + 1, n + 1);
  const auto R = TileMatrix<T>::map(g.runtime(), r.data(), n + 1, n + 1, r.ld(), {n + 1, n + 1}, "R");
  tall_skinny_r(g, shifted, R, options.rows);
  g.wait();
  R.bring_home();
  if (!all_finite(r)) {
    result.status = {SvdStatus::Verdict::not_finite, -1, -1};
    return result;
  }
  for (index_t j = 0; j < n; ++j)
    result.means.push_back(static_cast<double>(shift(0, j)) +
                           static_cast<double>(r(0, j + 1)) / static_cast<double>(r(0, 0)));
  HostMatrix<T> centred = filled<T>({n, n}, [&](index_t i, index_t j) { return r(i + 1, j + 1); });
  const std::vector<T> norms = column_norms(centred);
  set_scales(norms, m, options.scale, result);
  if (!all_representable(norms, result)) return result;
  if (options.scale) scale_columns_by(centred, result.scales);
  const auto tiles = TileMatrix<T>::map(g.runtime(), centred.data(), n, n, centred.ld(), {n, n}, "R");
  const Svd<T> found = svd(g, tiles, {.largest = options.components.value_or(std::min(m, n))});
  result.status = found.status;
  if (!found.status.ok()) return result;
  set_components(found, norms, m, result);
  if (!options.scores) return result;
  const index_t k = result.loadings.cols(), rows = std::clamp<index_t>((index_t{2} << 20) / n, 1, m);
  result.scores = HostMatrix<T>(m, k);
  HostMatrix<T> block(rows, n);
  const blas::Threads threads(blas::all_cores());
  for (index_t first = 0; first < m; first += rows) {
    const index_t count = std::min(rows, m - first);
    a.read(first, {block.data(), count, n, block.ld()});
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < count; ++i)
        block(i, j) = static_cast<T>((static_cast<double>(block(i, j)) - result.means[at(j)]) / result.scales[at(j)]);
    blas::gemm<T>(Op::none, Op::none, count, k, n, T(1), block.data(), block.ld(), result.loadings.data(),
                  result.loadings.ld(), T(0), &result.scores(first, 0), result.scores.ld());
  }
  return result;
}

#define TESELA_INSTANTIATE(T)                                      \
  template Pca<T> pca(Runtime&, MatrixView<T>, const PcaOptions&); \
  template Pca<T> pca(Graph&, MatrixView<T>, const PcaOptions&);   \
  template Pca<T> pca(Graph&, const RowSource<T>&, const PcaOptions&);
TESELA_FOR_REALS(TESELA_INSTANTIATE)

}  // namespace tesela
