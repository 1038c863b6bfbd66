#include "cli/command.hpp"
#include "cli/report.hpp"
#include "cli/sizes.hpp"
#include "cli/toeplitz_options.hpp"
#include "cli/toeplitz_spectrum_options.hpp"
#include "cli/trace_report.hpp"
#include "codelets/blas.hpp"
#include "codelets/lapack.hpp"
#include "codelets/toeplitz_error.hpp"
#include "tiles/file_formats.hpp"

#include <cmath>
#include <limits>
#include <thread>

namespace tesela::cli {
namespace {

/// Beyond this order `eig` compares with no dense solver.
constexpr index_t largest_dense = 4096;

struct Options {
  CommonOptions common;
  ToeplitzInput input;
  SpectrumSettings settings;
  bool vectors = false, check = true;
  std::string range, out, vectors_out;
  index_t smallest = 0, largest = 0;
};

/// All eigenvalues by LAPACK on every core, in double precision.
template <class T>
std::vector<double> dense_values(const HostMatrix<T>& t) {
  const index_t n = t.rows();
  HostMatrix<double> a(n, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) a(i, j) = static_cast<double>(t(std::abs(i - j), 0));
  std::vector<double> values(static_cast<std::size_t>(n));
  const blas::Threads all(static_cast<int>(std::thread::hardware_concurrency()));
  if (lapack::syevd(n, a.data(), n, values.data(), false) != 0) values.clear();
  return values;
}

/// max |found - right| over the eigenvalues that were asked for, relative to the largest of all.
template <class T>
double largest_error(const Options& o, const SpectrumOptions& s, const std::vector<double>& found,
                     const HostMatrix<T>& t) {
  std::vector<double> right = dense_values(t);
  if (right.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double norm = std::max(std::abs(right.front()), std::abs(right.back()));
  if (o.smallest > 0) right.resize(static_cast<std::size_t>(std::min<index_t>(o.smallest, t.rows())));
  if (o.largest > 0 && o.largest < t.rows()) right.erase(right.begin(), right.end() - o.largest);
  std::erase_if(right, [&](double value) { return value < s.low || value >= s.high; });
  double error = 0;
  if (right.size() != found.size()) {  // some are missing: each is compared with the nearest one
    for (const double value : found) {
      double nearest = std::numeric_limits<double>::infinity();
      for (const double r : right) nearest = std::min(nearest, std::abs(value - r));
      error = std::max(error, nearest);
    }
    return error / norm;
  }
  for (std::size_t i = 0; i < right.size(); ++i) error = std::max(error, std::abs(found[i] - right[i]));
  return error == 0 ? 0 : error / norm;
}

/// ||T||_2 as far as is known: the largest eigenvalue found, or the root mean square of all, if not all were asked for.
template <class T>
double norm_of(const HostMatrix<T>& t, const std::vector<double>& found) {
  double squares = 0, norm = 0;
  const index_t n = t.rows();
  for (index_t k = 0; k < n; ++k)
    squares += (k == 0 ? 1.0 : 2.0) * static_cast<double>(n - k) * std::pow(static_cast<double>(t(k, 0)), 2);
  for (const double value : found) norm = std::max(norm, std::abs(value));
  norm = std::max(norm, std::sqrt(squares / static_cast<double>(n)));
  return norm > 0 ? norm : 1;
}

/// What is wrong with the vectors, each relative: residuals, orthogonality and symmetry.
template <class T>
void check_vectors(const HostMatrix<T>& t, const Spectrum<T>& s, double norm, Report& report) {
  const index_t n = t.rows(), k = static_cast<index_t>(s.values.size());
  double residual = 0, symmetry = 0, orthogonality = 0;
  std::vector<T> y(static_cast<std::size_t>(n));
  for (index_t j = 0; j < k; ++j) {
    const T* const x = &s.vectors[static_cast<std::size_t>(n * j)];
    toeplitz_product(n, t.data(), s.values[static_cast<std::size_t>(j)], 1, x, y.data());
    double odd = 0;
    for (index_t i = 0; i < n; ++i)
      odd += std::pow(
          static_cast<double>(x[n - 1 - i]) - s.symmetry[static_cast<std::size_t>(j)] * static_cast<double>(x[i]), 2);
    residual = std::max(residual, static_cast<double>(blas::nrm2(n, y.data())) / norm);
    symmetry = std::max(symmetry, std::sqrt(odd));
  }
  const blas::Threads all(static_cast<int>(std::thread::hardware_concurrency()));
  constexpr index_t panel = 512;
  HostMatrix<T> products(panel, k);
  for (index_t j = 0; j < k; j += panel) {
    const index_t some = std::min(panel, k - j);
    blas::gemm<T>(Op::transpose, Op::none, some, k, n, 1, &s.vectors[static_cast<std::size_t>(n * j)], n,
                  s.vectors.data(), n, 0, products.data(), products.ld());
    for (index_t c = 0; c < k; ++c)
      for (index_t r = 0; r < some; ++r)
        orthogonality =
            std::max(orthogonality, std::abs(static_cast<double>(products(r, c)) - (j + r == c ? 1.0 : 0.0)));
  }
  report.check("max_residual", residual);
  report.check("orthogonality", orthogonality);
  report.check("symmetry", symmetry);
}

/// Part of the workers' busy time that went to Lanczos steps, which are solves with the shifted matrix.
double time_in_solves(const Statistics& statistics) {
  double steps = 0, all = 0;
  for (const WorkerUse& worker : statistics.workers)
    for (const KernelUse& kernel : worker.kernels) {
      all += kernel.busy_seconds;
      if (kernel.kernel == "lanczos_steps") steps += kernel.busy_seconds;
    }
  return all > 0 ? steps / all : 0;
}

template <class T>
int run_eig(Options o) {
  const Stopwatch whole;
  o.input.settle(2000);
  const index_t n = o.input.n;
  if (n < 1) throw ArgumentError("toeplitz eig", "--n", "a matrix of order 0 has no eigenvalues");
  SpectrumOptions options = o.settings.options(o.common.seed);
  options.vectors = o.vectors || !o.vectors_out.empty();
  options.smallest = o.smallest;
  options.largest = o.largest;
  if (!o.range.empty()) std::tie(options.low, options.high) = parse_range(o.range);
  for (const std::string& file : {o.out, o.vectors_out})
    if (!file.empty()) require_writable(file);
  o.common.require_json_creatable();
  const index_t some = std::max(o.smallest, o.largest);
  const auto columns = static_cast<double>(some > 0 ? std::min(some, n) : n);
  require_memory("toeplitz eig", "t and the eigenvectors",
                 static_cast<double>(n) * (100 + (options.vectors ? columns : 0)) * sizeof(T));
  Report report("toeplitz eig", o.common);
  report.problem() = o.input.describe(o.common.seed);
  report.problem().update(
      {{"vectors", options.vectors}, {"preset", o.settings.preset}, {"precision", o.common.precision}});
  if (!o.range.empty()) report.problem()["range"] = o.range;

  const HostMatrix<T> t = o.input.load<T>(o.common.seed);
  Spectrum<T> s;
  double in_solves = 0;
  {
    Runtime runtime(o.common.runtime());
    std::vector<double> seconds;
    const int warm_up = o.common.repeat > 1 || !o.common.trace_dir.empty() ? 1 : 0;
    for (int run = -warm_up; run < o.common.repeat; ++run) {
      if (run == 0 && !o.common.trace_dir.empty()) runtime.start_trace();
      runtime.reset_statistics();
      const Stopwatch watch;
      Graph g(runtime, {.record = true});
      s = toeplitz_spectrum<T>(g, std::span<const T>(t.data(), static_cast<std::size_t>(n)), options);
      if (run >= 0) seconds.push_back(watch.seconds());
      if (run == o.common.repeat - 1) {
        in_solves = time_in_solves(runtime.statistics());
        report.measured(runtime, g, seconds);
      }
    }
  }
  if (!o.common.trace_dir.empty()) finish_trace(o.common.trace_dir);

  const auto found = static_cast<index_t>(s.values.size());
  const double norm = norm_of(t, s.values);
  double residual = 0;
  for (const double r : s.residuals) residual = std::max(residual, r);
  report.count("intervals", s.intervals);
  report.count("clusters", static_cast<index_t>(s.clusters.size()));
  report.count("shifts_counted", s.counts);
  report.count("shifts_inverted", s.inversions);
  report.count("relaunches", s.relaunches);
  report.count("divisions", s.divisions);
  report.count("solves", s.steps);
  report.check("found", static_cast<double>(found));
  report.check("expected", static_cast<double>(s.expected));
  report.check("mean_attempts",
               s.intervals > 0 ? static_cast<double>(s.inversions) / static_cast<double>(s.intervals) : 0);
  report.check("time_in_solves", in_solves);
  if (o.check && n <= largest_dense) report.check("max_error", largest_error(o, options, s.values, t));
  if (options.vectors)
    check_vectors(t, s, norm, report);
  else
    report.check("max_ritz_residual", residual / norm);

  const bool good = found == s.expected;
  if (!good) {
    std::string said = "shortage: " + std::to_string(s.expected - found) + " of " + std::to_string(s.expected) +
                       " eigenvalues missing";
    for (std::size_t i = 0; i < s.shortages.size() && i < 3; ++i) {
      char text[128];
      std::snprintf(text, sizeof text, "; [%.17g, %.17g) has %ld, found %ld", s.shortages[i].low, s.shortages[i].high,
                    static_cast<long>(s.shortages[i].expected), static_cast<long>(s.shortages[i].found));
      said += text;
    }
    if (s.shortages.size() > 3) said += "; and " + std::to_string(s.shortages.size() - 3) + " intervals more";
    report.fail(said);
  }
  if (!o.out.empty()) {
    HostMatrix<double> values(found, 1);
    std::copy(s.values.begin(), s.values.end(), values.data());
    write_matrix(o.out, values);
  }
  if (!o.vectors_out.empty()) {
    HostMatrix<T> vectors(n, found);
    std::copy(s.vectors.begin(), s.vectors.end(), vectors.data());
    write_matrix(o.vectors_out, vectors);
  }
  report.finish(whole.seconds());
  return good ? done : numerical_failure;
}

const Command eig_command(
    Command::Group::toeplitz, "eig", "all eigenvalues, provably all, and eigenvectors", [](CLI::App& app) {
      auto o = std::make_shared<Options>();
      o->input.add_to(app);
      app.add_flag("--vectors", o->vectors, "eigenvectors too, checked");
      auto* range = app.add_option("--range", o->range, "A,B: only eigenvalues in [A, B)");
      auto* smallest =
          app.add_option("--smallest", o->smallest, "only the K smallest")->check(CLI::PositiveNumber)->excludes(range);
      app.add_option("--largest", o->largest, "only the K largest")
          ->check(CLI::PositiveNumber)
          ->excludes(range)
          ->excludes(smallest);
      o->settings.add_to(app);
      app.add_flag("!--no-check", o->check, "do not compare with LAPACK's syevd (done up to n = 4096)");
      app.add_option("--out", o->out, "write the eigenvalues to FILE (.mtx or .npy)");
      app.add_option("--out-vectors", o->vectors_out, "write the eigenvectors to FILE, a column each");
      o->common.add_to(app);
      app.footer(
          "The spectrum is cut into intervals by counting eigenvalues (inertia); each interval's are found by two-way\n"
          "Lanczos on the inverse, until there are as many as were counted. Examples:\n"
          "  tesela toeplitz eig --n 2000 --seed 1 --json -\n"
          "  tesela toeplitz eig --n 4096 --kind kms:0.9 --smallest 20 --vectors --out-vectors x.npy");
      return std::function<int()>(
          [o] { return o->common.precision == "s" ? run_eig<float>(*o) : run_eig<double>(*o); });
    });

}  // namespace
}  // namespace tesela::cli
