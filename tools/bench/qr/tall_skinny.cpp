#include "tools/bench/harness/factor_options.hpp"
#include "tools/bench/harness/report.hpp"
#include "tools/peers/cusolver_qr.hpp"
#include "tools/peers/device.hpp"
#include "tools/problems/qr/tall_skinny_data.hpp"
#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/qr/tall_skinny.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tesela::bench {
namespace {

struct TallSkinnyBenchOptions : FactorOptions {
  index_t m = index_t{1} << 24, n = 16, rows = 0;
};

void complete_options(TallSkinnyBenchOptions& o) {
  require(o.n <= o.m, "bench tall-skinny", "--n", o.n, " columns are more than ", o.m, " rows");
  o.resolve("tall-skinny");
}

/// One tall tile for each device that holds A; elsewhere enough of them to keep all cores, or a link, busy.
index_t suitable_rows(const Runtime& runtime, const TallSkinnyBenchOptions& o) {
  if (o.rows > 0) return o.rows;
  if (o.on_device()) return ceil_div(o.m, runtime.gpus());
  return runtime.gpus() > 0 ? index_t{1} << 22 : index_t{1} << 18;
}

template <class T>
HostMatrix<T> upper_square(const T* factors, index_t ld, index_t n) {
  auto r = HostMatrix<T>::zeros(n, n);
  for (index_t j = 0; j < n; ++j) std::copy_n(factors + j * ld, j + 1, &r(0, j));
  return r;
}

template <class T>
Peer tesela_r(const TallSkinnyData<T>& data) {
  struct Tiles {
    std::optional<TileMatrix<T>> A, R;
  };
  const auto tiles = std::make_shared<Tiles>();
  const auto run = [&data, tiles] {
    const TallSkinnyCase& w = data.what();
    const TileShape tile{w.rows, w.n};
    if (!tiles->R) tiles->R.emplace(data.runtime(), w.n, w.n, TileShape{w.n, w.n}, "R");
    if (!w.on_device) {  // registered anew, so that no device holds any of it
      tiles->A.reset();
      tiles->A = TileMatrix<T>::map(data.runtime(), data.a(), w.m, w.n, w.m, tile);
    } else if (!tiles->A) {
      tiles->A.emplace(data.runtime(), w.m, w.n, tile);
      Graph g(data.runtime());
      fill(g, *tiles->A, data.generator());
      g.wait();
    }
    wait_for_idle_threads();
    return seconds_of([&] {
      Graph g(data.runtime());
      tall_skinny_r(g, *tiles->A, *tiles->R);
      g.wait();
    });
  };
  return {"tesela", run, [&data, tiles, run] {
            run();
            return data.check("tesela", tiles->R->to_host());
          }};
}

template <class T>
Peer lapack_r(const TallSkinnyData<T>& data) {
  const TallSkinnyCase& w = data.what();
  const auto factors = std::make_shared<HostMatrix<T>>(w.m, w.n);
  const auto run = [&data, factors] {
    const PausedWorkers paused;
    std::memcpy(factors->data(), data.a(), static_cast<std::size_t>(factors->size()) * sizeof(T));
    std::vector<T> tau(static_cast<std::size_t>(factors->cols()));
    const blas::Threads threads(blas::all_cores());
    wait_for_idle_threads();
    return seconds_of(
        [&] { lapack::geqrf(factors->rows(), factors->cols(), factors->data(), factors->ld(), tau.data()); });
  };
  return {"lapack", run, [&data, factors, run] {
            run();
            return data.check("lapack", upper_square(factors->data(), factors->ld(), factors->cols()));
          }};
}

template <class T>
Peer cusolver_r(const TallSkinnyData<T>& data) {
  const auto solver = std::make_shared<CusolverQr<T>>(data.what().m, data.what().n);
  const auto run = [&data, solver] {
    const TallSkinnyCase& w = data.what();
    const PausedWorkers paused;
    if (w.on_device) generate(solver->a(), w.m, w.n, data.generator());
    wait_for_idle_threads();
    return seconds_of([&] {
      if (!w.on_device) solver->upload(data.a());
      solver->factor();
    });
  };
  return {"cusolver", run, [&data, solver, run] {
            run();
            HostMatrix<T> factors(data.what().m, data.what().n);
            solver->download(factors.data());
            return data.check("cusolver", upper_square(factors.data(), factors.ld(), factors.cols()));
          }};
}

template <class T>
void run(TallSkinnyBenchOptions o) {
  complete_options(o);
  Runtime runtime(o.runtime());
  Report report("tall-skinny", o, &runtime);
  const double ceiling = measure_copy_ceiling(report, runtime, o.on_device());
  const TallSkinnyCase what{o.m, o.n, std::min(suitable_rows(runtime, o), o.m), o.common.seed, o.on_device()};
  const TallSkinnyData<T> data(runtime, what);
  std::vector<Peer> peers;
  for (const std::string& name : o.peers)
    if (name == "tesela")
      peers.push_back(tesela_r(data));
    else if (name == "lapack")
      peers.push_back(lapack_r(data));
    else if constexpr (config::have_cuda)
      peers.push_back(cusolver_r(data));
  const double bytes = static_cast<double>(o.m) * static_cast<double>(o.n) * sizeof(T);
  report.add({fmt::format("{} x {}", o.m, o.n), o.m, o.n, 0, fmt::format("{}x{}", what.rows, o.n), o.data, "GB/s"},
             alternate(peers, o.common.repeat), ceiling, [&](double seconds) { return bytes / seconds * 1e-9; });
  report.note("rates: the bytes of A, once, over the time, whatever a peer really reads and writes");
  if (o.on_device())
    report.note("A and R stay on the devices");
  else if (runtime.gpus() > 0)
    report.note("A in page-locked host memory, its transfer timed");
  report.finish();
}

const cli::Command tall_skinny_command(
    cli::Command::Group::bench, "tall-skinny", "R of a tall and skinny matrix against LAPACK and cuSOLVER",
    [](cli::App& app) {
      auto o = std::make_shared<TallSkinnyBenchOptions>();
      o->common.repeat = 5;
      o->add_to(app, "tall-skinny");
      app.add_option("-m,--m", o->m, "rows of A")->positive()->show_default();
      app.add_option("-n,--n", o->n, "columns of A")->positive()->show_default();
      app.add_option("-t,--tile", o->rows, "rows of a tile (default: what suits the workers)")->positive();
      o->add_peers(app);
      return for_reals(o, []<class T>(const auto& options) { run<T>(options); });
    });

}  // namespace
}  // namespace tesela::bench
