#include "tools/app/arguments.hpp"
#include "tools/app/choices.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/sizes.hpp"
#include "tools/bench/harness/report.hpp"
#include "tools/peers/device.hpp"
#include "tools/problems/dense/gemm_data.hpp"
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/runtime/topology.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace tesela::bench {

using namespace kernels;
namespace {

struct GemmOptionsOfBench : Options {
  std::vector<index_t> n{4096};
  index_t m = 0, k = 0;
  std::string tile;
  std::vector<std::string> peers;
  std::string data = "host";
  std::string kernel = "cublas";
  bool on_device() const { return data == "device"; }
  bool has(const char* peer) const { return std::find(peers.begin(), peers.end(), peer) != peers.end(); }
};

/// Refuses what cannot be before anything is allocated.
void settle_options(GemmOptionsOfBench& o) {
  const bool gpu = config::have_cuda && count_cuda_devices() > 0 && o.common.ncuda != 0;
  if (o.peers.empty()) {
    if (o.on_device())
      o.peers = {"tesela", "cublas", "starpu"};
    else
      o.peers = gpu ? std::vector<std::string>{"tesela", "cublas", "cublasxt", "starpu"}
                    : std::vector<std::string>{"tesela", "openblas", "starpu"};
  }
  for (const char* host_only : {"openblas", "cublasxt"})
    require(!o.on_device() || !o.has(host_only), "bench gemm", "--peers", host_only,
            " multiplies host matrices: use --data host");
  for (const index_t n : o.n) require(n >= 1, "bench gemm", "--n", n, " is less than 1");
  if (o.on_device() || o.has("cublas") || o.has("cublasxt")) require_gpu("gemm");
  if ((o.on_device() || o.has("cublas") || o.has("cublasxt")) && o.common.ncuda == 0)
    throw EnvironmentError("bench gemm: --ncuda 0 leaves no device for --data device, cublas or cublasxt");
  // Operands on the devices are multiplied there: a core would only fetch tiles.
  if (o.on_device() && o.common.ncpu < 0) o.common.ncpu = 0;
}

template <class T>
Peer make_peer(const std::string& name, const GemmData<T>& data) {
  if (name == "tesela") return tesela_gemm(data);
  if (name == "starpu") return starpu_gemm(data);
  if (name == "openblas") return openblas_gemm(data);
#if TESELA_HAVE_CUDA
  if (name == "cublas") return cublas_gemm(data);
  if (name == "cublasxt") return cublasxt_gemm(data);
#endif
  throw ArgumentError("bench gemm", "--peers", "no peer '" + name + "'");
}

template <class T>
void run(GemmOptionsOfBench o) {
  settle_options(o);
  Runtime runtime(o.runtime());
  if (o.kernel != "cublas" && runtime.gpus() == 0)
    throw EnvironmentError(fmt::format("bench gemm: --kernel {} is what GPUs run, and this run has none", o.kernel));
  Report report("gemm", o, &runtime);
  double ceiling = 0;
#if TESELA_HAVE_CUDA
  if (runtime.gpus() > 0) {
    const PausedWorkers paused;
    const double device = gemm_ceiling<T>();
    ceiling = device * runtime.gpus();
    report.note(
        fmt::format("ceiling: cuBLAS on one device {:.0f} GFLOP/s, times {} devices; copy within one device "
                    "{:.0f} GB/s",
                    device, runtime.gpus(), copy_ceiling()));
  }
#endif
  for (const index_t n : o.n) {
    GemmCase what{o.m > 0 ? o.m : n,
                  n,
                  o.k > 0 ? o.k : n,
                  {},
                  o.common.seed,
                  o.on_device(),
                  *find_named(gemm_kernels(), o.kernel)};
    what.tile = cli::parse_gemm_tile(o.tile, gemm_tile(runtime, what.m, what.n, what.k));
    const GemmData<T> data(runtime, what, o.has("tesela") || o.has("starpu"));
    std::vector<Peer> peers;
    for (const std::string& name : o.peers) peers.push_back(make_peer(name, data));
    const Case row{
        what.m == n && what.k == n ? fmt::format("n = {}", n) : fmt::format("{} x {} x {}", what.m, n, what.k),
        what.m,
        n,
        what.k,
        fmt::format("{}x{}x{}", what.tile.mb, what.tile.nb, what.tile.kb),
        o.data,
        "GFLOP/s"};
    report.add(row, alternate(peers, o.common.repeat), ceiling,
               [&](double seconds) { return what.flops() / seconds * 1e-9; });
  }
  if (o.on_device())
    report.note(
        "the graph alone is timed: operands stay on the devices, where after the warm-up each device holds the "
        "tiles of A and B that its tasks read; cublas runs on device 0");
  else if (runtime.gpus() > 0)
    report.note("operands and results in page-locked host memory, all transfers timed");
  report.finish();
}

const cli::Command gemm_command(
    cli::Command::Group::bench, "gemm", "C = A B as a task graph against OpenBLAS, cuBLAS, cublasXt and plain StarPU",
    [](cli::App& app) {
      auto o = std::make_shared<GemmOptionsOfBench>();
      o->common.repeat = 7;
      o->add_to(app, "gemm");
      app.add_option("-n,--n", o->n, "columns of C (and rows of A and B without --m, --k); several: one case each")
          ->delimiter(',')
          ->capture_default_str();
      app.add_option("-m,--m", o->m, "rows of C (default: n)")->transform(cli::positive());
      app.add_option("-k,--k", o->k, "inner size (default: n)")->transform(cli::positive());
      cli::add_tile(app, o->tile, "MB, MBxNB or MBxNBxKB",
                    "C's tiles are MB x NB, A's MB x KB, B's KB x NB; default: what suits the workers");
      app.add_option("--peers", o->peers, "who competes; the first is whom the others are compared with")
          ->delimiter(',')
          ->check(cli::one_of({"tesela", "openblas", "cublas", "cublasxt", "starpu"}));
      app.add_option("--data", o->data, "host: transfers are timed; device: operands stay on the GPUs")
          ->check(cli::one_of({"host", "device"}))
          ->capture_default_str();
      cli::Choices().add(gemm_kernels()).add_option(app, "--kernel", o->kernel, "what our tasks run on GPUs: ");
      return std::function<int()>(
          [o] { return guarded([&] { o->common.precision == "s" ? run<float>(*o) : run<double>(*o); }); });
    });

}  // namespace
}  // namespace tesela::bench
