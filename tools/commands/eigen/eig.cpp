#include "tools/app/choices.hpp"
#include "tools/app/command.hpp"
#include "tools/app/matrix_outputs.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/options.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/app/streams.hpp"
#include "tools/checks/eig_error.hpp"
#include "tools/checks/generalized_eig_error.hpp"
#include "tools/commands/eigen/eig_batch.hpp"
#include "tools/commands/eigen/eig_by_iteration.hpp"
#include "tools/commands/eigen/eig_jobs.hpp"
#include "tools/commands/eigen/eig_plan.hpp"
#include "tools/commands/eigen/eig_proof.hpp"
#include "tools/peers/cusolver_symmetric_eig.hpp"
#include "tools/problems/eigen/eig_problem.hpp"
#include <tesela/algorithms/eigen/eig_iteration.hpp>
#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/algorithms/eigen/generalized_eig.hpp>
#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/algorithms/eigen/symmetric_inertia.hpp>
#include <tesela/algorithms/eigen/symmetric_pencil.hpp>
#include <tesela/runtime/paused_workers.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tesela::cli {
namespace {

/// Largest order of a comparison with LAPACK's eigenvalues; beyond it errors are measured on a sample.
constexpr index_t largest_dense = 4096;
constexpr index_t sampled_vectors = 64;

struct Options {
  CommonOptions common;
  EigInput input;
  EigSelection selection;
  PlanOptions plan;
  std::string method = "auto", jobs, out, vectors_out;
  IterationChoice iteration;
  index_t band = 0, block = 0, certify = 0, batch = -1;
  bool vectors = false, check = true;
};

template <class T>
struct Result {
  SymmetricEig<T> eig;
  HostMatrix<T> vectors;
  EigProof proof;
  std::optional<IterationFacts> facts;  ///< of an iteration
};

SymmetricEigOptions options_of(const Options& o) {
  SymmetricEigOptions options{.method = find_named(eig_methods(), o.method).value_or(EigMethod::automatic),
                              .vectors = o.vectors,
                              .positions = o.selection.positions(o.input.n),
                              .band = o.band,
                              .block = o.block};
  std::tie(options.low, options.high) = o.selection.interval();
  return options;
}

/// Returns whether the memory plan of this problem is known: it is for one dense matrix.
bool planned(const Options& o) { return !o.input.tridiagonal() && !o.input.generalized() && o.method != "cusolver"; }

/// The library's call is timed before a Runtime exists, which would take memory of the device.
template <class T>
Result<T> solve_by_cusolver(const Options& o, const EigProblem<T>& problem, Report& report) {
  Result<T> result;
  Timed runs;
  {
    CusolverSymmetricEig<T> library(problem.a, o.vectors);
    runs = time_library(
        o.common, [&] { library.prepare(); }, [&] { library.solve(); }, {0});
    result.eig = library.result(options_of(o), result.vectors);
  }
  const auto n = static_cast<double>(o.input.n);
  report_library(o.common, report, runs, (o.vectors ? 14.0 : 4.0) / 3 * n * n * n);  // as LAPACK counts
  if (o.certify == 0 && o.selection.range.empty()) return result;
  Runtime runtime(o.common.runtime());
  if (o.check) result.proof = prove(runtime, o.input, problem, o.selection, o.certify, o.common.seed, result.eig);
  return result;
}

template <class T>
Result<T> solve(const Options& o, bool dense, EigProblem<T>& problem, Report& report) {
  const index_t n = o.input.n;
  if (o.method == "cusolver") {
    problem = load<T>(o.input, o.common.seed, dense);
    return solve_by_cusolver(o, problem, report);
  }
  Runtime runtime(o.common.runtime());
  const SymmetricEigOptions options = options_of(o);
  std::optional<MemoryPlan> plan;
  if (planned(o)) {
    plan = eig_command_plan(runtime, n, sizeof(T), options);
    require_fit("eig", *plan, o.plan.room(runtime));
    require_memory("eig", "A and its copy", 2 * static_cast<double>(n) * static_cast<double>(n) * sizeof(T));
  }
  const MemoryMeter meter;
  {
    const PausedWorkers paused;
    problem = load<T>(o.input, o.common.seed, dense);
  }
  Result<T> result;
  const auto timed = [&](const std::function<void()>& prepare, const std::function<SymmetricEig<T>(Graph&)>& find) {
    run_timed(o.common, runtime, report, {prepare, [&](Graph& g, bool) {
                                            result.eig.vectors.reset();
                                            result.eig = find(g);
                                            wait_with_progress(g);
                                            return 0.0;
                                          }});
  };
  const auto iteration = find_named(eig_iterations(), o.method);
  const auto iterate = [&](Graph& g, const auto&... matrix) {
    EigIterationResult<T> found = eig_iteration<T>(g, matrix..., o.iteration.options(*iteration, options));
    result.facts = found;
    return static_cast<SymmetricEig<T>>(std::move(found));
  };
  if (o.input.tridiagonal() && options.method != EigMethod::lapack) {
    timed(nullptr, [&](Graph& g) {
      const std::span<const T> d(problem.d), e(problem.e);
      return iteration ? iterate(g, d, e) : symmetric_eig(g, d, e, options);
    });
  } else if (o.input.generalized()) {
    const index_t ld = std::max<index_t>(n, 1), tile = suitable_generalized_tile(runtime, n);
    HostMatrix<T> lost_a(n, n), lost_b(n, n);
    const auto A = TileMatrix<T>::map(runtime, lost_a.data(), n, n, ld, {tile, tile}, "A"),
               B = TileMatrix<T>::map(runtime, lost_b.data(), n, n, ld, {tile, tile}, "B");
    const auto prepare = [&] {
      A.copy_from(problem.a.data(), ld);
      B.copy_from(problem.b.data(), ld);
    };
    timed(prepare, [&](Graph& g) {
      return generalized_eig(g, A, B, {*find_named(generalized_kinds(), o.input.kind), options});
    });
  } else {
    const index_t ld = std::max<index_t>(n, 1);
    HostMatrix<T> lost(n, n);
    const auto A = TileMatrix<T>::map(runtime, lost.data(), n, n, ld, {ld, suitable_eig_tile(runtime, n, o.band)}, "A");
    timed([&] { A.copy_from(problem.a.data(), problem.a.ld()); },
          [&](Graph& g) { return iteration ? iterate(g, A) : symmetric_eig(g, A, options); });
  }
  if (o.check) result.proof = prove(runtime, o.input, problem, o.selection, o.certify, o.common.seed, result.eig);
  if (result.eig.vectors) {
    result.vectors = HostMatrix<T>(n, result.eig.vectors->n());
    if (result.eig.status.ok()) result.eig.vectors->copy_to(result.vectors.data(), result.vectors.ld());
    result.eig.vectors.reset();  // they need the runtime
  }
  if (plan) meter.measure(*plan, runtime, report);
  return result;
}

/// In B's norm; the bounds grow with B's condition.
template <class T>
void report_generalized_errors(const Options& o, const EigProblem<T>& problem, const Result<T>& result,
                               Report& report) {
  const index_t n = o.input.n;
  const SymmetricEig<T>& eig = result.eig;
  const bool sample = n > largest_dense;
  if (sample && o.vectors)
    report.check("sampled_vectors", static_cast<double>(std::min(sampled_vectors, result.vectors.cols())));
  const GeneralizedEigError error = generalized_eig_error(
      *find_named(generalized_kinds(), o.input.kind), problem.a, problem.b, eig.values, result.vectors, eig.first,
      o.check && !sample, sample ? sampled_vectors : result.vectors.cols(), o.common.seed);
  const EigBounds bounds = eig_bounds<T>(n);
  report.check("condition", error.condition);
  const auto refuse = [&](double most, const char* what) {
    if (n > 0 && !(most <= useful_bound))
      report.fail(fmt::format("B is too ill-conditioned: with {:.3g} errors may be {:.2g} times the {}",
                              error.condition, std::min(most, 1.0), what));
  };
  refuse(bounds.value * error.value_growth, "values");
  // The bound of C's vectors, plus the error of B's Cholesky factor.
  const double of_orthogonality = bounds.orthogonality + bounds.value * error.condition;
  if (o.vectors) refuse(std::max(bounds.value * error.residual_growth, of_orthogonality), "vectors");
  if (eig.norm == 0 && error.value.value_or(0) > 0)
    report.fail("underflow: every eigenvalue is less than the smallest number");
  // A value may have lost what is below the smallest number.
  const double rounding = eig.norm > 0 ? std::numeric_limits<double>::denorm_min() / eig.norm : 0;
  if (error.value) report.check("max_error", Measured{*error.value, bounds.value * error.value_growth + rounding});
  if (!o.vectors) return;
  report.check("max_residual", Measured{error.residual, bounds.value * error.residual_growth});
  report.check("orthogonality", Measured{error.orthogonality, of_orthogonality});
}

template <class T>
void report_errors(const Options& o, const EigProblem<T>& problem, const Result<T>& result, Report& report) {
  const index_t n = o.input.n;
  const SymmetricEig<T>& eig = result.eig;
  EigBounds bounds = eig_bounds<T>(n);
  if (result.facts) {
    report.check("remaining", remaining(bounds, eig.iterations, *result.facts));
    bounds = iteration_bounds(bounds, n, eig.iterations, *result.facts);
  }
  if (const std::string overflow = overflow_of(eig.values, std::numeric_limits<T>::max()); !overflow.empty())
    report.fail(overflow);
  if (o.input.generalized()) return report_generalized_errors(o, problem, result, report);
  const bool dense = problem.a.rows() == n;
  const double norm = dense          ? symmetric_norm(problem.a, eig.norm)
                      : eig.norm > 0 ? eig.norm
                                     : 1,
               rounding = static_cast<double>(std::numeric_limits<T>::denorm_min()) / norm;  // of results near zero
  if (o.check && dense && (problem.eigenvalues || n <= largest_dense)) {
    const std::vector<double> known = problem.eigenvalues ? *problem.eigenvalues : reference_eigenvalues(problem.a);
    report.check("max_error", Measured{eigenvalue_error(eig.values, known, eig.first, norm), bounds.value + rounding});
  }
  if (dense && static_cast<index_t>(eig.values.size()) == n)
    report.check("trace_drift", Measured{trace_drift(problem.a, eig.values, norm), trace_bound(bounds, n) + rounding});
  if (result.facts) report.check("frobenius_drift", Measured{result.facts->frobenius_drift, bounds.value});
  if (!o.vectors) return;
  const bool sample = n > largest_dense;
  if (sample) report.check("sampled_vectors", static_cast<double>(std::min(sampled_vectors, result.vectors.cols())));
  const EigError error = eig_error(problem.a, eig.values, result.vectors, norm,
                                   sample ? sampled_vectors : result.vectors.cols(), o.common.seed);
  report.check("max_residual", Measured{error.residual, bounds.value + rounding});
  report.check("orthogonality", Measured{error.orthogonality, bounds.orthogonality});
}

template <class T>
int run_eig(Options o) {
  Report report("eig", o.common);
  o.input.resolve(1000);
  const index_t n = o.input.n;
  o.vectors = o.vectors || !o.vectors_out.empty();
  const auto order = static_cast<double>(n);
  const std::optional<IndexRange> wanted = o.selection.positions(n);
  if (o.certify > 0 && o.input.tridiagonal() && n > largest_dense)
    throw ArgumentError("eig", "--certify", "a tridiagonal matrix of this order is not made dense");
  if (o.certify > 0 && (wanted || !o.selection.range.empty() || !o.check))
    throw ArgumentError("eig", "--certify", "needs the whole spectrum, and no --no-check");
  const bool library = o.method == "cusolver";
  if (library && o.plan.only)
    throw ArgumentError("eig", "--plan", "what cuSOLVER takes is known to itself; two-stage and lapack have plans");
  if (library && o.input.generalized())
    throw ArgumentError("eig", "--method", "cusolver is not there for generalized problems");
  o.iteration.require_valid(o.method, o.input.generalized());
  if (library && !o.common.trace_dir.empty())
    throw ArgumentError("eig", "--trace", "records tasks, and --method cusolver has none");
  if (o.plan.only) return run_eig_plan(o.common, o.plan, n, options_of(o));
  const double columns = wanted ? static_cast<double>(wanted->size()) : order;
  const bool dense = !o.input.tridiagonal() || o.vectors || library || o.method == "lapack" || n <= largest_dense;
  double pair = 0;  // additional bytes of a generalized problem, or of its later proof in double precision
  if (o.input.generalized()) {
    pair = 4 * order * order * sizeof(T);
    if (o.certify > 0 || !o.selection.range.empty())
      pair = std::max(pair, (o.input.kind == "1" ? 3 : 6) * order * order * sizeof(double));
  }
  if (!planned(o))
    require_memory(
        "eig", "A, its copy and the eigenvectors with what makes them",
        ((dense ? 2 * order * order : 10 * order) + (o.vectors ? 2.5 * order * order + 2 * order * columns : 0)) *
                sizeof(T) +
            pair);
  report.problem() = o.input.describe(o.common.seed);
  report.problem().update({{"vectors", o.vectors}, {"precision", o.common.precision}});
  for (const auto& [name, text] : {std::pair{"range", o.selection.range}, std::pair{"index", o.selection.index}})
    if (!text.empty()) report.problem()[name] = text;

  EigProblem<T> problem;
  const Result<T> result = solve(o, dense, problem, report);
  for (const std::string& note : problem.notes) report.note(note);
  const SymmetricEig<T>& eig = result.eig;
  report.problem()["method"] = library || result.facts ? o.method : name_of(eig_methods(), eig.method);
  if (result.facts) o.iteration.describe(*result.facts, report.problem());
  if (eig.half_width > 0) report.problem()["band"] = eig.half_width;
  if (result.facts) {
    report_iteration(*result.facts, eig.deflated, report);
  } else {
    report.count("merges", eig.merges);
    report.count("deflated", eig.deflated);
    report.count("sweeps", eig.sweeps);
  }
  report.count("iterations", eig.iterations);
  if (!eig.status.ok()) {
    report.fail(to_string(eig.status));
    return report.finish();
  }
  const auto found = static_cast<index_t>(eig.values.size());
  report.check("found", static_cast<double>(found));
  const std::optional<index_t> expected =
      o.selection.range.empty() ? std::optional(wanted ? wanted->size() : n) : result.proof.expected;
  if (expected) {
    report.check("expected", static_cast<double>(*expected));
    if (result.proof.doubtful > 0) report.check("doubtful", static_cast<double>(result.proof.doubtful));
    if (std::abs(found - *expected) > result.proof.doubtful)
      report.fail(fmt::format("{} eigenvalues found of {}", found, *expected));
    if (!result.proof.counted) report.fail("not counted: no inertia near an end of the range is sure");
  }
  if (o.certify > 0) {
    const Certificate& certificate = result.proof.certificate;
    report.check("certified", static_cast<double>(certificate.certified));
    report.check_count("certify_misses", static_cast<double>(certificate.misses), 0);
    if (certificate.doubtful > 0) report.check("doubtful", static_cast<double>(certificate.doubtful));
    if (certificate.certified == 0 && n > 0) report.fail("not certified: every shift was doubtful");
  }
  report_errors(o, problem, result, report);
  HostMatrix<double> values(found, 1);
  std::copy(eig.values.begin(), eig.values.end(), values.data());
  write_matrices(report, {{"eigenvalues", o.out, values}, {"eigenvectors", o.vectors_out, result.vectors}});
  return report.finish();
}

/// Adds an output option: one file for one problem, one file for each of --jobs.
void add_results(CLI::App& app, const Options& o, const char* option, std::string& path, const char* about) {
  const std::string name = std::string(option).substr(std::string(option).find("--"));
  app.add_option(option, path, about + std::string("; with --jobs a folder, or a name with {} for the job's name"))
      ->type_name("FILE")
      ->transform(dash_is("/dev/stdout"));
  declare_outputs(app, Output::matrix, name,
                  [&o, &path, name] { return o.jobs.empty() ? std::vector{path} : job_outputs(name, o.jobs, path); });
}

/// Refuses outputs that would replace an input, also inputs of later --jobs.
void keep_inputs_of(CLI::App& app, const Options& o) {
  const auto keep = [&app](const std::string& option, const std::string& path) {
    protect_inputs(app, option, [&path] { return std::vector{path}; });
  };
  keep("--a", o.input.a);
  keep("--b", o.input.b);
  keep("--diagonal", o.input.diagonal);
  keep("--off-diagonal", o.input.off_diagonal);
  keep("--jobs", o.jobs);
  protect_inputs(app, "--random", [&o] { return std::vector{parse_symmetric_kind(o.input.random).file}; });
  protect_inputs(app, "--jobs", [&o] { return o.jobs.empty() ? std::vector<std::string>() : job_inputs(o.jobs); });
}

const Command eig_command(
    Command::Group::top, "eig", "eigenvalues and eigenvectors of a symmetric matrix or pair", [](CLI::App& app) {
      auto o = std::make_shared<Options>();
      o->input.add_to(app);
      Choices()
          .add(eig_methods())
          .add("cusolver", "the library's syevd on a GPU, transfers timed")
          .add(eig_iterations())
          .add_option(app, "--method", o->method);
      o->iteration.add_to(app);
      app.add_option("--band", o->band, "half-width of the band between the stages (default: what suits)")
          ->transform(cli::positive());
      app.add_option("--block", o->block, "columns that are gathered before A takes them (default: what suits)")
          ->transform(cli::positive());
      app.add_flag("--vectors", o->vectors, "eigenvectors too, checked");
      o->selection.add_to(app);
      app.add_option("--certify", o->certify,
                     "compare with the inertia of A - sigma I, or A - sigma B, at K random shifts")
          ->transform(cli::positive());
      app.add_flag("!--no-check", o->check, "do not compare with LAPACK's syevd or sygvd (done up to n = 4096)");
      add_input(app, "--jobs", o->jobs, "solve the matrices whose files FILE names, one a line, several at a time");
      add_results(app, *o, "-o,--out", o->out, "write the eigenvalues to FILE (.mtx or .npy)");
      add_results(app, *o, "--out-vectors", o->vectors_out, "write the eigenvectors to FILE, a column each");
      keep_inputs_of(app, *o);
      o->plan.add_to(app);
      for (const char* other : {"--diagonal", "--b", "--random-b"})
        for (const char* planned_alone : {"--plan", "--memory"})
          app.get_option(planned_alone)->excludes(app.get_option(other));
      auto* batch =
          app.add_option("--batch", o->batch, "K matrices of an order up to 128: seeds from --seed on, or n x Kn in -a")
              ->transform(cli::non_negative());
      for (const char* dense : {"--band", "--block"}) app.get_option("--diagonal")->excludes(app.get_option(dense));
      for (const char* alone : {"--jobs",
                                "--plan",
                                "--memory",
                                "--method",
                                "--factor",
                                "--stop",
                                "--shift",
                                "--deflate",
                                "--tol",
                                "--max-iterations",
                                "--positive-diagonal",
                                "--band",
                                "--block",
                                "--certify",
                                "--range",
                                "--index",
                                "--smallest",
                                "--largest",
                                "--diagonal",
                                "--b",
                                "--random-b"})
        batch->excludes(app.get_option(alone));
      for (const char* alone :
           {"--plan", "--n", "--a", "--random", "--scale", "--diagonal", "--b", "--random-b", "--certify"})
        app.get_option("--jobs")->excludes(app.get_option(alone));
      o->common.add_to(app);
      app.get_option("--plan")->excludes(app.get_option("--energy"));  // nothing runs
      app.footer(
          "Examples:\n"
          "  tesela eig --n 2000 --vectors --json -\n"
          "  tesela eig --a A.mtx --smallest 20 --vectors --out-vectors x.npy\n"
          "  tesela eig --random geometric:1e6 --n 1000 --method two-stage --trace trace/\n"
          "  tesela eig --a A.mtx --b B.mtx --vectors\n"
          "  tesela eig --n 1000 --random-b geometric:100 --problem 2 --vectors\n"
          "  tesela eig --n 16 --batch 100000 --vectors\n"
          "  tesela eig --random geometric:100 --n 50 --method qr-iteration --vectors\n"
          "  tesela eig --n 20000 --vectors --plan\n"
          "  tesela eig --jobs list.txt --vectors --out values/ --out-vectors x-{}.npy");
      return std::function<int()>([o] {
        if (!o->jobs.empty()) {
          if (o->method == "cusolver") throw ArgumentError("eig", "--method", "cusolver is not there for --jobs");
          EigJobs jobs{o->common, o->input, o->selection, o->plan, {}, o->jobs, o->out, o->vectors_out, o->check};
          jobs.options = {.method = *find_named(eig_methods(), o->method),
                          .vectors = o->vectors || !o->vectors_out.empty(),
                          .band = o->band,
                          .block = o->block};
          return run_eig_jobs(jobs);
        }
        if (o->batch >= 0)
          return run_eig_batch({o->common, o->input, o->batch, o->vectors, o->check, o->out, o->vectors_out});
        return o->common.precision == "s" ? run_eig<float>(*o) : run_eig<double>(*o);
      });
    });

}  // namespace
}  // namespace tesela::cli
