#include <tesela/algorithms/eigen/internal/eigen_columns.hpp>
#include <tesela/algorithms/eigen/internal/scan.hpp>
#include <tesela/algorithms/eigen/internal/selection.hpp>
#include <tesela/algorithms/eigen/internal/two_stage.hpp>
#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/algorithms/eigen/symmetric_eig_plan.hpp>
#include <tesela/algorithms/support/calling_thread.hpp>
#include <tesela/algorithms/support/internal/real_diagonal.hpp>
#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/codelets/eigen/symmetric_scan.hpp>
#include <tesela/codelets/eigen/tridiagonal/steqr.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/codelets/support/tile_kernels.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace tesela {

using namespace kernels;
namespace {

constexpr std::array methods{
    Named<EigMethod>{EigMethod::automatic, "auto", "the faster method on this machine"},
    Named<EigMethod>{EigMethod::two_stage, "two-stage", "to a band, to tridiagonal form, and back, as a graph"},
    Named<EigMethod>{EigMethod::one_stage, "one-stage", "directly to tridiagonal form"},
    Named<EigMethod>{EigMethod::lapack, "lapack", "syevd on all cores"},
    Named<EigMethod>{EigMethod::one_task, "one-task", "syevd on one core, or one GPU"},
};

[[noreturn]] void refuse(const char* argument, const std::string& why) {
  throw ArgumentError("symmetric_eig", argument, why);
}

void check(index_t n, const SymmetricEigOptions& o) {
  detail::require_selection("symmetric_eig", n, o);
  if (o.band < 0) refuse("band", std::to_string(o.band));
  if (o.band > 1 && o.method == EigMethod::one_stage)
    refuse("band", std::to_string(o.band) + "; the method one-stage has no band");
  if (o.block < 0) refuse("block", std::to_string(o.block));
}

template <class T>
void by_lapack(Graph& g, const TileMatrix<T>& A, int exponent, const SymmetricEigOptions& o, SymmetricEig<T>& result) {
  const index_t n = A.n();
  HostMatrix<T> a = A.to_host();
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < j; ++i) a(i, j) = conj(a(j, i));
  std::vector<real_t<T>> values(static_cast<std::size_t>(n));
  {
    const blas::Threads threads(blas::threads_for(n, std::max(1, g.runtime().cpus())));
    const int info = lapack::syevd(n, a.data(), a.ld(), values.data(), o.vectors);
    if (info != 0) {
      result.status = {SymmetricEigStatus::Verdict::not_converged, info, info};
      return;
    }
  }
  const IndexRange range = detail::select(result, values, exponent, o);
  if (!o.vectors) return;
  result.vectors.emplace(g.runtime(), n, range.size(), TileShape{std::max<index_t>(n, 1), A.tile_shape().nb}, "X");
  result.vectors->copy_from(a.data() + range.begin * a.ld(), a.ld());
}

template <class T>
TileMatrix<T> copy(Graph& g, const TileMatrix<T>& A) {
  TileMatrix<T> kept(g.runtime(), A.m(), A.n(), A.tile_shape(), "A kept");
  for (index_t j = 0; j < A.nt(); ++j)
    g.insert<CopyBlock<T, Out>>(on_gpu, {.rows = A(0, j).rows(), .columns = A(0, j).cols()}, A(0, j), kept(0, j));
  return kept;
}

/// Returns the largest element of I - X^H X.
template <class T>
double largest_overlap(Graph& g, const Tile<T>& x) {
  const index_t n = x.cols();
  const auto gram = detail::one_tile<T>(g.runtime(), n, n, "I - X^H X");
  const auto found = detail::one_tile<double>(g.runtime(), 1, 1, "found");
  g.insert<Laset<T>>(on_gpu, {T(1), 0}, gram(0, 0));
  g.insert<Gemm<T>>(on_gpu, {.op_a = adjoint<T>, .alpha = T(-1), .beta = T(1)}, x, x, gram(0, 0));
  g.insert<LargestElement<T>>(on_gpu, {}, gram(0, 0), found(0, 0));
  return *found(0, 0).read().data;
}

/// Returns false if the result of a GPU's library is not reliable. cuSOLVER 13.0 in single precision loses the
/// orthogonality of graded matrices' vectors, may return values that differ only by rounding in any order, and does not
/// converge for some complex graded matrices.
template <class T>
bool solve_in_one_task(Graph& g, const TileMatrix<T>& A, int exponent, const SymmetricEigOptions& o,
                       SymmetricEig<T>& result) {
  const index_t n = A.n();
  Runtime& runtime = g.runtime();
  const bool gpu = runtime.gpus() > 0;
  std::vector<real_t<T>> values(static_cast<std::size_t>(n));
  std::optional<TileMatrix<T>> whole;  // if A has several tiles
  if (A.nt() > 1) {
    whole = detail::one_tile<T>(runtime, n, n, "A");
    const auto block = (*whole)(0, 0).write();
    A.copy_to(block.data, block.ld);
  }
  const TileMatrix<T>& one = whole ? *whole : A;
  if (n > 0) {
    const auto w = detail::one_tile<real_t<T>>(runtime, n, 1, "values");
    const index_t work = syevd_work<T>(gpu, n, o.vectors);
    const auto info = detail::one_tile<int>(runtime, 1, 1, "info");
    *info(0, 0).write().data = 0;
    g.insert<Syevd<T>>(on_gpu, {o.vectors}, one(0, 0), w(0, 0), g.scratch<T>(work, 1), info(0, 0));
    if (const int failed = *info(0, 0).read().data; failed != 0) {
      if (gpu) return false;
      result.status = {SymmetricEigStatus::Verdict::not_converged, failed, failed};
      return true;
    }
    w.copy_to(values.data(), n);
  }
  if (!o.vectors) std::sort(values.begin(), values.end());
  if (gpu && o.vectors && n > 0) {
    const double most =
        16 * std::sqrt(static_cast<double>(n)) * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
    if (!std::is_sorted(values.begin(), values.end()) || !(largest_overlap(g, one(0, 0)) <= most)) return false;
  }
  const IndexRange range = detail::select(result, values, exponent, o);
  if (!o.vectors) return true;
  result.vectors.emplace(runtime, n, range.size(), TileShape{std::max<index_t>(n, 1), std::max<index_t>(n, 1)}, "X");
  if (n > 0 && range.size() > 0)
    g.insert<CopyBlock<T, Out>>(on_gpu, {.a_column = range.begin, .rows = n, .columns = range.size()}, one(0, 0),
                                (*result.vectors)(0, 0));
  return true;
}

/// Returns the largest number of columns for a tile of n rows: a tile has less than 2^32 elements.
index_t most_columns(index_t n) {
  constexpr index_t elements = (index_t{1} << 32) - 1;
  return elements / std::max<index_t>(n, 1);
}

/// Throws EnvironmentError for a task that exceeds the memory of each GPU, which would wait forever. The caller has
/// checked the host's memory.
void require_gpu_memory(const Runtime& runtime, index_t n, const MemoryPlan& plan) {
  const MemoryRoom room{std::numeric_limits<double>::infinity(),
                        static_cast<double>(runtime.device_bytes()) / runtime.gpus()};
  if (const std::string why = misfit(plan, room); !why.empty())
    throw EnvironmentError("symmetric_eig: order " + std::to_string(n) + ": " + why);
}

/// Copies the counts of the tridiagonal solver. Returns whether it failed, after setting the status.
template <class T>
bool failed(const TridiagonalEigResult<real_t<T>>& found, SymmetricEig<T>& result) {
  result.iterations = found.iterations, result.sweeps = found.sweeps;
  result.deflated = found.deflated, result.merges = found.merges;
  if (!found.status.ok())
    result.status = {SymmetricEigStatus::Verdict::not_converged, found.status.where, found.status.where};
  return !found.status.ok();
}

template <class T>
void by_two_stages(Graph& g, TwoStage<T> stages, int exponent, const SymmetricEigOptions& o, SymmetricEig<T>& result) {
  const index_t n = stages.n();
  result.half_width = stages.half_width();
  const bool all = !o.positions && std::isinf(o.low) && std::isinf(o.high);
  IndexRange range{0, n};
  if (!o.vectors || !all) {
    const TridiagonalEigResult<real_t<T>> found = stages.eigenvalues();
    if (failed(found, result)) return;
    range = detail::select(result, found.values, exponent, o);
  }
  if (!o.vectors) return;
  const index_t wide = eigenvectors_tile(workers_for<T>(g.runtime()), n, range.size());
  result.vectors.emplace(g.runtime(), n, range.size(), TileShape{std::max<index_t>(n, 1), wide}, "X");
  const TridiagonalEigResult<real_t<T>> found = stages.eigenvectors(g, *result.vectors, range);
  if (failed(found, result)) return;
  if (all) return static_cast<void>(detail::select(result, found.values, exponent, o));
  // With limits the result keeps the values that were compared with the limits.
  if (std::isfinite(o.low) || std::isfinite(o.high)) return;
  // These values belong to the vectors; they differ from the values above by rounding errors.
  std::transform(found.values.begin(), found.values.end(), result.values.begin(),
                 [&](real_t<T> value) { return std::ldexp(static_cast<double>(value), exponent); });
}

/// Returns the largest norm of a column, which is at least ||T||_2 / sqrt 3.
template <class T>
double largest_column(std::span<const T> d, std::span<const T> e) {
  double most = 0;
  for (std::size_t i = 0; i < d.size(); ++i)
    most = std::max(most, std::hypot(static_cast<double>(d[i]), i > 0 ? static_cast<double>(e[i - 1]) : 0.0,
                                     i < e.size() ? static_cast<double>(e[i]) : 0.0));
  return most;
}

/// Computes the selected eigenpairs of a tridiagonal matrix, which d and e hold times 2^-exponent.
template <class T>
void solve_tridiagonal(Graph& g, std::span<const T> d, std::span<const T> e, int exponent, const SymmetricEigOptions& o,
                       SymmetricEig<T>& result) {
  const auto n = static_cast<index_t>(d.size());
  TridiagonalEigOptions options = detail::scaled_selection(o, exponent);
  options.gpu = g.gpu();
  const IndexRange range = tridiagonal_positions<T>(d, e, options);
  if (o.vectors) {
    const index_t wide = std::max<index_t>(eigenvectors_tile(g.runtime(), n, range.size()), 1);
    result.vectors.emplace(g.runtime(), n, range.size(), TileShape{std::max<index_t>(n, 1), wide}, "X");
  }
  const TridiagonalEigResult<T> found = o.vectors ? tridiagonal_eig<T>(g.runtime(), d, e, *result.vectors, options)
                                                  : tridiagonal_eigenvalues<T>(g.runtime(), d, e, options);
  if (failed(found, result)) return;
  for (const T value : found.values) result.values.push_back(std::ldexp(static_cast<double>(value), exponent));
  detail::move_inside(result.values, o.low, o.high);
  result.first = range.begin;
  result.spectrum = result.values;
  if (!result.values.empty()) result.norm = std::max(std::abs(result.values.front()), std::abs(result.values.back()));
  if (range.size() < n) result.norm = std::max(result.norm, std::ldexp(largest_column(d, e), exponent));
  detail::judge_size(result);
}

template <class T>
SymmetricEig<T> turned(Graph& g, SymmetricEig<T> result) {
  if (result.vectors && result.status.ok())
    result.vectors->for_each_tile(
        [&](const Tile<T>& tile, index_t, index_t) { g.insert<TurnColumns<T>>(on_gpu, {}, tile); });
  return result;
}

}  // namespace

std::span<const Named<EigMethod>> eig_methods() { return methods; }

std::string to_string(const SymmetricEigStatus& status) {
  const auto place = [&](const std::string& name) {
    return name + "(" + std::to_string(status.row + 1) + ", " + std::to_string(status.column + 1) + ")";
  };
  switch (status.verdict) {
    case SymmetricEigStatus::Verdict::ok: return "ok";
    case SymmetricEigStatus::Verdict::not_finite: return "not finite: " + place("A");
    case SymmetricEigStatus::Verdict::not_converged: return "not converged: " + std::to_string(status.row);
    case SymmetricEigStatus::Verdict::overflow: return detail::overflow;
    case SymmetricEigStatus::Verdict::b_not_finite: return "not finite: " + place("B");
    case SymmetricEigStatus::Verdict::b_not_positive_definite:
      return "B is not positive definite: its leading minor of order " + std::to_string(status.row);
    case SymmetricEigStatus::Verdict::reduced_overflow: return "overflow: " + place("C") + " of the reduced problem";
    case SymmetricEigStatus::Verdict::entry_remains: return "not converged: " + place("D") + " remains";
    case SymmetricEigStatus::Verdict::zero_pivot:
      return "zero pivot: row " + std::to_string(status.row + 1) + " of iteration " + std::to_string(status.column + 1);
  }
  return "";
}

TileShape eig_tile(const WorkerCounts& workers, index_t n, const SymmetricEigOptions& options) {
  const index_t rows = std::max<index_t>(n, 1);
  if (options.method == EigMethod::one_task) return {rows, rows};
  // With one GPU, one product with all of A is fastest if one tile can hold A. Several GPUs share A if a panel's
  // product is long enough.
  const bool cut = workers.gpus > 1 ? n >= 16384 : most_columns(n) < n;
  const index_t wide = workers.gpus == 0 ? (n < 1500 ? 128 : 256)
                       : cut             ? 2048
                                         : rows,
                b = std::clamp<index_t>(options.band > 0 ? options.band : band_half_width(workers), 1,
                                        std::max<index_t>(n - 1, 1));
  return {rows, wide < n ? std::max<index_t>(wide / b, 1) * b : ceil_div(wide, b) * b};
}

index_t eigenvectors_tile(const WorkerCounts& workers, index_t n, index_t count) {
  const auto gpus = static_cast<index_t>(workers.gpus);
  if (gpus == 0) return eig_tile(workers, n).nb;
  return std::min(std::max<index_t>(ceil_div(count, 64 * gpus), 1) * 64, most_columns(n) / 64 * 64);
}

template <class T>
SymmetricEig<T> symmetric_eig(Graph& g, const TileMatrix<T>& A, const SymmetricEigOptions& options) {
  check(A.n(), options);
  if (A.m() != A.n() || A.mt() > 1)
    refuse("A", to_string(Shape{A.m(), A.n()}) + "; it must be square, in tiles of whole columns");
  const WorkerCounts workers = workers_for<T>(g.runtime());
  if (workers.gpus > 0)
    require_gpu_memory(g.runtime(), A.n(),
                       plan_symmetric_eig(workers, A.n(), sizeof(T), options, std::min(A.n(), A.tile_shape().nb)));
  SymmetricEig<T> result;
  const detail::Scan found = detail::scan(g, A);
  if (found.row >= 0) {
    result.status = {SymmetricEigStatus::Verdict::not_finite, found.row, found.column};
    return result;
  }
  const int exponent = found.exponent();
  if (exponent != 0)
    A.for_each_tile(
        [&](const Tile<T>& tile, index_t, index_t) { g.insert<ScalePowerOfTwo<T>>(on_gpu, {-exponent}, tile); });
  result.method = eig_method(workers, A.n(), options);
  if (options.method == EigMethod::automatic && result.method == EigMethod::one_stage &&
      (A.nt() > 1 || found.half_width <= band_half_width(workers)))
    result.method = EigMethod::two_stage;
  const auto stages = [&](const TileMatrix<T>& of) {
    const index_t band = result.method == EigMethod::one_stage ? 1 : options.band;
    by_two_stages(
        g,
        TwoStage<T>(g, of,
                    {.band = band, .found = found.half_width, .block = options.block, .vectors = options.vectors}),
        exponent, options, result);
  };
  if (result.method == EigMethod::lapack) {
    by_lapack(g, A, exponent, options, result);
  } else if (result.method == EigMethod::one_task) {
    const std::optional<TileMatrix<T>> kept = workers.gpus > 0 ? std::optional(copy(g, A)) : std::nullopt;
    if (!solve_in_one_task(g, A, exponent, options, result)) {
      result.method = EigMethod::two_stage;
      stages(*kept);
    }
    A.for_each_tile([&](const Tile<T>& tile, index_t, index_t) { g.forget(tile); });
  } else {
    stages(A);
  }
  return turned(g, std::move(result));
}

template <class T>
SymmetricEig<T> symmetric_eig(Graph& g, std::span<const T> d, std::span<const T> e,
                              const SymmetricEigOptions& options) {
  check(static_cast<index_t>(d.size()), options);
  if (options.method == EigMethod::lapack || options.method == EigMethod::one_task)
    refuse("method", name_of(eig_methods(), options.method) + std::string(" does not accept a tridiagonal matrix"));
  if (e.size() + 1 != std::max<std::size_t>(d.size(), 1))
    refuse("e", std::to_string(e.size()) + " off-diagonal elements for a diagonal of " + std::to_string(d.size()));
  require_gpu_memory(g.runtime(), std::ssize(d), plan_tridiagonal_eig(g.runtime(), std::ssize(d), sizeof(T), options));
  SymmetricEig<T> result;
  for (const auto& [numbers, below] : {std::pair{d, 0}, std::pair{e, 1}})
    if (const auto bad = std::find_if(numbers.begin(), numbers.end(), [](T x) { return !std::isfinite(x); });
        bad != numbers.end()) {
      const index_t at = bad - numbers.begin();
      result.status = {SymmetricEigStatus::Verdict::not_finite, at + below, at};
      return result;
    }
  result.method = EigMethod::two_stage;
  T largest = 0;
  for (const std::span<const T> numbers : {d, e})
    for (const T x : numbers) largest = std::max(largest, std::abs(x));
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;
  const auto scaled = [&](std::span<const T> numbers) {
    std::vector<T> less(numbers.begin(), numbers.end());
    for (T& x : less) x = std::ldexp(x, -exponent);
    return less;
  };
  const std::vector<T> diagonal = scaled(d), beside = scaled(e);
  solve_tridiagonal<T>(g, diagonal, beside, exponent, options, result);
  return turned(g, std::move(result));
}

namespace {

/// Solves by LAPACK on the calling thread.
template <class T>
SymmetricEig<T> solve_here(Runtime& runtime, const MatrixView<T>& a, const SymmetricEigOptions& o) {
  const index_t n = a.rows;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < j; ++i) a.data[i + j * a.ld] = conj(a.data[j + i * a.ld]);
  SymmetricEig<T> result;
  result.method = EigMethod::lapack;
  std::vector<real_t<T>> values(static_cast<std::size_t>(n));
  if (const int info = lapack::syevd(n, a.data, a.ld, values.data(), o.vectors); info != 0) {
    result.status = {SymmetricEigStatus::Verdict::not_converged, info, info};
    return result;
  }
  const IndexRange range = detail::select(result, values, 0, o);
  if (!o.vectors) return result;
  TurnColumns<T>::cpu({}, {{a.data + range.begin * a.ld, n, range.size(), a.ld}});
  result.vectors.emplace(runtime, n, range.size(), TileShape{n, n}, "X");
  result.vectors->copy_from(a.data + range.begin * a.ld, a.ld);
  return result;
}

}  // namespace

template <class T>
SymmetricEig<T> symmetric_eig(Runtime& runtime, MatrixView<T> a, const SymmetricEigOptions& options) {
  if constexpr (is_complex<T>) detail::require_real("symmetric_eig", detail::diagonal_of(a));
  const double products = static_cast<double>(a.rows) * static_cast<double>(a.rows) * static_cast<double>(a.rows);
  if (options.method == EigMethod::automatic && a.rows == a.cols &&
      runs_here(runtime, products, largest_factored_here, a) && has_moderate_size(a, true)) {
    check(a.rows, options);
    return solve_here(runtime, a, options);
  }
  const auto A = a.in_tiles(runtime, eig_tile(workers_for<T>(runtime), a.cols, options));
  Graph g(runtime);
  SymmetricEig<T> result = symmetric_eig(g, A, options);
  g.wait();
  return result;
}

#define TESELA_INSTANTIATE(T)                                                                  \
  template SymmetricEig<T> symmetric_eig(Runtime&, MatrixView<T>, const SymmetricEigOptions&); \
  template SymmetricEig<T> symmetric_eig(Graph&, const TileMatrix<T>&, const SymmetricEigOptions&);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)
template SymmetricEig<float> symmetric_eig(Graph&, std::span<const float>, std::span<const float>,
                                           const SymmetricEigOptions&);
template SymmetricEig<double> symmetric_eig(Graph&, std::span<const double>, std::span<const double>,
                                            const SymmetricEigOptions&);

}  // namespace tesela
