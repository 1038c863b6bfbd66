#include "tools/app/numbers.hpp"
#include "tools/bench/harness/published.hpp"
#include "tools/bench/harness/report.hpp"
#include "tools/problems/eigen/eig.hpp"
#include <tesela/algorithms/eigen/eigen_matrices.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace tesela::bench {
namespace {

struct StudyOptions : Options {
  std::vector<index_t> n{50, 100};
  std::vector<std::string> kinds{"uniform", "nbody"},
      peers{"two-stage", "qr-iteration", "qr-iteration householder", "lr", "cholesky-lr"};
  index_t seeds = 3, most = 0;
  double tolerance = 1e-6;
  bool vectors = true, both_precisions = true;
};

/// The result of a method.
struct Outcome {
  double seconds = 0, predicted = 0, error = 0, residual = 0, orthogonality = 0;
  index_t iterations = 0;
  std::string status;
};

/// Returns the result of a method: "qr-iteration FACTOR", "lr", "cholesky-lr" or a method of symmetric_eig; "shifted":
/// with Wilkinson's shifts and deflation.
template <class T>
Outcome run_peer(const std::string& peer, const StudyOptions& o, cli::EigProblem<T>& problem) {
  const std::size_t blank = peer.find(' ');
  const std::string how = blank == std::string::npos ? "" : peer.substr(blank + 1);
  const bool shifted = how == "shifted";
  // Rounding errors of single precision exceed a smaller tolerance.
  problem.iteration = {.factor = shifted ? "" : how,
                       .stop = {},
                       .shift = shifted ? "wilkinson" : "",
                       .tolerance = sizeof(T) == 8 ? o.tolerance : std::max(o.tolerance, 1e-5),
                       .most = o.most,
                       .deflate = shifted};
  const auto solver = cli::find_method(cli::eig_table<T>(cli::EigRows::command), peer.substr(0, blank)).solver(problem);
  Outcome outcome;
  solver.prepare();
  {
    Graph g(*problem.runtime);
    outcome.seconds = seconds_of([&] {
      solver.run(&g);
      g.wait();
    });
  }
  const cli::EigFound<T> found = solver.result();
  if (found.facts) {
    outcome.iterations = found.eig.iterations;
    outcome.predicted = std::isfinite(found.facts->predicted) ? found.facts->predicted : 0;
  }
  if (!found.eig.status.ok()) return outcome.status = to_string(found.eig.status), outcome;
  const cli::EigErrors errors = eig_errors(problem, found, true);
  const auto error_of = [](const std::optional<Measured>& measured) { return measured ? measured->error : 0; };
  outcome.error = error_of(errors.value);
  outcome.residual = error_of(errors.residual);
  outcome.orthogonality = error_of(errors.orthogonality);
  return outcome;
}

template <class T>
void run_precision(const StudyOptions& o, Runtime& runtime, Report& report) {
  const std::string precision = sizeof(T) == 4 ? "s" : "d";
  for (const index_t n : o.n)
    for (const std::string& kind : o.kinds)
      for (index_t seed = 0; seed < o.seeds; ++seed) {
        cli::EigProblem<T> problem{.input = {.n = n, .random = kind},
                                   .options = {.vectors = o.vectors},
                                   .seed = o.common.seed + static_cast<std::uint64_t>(seed),
                                   .runtime = &runtime,
                                   .whole = n};
        problem.load();
        problem.eigenvalues = reference_eigenvalues(problem.a);
        const std::string title =
            fmt::format("{}, seed {}, n = {}, {}", kind, problem.seed, n, sizeof(T) == 4 ? "single" : "double");
        std::vector<Timing> timings;
        std::vector<Outcome> outcomes;
        for (const std::string& peer : o.peers) {
          Timing timing{peer, {}, 0};
          Outcome outcome;
          // A long run needs no warm-up.
          constexpr double long_run = 0.5;
          for (bool warm = false; std::ssize(timing.seconds) < o.common.repeat; warm = true) {
            wait_for_idle_threads();
            outcome = run_peer(peer, o, problem);
            if (warm || outcome.seconds > long_run) timing.seconds.push_back(outcome.seconds);
          }
          timing.remark = outcome.status;
          timings.push_back(timing);
          outcomes.push_back(outcome);
        }
        const std::size_t before = report.rows().size();
        report.add({title, 0, n, 0, "", runtime.gpus() > 0 ? "GPU" : "cores", "spectra/s", precision}, timings, 0,
                   [](double seconds) { return 1 / seconds; });
        for (std::size_t i = 0; i < outcomes.size(); ++i) {
          Row& row = report.rows()[before + i];
          const Outcome& x = outcomes[i];
          const bool published = row.timing.peer == "qr-iteration" && precision == "d";
          const auto figure = [&](const char* quantity) {
            return published ? published_value({.table = "6.8", .n = n, .quantity = quantity}) : 0;
          };
          row.published_s = figure("time");
          row.more = {{"iterations", static_cast<double>(x.iterations)},
                      {"predicted", x.predicted},
                      {"source_iterations", figure("iterations")},
                      {"ms_an_iteration", x.iterations > 0 ? 1e3 * x.seconds / static_cast<double>(x.iterations) : 0},
                      {"max_error", x.error},
                      {"max_residual", x.residual},
                      {"orthogonality", x.orthogonality}};
        }
      }
}

void run(const StudyOptions& o) {
  Runtime runtime(o.runtime());
  Report report("eig-study", o, &runtime);
  if (o.both_precisions || o.common.precision == "d") run_precision<double>(o, runtime, report);
  if (o.both_precisions || o.common.precision == "s") run_precision<float>(o, runtime, report);
  report.note(fmt::format(
      "all eigenvalues{}; an iteration ends when every off-diagonal element is at most {:g} ||A||_F, in single "
      "precision at least 1e-5",
      o.vectors ? " and vectors" : "", o.tolerance));
  report.note(
      "source: Cinvestav thesis, Table 6.8, QR iteration of an unnamed matrix on an unnamed GPU, without tolerance, "
      "precision or unit of time; errors are over ||A||_2, compared with LAPACK in double precision");
  std::string lines;
  for (const Figure& f : published_figures())
    if (f.table == "6.9" && f.column == "2 K20X")
      lines += fmt::format("{}{}: {:.6g} s", lines.empty() ? "" : "; ", f.n, f.value);
  report.note("one QR of a tridiagonal matrix by chains of rotations on two K20X, Table 6.9, transfers included: " +
              lines);
  report.finish();
}

const cli::Command eig_study_command(
    cli::Command::Group::bench, "eig-study",
    "the classical iterations against two stages and the Cinvestav thesis's tables", [](cli::App& app) {
      auto o = std::make_shared<StudyOptions>();
      o->common.repeat = 1;
      o->add_to(app, "eig-study");
      app.add_list("-n,--n", o->n, "orders (default: the table's)")->positive();
      app.add_list("--kinds", o->kinds, std::string("kinds of matrices: ") + symmetric_kinds());
      app.add_option("--seeds", o->seeds, "matrices of each kind, from --seed on")->positive()->show_default();
      std::vector<std::string> names;
      for (const auto& method : eig_methods()) names.emplace_back(method.name);
      for (const auto& method : eig_iterations()) names.emplace_back(method.name);
      for (const auto& factor : qr_factors()) names.push_back(std::string("qr-iteration ") + factor.name);
      names.emplace_back("qr-iteration shifted");
      add_peers(app, o->peers, names);
      app.add_option("--tol", o->tolerance, "of iterations, over ||A||_F")
          ->check(cli::positive_up_to(largest_iteration_tolerance))
          ->show_default();
      app.add_option("--max-iterations", o->most, "of iterations (default: 2000 n)")->positive();
      app.add_flag("!--values", o->vectors, "eigenvalues alone");
      return for_both_precisions(app, o, run);
    });

}  // namespace
}  // namespace tesela::bench
