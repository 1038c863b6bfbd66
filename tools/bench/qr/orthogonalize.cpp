#include "tools/app/numbers.hpp"
#include "tools/bench/harness/report.hpp"
#include "tools/checks/qr_error.hpp"
#include "tools/peers/cusolver_qr.hpp"
#include "tools/peers/restored.hpp"
#include <tesela/algorithms/dense/random_matrix.hpp>
#include <tesela/algorithms/qr/orthogonalize.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tesela::bench {
namespace {

struct OrthogonalizeOptions : Options {
  index_t m = 131072, n = 512, nb = 0;
  std::vector<std::string> peers;
};

/// Q and R of a uniform matrix, which every peer gets anew, on the device where there is one.
template <class T>
class Problem {
 public:
  Problem(const OrthogonalizeOptions& o, Runtime& runtime)
      : o_(o), runtime_(runtime), a_(generate<T>({o.m, o.n}, RandomMatrix{}, o.common.seed)) {}

  Peer graph(const std::string& name, Orthogonalization method) const {
    struct Mine {
      RestoredMatrix<T> a;
      HostMatrix<T> home;
      std::optional<Orthogonalized<T>> found;
    };
    const auto mine = std::make_shared<Mine>();
    TileShape tile = suitable_orthogonalization_tile(runtime_, method, o_.m, o_.n);
    if (o_.nb > 0 && method != Orthogonalization::cholesky_qr2) tile.nb = o_.nb;
    const auto run = [this, mine, method, tile] {
      mine->found.reset();
      restore(*mine, tile);
      wait_for_idle_threads();
      return seconds_of([&] {
        Graph g(runtime_);
        mine->found = orthogonalize(g, *mine->a, method);
        g.wait();
      });
    };
    return checked(name, run, [this, mine, name] {
      if (mine->found->broken > 0) throw WrongResult(fmt::format("{}: column {}", name, mine->found->broken));
      HostMatrix<T> q(o_.m, o_.n), r(o_.n, o_.n);
      mine->a->copy_to(q.data(), o_.m);
      mine->found->R.copy_to(r.data(), o_.n);
      return check(name, r, q);
    });
  }

  Peer lapack() const {
    struct Mine {
      HostMatrix<T> factors, q;
    };
    const auto mine = std::make_shared<Mine>();
    const auto run = [this, mine] {
      const PausedWorkers paused;
      mine->factors = a_.clone();
      mine->q = identity<T>(o_.m, o_.n);
      std::vector<T> tau(static_cast<std::size_t>(o_.n));
      wait_for_idle_threads();
      const blas::Threads threads(blas::all_cores());
      return seconds_of([&] {
        lapack::geqrf(o_.m, o_.n, mine->factors.data(), o_.m, tau.data());
        lapack::ormqr(Op::none, o_.m, o_.n, o_.n, mine->factors.data(), o_.m, tau.data(), mine->q.data(), o_.m);
      });
    };
    return checked("lapack", run, [this, mine] { return check("lapack", mine->factors, mine->q); });
  }

  Peer cusolver() const {
    const auto device = std::make_shared<CusolverQr<T>>(o_.m, o_.n);
    const auto r = std::make_shared<HostMatrix<T>>(o_.m, o_.n);
    const auto run = [this, device, r] {
      const PausedWorkers paused;
      device->upload(a_.data());
      wait_for_idle_threads();
      double seconds = seconds_of([&] { device->factor(); });
      device->download(r->data());
      return seconds + seconds_of([&] { device->form_q(); });
    };
    return checked("cusolver", run, [this, device, r] {
      HostMatrix<T> q(o_.m, o_.n);
      device->download(q.data());
      return check("cusolver", *r, q);
    });
  }

 private:
  template <class Mine>
  void restore(Mine& mine, TileShape tile) const {
    if (runtime_.gpus() > 0) {
      mine.a.on_devices(
          runtime_, a_.shape(), tile,
          [&](Graph&, const TileMatrix<T>& original) { original.copy_from(a_.data(), o_.m); },
          [](index_t j) { return on_gpu_number(static_cast<std::size_t>(j)); });
      return;
    }
    mine.a.release();
    mine.home = a_.clone();
    mine.a.on_host(runtime_, mine.home.data(), a_.shape(), tile);
  }
  /// Over the bounds of a stable method.
  double check(const std::string& peer, const HostMatrix<T>& r, const HostMatrix<T>& q) const {
    const PausedWorkers paused;
    const QrError error = qr_error(a_, r, q);
    const QrBounds most = qr_bounds<T>(o_.m, o_.n);
    const double worst = std::max(error.backward / most.backward, error.orthogonality / most.orthogonality);
    if (!(worst <= 1)) throw WrongResult(fmt::format("{}: the errors are {:.3g} times their bounds", peer, worst));
    return worst;
  }

  const OrthogonalizeOptions& o_;
  Runtime& runtime_;
  HostMatrix<T> a_;
};

template <class T>
void run(const OrthogonalizeOptions& o) {
  Runtime runtime(o.runtime());
  Report report("qr-orthogonalize", o, &runtime);
  const bool gpu = runtime.gpus() > 0;
  const Problem<T> problem(o, runtime);
  std::vector<std::string> names = o.peers;
  if (names.empty()) names = {"cholesky-qr2", "cgs2", "mgs", "householder", gpu ? "cusolver" : "lapack"};
  std::vector<Peer> peers;
  for (const std::string& name : names)
    peers.push_back(name == "lapack"     ? problem.lapack()
                    : name == "cusolver" ? problem.cusolver()
                                         : problem.graph(name, *find_named(orthogonalizations(), name)));
  const double flops = 2 * qr_flops(o.m, o.n);
  report.add({fmt::format("{} x {}", o.m, o.n), o.m, o.n, 0, "", gpu ? "device" : "host", "GFLOP/s"},
             alternate(peers, o.common.repeat), 0, [&](double seconds) { return flops / seconds * 1e-9; });
  report.note(
      "Q and R of uniform elements; rates by 4 m n^2 - 4/3 n^3, as of geqrf and orgqr, whatever a peer really does");
  if (gpu) report.note("A is on the device before, and Q stays there");
  report.finish();
}

const cli::Command orthogonalize_command(
    cli::Command::Group::bench, "qr-orthogonalize", "Q and R by Gram-Schmidt and Cholesky QR beside geqrf and orgqr",
    [](CLI::App& app) {
      auto o = std::make_shared<OrthogonalizeOptions>();
      o->common.repeat = 5;
      o->add_to(app, "qr-orthogonalize");
      app.add_option("-m,--m", o->m, "rows")->transform(cli::positive())->capture_default_str();
      app.add_option("-n,--n", o->n, "columns, at most m")->transform(cli::positive())->capture_default_str();
      app.add_option("--nb", o->nb, "columns of a tile, but for cholesky-qr2 (default: what suits)")
          ->transform(cli::positive());
      std::vector<std::string> names{"lapack", "cusolver"};
      for (const auto& method : orthogonalizations()) names.emplace_back(method.name);
      app.add_option("--peers", o->peers, "who competes; the first is what the others are compared with")
          ->delimiter(',')
          ->check(CLI::IsMember(names));
      return std::function<int()>([o] {
        if (o->m < o->n) throw ArgumentError("bench qr-orthogonalize", "--m", "is less than n");
        return guarded([&] { o->common.precision == "s" ? run<float>(*o) : run<double>(*o); });
      });
    });

}  // namespace
}  // namespace tesela::bench
