#include <tesela/algorithms/dense/products.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/support/calling_thread.hpp>
#include <tesela/algorithms/support/internal/column_blocks.hpp>
#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/algorithms/support/matrix_tasks.hpp>
#include <tesela/algorithms/support/tuned_tile.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/range_exponent.hpp>

#include <algorithm>

namespace tesela {

using namespace kernels;

// Measured: docs/benchmarks/README.md. GPUs use whole columns, enough per tile to hide the panels behind the updates.
// One GPU with products by residues uses wide tiles in steps, because these products must be large, unless they would
// arrive from the host too late. Cores use whole columns too, unless the matrix is so tall and thin that one panel
// keeps the others waiting.
TileShape qr_tile(const WorkerCounts& workers, index_t m, index_t n, bool from_host) {
  if (const auto tuned = tuned_tile("qr", workers, {m, n})) return *tuned;
  const auto rounded = [](index_t size) { return size / 32 * 32; };
  const index_t k = std::min(m, n);
  if (workers.gpus > 0) {
    constexpr index_t wide = 8192;
    if (workers.gpus == 1 && k >= (from_host ? 4 : 2) * wide &&
        gemm_kernel(workers, GemmKernel::automatic, wide, wide, 2048) == GemmKernel::int8)
      return {std::min<index_t>(m, 131072), wide};
    const index_t nb = k >= 24576 ? (workers.gpus <= 2 ? 2048 : 512)
                                  : std::clamp<index_t>(rounded(k / 16), k >= 1024 ? 256 : 128, 512);
    return {std::clamp<index_t>(m, nb, 131072), nb};
  }
  const index_t nb = std::clamp<index_t>(rounded(k / 20), 64, 256);
  return {std::clamp<index_t>(m, nb, std::max<index_t>(8192, 4 * nb)), nb};
}

TileShape qr_tile(const Runtime& runtime, index_t m, index_t n, bool complex, bool from_host) {
  const WorkerCounts workers = complex ? workers_for<std::complex<double>>(runtime) : WorkerCounts(runtime);
  const TileShape tile = qr_tile(workers, m, n, from_host);
  const GpuRoom room(runtime);
  const index_t doubles = complex ? 2 : 1;  // of an element
  const double bytes = 8 * static_cast<double>(doubles * m) * static_cast<double>(n);
  if (room.gpus == 0 || 4 * bytes <= room.bytes) return tile;
  const auto element = static_cast<std::size_t>(doubles) * sizeof(double);
  if (plan_qr(workers, {m, n}, element, tile, 0).gpu_peak() <= room.bytes) return tile;
  // Products by residues need 2048 columns. Narrower columns make wider blocks.
  constexpr index_t widest = 2048, few = 11, least = 22;  // columns on a GPU
  const index_t suitable = std::min({widest, tile.nb, std::max<index_t>(std::min(m, n) / 16 / 32 * 32, 32)});
  const bool wide = suitable == widest && width_in_memory(room, doubles * m, widest, few) == widest;
  const index_t nb = wide ? widest : width_in_memory(room, doubles * m, std::min<index_t>(suitable, 1024), least);
  return {std::clamp<index_t>(m, nb, tile.mb), nb};
}

namespace {

/// Returns the tile of the options, or the tile that qr_tile selects.
template <class T>
TileShape tile_of(const Runtime& runtime, const MatrixView<T>& a, const QrOptions& options) {
  if (options.tile.mb > 0) return options.tile;
  return qr_tile(runtime, a.rows, a.cols, is_complex<T>, a.device < 0);
}

}  // namespace

template <class T>
FactoredQr<T> qr(Runtime& runtime, MatrixView<T> a, const QrOptions& options) {
  const TileShape tile = tile_of(runtime, a, options);
  const int exponent = scale_into_range(runtime, a);
  const auto A = a.in_tiles(runtime, tile);
  Graph g(runtime);
  FactoredQr<T> found{qr(g, A, options), {}};
  report_not_finite(g, A, FinitePart::upper);
  found.status = g.wait();
  A.bring_home();
  if (exponent != 0 && found.status.ok()) {
    found.status = scale_in_memory(a, exponent, true);
    A.home_changed();
  }
  return found;
}

namespace {

/// Returns whether Q and R, or neither, of a small matrix are wanted, in the shapes that qr accepts.
template <class T>
bool is_small(const Runtime& runtime, const MatrixView<T>& a, const MatrixView<T>& q, const MatrixView<T>& r) {
  const index_t k = std::min(a.rows, a.cols);
  const bool only_r = q.cols == 0 && r.cols == 0, both = q.rows == a.rows && q.cols >= k && q.cols <= a.rows &&
                                                         r.rows >= k && r.rows <= a.rows && r.cols == a.cols;
  const double products =
      static_cast<double>(a.rows) * static_cast<double>(std::max(a.cols, q.cols)) * static_cast<double>(k);
  return (only_r || both) && runs_here(runtime, products, largest_factored_here, a, q, r) && has_moderate_size(a);
}

/// Factors A = Q R by LAPACK on the calling thread.
template <class T>
void factor_here(const MatrixView<T>& a, const MatrixView<T>& q, const MatrixView<T>& r) {
  const index_t k = std::min(a.rows, a.cols);
  std::vector<T> tau(static_cast<std::size_t>(k));
  lapack::geqrf(a.rows, a.cols, a.data, a.ld, tau.data());
  for (index_t j = 0; j < q.cols; ++j) {
    std::fill_n(q.data + j * q.ld, q.rows, T(0));
    q.data[j + j * q.ld] = 1;
  }
  if (q.cols > 0) lapack::ormqr(Op::none, q.rows, q.cols, k, a.data, a.ld, tau.data(), q.data, q.ld);
  const MatrixView<T>& to = r.cols > 0 ? r : a;
  for (index_t j = 0; j < to.cols; ++j)
    for (index_t i = 0; i < to.rows; ++i) to.data[i + j * to.ld] = i <= j ? a.data[i + j * a.ld] : T(0);
}

}  // namespace

template <class T>
Status qr(Runtime& runtime, MatrixView<T> a, std::type_identity_t<MatrixView<T>> q,
          std::type_identity_t<MatrixView<T>> r, const QrOptions& options) {
  if (options.tile.mb == 0 && options.ends.empty() && is_small(runtime, a, q, r)) {
    factor_here(a, q, r);
    return {};
  }
  const TileShape tile = tile_of(runtime, a, options);
  const int exponent = scale_into_range(runtime, a);
  const auto A = a.in_tiles(runtime, tile, "A");
  Graph g(runtime);
  const QrFactorization<T> factors = qr(g, A, options);
  report_not_finite(g, A, FinitePart::upper);
  if (q.cols == 0 && r.cols == 0) {
    keep_r(g, factors);
    const Status status = g.wait();
    A.bring_home();
    return status.ok() ? scale_in_memory(a, exponent) : status;
  }
  const auto R = r.in_tiles(runtime, tile, "R"), Q = q.in_tiles(runtime, tile, "Q");
  factors.extract_r(g, R);
  factors.form_q(g, Q);
  const Status status = g.wait();
  R.bring_home();
  Q.bring_home();
  return status.ok() ? scale_in_memory(r, exponent) : status;
}

template <class T>
Status QrFactorization<T>::apply(Runtime& runtime, Side side, Op op, MatrixView<T> c) const {
  const auto [mb, nb] = a_.tile_shape();
  const auto C = c.in_tiles(runtime, side == Side::left ? TileShape{mb, nb} : TileShape{nb, mb}, "C");
  Graph g(runtime);
  apply(g, side, op, C);
  report_not_finite(g, C);
  const Status status = g.wait();
  C.bring_home();
  return status;
}

template <class T>
Status QrFactorization<T>::form_q(Runtime& runtime, MatrixView<T> q) const {
  const auto Q = q.in_tiles(runtime, a_.tile_shape(), "Q");
  Graph g(runtime);
  form_q(g, Q);
  report_not_finite(g, Q);
  const Status status = g.wait();
  Q.bring_home();
  return status;
}

template <class T>
void keep_r(Graph& g, const QrFactorization<T>& factorization) {
  factorization.factors().for_each_tile([&](const Tile<T>& tile, index_t row, index_t col) {
    const index_t below = row - col;
    if (below >= tile.cols()) {
      g.insert<Laset<T>>({T(0), below}, tile);
    } else if (below + tile.rows() > 1) {  // a diagonal tile
      const TileMatrix<T> triangle(g.runtime(), tile.rows(), tile.cols(), {tile.rows(), tile.cols()}, "R");
      g.insert<Lacpy<T>>({Part::upper, below}, tile, triangle(0, 0));
      g.insert<Lacpy<T>>({Part::all, 0}, triangle(0, 0), tile);
    }
  });
}

#define TESELA_INSTANTIATE(T)                                                                  \
  template FactoredQr<T> qr(Runtime&, MatrixView<T>, const QrOptions&);                        \
  template Status qr(Runtime&, MatrixView<T>, MatrixView<T>, MatrixView<T>, const QrOptions&); \
  template Status QrFactorization<T>::apply(Runtime&, Side, Op, MatrixView<T>) const;          \
  template Status QrFactorization<T>::form_q(Runtime&, MatrixView<T>) const;                   \
  template void keep_r(Graph&, const QrFactorization<T>&);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
