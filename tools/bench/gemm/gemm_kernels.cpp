#include "tools/app/arguments.hpp"
#include "tools/bench/harness/published.hpp"
#include "tools/bench/harness/report.hpp"
#include "tools/peers/device.hpp"
#include <tesela/codelets/dense/gemm_launch.hpp>
#include <tesela/codelets/dense/int8_gemm.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/tiles/generator.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

#if TESELA_HAVE_CUDA

#include <cuda_runtime.h>
#endif

namespace tesela::bench {
namespace {

struct KernelOptions : Options {
  std::vector<index_t> n{8000, 10000, 12000};
  std::vector<int> tiles{16, 32}, coarsen{2};
  std::vector<std::string> peers{"naive", "shared", "coarse", "tuned", "cublas"};
};

#if TESELA_HAVE_CUDA

constexpr std::array<std::string_view, 3> with_tiles{"naive", "shared", "coarse"};

/// C = A B on device 0, all three n x n.
template <class T>
struct Operands {
  index_t n;
  std::uint64_t seed;
  DeviceMemory a, b, c;
  kernels::Int8Plan plan;
  std::optional<DeviceMemory> work;  ///< of int8
  Operands(index_t size, std::uint64_t s, bool by_residues)
      : n(size),
        seed(s),
        a(bytes()),
        b(bytes()),
        c(bytes()),
        plan(kernels::plan_int8(n, n, n, kernels::moduli_for(sizeof(T)))) {
    if (by_residues) work.emplace(plan.bytes);
    generate(a.template as<T>(), n, n, operand(0));
    generate(b.template as<T>(), n, n, operand(1));
  }
  std::size_t bytes() const { return static_cast<std::size_t>(n * n) * sizeof(T); }
  Generator<T> operand(std::uint64_t which) const { return {Pattern::uniform, T(0), n, 2 * seed + which}; }
};

template <class T>
int multiply(const std::string& kernel, int tile, int coarsening, CUstream_st* stream, const Operands<T>& o) {
  const index_t n = o.n;
  T *a = o.a.template as<T>(), *b = o.b.template as<T>(), *c = o.c.template as<T>();
  if (kernel == "cublas") return cublas_multiply<T>(stream, n, n, n, a, b, c);
  if (kernel == "cublas-emulated") return cublas_emulated_multiply(stream, n, n, n, a, b, c);
  const kernels::GemmProblem<T> p{Op::none, Op::none, n, n, n, T(1), a, n, b, n, T(0), c, n};
  if (kernel == "naive") return kernels::gemm_naive(stream, p, tile);
  if (kernel == "shared") return kernels::gemm_shared(stream, p, tile);
  if (kernel == "coarse") return kernels::gemm_coarse(stream, p, tile, coarsening);
  if (kernel == "int8") return kernels::gemm_int8(stream, p, o.plan, o.work->template as<void>());
  return kernels::gemm_tuned(stream, p);
}

/// Errors of 64 entries, spread over C with its corners among them.
struct Errors {
  double bound = 0;      ///< largest |C - AB| over its bound, sqrt(n) rounding errors of |A| |B| times 8
  double component = 0;  ///< largest |C - AB| / (|A| |B|)
};

/// Compares with sums in extended precision on the host.
template <class T>
Errors check(const std::string& peer, const Operands<T>& o) {
  const Generator<T> a = o.operand(0), b = o.operand(1);
  Errors worst;
  for (index_t s = 0; s < 64; ++s) {
    const index_t i = s % 8 * (o.n - 1) / 7, j = s / 8 * (o.n - 1) / 7;
    long double sum = 0, magnitude = 0;
    for (index_t k = 0; k < o.n; ++k) {
      const long double term = static_cast<long double>(a(i, k)) * static_cast<long double>(b(k, j));
      sum += term;
      magnitude += std::abs(term);
    }
    T got{};
    copy_memory(&got, o.c.template as<T>() + i + j * o.n, sizeof got);
    const auto error = static_cast<double>(std::abs(static_cast<long double>(got) - sum));
    const auto terms = static_cast<double>(magnitude);
    const double bound =
        8 * static_cast<double>(std::numeric_limits<T>::epsilon()) * std::sqrt(static_cast<double>(o.n)) * terms;
    if (!(error <= bound))
      throw WrongResult(fmt::format("bench gemm-kernels: {}: C({}, {}) is {:.9g} and should be {:.9g} within {:.3g}",
                                    peer, i, j, static_cast<double>(got), static_cast<double>(sum), bound));
    worst = {std::max(worst.bound, error / bound), std::max(worst.component, error / terms)};
  }
  return worst;
}

template <class T>
Peer make_peer(const std::string& kernel, int tile, const Operands<T>& o, std::map<std::string, double>& errors,
               int coarsening = 2) {
  const std::string name = coarsening != 2 ? fmt::format("{} {} x{}", kernel, tile, coarsening)
                           : tile > 0      ? fmt::format("{} {}", kernel, tile)
                                           : kernel;
  const auto run = [kernel, tile, coarsening, name, &o] {
    int status = 0;
    double seconds = 0;
    seconds_of([&] {  // counts the energy
      seconds = event_seconds([&](CUstream_st* stream) { status = multiply(kernel, tile, coarsening, stream, o); });
    });
    check_device(status, name.c_str());
    return seconds;
  };
  return {name, run, [run, name, &o, &errors] {
            check_device(cudaMemset(o.c.template as<T>(), 0xff, o.bytes()), "cudaMemset");  // NaN
            run();
            const Errors found = check(name, o);
            errors[name] = found.component;
            return found.bound;
          }};
}

template <class T>
void run(const KernelOptions& o) {
  require_gpu("gemm-kernels");
  Report report("gemm-kernels", o, nullptr);
  const double ceiling = gemm_ceiling<T>();
  for (const index_t n : o.n) {
    const Operands<T> operands(n, o.common.seed, std::find(o.peers.begin(), o.peers.end(), "int8") != o.peers.end());
    std::map<std::string, double> errors;
    std::vector<Peer> peers;
    for (const std::string& kernel : o.peers) {
      if (kernel == "cublas-emulated" && !cublas_emulates<T>()) continue;
      if (std::find(with_tiles.begin(), with_tiles.end(), kernel) == with_tiles.end()) {
        peers.push_back(make_peer(kernel, 0, operands, errors));
        continue;
      }
      for (const int tile : o.tiles)
        for (const int coarsening : kernel == "coarse" ? o.coarsen : std::vector<int>{2})
          if (kernel != "coarse" || kernels::gemm_coarse_fits(sizeof(T), tile, coarsening))
            peers.push_back(make_peer(kernel, tile, operands, errors, coarsening));
    }
    const double flops = 2 * std::pow(static_cast<double>(n), 3);
    report.add({fmt::format("n = {}", n), n, n, n, "", "device", "GFLOP/s"}, alternate(peers, o.common.repeat), ceiling,
               [&](double seconds) { return flops / seconds * 1e-9; });
    for (Row& row : report.rows())
      if (row.what.n == n) row.more = {{"largest_error", errors[row.timing.peer]}};
  }
  if (std::find(o.peers.begin(), o.peers.end(), "cublas-emulated") != o.peers.end() && !cublas_emulates<T>())
    report.note("left out: cublas-emulated, which this cuBLAS lacks in this precision");
  for (Row& row : report.rows()) {
    row.published_s =
        published_value({.source = "caceres-2017", .table = "products", .row = row.timing.peer, .n = row.what.n});
    if (const auto space = row.timing.peer.find(' '); space != std::string::npos)
      row.what.tile = row.timing.peer.substr(space + 1);
  }
  report.note(
      "source: Cáceres Huacarpuma 2017, section 1.2, on a GeForce 930MX, for matrices of int; there shared was 2.6 "
      "to "
      "3.1 times as fast as naive, and coarse took another 23 % off at tile 32");
  report.note(
      fmt::format("ceiling: cuBLAS at n = 8192, {:.0f} GFLOP/s in this run; operands on the device, CUDA-event "
                  "times",
                  ceiling));
  report.finish();
}

#else
template <class T>
void run(const KernelOptions&) {
  require_gpu("gemm-kernels");
}
#endif

const cli::Command gemm_kernels_command(
    cli::Command::Group::bench, "gemm-kernels", "GEMM kernels of Cáceres Huacarpuma 2017, tuned and cuBLAS on one GPU",
    [](cli::App& app) {
      auto o = std::make_shared<KernelOptions>();
      o->common.repeat = 5;
      o->common.precision = "s";
      o->add_to(app, "gemm-kernels", {.cores = false, .gpus = false});
      app.add_list("-n,--n", o->n, "rows and columns, several with commas")->positive()->show_default();
      auto* block = app.add_list("--block", o->tiles, "thread-block edges of naive, shared and coarse")
                        ->check(cli::one_of({"16", "32"}))
                        ->show_default();
      cli::add_deprecated_alias(app, "--tile", o->tiles, block)->delimiter(',')->check(cli::one_of({"16", "32"}));
      app.add_list("--coarsen", o->coarsen,
                   "elements of C a thread of coarse; left out where their squares exceed 48 KiB of shared memory")
          ->check(cli::one_of({"1", "2", "4", "8"}))
          ->show_default();
      add_peers(app, o->peers, {"naive", "shared", "coarse", "tuned", "int8", "cublas", "cublas-emulated"})
          ->show_default();
      return for_reals(o, []<class T>(const auto& options) { run<T>(options); });
    });

}  // namespace
}  // namespace tesela::bench
