#include "tools/bench/harness/report.hpp"
#include "tools/peers/device.hpp"
#include "tools/problems/toeplitz/toeplitz_spectrum.hpp"
#include <tesela/algorithms/toeplitz/toeplitz_matrices.hpp>
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tesela::bench {
namespace {

struct ToeplitzBenchOptions : Options {
  std::vector<index_t> n{4096};
  bool vectors = false;
  std::vector<std::string> peers;
  cli::SpectrumSettings settings;
};

template <class T>
void run(ToeplitzBenchOptions o) {
  if (o.peers.empty()) o.peers = {"tesela", o.gpu() && !is_complex<T> ? "cusolver" : "lapack"};
  if constexpr (is_complex<T>) {
    for (const std::string& peer : o.peers)
      require(peer == "tesela" || peer == "lapack", "bench toeplitz", "--peers", peer, " has no complex numbers");
    require(o.settings == cli::SpectrumSettings{}, "bench toeplitz", "--precision", o.common.precision,
            ": the options of the search have no complex numbers");
  }
  if (std::any_of(o.peers.begin(), o.peers.end(), [](const auto& p) { return p.starts_with("cusolver"); }))
    require_gpu("toeplitz");
  Runtime runtime(o.runtime());
  Report report("toeplitz", o, &runtime);
  for (const index_t n : o.n) {
    cli::SpectrumProblem<T> problem{toeplitz_column<T>({ToeplitzKind::random, 0, o.common.seed}, n),
                                    o.settings.options(o.common.seed), &runtime};
    problem.options.vectors = o.vectors;
    const auto peers = make_peers(o.peers, "auto", cli::spectrum_table<T>(), problem);
    report.add({fmt::format("n = {}{}", n, o.vectors ? ", vectors" : ""), 0, n, problem.options.per_interval, "",
                o.vectors ? "vectors" : "values", "1/s", o.common.precision},
               alternate(peers, o.common.repeat), 0, [](double seconds) { return 1 / seconds; });
  }
  report.note("random t; the same eigenvalues from every peer, whose sum and sum of squares are T's");
  report.note(
      "cuSOLVER's matrix is on the device before its time begins; halves: the symmetric and the skew half as dense "
      "matrices");
  report.finish();
}

const cli::Command toeplitz_command(cli::Command::Group::bench, "toeplitz",
                                    "spectra of symmetric and Hermitian Toeplitz matrices against dense eigensolvers",
                                    [](cli::App& app) {
                                      auto o = std::make_shared<ToeplitzBenchOptions>();
                                      o->common.repeat = 3;
                                      o->add_to(app, "toeplitz", {.complex = true});
                                      app.add_list("-n,--n", o->n, "orders")->positive()->show_default();
                                      app.add_flag("--vectors", o->vectors, "eigenvectors too");
                                      add_peers(app, o->peers, peer_names(cli::spectrum_table<double>()));
                                      o->settings.add_to(app);
                                      return for_numbers(o, []<class T>(const auto& options) { run<T>(options); });
                                    });

}  // namespace
}  // namespace tesela::bench
