#include <tesela/algorithms/eigen/bidiagonal/bidiagonal_tree.hpp>
#include <tesela/algorithms/eigen/reduce_to_band.hpp>
#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/algorithms/eigen/tridiagonal_eig.hpp>
#include <tesela/algorithms/support/calling_thread.hpp>
#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/algorithms/svd/band_to_bidiagonal.hpp>
#include <tesela/algorithms/svd/bidiagonal_svd.hpp>
#include <tesela/algorithms/svd/internal/real_bidiagonal.hpp>
#include <tesela/algorithms/svd/internal/scaled_tall.hpp>
#include <tesela/algorithms/svd/internal/tall_factors.hpp>
#include <tesela/algorithms/svd/svd.hpp>
#include <tesela/codelets/eigen/bulge_chase.hpp>
#include <tesela/codelets/support/tile_kernels.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack_svd.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/parallel_zeros.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <type_traits>

namespace tesela {
namespace {

using detail::columns_of, detail::RealBidiagonal, detail::ScaledTall, detail::set_values, detail::TallFactors;

constexpr std::array methods{
    Named<SvdMethod>{SvdMethod::automatic, "auto", "the faster method on this machine"},
    Named<SvdMethod>{SvdMethod::two_stage, "two-stage", "to an upper band, to bidiagonal form, and back, as a graph"},
    Named<SvdMethod>{SvdMethod::lapack, "lapack", "gesdd on all cores"},
};

void check(Shape a, const SvdOptions& o) {
  const index_t k = std::min(a.rows, a.cols);
  require(o.band >= 0, "svd", "band", o.band);
  require(!o.largest || (*o.largest >= 0 && *o.largest <= k), "svd", "largest", o.largest.value_or(0), " of ", k);
  require(!o.largest || o.vectors != SvdVectors::all, "svd", "largest", "needs economic vectors or none");
  require(!o.range || o.range->first < o.range->second, "svd", "range", "is not low < high");
  require(!o.range || (!o.largest && o.vectors != SvdVectors::all), "svd", "range",
          "needs economic vectors or none, without largest");
}

/// Returns the status for LAPACK's info.
SvdStatus status_of(int info) {
  if (info == 0) return {};
  return {SvdStatus::Verdict::not_converged, info, info};
}

/// Returns the numbers in another precision.
template <class T, class U>
HostMatrix<T> in_precision(HostMatrix<U> a) {
  if constexpr (std::is_same_v<T, U>) {
    return a;
  } else {
    HostMatrix<T> b(a.rows(), a.cols());
    std::transform(a.data(), a.data() + a.size(), b.data(), [](U x) { return converted<T>(x); });
    return b;
  }
}

/// Decomposes by gesdd in double precision, because it deflates at 64 eps.
template <class T>
void by_lapack(HostMatrix<T> given, int exponent, const SvdOptions& o, int cores, Svd<T>& result) {
  const SvdVectors vectors = o.vectors;
  using Wide = with_parts<T, double>;
  auto a = in_precision<Wide>(std::move(given));
  const index_t m = a.rows(), n = a.cols(), of_u = vectors == SvdVectors::all ? m : n;
  const bool some = vectors != SvdVectors::none;
  std::vector<double> values(static_cast<std::size_t>(n));
  HostMatrix<Wide> u(some ? m : 0, some ? of_u : 0), vt(some ? n : 0, some ? n : 0);
  {
    const blas::Threads threads(blas::threads_for(n, cores));
    const int info = lapack::gesdd(static_cast<lapack::SingularVectors>(vectors), m, n, a.data(), a.ld(), values.data(),
                                   u.data(), u.ld(), vt.data(), vt.ld());
    result.status = status_of(info);
    if (!result.status.ok()) return;
  }
  if (n == 0)  // LAPACK leaves U alone
    for (index_t j = 0; j < u.cols(); ++j)
      for (index_t i = 0; i < m; ++i) u(i, j) = i == j ? 1 : 0;
  const auto [first, end] = set_values(result, values, exponent, o);
  if (!some) return;
  HostMatrix<T> v(n, end - first);
  for (index_t j = 0; j < v.cols(); ++j)
    for (index_t i = 0; i < n; ++i) v(i, j) = converted<T>(conj(vt(first + j, i)));
  result.v.emplace(std::move(v));
  result.u.emplace(in_precision<T>(columns_of(std::move(u), first, vectors == SvdVectors::all ? m : end)));
}

/// A = U1 U2 B' V2^H V1^H with B' bidiagonal, for a square A.
template <class T>
class Reduction {
 public:
  /// Overwrites A, in square_tile().
  Reduction(Graph& g, TileMatrix<T> A, index_t half_width, bool vectors)
      : g_(g),
        band_(g.runtime(), A.n(), half_width, band_window(workers_for<T>(g.runtime()), A.n(), half_width)),
        A_(std::move(A)),
        to_band_(reduce_to_upper_band(g, A_, band_, {.vectors = vectors})),
        chase_(band_to_bidiagonal(g, band_, {.vectors = vectors})) {}

  index_t n() const { return A_.n(); }
  index_t half_width() const { return band_.half_width(); }
  /// Return the diagonals of B'. They wait.
  std::vector<T> diagonal() const { return chase_.diagonal(); }
  std::vector<T> off_diagonal() const { return chase_.off_diagonal(); }

  /// Inserts X = U1 U2 X, or X = V1 V2 X for Side::right.
  void apply(Side side, const TileMatrix<T>& X) const {
    chase_.apply(g_, side, Op::none, X);
    to_band_.apply(g_, side, Op::none, X);
  }
  /// Returns the product with x. Waits.
  HostMatrix<T> times(Side side, HostMatrix<T> x) const {
    if (x.cols() == 0) return x;
    const index_t wide = std::max<index_t>(eigenvectors_tile(workers_for<T>(g_.runtime()), x.rows(), x.cols()), 1);
    const auto X = TileMatrix<T>::map(g_.runtime(), x.data(), x.rows(), x.cols(), x.ld(), {x.rows(), wide}, "X");
    apply(side, X);
    g_.wait();
    X.bring_home();
    return x;
  }

 private:
  Graph& g_;
  UpperBand<T> band_;
  TileMatrix<T> A_;
  UpperBandReduction<T> to_band_;
  BidiagonalChase<T> chase_;
};

/// Returns the singular values of B', descending, by bisection on GPUs: the nonnegative eigenvalues of the tridiagonal
/// matrix with diagonal 0 and off-diagonal d1 e1 d2 …. Errors are a few eps ||B'||, as B' has itself.
template <class T>
std::vector<double> bisected_values(Runtime& runtime, const std::vector<T>& d, const std::vector<T>& e) {
  const auto n = static_cast<index_t>(d.size());
  std::vector<double> zeros(2 * d.size(), 0.0), mixed;
  for (std::size_t i = 0; i < d.size(); ++i) {
    mixed.push_back(static_cast<double>(d[i]));
    if (i < e.size()) mixed.push_back(static_cast<double>(e[i]));
  }
  std::vector<double> values =
      tridiagonal_eigenvalues<double>(runtime, zeros, mixed,
                                      {.method = TridiagonalEigMethod::bisection, .range = IndexRange{n, 2 * n}})
          .values;
  for (double& value : values) value = std::max(value, 0.0);
  std::reverse(values.begin(), values.end());
  return values;
}

/// Smallest order of a matrix whose B' is decomposed on GPUs.
constexpr index_t on_gpus_from = 512;

/// Vectors in host memory, whose pages all cores touch first, and that memory in tiles.
template <class T>
class Vectors {
 public:
  Vectors(Runtime& runtime, index_t n, index_t k, const char* name) : home_(parallel_zeros<T>(n, k)) {
    const index_t wide = std::max<index_t>(eigenvectors_tile(runtime, n, k), 1);
    tiles_.emplace(TileMatrix<T>::map(runtime, home_.data(), n, k, home_.ld(), {n, wide}, name));
  }
  const TileMatrix<T>& tiles() const { return *tiles_; }
  /// Copies the numbers of X, which has the same tiles. Waits.
  void copy(const TileMatrix<double>& X) {
    X.for_each_tile([&](const Tile<double>& tile, index_t, index_t column) {
      const auto x = tile.read();
      parallel_for(x.cols, 32, [&](index_t first, index_t end) {
        for (index_t j = first; j < end; ++j)
          for (index_t i = 0; i < x.rows; ++i) home_(i, column + j) = static_cast<T>(x(i, j));
      });
    });
    tiles_->home_changed();
  }
  /// Inserts the transfer of the tiles to the host.
  void bring_home(Graph& g) const {
    tiles_->for_each_tile([&](const Tile<T>& tile, index_t, index_t) { g.bring_home(tile); });
  }
  /// Returns the matrix. Waits.
  HostMatrix<T> take() {
    tiles_->bring_home();
    tiles_.reset();
    return std::move(home_);
  }

 private:
  HostMatrix<T> home_;
  std::optional<TileMatrix<T>> tiles_;
};

/// Decomposes B' on GPUs and computes A's values and vectors. Prepares memory for the vectors while GPUs reduce A.
template <class T>
void finish_on_gpus(Graph& g, const Reduction<T>& reduction, int exponent, const SvdOptions& o, Svd<T>& result) {
  Runtime& runtime = g.runtime();
  const index_t n = reduction.n();
  const bool vectors = o.vectors != SvdVectors::none;
  std::optional<Vectors<T>> left, right;
  const auto prepare = [&](index_t k) { left.emplace(runtime, n, k, "U"), right.emplace(runtime, n, k, "V"); };
  if (vectors && !o.range) prepare(o.largest.value_or(n));
  const std::vector<T> d = reduction.diagonal(), e = reduction.off_diagonal();
  g.wait();
  const auto [first, end] = set_values(result, bisected_values(runtime, d, e), exponent, o);
  if (!vectors) return;
  const index_t k = end - first;
  if (!left) prepare(k);
  if (k > 0) {
    const std::vector<double> diagonal(d.begin(), d.end()), above(e.begin(), e.end());
    const auto find = [&, first = first](const TileMatrix<double>& U, const TileMatrix<double>& V) {
      result.status =
          status_of(detail::bidiagonal_tree(runtime, diagonal, above, U, V, {.first = first, .values = false}).info);
    };
    if constexpr (std::is_same_v<T, double>) {
      find(left->tiles(), right->tiles());
    } else {
      const TileShape tile = left->tiles().tile_shape();
      const TileMatrix<double> U(runtime, n, k, tile, "U"), V(runtime, n, k, tile, "V");
      find(U, V);
      if (result.status.ok()) left->copy(U), right->copy(V);
    }
    if (!result.status.ok()) return;
    reduction.apply(Side::right, right->tiles());
    right->bring_home(g);
    reduction.apply(Side::left, left->tiles());
    left->bring_home(g);
    g.wait();
  }
  result.u.emplace(left->take());
  result.v.emplace(right->take());
}

/// Decomposes B' on cores and computes A's values and vectors.
template <class T>
void finish_on_cores(Graph& g, const Reduction<T>& reduction, int exponent, const SvdOptions& o, Svd<T>& result) {
  const bool vectors = o.vectors != SvdVectors::none;
  const RealBidiagonal<T> b(reduction.diagonal(), reduction.off_diagonal());
  g.wait();
  BidiagonalSvd<real_t<T>> inner = bidiagonal_svd<real_t<T>>(g.runtime(), b.d, b.e, vectors);
  result.status = status_of(inner.info);
  if (!result.status.ok()) return;
  const auto [first, end] = set_values(result, inner.values, exponent, o);
  if (!vectors) return;
  result.v.emplace(reduction.times(Side::right, b.times_phases(b.right, columns_of(std::move(*inner.v), first, end))));
  result.u.emplace(reduction.times(Side::left, b.times_phases(b.left, columns_of(std::move(*inner.u), first, end))));
}

index_t half_width_of(const WorkerCounts& workers, const SvdOptions& o) {
  const index_t band = o.band > 0 ? o.band : band_half_width(workers);
  return workers.cpus == 0 ? std::min(band, kernels::largest_gpu_half_width) : band;
}

/// Returns the tiles of a square A that Reduction overwrites.
TileShape square_tile(const WorkerCounts& workers, index_t n, index_t half_width) {
  return eig_tile(workers, n, {.band = std::clamp<index_t>(half_width, 1, std::max<index_t>(n - 1, 1))});
}

/// Decomposes a square A 2^-exponent, in square_tile(), which is overwritten.
template <class T>
void by_two_stages(Graph& g, TileMatrix<T> A, int exponent, const SvdOptions& o, Svd<T>& result) {
  const WorkerCounts workers = workers_for<T>(g.runtime());
  const Reduction<T> reduction(g, std::move(A), half_width_of(workers, o), o.vectors != SvdVectors::none);
  result.half_width = reduction.half_width();
  if constexpr (!is_complex<T>)
    if (workers.gpus > 0 && workers.cpus > 0 && g.runtime().ranks() == 1 && reduction.n() >= on_gpus_from)
      return finish_on_gpus<T>(g, reduction, exponent, o, result);
  finish_on_cores<T>(g, reduction, exponent, o, result);
}

/// Decomposes a square matrix, or a tall one after its QR factorization.
template <class T>
void by_two_stages(Graph& g, HostMatrix<T> a, int exponent, const SvdOptions& o, Svd<T>& result) {
  Runtime& runtime = g.runtime();
  const WorkerCounts workers = workers_for<T>(runtime);
  const index_t m = a.rows(), n = a.cols();
  if (n == 0) return by_lapack(std::move(a), exponent, o, std::max(workers.cpus, 1), result);
  std::optional<TallFactors<T>> tall;
  if (m > n) {
    tall.emplace(g, std::move(a));
    a = tall->triangle(g);
  }
  by_two_stages(g,
                TileMatrix<T>::map(runtime, a.data(), n, n, a.ld(), square_tile(workers, n, half_width_of(workers, o))),
                exponent, o, result);
  if (tall && result.u)
    result.u.emplace(tall->times(g, *result.u, o.vectors == SvdVectors::all ? m : result.u->cols()));
}

/// Inserts the copy of A 2^-exponent to tiles of GPUs. A has one tile or tiles of this shape.
template <class T>
TileMatrix<T> scaled_on_gpus(Graph& g, const TileMatrix<T>& A, TileShape tile, int exponent) {
  TileMatrix<T> scaled(g.runtime(), A.m(), A.n(), tile, "A");
  for (index_t j = 0; j < scaled.nt(); ++j) {
    const index_t column = j * tile.nb;
    const Priority where = on_gpu_number(static_cast<std::size_t>(j));  // as the reduction deals the tiles
    g.insert<kernels::CopyBlock<T, Out>>(
        where, {.a_column = column % A.tile_shape().nb, .rows = A.m(), .columns = scaled(0, j).cols()},
        A(0, column / A.tile_shape().nb), scaled(0, j));
    if (exponent != 0) g.insert<kernels::ScalePowerOfTwo<T>>(where, {-exponent}, scaled(0, j));
  }
  return scaled;
}

/// Decomposes a matrix in host memory. With `here`, only on the calling thread.
///
/// tile   the same matrix if it is one tile; may be null
template <class T>
Svd<T> decompose(Graph* g, const WorkerCounts& workers, const MatrixView<const T>& a, const SvdOptions& o,
                 const TileMatrix<T>* tile = nullptr) {
  Svd<T> result;
  const detail::Magnitude<T> size(a);
  result.status = size.status;
  if (!result.status.ok()) return result;
  result.method = g == nullptr ? SvdMethod::lapack : svd_method(workers, a.shape(), o);
  if constexpr (!is_complex<T>)
    if (result.method == SvdMethod::two_stage && workers.gpus > 0 && a.rows == a.cols && a.rows > 0 &&
        g->runtime().ranks() == 1) {  // the host copies nothing
      const TileShape shape = square_tile(workers, a.rows, half_width_of(workers, o));
      const TileMatrix<T> A = tile != nullptr ? *tile : a.in_tiles(g->runtime(), shape);
      by_two_stages(*g, scaled_on_gpus(*g, A, shape, size.exponent), size.exponent, o, result);
      return result;
    }
  ScaledTall<T> scaled(a, size);
  if (result.method == SvdMethod::lapack)
    by_lapack(std::move(scaled.a), scaled.exponent, o, g == nullptr ? 1 : std::max(workers.cpus, 1), result);
  else
    by_two_stages(*g, std::move(scaled.a), scaled.exponent, o, result);
  if (scaled.transposed) std::swap(result.u, result.v);
  return result;
}

}  // namespace

std::span<const Named<SvdMethod>> svd_methods() { return methods; }

std::string to_string(const SvdStatus& status) {
  switch (status.verdict) {
    case SvdStatus::Verdict::ok:
      return "ok";
    case SvdStatus::Verdict::not_finite:
      if (status.row < 0) return "not finite: column " + std::to_string(status.column + 1) + " of A";
      return "not finite: A(" + std::to_string(status.row + 1) + ", " + std::to_string(status.column + 1) + ")";
    case SvdStatus::Verdict::not_converged:
      return "not converged: " + std::to_string(status.row);
    case SvdStatus::Verdict::overflow:
      return "overflow: a singular value is larger than the largest number";
  }
  return "";
}

SvdMethod svd_method(const WorkerCounts& workers, Shape shape, const SvdOptions& options) {
  if (options.method != SvdMethod::automatic) return options.method;
  const index_t n = std::min(shape.rows, shape.cols);
  const index_t on_cores = options.vectors == SvdVectors::none ? 800 : 1800;
  return n < (workers.gpus > 0 ? on_gpus_from : on_cores) ? SvdMethod::lapack : SvdMethod::two_stage;
}

double svd_flops(index_t m, index_t n, SvdVectors vectors) {
  const double tall = static_cast<double>(std::max(m, n)), k = static_cast<double>(std::min(m, n));
  const double values = 4 * tall * k * k - 4 * k * k * k / 3;
  return vectors == SvdVectors::none ? values : 3 * values;
}

template <class T>
Svd<T> svd(Graph& g, const TileMatrix<T>& A, const SvdOptions& options) {
  check({A.m(), A.n()}, options);
  if (A.mt() == 1 && A.nt() == 1) {
    const auto a = A(0, 0).read();
    return decompose<T>(&g, workers_for<T>(g.runtime()), MatrixView<const T>(a.data, {a.rows, a.cols}, a.ld), options,
                        &A);
  }
  HostMatrix<T> a(A.m(), A.n());
  A.copy_to(a.data(), a.ld());
  return decompose<T>(&g, workers_for<T>(g.runtime()), MatrixView<T>(a), options);
}

template <class T>
Svd<T> svd(Graph& g, MatrixView<T> a, const SvdOptions& options) {
  check(a.shape(), options);
  if (a.device >= 0) return svd(g, a.in_one_tile(g.runtime()), options);
  return decompose<T>(&g, workers_for<T>(g.runtime()), a, options);
}

template <class T>
Svd<T> svd(Runtime& runtime, MatrixView<T> a, const SvdOptions& options) {
  check(a.shape(), options);
  const double products =
      static_cast<double>(std::max(a.rows, a.cols)) * static_cast<double>(a.rows) * static_cast<double>(a.cols);
  if (options.method == SvdMethod::automatic && runs_here(runtime, products, largest_factored_here, a))
    return decompose<T>(nullptr, runtime, a, options);
  Graph g(runtime);
  return svd(g, a, options);
}

#define TESELA_INSTANTIATE(T)                                      \
  template Svd<T> svd(Runtime&, MatrixView<T>, const SvdOptions&); \
  template Svd<T> svd(Graph&, MatrixView<T>, const SvdOptions&);   \
  template Svd<T> svd(Graph&, const TileMatrix<T>&, const SvdOptions&);
TESELA_INSTANTIATE(float)
TESELA_INSTANTIATE(double)
TESELA_INSTANTIATE(std::complex<float>)
TESELA_INSTANTIATE(std::complex<double>)
#undef TESELA_INSTANTIATE

}  // namespace tesela
