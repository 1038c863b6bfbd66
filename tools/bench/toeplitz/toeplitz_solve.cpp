#include "tools/problems/toeplitz/toeplitz_solve.hpp"

#include "tools/bench/harness/report.hpp"
#include "tools/peers/device.hpp"
#include "tools/problems/toeplitz/toeplitz_options.hpp"
#include <tesela/codelets/toeplitz/toeplitz_error.hpp>

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
  bool nonsymmetric = false;
  double sigma = 0;
  index_t rhs = 1;
  std::vector<std::string> peers;
};

/// Returns the peers that fit into memory and can solve this system; notes the reason for the others. Throws
/// WrongResult if the residual of a suitable method is large.
template <class T>
std::vector<Peer> able_peers(const SolveOptions& o, cli::ToeplitzSystem<T>& system, const std::string& title,
                             Report& report) {
  const double bound = std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon()));
  std::vector<Peer> peers;
  std::string residuals;
  const auto left_out = [&](const std::string& name, const std::string& why) {
    report.note(fmt::format("{}: {} is left out: {}", title, name, why));
  };
  for (const std::string& name : o.peers) {
    try {
      const auto method = find_method(cli::toeplitz_solve_table<T>(), name);
      const auto solver = std::make_shared<cli::Solver<cli::ToeplitzAnswer<T>>>(method.solver(system));
      const auto run = timed_run(method, system, solver);
      run();
      const cli::ToeplitzAnswer<T> answer = solver->result();
      if (!answer.failure.empty()) {
        left_out(name, answer.failure);
        continue;
      }
      const double residual =
          toeplitz_residual<T>(system.t.rows(), system.t.data(), system.row.data(), static_cast<double>(system.sigma),
                               system.b.cols(), answer.x->data(), system.b.data());
      const bool good = residual <= bound;
      // The one method without pivoting or refinement: small leading minors are not its failure to notice.
      if (!good && name == "levinson") {
        left_out(name, fmt::format("residual {:.1e}: leading minors are too small for it", residual));
        continue;
      }
      if (!good) throw WrongResult(fmt::format("bench toeplitz-solve: {}: {}: residual {:.1e}", title, name, residual));
      const auto run_again = [run, solver] {
        const double seconds = run();
        if (const std::string failure = solver->result().failure; !failure.empty())
          throw WrongResult("bench toeplitz-solve: " + failure);
        return seconds;
      };
      peers.push_back({name, run_again, [error = residual / bound] { return error; }});
      residuals += fmt::format("{} {} {:.1e}", residuals.empty() ? "" : ",", name, residual);
      report.check(fmt::format("residual of {}, {}", name, title), residual);
    } catch (const EnvironmentError& error) {
      left_out(name, error.what());
    } catch (const std::bad_alloc&) {
      left_out(name, "no memory");
    }
  }
  if (!peers.empty()) report.note(fmt::format("{}: residuals:{}", title, residuals));
  return peers;
}

template <class T>
void run_case(const SolveOptions& o, Runtime& runtime, Report& report, index_t n) {
  cli::ToeplitzInput input;
  input.n = n, input.kind = o.kind, input.nonsymmetric = o.nonsymmetric;
  cli::ToeplitzSystem<T> system{input.load<T>(o.common.seed), cli::random_columns<T>(n, o.rhs, o.common.seed),
                                static_cast<T>(o.sigma), &runtime};
  system.row = input.load_row<T>(o.common.seed, system.t);
  system.memory.emplace();
  const std::string title = o.rhs > 1 ? fmt::format("n = {}, {} columns", n, o.rhs) : fmt::format("n = {}", n);
  const std::vector<Peer> peers = able_peers(o, system, title, report);
  if (peers.empty()) return;
  const std::string kind = o.nonsymmetric ? o.kind + ", nonsymmetric" : o.kind;
  report.add({title, 0, n, o.rhs, "", o.sigma == 0 ? kind : fmt::format("{}, sigma = {}", kind, o.sigma), "1/s",
              o.common.precision},
             alternate(peers, o.common.repeat), 0, [](double seconds) { return 1 / seconds; });
}

template <class T>
void run(SolveOptions o) {
  if (!std::isfinite(o.sigma)) throw ArgumentError("bench toeplitz-solve", "--sigma", "is not finite");
  const bool gpu = o.gpu();
  if (o.peers.empty())
    o.peers = o.nonsymmetric ? std::vector<std::string>{"lookahead", "lookahead-again", "dense", "lapack-lu"}
                             : std::vector<std::string>{"levinson",
                                                        "gohberg-semencul",
                                                        "gohberg-semencul-again",
                                                        "schur",
                                                        "cauchy",
                                                        "cauchy-again",
                                                        gpu ? "cusolver-cholesky" : "lapack-cholesky",
                                                        gpu ? "cusolver-lu" : "lapack-lu"};
  if (std::any_of(o.peers.begin(), o.peers.end(), [](const auto& p) { return p.starts_with("cusolver"); }))
    require_gpu("toeplitz-solve");
  cli::ToeplitzInput input;
  input.kind = o.kind, input.nonsymmetric = o.nonsymmetric;
  input.resolve(0);
  for (const std::string& peer : o.peers)
    if (o.nonsymmetric && !cli::solves_nonsymmetric(peer))
      throw ArgumentError("bench toeplitz-solve", "--methods", peer + " needs a symmetric matrix");
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
    [](cli::App& app) {
      auto o = std::make_shared<SolveOptions>();
      o->common.repeat = 5;
      o->add_to(app, "toeplitz-solve");
      app.add_list("-n,--n", o->n, "orders")->positive()->show_default();
      cli::add_toeplitz_kind(app, o->kind);
      app.add_flag("--nonsymmetric", o->nonsymmetric, "generate the first row as well, for the kinds random and spd");
      app.add_option("--sigma", o->sigma, "the shift")->show_default();
      app.add_option("--rhs", o->rhs, "right-hand sides, uniform random numbers")->positive()->show_default();
      add_peers(app, o->peers, choices(cli::toeplitz_solve_table<double>()).names());
      return for_reals(o, []<class T>(const auto& options) { run<T>(options); });
    });

}  // namespace
}  // namespace tesela::bench
