#include "bench/errors/eig_error.hpp"
#include "bench/harness/noted_ceiling.hpp"
#include "bench/harness/report.hpp"
#include "cli/app/choices.hpp"
#include "cli/app/numbers.hpp"
#include "cli/app/options.hpp"
#include "cli/app/sizes.hpp"
#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/codelets/libraries/blas.hpp>
#include <tesela/codelets/libraries/lapack.hpp>
#include <tesela/tiles/filled.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tesela::bench {
namespace {

struct EigOptions : Options {
  std::vector<index_t> n{2048};
  std::vector<std::string> peers{"two-stage", "lapack"}, jobs{"values", "vectors"};
  std::string random = "uniform";
  index_t band = 0, block = 0;
};

/// One problem, and the last result of it.
template <class T>
struct Problem {
  HostMatrix<T> a;
  std::optional<std::vector<double>> known;  ///< eigenvalues
  bool vectors = false;
  std::vector<double> values;
  HostMatrix<T> x;

  /// The larger one of the errors over their bounds.
  double error() {
    const PausedWorkers paused;  // BLAS and LAPACK measure on all cores
    const index_t n = a.rows();
    if (!known) known = reference_eigenvalues(a);
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    const double norm = symmetric_norm(a, largest);
    const EigBounds bounds = eig_bounds<T>(n);
    double worst = static_cast<index_t>(values.size()) == n ? eigenvalue_error(values, *known, 0, norm) / bounds.value
                                                            : std::numeric_limits<double>::infinity();
    if (!vectors) return worst;
    constexpr index_t sampled = 64;
    const EigError e = eig_error(a, values, x, norm, n > 4096 ? sampled : n, 1);
    for (const double part : {e.residual / bounds.value, e.orthogonality / bounds.orthogonality})
      worst = part <= worst ? worst : part;  // NaN stays
    return worst;
  }
};

/// The whole call as a user makes it: A in host memory, the vectors there at the end.
template <class T>
double solve(Problem<T>& p, Runtime& runtime, const EigOptions& o, EigMethod method) {
  const index_t n = p.a.rows();
  HostMatrix<T> lost = p.a.clone();
  if (p.vectors && p.x.rows() != n) p.x = HostMatrix<T>(n, n);
  return seconds_of([&] {
    Graph g(runtime);
    const auto A = TileMatrix<T>::map(runtime, lost.data(), n, n, n, {n, suitable_eig_tile(runtime, n, o.band)});
    const SymmetricEig<T> eig =
        symmetric_eig(g, A, {.method = method, .vectors = p.vectors, .band = o.band, .block = o.block});
    g.wait();
    p.values = eig.values;
    if (eig.vectors && eig.status.ok()) eig.vectors->copy_to(p.x.data(), p.x.ld());
  });
}

template <class T>
double solve_by_lapack(Problem<T>& p) {
  const PausedWorkers paused;
  settle();
  const blas::Threads threads(blas::all_cores());
  const index_t n = p.a.rows();
  p.x = p.a.clone();
  std::vector<T> w(static_cast<std::size_t>(n));
  const double seconds = seconds_of([&] { lapack::syevd<T>(n, p.x.data(), p.x.ld(), w.data(), p.vectors); });
  p.values.assign(w.begin(), w.end());
  return seconds;
}

template <class T>
void run(const EigOptions& o) {
  Runtime runtime(o.runtime());
  Report report("eig", o, &runtime);
  const double ceiling = noted_gemm_ceiling<T>(report, runtime);
  for (const index_t n : o.n)
    for (const std::string& job : o.jobs) {
      const SymmetricChoice kind = parse_symmetric_kind(o.random);
      const SymmetricMatrix matrix(kind.kind, n, kind.parameter, o.common.seed);
      Problem<T> problem;
      problem.vectors = job == "vectors";
      problem.a = filled<T>({n, n}, [&](index_t i, index_t j) { return matrix.element<T>(i, j); });
      problem.known = matrix.eigenvalues();
      std::vector<Peer> peers;
      for (const std::string& name : o.peers) {
        const auto work = [&, name] {
          return name == "lapack" ? solve_by_lapack(problem)
                                  : solve(problem, runtime, o, *find_named(eig_methods(), name));
        };
        peers.push_back({name, work, [&problem, work] {
                           static_cast<void>(work());
                           return problem.error();
                         }});
      }
      const auto order = static_cast<double>(n);
      // LAPACK's count of what it does itself, whatever a peer really does.
      const double flops = order * order * order * (problem.vectors ? 4.0 / 3 + 4.0 / 3 + 2 : 4.0 / 3);
      const index_t tile = suitable_eig_tile(runtime, n, o.band);
      report.add(Case{fmt::format("n = {}, {}", n, job), n, n, 0, fmt::format("{}x{}", n, tile), "host", "GFLOP/s"},
                 alternate(peers, o.common.repeat), ceiling, [&](double seconds) { return flops / seconds * 1e-9; });
    }
  report.note(
      fmt::format("{}; rates by 4/3 n^3 (values) and 14/3 n^3 (vectors), whatever a peer really does", o.random));
  report.finish();
}

const cli::Command eig_command(
    cli::Command::Group::bench, "eig", "dense symmetric eigenproblems as a graph against LAPACK", [](CLI::App& app) {
      auto o = std::make_shared<EigOptions>();
      o->common.repeat = 3;
      o->add_to(app, "eig");
      app.add_option("-n,--n", o->n, "orders; several: two cases each")
          ->delimiter(',')
          ->transform(cli::positive())
          ->capture_default_str();
      app.add_option("--jobs", o->jobs, "values, vectors or both")
          ->delimiter(',')
          ->check(CLI::IsMember({"values", "vectors"}));
      app.add_option("--peers", o->peers, "who competes; the first is whom the others are compared with")
          ->delimiter(',')
          ->check(CLI::IsMember(cli::Choices().add(eig_methods()).names()));
      cli::add_random(app, o->random, symmetric_kinds());
      app.add_option("--band", o->band, "half-width of the band between the stages")->transform(cli::positive());
      app.add_option("--block", o->block, "columns that are gathered before A takes them")->transform(cli::positive());
      return std::function<int()>(
          [o] { return guarded([&] { o->common.precision == "s" ? run<float>(*o) : run<double>(*o); }); });
    });

}  // namespace
}  // namespace tesela::bench
