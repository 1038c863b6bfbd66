#include "tools/problems/dense/gemm.hpp"

#include "tools/app/arguments.hpp"
#include "tools/bench/harness/factor_options.hpp"
#include "tools/peers/device.hpp"
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tesela::bench {

namespace {

struct GemmOptionsOfBench : FactorOptions {
  std::vector<index_t> n{4096};
  index_t m = 0, k = 0;
  cli::GemmMethod method;
};

/// Chooses the peers, and throws for peers that this machine does not have before anything is allocated.
void complete_options(GemmOptionsOfBench& o) {
  if (o.peers.empty()) {
    if (o.on_device())
      o.peers = {"tesela", "cublas", "starpu"};
    else
      o.peers = o.gpu() ? std::vector<std::string>{"tesela", "cublas", "cublasxt", "starpu"}
                        : std::vector<std::string>{"tesela", "openblas", "starpu"};
    if (o.common.complex()) std::erase(o.peers, "starpu");
  }
  for (const char* host_only : {"openblas", "cublasxt"})
    require(!o.on_device() || !o.has(host_only), "bench gemm", "--peers", host_only,
            " multiplies host matrices: use --data host");
  for (const index_t n : o.n) require(n >= 1, "bench gemm", "--n", n, " is less than 1");
  require(!o.common.complex() || o.method.kernel == "automatic" || o.method.kernel == "cublas", "bench gemm",
          "--kernel", o.method.kernel, " has no complex numbers: use cublas");
  if (o.on_device() || o.has("cublas") || o.has("cublasxt")) require_gpu("gemm");
  if ((o.on_device() || o.has("cublas") || o.has("cublasxt")) && o.common.ncuda == 0)
    throw EnvironmentError("bench gemm: --ncuda 0 leaves no device for --data device, cublas or cublasxt");
  // Operands on the devices are multiplied there: a core would only fetch tiles.
  if (o.on_device() && o.common.ncpu < 0) o.common.ncpu = 0;
}

template <class T>
void run(GemmOptionsOfBench o) {
  complete_options(o);
  Runtime runtime(o.runtime());
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
    const index_t m = o.m > 0 ? o.m : n, k = o.k > 0 ? o.k : n;
    cli::GemmProblem<T> problem{
        .m = m, .n = n, .k = k, .options = o.method.options("bench gemm", runtime, m, n, k, o.on_device())};
    problem.seed = o.common.seed;
    problem.runtime = &runtime;
    problem.generate_uniform(o.on_device());
    const auto peers = make_peers(o.peers, "tiles", cli::gemm_table<T>(), problem);
    const auto [mb, nb, kb] = problem.options.tile;
    const Case row{m == n && k == n ? fmt::format("n = {}", n) : fmt::format("{} x {} x {}", m, n, k),
                   m,
                   n,
                   k,
                   fmt::format("{}x{}x{}", mb, nb, kb),
                   o.data,
                   "GFLOP/s"};
    report.add(row, alternate(peers, o.common.repeat), ceiling,
               [&](double seconds) { return problem.flops() / seconds * 1e-9; });
  }
  if (o.on_device())
    report.note(
        "the graph alone is timed: operands stay on the devices, where after the warm-up each device holds the "
        "tiles of A and B that its tasks read; cublas runs on device 0");
  else if (runtime.gpus() > 0)
    report.note("operands and results in page-locked host memory, all transfers timed");
  report.finish();
}

const cli::Command gemm_command(cli::Command::Group::bench, "gemm",
                                "C = A B as a task graph against OpenBLAS, cuBLAS, cublasXt and plain StarPU",
                                [](cli::App& app) {
                                  auto o = std::make_shared<GemmOptionsOfBench>();
                                  o->common.repeat = 7;
                                  o->add_to(app, "gemm", {.complex = true});
                                  app.add_list(
                                         "-n,--n", o->n,
                                         "columns of C (and rows of A and B without --m, --k); several: one case each")
                                      ->show_default();
                                  app.add_option("-m,--m", o->m, "rows of C (default: n)")->positive();
                                  app.add_option("-k,--k", o->k, "inner size (default: n)")->positive();
                                  o->method.add_to(app);
                                  o->add_peers(app, {"tesela", "openblas", "cublas", "cublasxt", "starpu"});
                                  return for_numbers(o, []<class T>(const auto& options) { run<T>(options); });
                                });

}  // namespace
}  // namespace tesela::bench
