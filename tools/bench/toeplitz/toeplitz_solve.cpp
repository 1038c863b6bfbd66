#include "tools/app/numbers.hpp"
#include "tools/bench/harness/report.hpp"
#include "tools/bench/toeplitz/toeplitz_solve_peers.hpp"
#include "tools/peers/device.hpp"
#include "tools/problems/toeplitz/toeplitz_options.hpp"
#include <tesela/codelets/toeplitz/toeplitz_error.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/topology.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::bench {

using namespace kernels;
namespace {

struct SolveOptions : Options {
  std::vector<index_t> n{4096};
  std::string kind = "spd";
  double sigma = 0;
  index_t rhs = 1;
  std::vector<std::string> peers;
};

template <class T>
std::unique_ptr<PausedWorkers> pause_for(const ToeplitzSolver<T>& solver) {
  return solver.uses_workers() ? nullptr : std::make_unique<PausedWorkers>();
}

/// A solver that solved the system, and how well.
template <class T>
struct Entrant {
  std::string name;
  std::unique_ptr<ToeplitzSolver<T>> solver;
  double residual;
};

/// Returns the solvers that fit into memory and can solve this system; notes the reason for the others. Throws
/// WrongResult if the residual of a suitable solver is large.
template <class T>
std::vector<Entrant<T>> entrants(const SolveOptions& o, const ToeplitzSystem<T>& system, const std::string& title,
                                 double bound, Report& report) {
  std::vector<Entrant<T>> all;
  ToeplitzSolvers<T> solvers(system);
  const auto left_out = [&](const std::string& name, const std::string& why) {
    report.note(fmt::format("{}: {} is left out: {}", title, name, why));
  };
  for (const std::string& name : o.peers) {
    try {
      auto solver = solvers.make(name);
      const auto paused = pause_for(*solver);
      solver->restore();
      if (const std::string failure = solver->solve(); !failure.empty()) {
        left_out(name, failure);
        continue;
      }
      const double residual = toeplitz_residual(system.t.rows(), system.t.data(), static_cast<double>(system.sigma),
                                                system.b.cols(), solver->x(), system.b.data());
      const bool good = residual <= bound;
      // The one method without pivoting or refinement: small leading minors are not its failure to notice.
      if (!good && name == "levinson")
        left_out(name, fmt::format("residual {:.1e}: leading minors are too small for it", residual));
      else if (!good)
        throw WrongResult(fmt::format("bench toeplitz-solve: {}: {}: residual {:.1e}", title, name, residual));
      else
        all.push_back({name, std::move(solver), residual});
    } catch (const EnvironmentError& error) {
      left_out(name, error.what());
    } catch (const std::bad_alloc&) {
      left_out(name, "no memory");
    }
  }
  return all;
}

template <class T>
void run_case(const SolveOptions& o, Runtime& runtime, Report& report, index_t n) {
  ToeplitzGenerator generator = parse_toeplitz_kind(o.kind);
  generator.seed = o.common.seed;
  const ToeplitzSystem<T> system{runtime, toeplitz_column<T>(generator, n),
                                 cli::random_columns<T>(n, o.rhs, o.common.seed), static_cast<T>(o.sigma)};
  const std::string title = o.rhs > 1 ? fmt::format("n = {}, {} columns", n, o.rhs) : fmt::format("n = {}", n);
  const double bound = std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon()));
  const std::vector<Entrant<T>> all = entrants(o, system, title, bound, report);
  if (all.empty()) return;
  std::vector<Peer> peers;
  std::string residuals;
  for (const Entrant<T>& one : all) {
    const auto run = [solver = one.solver.get()] {
      const auto paused = pause_for(*solver);
      solver->restore();
      wait_for_idle_threads();
      std::string failure;
      const double seconds = seconds_of([&] { failure = solver->solve(); });
      if (!failure.empty()) throw WrongResult("bench toeplitz-solve: " + failure);
      return seconds;
    };
    peers.push_back({one.name, run, [error = one.residual / bound] { return error; }});
    residuals += fmt::format("{} {} {:.1e}", residuals.empty() ? "" : ",", one.name, one.residual);
    report.check(fmt::format("residual of {}, {}", one.name, title), one.residual);
  }
  report.add({title, 0, n, o.rhs, "", o.sigma == 0 ? o.kind : fmt::format("{}, sigma = {}", o.kind, o.sigma), "1/s",
              o.common.precision},
             alternate(peers, o.common.repeat), 0, [](double seconds) { return 1 / seconds; });
  report.note(fmt::format("{}: residuals:{}", title, residuals));
}

template <class T>
void run(SolveOptions o) {
  if (!std::isfinite(o.sigma)) throw ArgumentError("bench toeplitz-solve", "--sigma", "is not finite");
  const bool gpu = config::have_cuda && count_cuda_devices() > 0 && o.common.ncuda != 0;
  if (o.peers.empty())
    o.peers = {"levinson",
               "gohberg-semencul",
               "gohberg-semencul-again",
               "cauchy",
               "cauchy-again",
               gpu ? "cusolver-cholesky" : "lapack-cholesky",
               gpu ? "cusolver-lu" : "lapack-lu"};
  if (std::any_of(o.peers.begin(), o.peers.end(), [](const auto& p) { return p.starts_with("cusolver"); }))
    require_gpu("toeplitz-solve");
  parse_toeplitz_kind(o.kind);
  Runtime runtime(o.runtime());
  Report report("toeplitz-solve", o, &runtime);
  for (const index_t n : o.n) run_case<T>(o, runtime, report, n);
  if (report.rows().empty()) throw WrongResult("bench toeplitz-solve: " + report.notes().back());
  report.note("ours: from t and B in host memory to X there; again: the inverse or the factors are kept, from B to X");
  report.note(
      "lapack, cusolver: factorization and solve; the dense matrix is made outside the time, on the host and on device "
      "0; from B in host memory to X there");
  report.finish();
}

const cli::Command toeplitz_solve_command(
    cli::Command::Group::bench, "toeplitz-solve", "one Toeplitz system against dense factorizations",
    [](CLI::App& app) {
      auto o = std::make_shared<SolveOptions>();
      o->common.repeat = 5;
      o->add_to(app, "toeplitz-solve");
      app.add_option("-n,--n", o->n, "orders")->delimiter(',')->transform(cli::positive())->capture_default_str();
      cli::add_toeplitz_kind(app, o->kind);
      app.add_option("--sigma", o->sigma, "the shift")->capture_default_str();
      app.add_option("--rhs", o->rhs, "right-hand sides, uniform random numbers")
          ->transform(cli::positive())
          ->capture_default_str();
      app.add_option("--peers", o->peers, "who competes; the first is whom the others are compared with")
          ->delimiter(',')
          ->check(CLI::IsMember(toeplitz_solver_names()));
      return std::function<int()>(
          [o] { return guarded([&] { o->common.precision == "s" ? run<float>(*o) : run<double>(*o); }); });
    });

}  // namespace
}  // namespace tesela::bench
