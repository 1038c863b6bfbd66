#include "tools/app/arguments.hpp"
#include "tools/app/choices.hpp"
#include "tools/app/command.hpp"
#include "tools/app/help.hpp"
#include "tools/app/matrix_outputs.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/app/standard_streams.hpp"
#include "tools/commands/eigen/eig_parts.hpp"
#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/algorithms/eigen/tridiagonal_eig.hpp>
#include <tesela/runtime/paused_workers.hpp>
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tesela::cli {

SymmetricEigOptions EigOptions::eig() const {
  SymmetricEigOptions options{.method = find_named(eig_methods(), method).value_or(EigMethod::automatic),
                              .vectors = vectors,
                              .band = band,
                              .block = block};
  std::tie(options.low, options.high) = selection.interval();
  return options;
}

namespace {

/// Returns whether the memory plan of this problem is known: it is for one dense matrix.
bool planned(const EigOptions& o) { return !o.input.tridiagonal() && !o.input.generalized() && o.method != "cusolver"; }

void require_valid(const EigOptions& o, const std::optional<IndexRange>& positions) {
  const auto refuse = [](const char* option, const char* why) { throw ArgumentError("eig", option, why); };
  if (o.common.complex()) {
    require(find_named(eig_methods(), o.method).has_value(), "eig", "--method", o.method,
            " has no complex numbers: use auto");
    require(o.input.diagonal.empty(), "eig", "--precision", o.common.precision, ": --diagonal has no complex numbers");
    require_holds_numbers("eig", o.common, {{"--out-vectors", &o.vectors_out}});
  }
  if (o.certify > 0 && (positions || !o.selection.range.empty() || !o.check))
    refuse("--certify", "needs the whole spectrum, and no --no-check");
  const bool library = o.method == "cusolver";
  if (library && o.plan.only)
    refuse("--plan", "what cuSOLVER takes is known to itself; two-stage and lapack have plans");
  if (library && o.input.generalized()) refuse("--method", "cusolver is not there for generalized problems");
  o.iteration.require_valid(o.method, o.input);
  if (library && o.common.records())
    refuse(o.common.trace_dir.empty() ? "--report" : "--trace", "records tasks, and --method cusolver has none");
}

/// Throws EnvironmentError unless a problem without a plan for its workers fits into memory.
template <class T>
void require_memory_of(const EigOptions& o, bool dense, const EigProblem<T>& problem) {
  const auto order = static_cast<double>(o.input.n), columns = static_cast<double>(problem.wanted());
  const double vectors = o.vectors ? 2 * order * columns * sizeof(T) : 0;  // in tiles, and for the checks
  if (!dense) {
    const MemoryPlan plan = plan_tridiagonal_eig({1, 0}, o.input.n, sizeof(T), problem.options);
    return require_memory("eig", "the tridiagonal problem and its eigenvectors", plan.peak(MemoryPlan::host) + vectors);
  }
  double pair = 0;  // additional bytes of a generalized problem, or of its later proof in double precision
  if (o.input.generalized()) {
    pair = 4 * order * order * sizeof(T);
    if (o.certify > 0 || !o.selection.range.empty())
      pair = std::max(pair, (o.input.kind == "1" ? 3 : 6) * order * order * sizeof(with_parts<T, double>));
  }
  require_memory("eig", "A, its copy and the eigenvectors with what makes them",
                 (o.vectors ? 4.5 : 2) * order * order * sizeof(T) + vectors + pair);
}

/// Loads and solves the problem by one row of the table, and proves the result by inertias.
template <class T>
EigFound<T> solve(const EigOptions& o, bool dense, EigProblem<T>& problem, EigProof& proof, Report& report) {
  const auto method = find_method(eig_table<T>(EigRows::command), o.method);
  const auto proved = [&](Runtime& runtime, const EigFound<T>& found) {
    if (o.check) proof = prove(runtime, problem, o.selection, o.certify, found.eig);
  };
  if (method.library()) {  // which needs the cores and the device's memory that a Runtime would occupy
    problem.load(dense);
    EigFound<T> found =
        solve_by_library(o.common, report, method, problem, eig_flops(problem.n(), o.vectors, problem.n()));
    if (o.certify == 0 && o.selection.range.empty()) return found;
    Runtime runtime(o.common.runtime());
    proved(runtime, found);
    return found;
  }
  Runtime runtime(o.common.runtime());
  problem.runtime = &runtime;
  std::optional<MemoryPlan> plan;
  if (planned(o)) {
    const auto order = static_cast<double>(problem.n());
    const WorkerCounts workers = workers_for<T>(runtime);
    plan = eig_command_plan(workers, problem.n(), sizeof(T), problem.options);
    require_fit("eig", *plan, o.plan.room(runtime));
    require_memory("eig", "A and its copy", 2 * order * order * sizeof(T));
  }
  const MemoryMeter meter;
  {
    const PausedWorkers paused;
    problem.load(dense);
  }
  EigFound<T> found;
  {
    const Solver<EigFound<T>> solver = method.solver(problem);
    run_timed(o.common, runtime, report, solver);
    found = solver.result();
  }
  problem.work = HostMatrix<T>();
  problem.work_b = HostMatrix<T>();
  proved(runtime, found);
  if (plan) meter.measure(*plan, runtime, report);
  return found;
}

/// Reports the number of found eigenvalues, and fails unless it agrees with the expected number or the inertias.
void report_proof(const EigOptions& o, index_t found, std::optional<index_t> expected, const EigProof& proof,
                  Report& report) {
  report.check("found", static_cast<double>(found));
  if (!o.selection.range.empty()) expected = proof.expected;
  if (expected) report.check("expected", static_cast<double>(*expected));
  if (proof.doubtful > 0) report.check("doubtful", static_cast<double>(proof.doubtful));
  if (expected) {
    if (std::abs(found - *expected) > proof.doubtful)
      report.fail(fmt::format("{} eigenvalues found of {}", found, *expected));
    if (!proof.counted) report.fail("not counted: no inertia near an end of the range is sure");
  }
  if (o.certify == 0) return;
  const Certificate& certificate = proof.certificate;
  report.check("certified", static_cast<double>(certificate.certified));
  report.check_count("certify_misses", static_cast<double>(certificate.misses), 0);
  if (certificate.doubtful > 0) report.check("doubtful", static_cast<double>(certificate.doubtful));
  if (certificate.certified == 0 && o.input.n > 0) report.fail("not certified: every shift was doubtful");
}

/// Returns the name of the method; of the tridiagonal solver if that is all.
template <class T>
std::string method_in_use(const EigOptions& o, const EigFound<T>& found) {
  if (o.method == "cusolver" || found.facts) return o.method;
  if (!o.input.tridiagonal() || found.eig.method == EigMethod::lapack) return name_of(eig_methods(), found.eig.method);
  const bool merged = found.eig.merges + found.eig.sweeps > 0;
  return name_of(tridiagonal_eig_methods(),
                 merged ? TridiagonalEigMethod::divide_and_conquer : TridiagonalEigMethod::bisection);
}

/// Reports the counts of the tridiagonal solver, or of an iteration.
template <class T>
void report_counts(const EigFound<T>& found, Report& report) {
  const SymmetricEig<T>& eig = found.eig;
  if (const auto& facts = found.facts) {
    report.count("rotations", facts->rotations);
    report.count("deflations", eig.deflated);
    report.count("kernels", facts->kernels);
    report.check("remaining_entries", static_cast<double>(facts->remain));
    report.check("largest_ratio", facts->ratio);
    if (std::isfinite(facts->predicted)) report.check("predicted_iterations", facts->predicted);
  } else {
    report.count("merges", eig.merges);
    report.count("deflated", eig.deflated);
    report.count("sweeps", eig.sweeps);
  }
  report.count("iterations", eig.iterations);
}

template <class T>
void report_errors(const EigOptions& o, EigProblem<T>& problem, const EigFound<T>& found, Report& report) {
  if (const std::string overflow = overflow_of(found.eig.values, std::numeric_limits<real_t<T>>::max());
      !overflow.empty())
    report.fail(overflow);
  const EigErrors errors = eig_errors(problem, found, o.check);
  if (!errors.failure.empty()) report.fail(errors.failure);
  if (errors.condition) report.check("condition", *errors.condition);
  if (errors.sampled) report.check("sampled_vectors", static_cast<double>(*errors.sampled));
  errors.for_each([&](const char* name, const Measured& error) { report.check(name, error); });
}

template <class T>
int run_eig(EigOptions o) {
  Report report("eig", o.common);
  o.input.resolve(1000);
  if (o.method == "auto" && o.band == 0 && o.block == 0 && !is_complex<T>) o.input.find_bands();
  EigProblem<T> problem{.input = o.input, .options = o.eig(), .iteration = o.iteration, .seed = o.common.seed};
  const index_t n = o.input.n;
  problem.options.positions = o.selection.positions(n);
  require_valid(o, problem.options.positions);
  const bool dense = !o.input.tridiagonal() || o.method == "cusolver" || o.method == "lapack";
  if (dense && !o.input.a.empty() && !o.common.quiet) announce_dense_input(o.input.a);
  if (o.plan.only && planned(o)) return run_eig_plan(o, problem.options);
  if (o.plan.only) plan_only("eig", o.common.json_path, o.common.quiet);
  if (!planned(o)) require_memory_of<T>(o, dense, problem);
  report.problem() = o.input.describe(o.common.seed);
  report.problem().update({{"vectors", o.vectors}, {"precision", o.common.precision}});
  for (const auto& [name, text] : {std::pair{"range", o.selection.range}, std::pair{"index", o.selection.index}})
    if (!text.empty()) report.problem()[name] = text;

  EigProof proof;
  const EigFound<T> found = solve(o, dense, problem, proof, report);
  const SymmetricEig<T>& eig = found.eig;
  for (const std::string& note : problem.notes) report.note(note);
  report.problem()["method"] = method_in_use(o, found);
  if (found.facts) o.iteration.describe(*found.facts, report.problem());
  if (eig.half_width > 0) report.problem()["band"] = eig.half_width;
  report_counts(found, report);
  if (!eig.status.ok()) {
    report.fail(to_string(eig.status));
    return report.finish();
  }
  const auto count = static_cast<index_t>(eig.values.size());
  report_proof(o, count, problem.wanted(), proof, report);
  report_errors(o, problem, found, report);
  HostMatrix<real_t<T>> values(count, 1);
  std::ranges::transform(eig.values, values.data(), [](double value) { return static_cast<real_t<T>>(value); });
  write_matrices(report,
                 {{"eigenvalues", o.out, values, OneColumn::vector}, {"eigenvectors", o.vectors_out, found.vectors}});
  return report.finish();
}

/// Adds an output option: one file for one problem, one file for each of --jobs.
void add_results(App& app, const EigOptions& o, const char* option, std::string& path, const char* about) {
  const std::string name = std::string(option).substr(std::string(option).find("--"));
  app.add_option(option, path, about + std::string(" (with --jobs a folder, or a name with {} for the job's name)"))
      ->type_name("FILE")
      ->transform(dash_is("/dev/stdout"));
  declare_outputs(app, Output::matrix, name,
                  [&o, &path, name] { return o.jobs.empty() ? std::vector{path} : job_outputs(name, o.jobs, path); });
}

/// Refuses outputs that would replace an input, also inputs of later --jobs.
void keep_inputs_of(App& app, const EigOptions& o) {
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

/// Excludes options that do not belong together.
void exclude(App& app) {
  const auto each = [&app](const std::vector<const char*>& options, const std::vector<const char*>& others) {
    for (const char* option : options)
      for (const char* other : others) app.get_option(option)->excludes(app.get_option(other));
  };
  each({"--memory"}, {"--diagonal", "--b", "--random-b"});
  each({"--diagonal"}, {"--band", "--block"});
  each({"--batch"},
       {"--jobs",  "--memory",         "--method",  "--factor",   "--stop",    "--shift",   "--deflate",
        "--tol",   "--max-iterations", "--band",    "--block",    "--certify", "--range",   "--positive-diagonal",
        "--index", "--smallest",       "--largest", "--diagonal", "--b",       "--random-b"});
  each({"--jobs"}, {"--plan", "--n", "--a", "--random", "--scale", "--diagonal", "--b", "--random-b", "--certify"});
}

int run(EigOptions o) {
  o.vectors = o.vectors || !o.vectors_out.empty();
  const auto method = find_named(eig_methods(), o.method).value_or(EigMethod::lapack);
  require((o.band == 0 && o.block == 0) || (method != EigMethod::lapack && method != EigMethod::one_task), "eig",
          o.band > 0 ? "--band" : "--block", "belongs to --method two-stage, not to ", o.method);
  require(o.jobs.empty() || find_named(eig_methods(), o.method).has_value(), "eig", "--method", o.method,
          " is not there for --jobs");
  if (!o.jobs.empty()) return run_eig_jobs(o);
  if (o.batch >= 0) return run_eig_batch(std::move(o));
  return run_for_number_type(o, []<class T>(EigOptions& options) { return run_eig<T>(options); });
}

const Command eig_command(
    Command::Group::top, "eig", "eigenvalues and eigenvectors of a symmetric or Hermitian matrix, or of a pair",
    [](App& app) {
      auto o = std::make_shared<EigOptions>();
      o->input.add_to(app);
      choices(eig_table<double>(EigRows::command)).add_option(app, "--method", o->method);
      o->iteration.add_to(app);
      app.add_option("--band", o->band, "half-width of the band between the stages (default: what suits)")->positive();
      app.add_option("--block", o->block, "columns that are gathered before A takes them (default: what suits)")
          ->positive();
      app.add_flag("--vectors", o->vectors, "eigenvectors too, checked");
      o->selection.add_to(app);
      app.add_option("--certify", o->certify,
                     "compare with the inertia of A - sigma I, or A - sigma B, at K random shifts")
          ->positive();
      app.add_flag("!--no-check", o->check, "do not compare with LAPACK's syevd or sygvd (done up to n = 4096)");
      add_input(app, "--jobs", o->jobs, "solve the matrices whose files FILE names, one a line, several at a time");
      add_results(app, *o, "-o,--out", o->out, "write the eigenvalues to FILE (.mtx, .npy, .csv or .txt)");
      add_results(app, *o, "--out-vectors", o->vectors_out, "write the eigenvectors to FILE, a column each");
      keep_inputs_of(app, *o);
      o->plan.add_to(app);
      app.add_option("--batch", o->batch, "K matrices of an order up to 128: seeds from --seed on, or n x Kn in -a")
          ->non_negative()
          ->generates();
      o->common.add_to(app, {.complex = true});
      exclude(app);
      for (const char* rare : {"--random", "--b", "--batch", "--seed"}) app.get_option(rare)->group(more_options);
      app.footer("Example: tesela eig --a A.mtx --smallest 20 --vectors --out-vectors x.npy");
      return std::function<int()>([o] { return run(*o); });
    });

}  // namespace
}  // namespace tesela::cli
