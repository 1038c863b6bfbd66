#include "tools/app/numbers.hpp"
#include "tools/bench/harness/published_rotations.hpp"
#include "tools/bench/harness/report.hpp"
#include "tools/checks/eig_error.hpp"
#include <tesela/algorithms/eigen/eig_iteration.hpp>
#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/tiles/filled.hpp>

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

/// The result of a method for a matrix.
struct Outcome {
  double seconds = 0, predicted = 0, error = 0, residual = 0, orthogonality = 0;
  index_t iterations = 0;
  std::string status;
};

/// "qr-iteration FACTOR", "lr", "cholesky-lr" and the methods of symmetric_eig; "shifted": with Wilkinson's shifts and
/// deflation.
template <class T>
class Study {
 public:
  Study(const StudyOptions& o, Runtime& runtime, const std::string& kind, index_t n, std::uint64_t seed)
      : o_(o), runtime_(runtime), n_(n), a_(n, n) {
    const SymmetricChoice choice = parse_symmetric_kind(kind);
    const SymmetricMatrix matrix(choice.kind, n, choice.parameter, seed);
    a_ = filled<T>({n, n}, [&](index_t i, index_t j) { return matrix.element<T>(i, j); });
    right_ = reference_eigenvalues(a_);
  }

  Outcome run(const std::string& peer) const {
    HostMatrix<T> lost = a_.clone();
    Outcome outcome;
    HostMatrix<T> x;
    SymmetricEig<T> eig;
    {
      const auto A = TileMatrix<T>::map(runtime_, lost.data(), n_, n_, n_, {n_, suitable_eig_tile(runtime_, n_)});
      Graph g(runtime_);
      if (const auto method = find_named(eig_methods(), peer)) {
        outcome.seconds = seconds_of([&] {
          eig = symmetric_eig(g, A, {.method = *method, .vectors = o_.vectors});
          g.wait();
        });
      } else {
        EigIterationResult<T> found;
        outcome.seconds = seconds_of([&] { found = eig_iteration(g, A, options_of(peer)); });
        outcome.iterations = found.iterations;
        outcome.predicted = std::isfinite(found.predicted) ? found.predicted : 0;
        eig = std::move(static_cast<SymmetricEig<T>&>(found));
      }
      if (!eig.status.ok()) return outcome.status = to_string(eig.status), outcome;
      if (eig.vectors) {
        x = HostMatrix<T>(n_, eig.vectors->n());
        eig.vectors->copy_to(x.data(), n_);
      }
    }
    const double norm = symmetric_norm(a_, eig.norm);
    outcome.error = eigenvalue_error(eig.values, right_, 0, norm);
    if (!o_.vectors) return outcome;
    const EigError error = eig_error(a_, eig.values, x, norm, n_, 1);
    outcome.residual = error.residual;
    outcome.orthogonality = error.orthogonality;
    return outcome;
  }

 private:
  EigIterationOptions options_of(const std::string& peer) const {
    // Less than 1e-5 is below what rounding errors of single precision leave.
    EigIterationOptions options{.tolerance = sizeof(T) == 8 ? o_.tolerance : std::max(o_.tolerance, 1e-5),
                                .max_iterations = o_.most,
                                .vectors = o_.vectors};
    const std::size_t blank = peer.find(' ');
    const std::string method = peer.substr(0, blank), how = blank == std::string::npos ? "" : peer.substr(blank + 1);
    options.method = *find_named(eig_iterations(), method);
    if (how == "shifted")
      options.shift = QrShift::wilkinson, options.deflate = true;
    else if (!how.empty())
      options.factor = *find_named(qr_factors(), how);
    return options;
  }

  const StudyOptions& o_;
  Runtime& runtime_;
  index_t n_;
  HostMatrix<T> a_;
  std::vector<double> right_;
};

template <class T>
void run_precision(const StudyOptions& o, Runtime& runtime, Report& report) {
  const std::string precision = sizeof(T) == 4 ? "s" : "d";
  for (const index_t n : o.n)
    for (const std::string& kind : o.kinds)
      for (index_t seed = 0; seed < o.seeds; ++seed) {
        const Study<T> study(o, runtime, kind, n, o.common.seed + static_cast<std::uint64_t>(seed));
        const std::string title =
            fmt::format("{}, seed {}, n = {}, {}", kind, o.common.seed + static_cast<std::uint64_t>(seed), n,
                        sizeof(T) == 4 ? "single" : "double");
        std::vector<Timing> timings;
        std::vector<Outcome> outcomes;
        for (const std::string& peer : o.peers) {
          Timing timing{peer, {}, 0};
          Outcome outcome;
          // A long run needs none before it to warm up.
          constexpr double long_run = 0.5;
          for (bool warm = false; std::ssize(timing.seconds) < o.common.repeat; warm = true) {
            wait_for_idle_threads();
            outcome = study.run(peer);
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
            return published ? published_rotation_figure("qr-iteration", "", n, "d", "", quantity) : 0;
          };
          row.published_s = figure("seconds");
          row.more = {{"iterations", static_cast<double>(x.iterations)},
                      {"predicted", x.predicted},
                      {"published_iterations", figure("steps")},
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
      "published: QR iteration of an unnamed matrix with an unnamed tolerance; errors are over ||A||_2, compared with "
      "LAPACK in double precision");
  std::string lines;
  for (const PublishedFigure& f : published_rotations())
    if (f.job == "givens-qr")
      lines += fmt::format("{}{} {} ({}, {}): {} s", lines.empty() ? "" : "; ", f.matrix, f.n,
                           f.precision == "s" ? "single" : "double", f.device, f.value);
  report.note("published times of one QR by chains of rotations, transfers included: " + lines);
  report.finish();
}

const cli::Command eig_study_command(
    cli::Command::Group::bench, "eig-study", "the classical iterations against two stages and published tables",
    [](CLI::App& app) {
      auto o = std::make_shared<StudyOptions>();
      o->common.repeat = 1;
      o->add_to(app, "eig-study");
      app.add_option("-n,--n", o->n, "orders (default: the table's)")->delimiter(',')->transform(cli::positive());
      app.add_option("--kinds", o->kinds, std::string("kinds of matrices: ") + symmetric_kinds())->delimiter(',');
      app.add_option("--seeds", o->seeds, "matrices of each kind, from --seed on")
          ->transform(cli::positive())
          ->capture_default_str();
      std::vector<std::string> names;
      for (const auto& method : eig_methods()) names.emplace_back(method.name);
      for (const auto& method : eig_iterations()) names.emplace_back(method.name);
      for (const auto& factor : qr_factors()) names.push_back(std::string("qr-iteration ") + factor.name);
      names.emplace_back("qr-iteration shifted");
      app.add_option("--peers", o->peers, "who competes; the others are compared with the first")
          ->delimiter(',')
          ->check(CLI::IsMember(names));
      app.add_option("--tol", o->tolerance, "of iterations, over ||A||_F")
          ->check(cli::positive_up_to(largest_iteration_tolerance))
          ->capture_default_str();
      app.add_option("--max-iterations", o->most, "of iterations (default: 2000 n)")->transform(cli::positive());
      app.add_flag("!--values", o->vectors, "eigenvalues alone");
      app.footer("Both precisions in one run, unless --precision chooses.");
      return std::function<int()>([o, &app] {
        o->both_precisions = app.count("--precision") == 0;
        return guarded([&] { run(*o); });
      });
    });

}  // namespace
}  // namespace tesela::bench
