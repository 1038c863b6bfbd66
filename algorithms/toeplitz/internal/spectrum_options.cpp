#include <tesela/algorithms/support/measured.hpp>
#include <tesela/algorithms/toeplitz/internal/spectrum_options.hpp>
#include <tesela/codelets/toeplitz/lanczos/lanczos.hpp>
#include <tesela/runtime/shortest.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>

namespace tesela::detail {

using namespace kernels;
namespace {

/// Return the numbers of GPUs and cores of all ranks.
index_t all_gpus(const Runtime& runtime) { return static_cast<index_t>(runtime.gpus()) * runtime.ranks(); }
index_t all_cpus(const Runtime& runtime) { return static_cast<index_t>(runtime.cpus()) * runtime.ranks(); }

/// Returns the default tolerance of a Ritz value, relative to it.
template <class T>
double usual_tolerance(bool vectors) {
  return std::is_same_v<T, float> ? 2e-6 : vectors ? 1e-14 : 1e-10;
}

/// Returns the number of runs per task on a GPU: as many as are efficient, a multiple of the batch of inverses, few
/// enough for equal shares of several GPUs, and so that three groups (running, in transfer, waiting) fit into a GPU's
/// memory.
template <class T>
index_t group_for(const Runtime& runtime, index_t n, const SpectrumOptions& o) {
  const index_t capacity = krylov_limit(n, o), batch = cauchy_batch(n);
  const Shape slot = lanczos_slot(n, capacity), work = lanczos_work(n, capacity, 1);
  const double bytes = (3 * static_cast<double>(slot.rows * slot.cols) + static_cast<double>(work.rows)) * sizeof(T),
               room = 0.8 * static_cast<double>(runtime.device_bytes()) / runtime.gpus();
  const double intervals = 1.4 * static_cast<double>(n) / static_cast<double>(o.per_interval),
               share = all_gpus(runtime) > 1
                           ? std::max(16.0, intervals / (4.0 * static_cast<double>(all_gpus(runtime))))
                           : 64;
  const auto fit = static_cast<index_t>(std::clamp(room / bytes, 1.0, std::min(share, 64.0)));
  return fit > batch ? fit - fit % batch : fit;
}

/// Returns whether all options of the search by Lanczos have their defaults.
bool usual_search(const SpectrumOptions& o) {
  const SpectrumOptions usual;
  const auto choices = [](const SpectrumOptions& c) {
    return std::tie(c.per_interval, c.dk, c.solver, c.counter, c.max_attempts, c.krylov_factor, c.krylov_more,
                    c.tolerance, c.midpoint, c.fixed_start, c.gershgorin, c.divide, c.window, c.group, c.tasks);
  };
  return choices(o) == choices(usual);
}

/// Returns whether LAPACK computes the whole spectrum from the halves faster: measured on two cores (docs/toeplitz.md),
/// the most that it can use. Up to this order a window of Lanczos runs needs about as much memory.
bool dense_is_faster(const Runtime& runtime, index_t n, const SpectrumOptions& o) {
  if (runtime.gpus() > 0 || !usual_search(o)) return false;
  if (std::isfinite(o.low) || std::isfinite(o.high) || o.smallest > 0 || o.largest > 0) return false;
  return n <= 4096 && all_cpus(runtime) <= 2;
}

void check_options(const Runtime& runtime, index_t n, const SpectrumOptions& o) {
  const auto refuse = [](const char* what, const std::string& value) {
    throw ArgumentError("toeplitz_spectrum", what, value);
  };
  if (n < 1) refuse("t", "a matrix of order 0 has no eigenvalues");
  if (o.dk < 1 || o.per_interval < 0 || o.max_attempts < 1 || o.window < 0 || o.group < 0 || o.krylov_more < 0 ||
      !(o.krylov_factor > 0) || !(o.tolerance >= 0))
    refuse("options", "dk, max_attempts and krylov_factor must be positive, the others must not be negative");
  if (o.smallest < 0 || o.largest < 0 || (o.smallest > 0 && o.largest > 0))
    refuse("smallest, largest", "at most one may be given, and none may be negative");
  if ((o.smallest > 0 || o.largest > 0) && (std::isfinite(o.low) || std::isfinite(o.high)))
    refuse("range", "must not be given with smallest or largest");
  if (o.method == SpectrumMethod::dense && !usual_search(o))
    refuse("method", "dense has no options for intervals, shifts or Lanczos steps");
  if (o.tasks == LanczosTasks::tiles && o.solver == ToeplitzSolver::levinson)
    refuse("tasks", "the steps of Levinson's recursion are not tasks on tiles");
  if (o.tasks == LanczosTasks::tiles && runtime.ranks() > 1) refuse("tasks", "tiles of a basis need one process");
  if (!(o.low < o.high)) refuse("range", "[" + shortest(o.low) + ", " + shortest(o.high) + ")");
}

}  // namespace

template <class T>
SpectrumOptions resolved_options(const Runtime& runtime, index_t n, SpectrumOptions o) {
  check_options(runtime, n, o);
  if (o.method == SpectrumMethod::automatic)
    o.method = dense_is_faster(runtime, n, o) ? SpectrumMethod::dense : SpectrumMethod::lanczos;
  const bool gpu = runtime.gpus() > 0;
  if (o.per_interval == 0)
    o.per_interval = gpu ? (n < 24000 ? 64 : 128) : n < 1200 ? 64 : n < 6000 ? 112 : 160;  // measured: docs/toeplitz.md
  o.per_interval = std::min(o.per_interval, n);
  o.dk = std::min(o.dk, n);
  if (o.tolerance == 0) o.tolerance = usual_tolerance<T>(refined(o));
  if (o.group == 0) o.group = gpu ? group_for<T>(runtime, n, o) : 1;
  o.group = std::min<index_t>(o.group, most_side_by_side);
  if (o.window == 0) o.window = gpu ? 3 * o.group * all_gpus(runtime) : 2 * std::max<index_t>(1, all_cpus(runtime)) + 2;
  o.window = std::min(o.window, n);  // not more intervals than eigenvalues
  return o;
}

index_t krylov_limit(index_t n, const SpectrumOptions& options) {
  const index_t whole_space = cauchy_rows(n, 0) + 1;
  const double steps = std::floor(options.krylov_factor * static_cast<double>(options.per_interval)) +
                       static_cast<double>(options.krylov_more);
  return std::max<index_t>(2, steps < static_cast<double>(whole_space) ? static_cast<index_t>(steps) : whole_space);
}

template <class T>
SpectrumBounds spectrum_bounds(index_t n, const SpectrumOptions& options) {
  const double roundings = std::max(8.0, std::sqrt(static_cast<double>(n))) * std::numeric_limits<T>::epsilon();
  const double usual = usual_tolerance<T>(refined(options));
  // A pair of the inverse with residual `tolerance` is a pair of C with residual tolerance ||C - sigma I||, at most
  // twice ||C||.
  const double asked = options.tolerance > usual ? 4 * options.tolerance : 0;
  const double residual = std::is_same_v<T, float> ? 400 * roundings : 100 * usual;
  return {std::min(std::max(residual, asked), useful_bound), std::min(std::max(100 * roundings, asked), useful_bound)};
}

TESELA_FUNCTIONS_FOR_REALS(resolved_options, spectrum_bounds)

}  // namespace tesela::detail
