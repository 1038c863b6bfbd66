#include "bench/eigen/eig_data.hpp"
#include "bench/harness/factor_options.hpp"
#include "bench/harness/noted_ceiling.hpp"
#include "bench/peers/cusolver_eig.hpp"
#include "cli/app/choices.hpp"
#include "cli/app/numbers.hpp"
#include "cli/app/options.hpp"
#include "cli/app/sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tesela::bench {
namespace {

struct EigOptions : FactorOptions {
  std::vector<index_t> n{2048};
  std::vector<std::string> jobs{"values", "vectors"};
  std::string random = "uniform";
  index_t band = 0, block = 0;
  double fraction = 1;
};

void settle_options(EigOptions& o) {
  if (!(o.fraction > 0 && o.fraction <= 1))
    throw ArgumentError("bench eig", "--fraction", fmt::format("{} is not in (0, 1]", o.fraction));
  if (o.has("cusolver-x") && o.fraction == 1)
    throw ArgumentError("bench eig", "--peers", "cusolver-x solves for a part: --fraction says which");
  o.devices_alone = false;  // some kernels run on cores alone
  o.settle("eig");
}

template <class T>
Peer make_peer(const std::string& name, const EigData<T>& data) {
  if (name == "lapack") return lapack_eig(data);
  if (name.starts_with("cusolver")) return cusolver_eig(data, name, name == "cusolver-x");
  return graph_eig(data, name, *find_named(eig_methods(), name));
}

/// All eigenvalues by cuSOLVER's syevd, which allocates and leaves nothing.
template <class T>
std::vector<double> values_by_cusolver(const HostMatrix<T>& a) {
  const CusolverEig<T> solver(a.rows(), false);
  std::vector<T> values(static_cast<std::size_t>(a.rows()));
  solver.upload(a.data());
  solver.solve(values.data());
  return {values.begin(), values.end()};
}

template <class T>
void run(EigOptions o) {
  settle_options(o);
  Runtime runtime(o.runtime());
  Report report("eig", o, &runtime);
  const double ceiling = noted_gemm_ceiling<T>(report, runtime);
  const SymmetricChoice kind = parse_symmetric_kind(o.random);
  for (const index_t n : o.n)
    for (const std::string& job : o.jobs) {
      const bool vectors = job == "vectors";
      EigCase what{n, vectors, 0, o.band, o.block, o.on_device()};
      if (vectors && o.fraction < 1)
        what.part = std::max<index_t>(1, static_cast<index_t>(std::llround(o.fraction * static_cast<double>(n))));
      EigData<T> data(runtime, what, SymmetricMatrix(kind.kind, n, kind.parameter, o.common.seed));
      if (o.has("cusolver") || o.has("cusolver-x"))
        data.reference = [&data] { return values_by_cusolver(data.original()); };
      std::vector<Peer> peers;
      for (const std::string& name : o.peers)
        if (name != "cusolver-x" || what.part > 0) peers.push_back(make_peer(name, data));
      if (peers.empty()) continue;
      const auto order = static_cast<double>(n), found = static_cast<double>(what.wanted());
      // LAPACK's count of what it does itself, whatever a peer really does.
      const double flops = 4.0 / 3 * order * order * order + (vectors ? (4.0 / 3 + 2) * order * order * found : 0);
      const index_t tile = suitable_eig_tile(runtime, n, o.band);
      const std::string some = what.part > 0 ? fmt::format(" of the smallest {}", what.part) : "";
      report.add(Case{fmt::format("n = {}, {}{}", n, job, some), n, n, what.part, fmt::format("{}x{}", n, tile), o.data,
                      "GFLOP/s"},
                 alternate(peers, o.common.repeat), ceiling, [&](double seconds) { return flops / seconds * 1e-9; });
      if (n > 4096) report.note(fmt::format("{}: vectors were measured on 64 of them", n));
    }
  report.note(
      fmt::format("{}; rates by 4/3 n^3 (values) and 10/3 n^2 more a vector, whatever a peer really does", o.random));
  if (o.on_device())
    report.note("A stays on the devices, where X is left, and A is put back before each run outside the time");
  else if (runtime.gpus() > 0)
    report.note("A and X in page-locked host memory, all transfers timed");
  report.finish();
}

const cli::Command eig_command(
    cli::Command::Group::bench, "eig", "dense symmetric eigenproblems as a graph against LAPACK and cuSOLVER",
    [](CLI::App& app) {
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
      app.add_option("--fraction", o->fraction, "of the vectors, the smallest; cusolver-x takes a part alone")
          ->capture_default_str();
      o->add_peers(app, {"two-stage", "auto", "lapack", "cusolver", "cusolver-x"});
      cli::add_random(app, o->random, symmetric_kinds());
      app.add_option("--band", o->band, "half-width of the band between the stages")->transform(cli::positive());
      app.add_option("--block", o->block, "columns that are gathered before A takes them")->transform(cli::positive());
      return std::function<int()>(
          [o] { return guarded([&] { o->common.precision == "s" ? run<float>(*o) : run<double>(*o); }); });
    });

}  // namespace
}  // namespace tesela::bench
