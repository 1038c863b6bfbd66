#include "tools/app/numbers.hpp"
#include "tools/bench/harness/report.hpp"
#include "tools/bench/toeplitz/toeplitz_peers.hpp"
#include "tools/peers/device.hpp"
#include "tools/problems/toeplitz/toeplitz_spectrum_options.hpp"
#include <tesela/algorithms/toeplitz/toeplitz_matrices.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/topology.hpp>

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
  const bool gpu = config::have_cuda && count_cuda_devices() > 0 && o.common.ncuda != 0;
  if (o.peers.empty()) o.peers = {"tesela", gpu ? "cusolver" : "lapack"};
  if (std::any_of(o.peers.begin(), o.peers.end(), [](const auto& p) { return p.starts_with("cusolver"); }))
    require_gpu("toeplitz");
  Runtime runtime(o.runtime());
  Report report("toeplitz", o, &runtime);
  for (const index_t n : o.n) {
    const HostMatrix<T> t = toeplitz_column<T>({ToeplitzKind::random, 0, o.common.seed}, n);
    SpectrumOptions spectrum = o.settings.options(o.common.seed);
    spectrum.vectors = o.vectors;
    const auto right = std::make_shared<std::vector<double>>();  // the first peer's, which the others must agree with
    std::vector<Peer> peers;
    for (const std::string& name : o.peers) {
      const ToeplitzPeer peer = name == "tesela"            ? tesela_spectrum<T>(runtime, t, spectrum)
                                : name == "lapack"          ? lapack_spectrum<T>(t, o.vectors)
                                : name == "lapack-halves"   ? lapack_halves<T>(t, o.vectors)
                                : name == "cusolver-halves" ? cusolver_halves<T>(t, o.vectors)
                                                            : cusolver_spectrum<T>(t, o.vectors);
      peers.push_back({name, peer.run, [name, peer, right, &t] {
                         peer.run();
                         if (peer.check_vectors) peer.check_vectors();
                         return check_spectrum(name, t, *peer.values, *right);
                       }});
    }
    report.add({fmt::format("n = {}{}", n, o.vectors ? ", vectors" : ""), 0, n, spectrum.per_interval, "",
                o.vectors ? "vectors" : "values", "1/s", o.common.precision},
               alternate(peers, o.common.repeat), 0, [](double seconds) { return 1 / seconds; });
  }
  report.note("random t; the same eigenvalues from every peer, whose sum and sum of squares are T's");
  report.note(
      "cuSOLVER's matrix is on the device before its time begins; halves: the symmetric and the skew half as dense "
      "matrices");
  report.finish();
}

const cli::Command toeplitz_command(
    cli::Command::Group::bench, "toeplitz", "spectra of symmetric Toeplitz matrices against dense eigensolvers",
    [](CLI::App& app) {
      auto o = std::make_shared<ToeplitzBenchOptions>();
      o->common.repeat = 3;
      o->add_to(app, "toeplitz");
      app.add_option("-n,--n", o->n, "orders")->delimiter(',')->transform(cli::positive())->capture_default_str();
      app.add_flag("--vectors", o->vectors, "eigenvectors too");
      app.add_option("--peers", o->peers, "who competes; the first is whom the others are compared with")
          ->delimiter(',')
          ->check(CLI::IsMember({"tesela", "lapack", "lapack-halves", "cusolver", "cusolver-halves"}));
      o->settings.add_to(app);
      return std::function<int()>(
          [o] { return guarded([&] { o->common.precision == "s" ? run<float>(*o) : run<double>(*o); }); });
    });

}  // namespace
}  // namespace tesela::bench
