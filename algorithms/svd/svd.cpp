#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/algorithms/support/calling_thread.hpp>
#include <tesela/algorithms/svd/bidiagonal_svd.hpp>
#include <tesela/algorithms/svd/internal/real_bidiagonal.hpp>
#include <tesela/algorithms/svd/internal/scaled_tall.hpp>
#include <tesela/algorithms/svd/internal/svd_on_gpus.hpp>
#include <tesela/algorithms/svd/internal/svd_reduction.hpp>
#include <tesela/algorithms/svd/internal/tall_factors.hpp>
#include <tesela/algorithms/svd/svd.hpp>
#include <tesela/codelets/eigen/bulge_chase.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack_svd.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <array>
#include <type_traits>

namespace tesela {
namespace {

using detail::columns_of, detail::RealBidiagonal, detail::ScaledTall, detail::set_values, detail::SvdReduction,
    detail::TallFactors;

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

/// Smallest order of a matrix whose B' is decomposed on GPUs.
constexpr index_t on_gpus_from = 512;

/// Decomposes B' on cores and computes A's values and vectors.
template <class T>
void finish_on_cores(Graph& g, const SvdReduction<T>& reduction, int exponent, const SvdOptions& o, Svd<T>& result) {
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
  return workers.cpus == 0 ? std::min(band, largest_half_width(workers)) : band;
}

/// Returns the tiles of a square A that Reduction overwrites.
TileShape square_tile(const WorkerCounts& workers, index_t n, index_t half_width) {
  return eig_tile(workers, n, {.band = std::clamp<index_t>(half_width, 1, std::max<index_t>(n - 1, 1))});
}

/// Decomposes a square A 2^-exponent, in square_tile(), which is overwritten: R of a tall matrix with Q in `tall`, or
/// the matrix itself.
template <class T>
void by_two_stages(Graph& g, TileMatrix<T> A, const TallFactors<T>* tall, int exponent, const SvdOptions& o,
                   Svd<T>& result) {
  Runtime& runtime = g.runtime();
  const WorkerCounts workers = workers_for<T>(runtime);
  const index_t n = A.n();
  const SvdReduction<T> reduction(g, std::move(A), half_width_of(workers, o), o.vectors != SvdVectors::none);
  result.half_width = reduction.half_width();
  if (workers.gpus > 0 && workers.cpus > 0 && runtime.ranks() == 1 && n >= on_gpus_from)
    return detail::finish_on_gpus<T>(g, reduction, tall, exponent, o, result);
  finish_on_cores<T>(g, reduction, exponent, o, result);
  if (tall == nullptr || !result.u) return;
  HostMatrix<T>& x = *result.u;
  const index_t m = tall->rows(), columns = o.vectors == SvdVectors::all ? m : x.cols();
  HostMatrix<T> u(m, columns);
  if (columns > 0) {
    const auto X = MatrixView<T>(x).in_one_tile(runtime, "X"),
               U = MatrixView<T>(u).in_tiles(runtime, TallFactors<T>::tile(runtime, {m, n}), "U");
    tall->multiply(g, X, U);
    g.wait();
    U.bring_home();
  }
  result.u.emplace(std::move(u));
}

/// Decomposes A 2^-exponent, m x n with m >= n > 0, which is overwritten: square in square_tile(), or tall in
/// TallFactors's.
template <class T>
void by_two_stages(Graph& g, TileMatrix<T> A, int exponent, const SvdOptions& o, Svd<T>& result) {
  if (A.m() == A.n()) return by_two_stages<T>(g, std::move(A), nullptr, exponent, o, result);
  const WorkerCounts workers = workers_for<T>(g.runtime());
  const index_t n = A.n();
  const TallFactors<T> tall(g, std::move(A));
  by_two_stages<T>(g, tall.triangle(g, square_tile(workers, n, half_width_of(workers, o))), &tall, exponent, o, result);
}

/// Returns the tiles of an m x n matrix, m >= n, that by_two_stages overwrites.
template <class T>
TileShape tall_tile(const Runtime& runtime, Shape a, const SvdOptions& o) {
  const WorkerCounts workers = workers_for<T>(runtime);
  return a.rows == a.cols ? square_tile(workers, a.cols, half_width_of(workers, o)) : TallFactors<T>::tile(runtime, a);
}

/// Returns whether by_gpus decomposes the matrix.
template <class T>
bool runs_on_gpus(const Runtime& runtime, Shape a, const SvdOptions& o) {
  const WorkerCounts workers = workers_for<T>(runtime);
  return workers.gpus > 0 && std::min(a.rows, a.cols) > 0 && runtime.ranks() == 1 &&
         svd_method(workers, a, o) == SvdMethod::two_stage;
}

/// Decomposes a matrix in any tiles on GPUs. The host copies nothing.
template <class T>
Svd<T> by_gpus(Graph& g, const TileMatrix<T>& A, const SvdOptions& o) {
  Svd<T> result;
  result.method = SvdMethod::two_stage;
  const detail::Magnitude<T> size = detail::magnitude(g, A);
  result.status = size.status;
  if (!result.status.ok()) return result;
  const bool transposed = A.m() < A.n();
  const TileShape tile = tall_tile<T>(g.runtime(), {std::max(A.m(), A.n()), std::min(A.m(), A.n())}, o);
  by_two_stages<T>(g, detail::scaled_copy(g, A, transposed, tile, size.exponent), size.exponent, o, result);
  if (transposed) std::swap(result.u, result.v), std::swap(result.u_tiles, result.v_tiles);
  return result;
}

/// Decomposes a matrix in host memory. Without a graph, only on the calling thread.
template <class T>
Svd<T> decompose(Graph* g, const WorkerCounts& workers, const MatrixView<const T>& a, const SvdOptions& o) {
  Svd<T> result;
  ScaledTall<T> scaled(a);
  result.status = scaled.status;
  if (!result.status.ok()) return result;
  result.method = g == nullptr ? SvdMethod::lapack : svd_method(workers, a.shape(), o);
  HostMatrix<T>& tall = scaled.a;
  if (result.method == SvdMethod::lapack || tall.cols() == 0)
    by_lapack(std::move(tall), scaled.exponent, o, g == nullptr ? 1 : std::max(workers.cpus, 1), result);
  else
    by_two_stages<T>(*g, MatrixView<T>(tall).in_tiles(g->runtime(), tall_tile<T>(g->runtime(), tall.shape(), o)),
                     scaled.exponent, o, result);
  if (scaled.transposed) std::swap(result.u, result.v);
  return result;
}

/// Returns the result with vectors in tiles if the options ask for them.
template <class T>
Svd<T> placed(Runtime& runtime, Svd<T> result, const SvdOptions& o) {
  if (o.in_tiles) detail::move_to_tiles(runtime, result);
  return result;
}

}  // namespace

std::span<const Named<SvdMethod>> svd_methods() { return methods; }

std::string to_string(const SvdStatus& status) {
  switch (status.verdict) {
    case SvdStatus::Verdict::ok: return "ok";
    case SvdStatus::Verdict::not_finite:
      if (status.row < 0) return "not finite: column " + std::to_string(status.column + 1) + " of A";
      return "not finite: A(" + std::to_string(status.row + 1) + ", " + std::to_string(status.column + 1) + ")";
    case SvdStatus::Verdict::not_converged: return "not converged: " + std::to_string(status.row);
    case SvdStatus::Verdict::overflow: return "overflow: a singular value is larger than the largest number";
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
  Runtime& runtime = g.runtime();
  if (runs_on_gpus<T>(runtime, {A.m(), A.n()}, options)) return placed(runtime, by_gpus(g, A, options), options);
  const auto on_host = [&](const MatrixView<const T>& a) {
    return placed(runtime, decompose<T>(&g, workers_for<T>(runtime), a, options), options);
  };
  if (A.mt() == 1 && A.nt() == 1) {
    const auto a = A(0, 0).read();
    return on_host(MatrixView<const T>(a.data, {a.rows, a.cols}, a.ld));
  }
  HostMatrix<T> a = A.to_host();
  return on_host(MatrixView<T>(a));
}

template <class T>
Svd<T> svd(Graph& g, MatrixView<T> a, const SvdOptions& options) {
  check(a.shape(), options);
  Runtime& runtime = g.runtime();
  if (a.device >= 0) return svd(g, a.in_one_tile(runtime), options);
  if (!runs_on_gpus<T>(runtime, a.shape(), options))
    return placed(runtime, decompose<T>(&g, workers_for<T>(runtime), a, options), options);
  TileShape tile = tall_tile<T>(runtime, {std::max(a.rows, a.cols), std::min(a.rows, a.cols)}, options);
  if (a.rows < a.cols) std::swap(tile.mb, tile.nb);
  return svd(g, a.in_tiles(runtime, tile), options);
}

template <class T>
Svd<T> svd(Runtime& runtime, MatrixView<T> a, const SvdOptions& options) {
  check(a.shape(), options);
  const double products =
      static_cast<double>(std::max(a.rows, a.cols)) * static_cast<double>(a.rows) * static_cast<double>(a.cols);
  if (options.method == SvdMethod::automatic && runs_here(runtime, products, largest_factored_here, a))
    return placed(runtime, decompose<T>(nullptr, runtime, a, options), options);
  Graph g(runtime);
  return svd(g, a, options);
}

#define TESELA_INSTANTIATE(T)                                      \
  template Svd<T> svd(Runtime&, MatrixView<T>, const SvdOptions&); \
  template Svd<T> svd(Graph&, MatrixView<T>, const SvdOptions&);   \
  template Svd<T> svd(Graph&, const TileMatrix<T>&, const SvdOptions&);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
