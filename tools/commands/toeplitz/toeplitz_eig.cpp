#include "tools/app/command.hpp"
#include "tools/app/matrix_outputs.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/checks/eig_error.hpp"
#include "tools/checks/toeplitz_spectrum_error.hpp"
#include "tools/problems/toeplitz/toeplitz_options.hpp"
#include "tools/problems/toeplitz/toeplitz_spectrum.hpp"
#include <tesela/algorithms/toeplitz/hermitian_toeplitz_eig.hpp>
#include <tesela/runtime/shortest.hpp>
#include <tesela/tiles/filled.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tesela::cli {
namespace {

/// Beyond these orders `eig` compares with no dense solver: real, and complex ones, which LAPACK does not halve.
constexpr index_t largest_dense = 4096, largest_complex_dense = 2048;

struct Options {
  CommonOptions common;
  ToeplitzInput input;
  SpectrumSettings settings;
  bool vectors = false, check = true;
  std::string range, out, vectors_out;
  index_t smallest = 0, largest = 0;
};

/// The spectrum's own verdict, and what measurements from outside say; each with its limit (docs/toeplitz.md).
template <class T>
void report_errors(const Options& o, const SpectrumOptions& asked, const Spectrum<T>& s, const HostMatrix<T>& t,
                   const HostMatrix<T>& vectors, Report& report) {
  const index_t n = t.rows();
  constexpr auto eps = static_cast<double>(std::numeric_limits<T>::epsilon());
  const auto order = static_cast<double>(n), roundings = std::max(8.0, std::sqrt(order)) * eps;
  const double norm = toeplitz_norm_estimate(n, t.data(), s.values),
               rounding = std::numeric_limits<double>::denorm_min() / norm;  // of values that are nearly zero
  if (std::any_of(s.values.begin(), s.values.end(), [](double value) { return !std::isfinite(value); }))
    return report.fail("overflow: an eigenvalue is larger than the largest number");  // errors are not measured
  report.check("max_ritz_residual", s.residual);
  report.check("error_bound", s.error);
  report.check_count("uncertain", static_cast<double>(s.uncertain), 0);
  if (s.doubtful > 0) {
    report.check("doubtful", static_cast<double>(s.doubtful));
    report.note(fmt::format("{} eigenvalues are within rounding of an end of the range, and may be on either side",
                            s.doubtful));
  }
  if (std::isfinite(asked.low) || std::isfinite(asked.high)) report.check("range_moved", s.moved);
  if (o.check && n <= largest_dense) {
    const bool missing = static_cast<index_t>(s.values.size()) != s.expected;
    const bool some = asked.smallest > 0 || asked.largest > 0;
    const ToeplitzValuesError error = toeplitz_values_error(
        n, t.data(), s.values, s.first, missing, some ? -std::numeric_limits<double>::infinity() : asked.low,
        some ? std::numeric_limits<double>::infinity() : asked.high, 2 * s.resolution);
    report.check("max_error",
                 Measured{error.error, std::min(s.error.bound + order * 2.3e-16 + rounding, useful_bound)});
    if (!some && !missing)
      report.check_count("miscounted", static_cast<double>(error.miscounted), static_cast<double>(s.doubtful));
  }
  if (!asked.vectors) return;
  const ToeplitzSpectrumError error = toeplitz_spectrum_error(n, t.data(), s.values, s.symmetry, vectors.data(), norm);
  report.check("max_residual", Measured{error.residual, std::min(s.residual.bound + rounding, useful_bound)});
  report.check("orthogonality", Measured{error.orthogonality, std::min(5e4 * roundings, useful_bound)});
  report.check("symmetry", Measured{error.symmetry, 100 * eps});
}

/// Completes the report of a matrix of order 0, and writes empty outputs.
template <class T>
int finish_empty(const Options& o, Report& report) {
  Runtime runtime(o.common.runtime());
  run_timed(o.common, runtime, report, {{}, [](Graph&, bool) { return 0.0; }});
  report.check("found", 0);
  report.check("expected", 0);
  const HostMatrix<real_t<T>> values(0, 1);
  const HostMatrix<T> vectors(0, 0);
  write_matrices(report, {{"eigenvalues", o.out, values, OneColumn::vector}, {"eigenvectors", o.vectors_out, vectors}});
  return report.finish();
}

/// Part of the workers' busy time that went to Lanczos steps, which are solves with the shifted matrix.
double time_in_solves(const Statistics& statistics) {
  double steps = 0, all = 0;
  for (const WorkerUse& worker : statistics.workers)
    for (const KernelUse& kernel : worker.kernels) {
      all += kernel.busy_seconds;
      constexpr std::array of_steps{"lanczos_steps",   "levinson_lanczos_steps", "lanczos_product", "lanczos_recent",
                                    "lanczos_project", "lanczos_subtract",       "lanczos_norm"};
      if (std::find(of_steps.begin(), of_steps.end(), kernel.kernel) != of_steps.end()) steps += kernel.busy_seconds;
    }
  return all > 0 ? steps / all : 0;
}

template <class T>
int run_eig(Options o) {
  Report report("toeplitz eig", o.common);
  o.input.resolve(2000);
  const index_t n = o.input.n;
  SpectrumOptions options = o.settings.options(o.common.seed);
  options.vectors = o.vectors || !o.vectors_out.empty();
  options.smallest = o.smallest;
  options.largest = o.largest;
  if (!o.range.empty()) std::tie(options.low, options.high) = parse_range("toeplitz eig", o.range);
  const index_t some = std::max(o.smallest, o.largest);
  require(some <= n, "toeplitz eig", o.smallest > 0 ? "--smallest" : "--largest",
          fmt::format("{} eigenvalues of a matrix of order {}", some, n));
  const auto columns = static_cast<double>(some > 0 ? std::min(some, n) : n);
  require_memory("toeplitz eig", "t and the eigenvectors, in both bases and as one",
                 static_cast<double>(n) * (100 + (options.vectors ? 2.5 * columns : 0)) * sizeof(T));
  report.problem() = o.input.describe(o.common.seed);
  report.problem().update(
      {{"vectors", options.vectors}, {"preset", o.settings.preset}, {"precision", o.common.precision}});
  if (!o.range.empty()) report.problem()["range"] = o.range;
  if (n == 0) return finish_empty<T>(o, report);

  const HostMatrix<T> t = o.input.load<T>(o.common.seed);
  Spectrum<T> s;
  HostMatrix<T> vectors;
  double in_solves = 0;
  {
    Runtime runtime(o.common.runtime());
    const std::span<const T> column(t.data(), static_cast<std::size_t>(n));
    run_timed(o.common, runtime, report,
              {{}, [&](Graph& g, bool) { return s = toeplitz_spectrum<T>(g, column, options), 0.0; }});
    in_solves = time_in_solves(runtime.statistics());
    if (options.vectors) {
      vectors = s.vectors->to_host();
      s.vectors.reset();  // they need the runtime
    }
  }

  report.problem()["method"] = s.dense ? "dense" : "lanczos";
  if (!s.dense) report.problem()["lanczos"] = name_of(lanczos_tasks(), s.tasks);
  const auto found = static_cast<index_t>(s.values.size());
  report.count("intervals", s.intervals);
  report.count("clusters", static_cast<index_t>(s.clusters.size()));
  report.count("shifts_counted", s.counts);
  report.count("shifts_inverted", s.inversions);
  report.count("relaunches", s.relaunches);
  report.count("intervals_relaunched", s.relaunched);
  report.count("divisions", s.divisions);
  report.count("solves", s.steps);
  report.check("found", static_cast<double>(found));
  report.check("expected", static_cast<double>(s.expected));
  report.check("mean_attempts",
               s.intervals > 0 ? static_cast<double>(s.inversions) / static_cast<double>(s.intervals) : 0);
  report.check("time_in_solves", in_solves);
  if (found != s.expected) {
    std::string said = found < s.expected
                           ? fmt::format("shortage: {} of {} eigenvalues missing", s.expected - found, s.expected)
                           : fmt::format("surplus: {} eigenvalues found of {}", found, s.expected);
    for (std::size_t i = 0; i < s.shortages.size() && i < 3; ++i) {
      char text[128];
      std::snprintf(text, sizeof text, "; [%.17g, %.17g) has %ld, found %ld", s.shortages[i].low, s.shortages[i].high,
                    static_cast<long>(s.shortages[i].expected), static_cast<long>(s.shortages[i].found));
      said += text;
    }
    if (s.shortages.size() > 3) said += "; and " + std::to_string(s.shortages.size() - 3) + " intervals more";
    report.fail(said);
  }
  report_errors(o, options, s, t, vectors, report);
  HostMatrix<T> values(found, 1);
  std::ranges::transform(s.values, values.data(), [](double value) { return static_cast<T>(value); });
  write_matrices(report, {{"eigenvalues", o.out, values, OneColumn::vector}, {"eigenvectors", o.vectors_out, vectors}});
  return report.finish();
}

/// Reports the number of values that may be on either side of an end of the range.
void report_near_ends(std::span<const double> values, const SymmetricEigOptions& asked, double near, Report& report) {
  if (asked.positions || (std::isinf(asked.low) && std::isinf(asked.high))) return;
  const auto doubtful = values_near_ends(values, {asked.low, asked.high}, near);
  if (doubtful > 0) report.check("doubtful", static_cast<double>(doubtful));
}

/// Reports the errors of a complex matrix's eigenpairs, measured on the dense matrix.
template <class T>
void report_hermitian_errors(const Options& o, const SymmetricEigOptions& asked, const HermitianToeplitzEig<T>& s,
                             const HostMatrix<T>& t, Report& report) {
  constexpr index_t all_vectors = 2048, sampled = 64;
  const index_t n = t.rows(), found = std::ssize(s.values);
  const bool compare = o.check && n <= largest_complex_dense;
  const EigBounds bounds = eig_bounds<T>(n);
  if (!compare && std::isfinite(s.norm)) report_near_ends(s.values, asked, bounds.value * s.norm, report);
  if (!compare && !asked.vectors) return;
  const HostMatrix<T> a =
      filled<T>({n, n}, [&](index_t i, index_t j) { return i >= j ? t(i - j, 0) : conj(t(j - i, 0)); });
  const double norm = symmetric_norm(a, s.norm), rounding = std::numeric_limits<double>::denorm_min() / norm;
  if (found == n)
    report.check("trace_drift", Measured{trace_drift(a, s.values, norm), trace_bound(bounds, n) + rounding});
  if (compare) {
    const std::vector<double> right = reference_eigenvalues(a);
    report.check("max_error", Measured{eigenvalue_error(s.values, right, s.first, norm), bounds.value + rounding});
    // Values within the bound of an end may be on either side.
    const double near = bounds.value * norm;
    const auto least = std::ranges::count_if(right,
                                             [&](double x) { return x >= asked.low + near && x < asked.high - near; }),
               most = std::ranges::count_if(right,
                                            [&](double x) { return x >= asked.low - near && x < asked.high + near; });
    report_near_ends(right, asked, near, report);
    if (!asked.positions)
      report.check_count("miscounted", static_cast<double>(std::max({index_t{0}, least - found, found - most})), 0);
  }
  if (!asked.vectors) return;
  const index_t some = n > all_vectors ? std::min(sampled, found) : found;
  if (some < found) report.check("sampled_vectors", static_cast<double>(some));
  const EigError error = eig_error(a, s.values, s.vectors, norm, some, o.common.seed);
  report.check("max_residual", Measured{error.residual, bounds.value + rounding});
  report.check("orthogonality", Measured{error.orthogonality, bounds.orthogonality});
}

/// Solves a complex Hermitian problem.
template <class T>
int run_hermitian(Options o) {
  Report report("toeplitz eig", o.common);
  o.input.resolve(2000);
  const index_t n = o.input.n, some = std::max(o.smallest, o.largest);
  require(some <= n, "toeplitz eig", o.smallest > 0 ? "--smallest" : "--largest",
          fmt::format("{} eigenvalues of a matrix of order {}", some, n));
  require(o.settings == SpectrumSettings{}, "toeplitz eig", "--precision", o.common.precision,
          ": complex matrices are solved as dense ones, without --method and the other options of the search");
  require_holds_numbers("toeplitz eig", o.common, {{"--out-vectors", &o.vectors_out}});
  SymmetricEigOptions options;
  options.vectors = o.vectors || !o.vectors_out.empty();
  if (some > 0) options.positions = o.smallest > 0 ? IndexRange{0, some} : IndexRange{n - some, n};
  if (!o.range.empty()) std::tie(options.low, options.high) = parse_range("toeplitz eig", o.range);
  const auto order = static_cast<double>(n), columns = static_cast<double>(some > 0 ? some : n);
  require_memory("toeplitz eig", "dense matrices and the eigenvectors",
                 order * (4 * order + (options.vectors ? 4 * columns : 0)) * sizeof(T));
  report.problem() = o.input.describe(o.common.seed);
  report.problem().update({{"vectors", options.vectors}, {"precision", o.common.precision}, {"method", "dense"}});
  if (!o.range.empty()) report.problem()["range"] = o.range;
  if (n == 0) return finish_empty<T>(o, report);

  const HostMatrix<T> t = o.input.load<T>(o.common.seed);
  require(t(0, 0).imag() == 0, "toeplitz eig", "--t", o.input.t, ": t(0) has the imaginary part ",
          shortest(t(0, 0).imag()), "; the matrix must be Hermitian");
  HermitianToeplitzEig<T> s;
  {
    Runtime runtime(o.common.runtime());
    const std::span<const T> column(t.data(), static_cast<std::size_t>(n));
    run_timed(o.common, runtime, report,
              {{}, [&](Graph& g, bool) { return s = hermitian_toeplitz_eig<T>(g, column, options), 0.0; }});
  }
  if (!s.status.ok()) {
    report.fail(to_string(s.status));
    return report.finish();
  }
  report.check("found", static_cast<double>(s.values.size()));
  if (o.range.empty()) report.check("expected", columns);
  report_hermitian_errors(o, options, s, t, report);
  HostMatrix<real_t<T>> values(std::ssize(s.values), 1);
  std::ranges::transform(s.values, values.data(), [](double value) { return static_cast<real_t<T>>(value); });
  write_matrices(report,
                 {{"eigenvalues", o.out, values, OneColumn::vector}, {"eigenvectors", o.vectors_out, s.vectors}});
  return report.finish();
}

const Command eig_command(
    Command::Group::toeplitz, "eig", "all eigenvalues, provably all, and eigenvectors", [](App& app) {
      auto o = std::make_shared<Options>();
      o->input.add_to(app);
      app.add_flag("--vectors", o->vectors, "eigenvectors too, checked");
      auto* range = app.add_option("--range", o->range, "A,B: only eigenvalues in [A, B)");
      auto* smallest = app.add_option("--smallest", o->smallest, "only the K smallest")->positive()->excludes(range);
      app.add_option("--largest", o->largest, "only the K largest")->positive()->excludes(range)->excludes(smallest);
      o->settings.add_to(app);
      app.add_flag("!--no-check", o->check, "do not compare with LAPACK's syevd (done up to n = 4096, complex 2048)");
      add_output(app, Output::matrix, "-o,--out", o->out, "write the eigenvalues to FILE (.mtx, .npy, .csv or .txt)");
      add_output(app, Output::matrix, "--out-vectors", o->vectors_out, "write the eigenvectors to FILE, a column each");
      o->common.add_to(app, {.complex = true});
      app.footer(
          "The spectrum is cut into intervals by counting eigenvalues (inertia); each interval's are found by two-way\n"
          "Lanczos on the inverse, until there are as many as were counted. On cores LAPACK finds small spectra.\n"
          "Complex Hermitian matrices become dense real matrices of the same order. Examples:\n"
          "  tesela toeplitz eig --n 2000 --seed 1 --json -\n"
          "  tesela toeplitz eig --n 4096 --random kms:0.9 --smallest 20 --vectors --out-vectors x.npy");
      return std::function<int()>([o] {
        return run_for_number_type(*o, []<class T>(Options& options) {
          if constexpr (is_complex<T>)
            return run_hermitian<T>(options);
          else
            return run_eig<T>(options);
        });
      });
    });

}  // namespace
}  // namespace tesela::cli
