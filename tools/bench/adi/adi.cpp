#include "tools/bench/adi/adi_peers.hpp"
#include "tools/bench/harness/report.hpp"
#include "tools/peers/device.hpp"
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

namespace tesela::bench {
namespace {

const std::vector<std::string> cusparse_peers{"strided-0", "strided-1", "strided-2", "rhs-0", "rhs-1", "rhs-2"};

struct AdiOptions : Options {
  std::vector<index_t> n;
  index_t tiles = 0, steps = 10;
  std::string data;
  std::vector<std::string> peers;
  bool on_device() const { return data == "device"; }
};

bool of_cusparse(const std::string& peer) {
  return std::find(cusparse_peers.begin(), cusparse_peers.end(), peer) != cusparse_peers.end();
}

/// Refuses what cannot be before anything is allocated.
void complete_options(AdiOptions& o) {
  const bool cusparse = std::any_of(o.peers.begin(), o.peers.end(), of_cusparse);
  if (o.data.empty()) o.data = o.gpu() || cusparse ? "device" : "host";
  if (o.n.empty()) o.n = o.on_device() ? std::vector<index_t>{1024, 4096, 8192} : std::vector<index_t>{512, 2048};
  if (o.peers.empty()) {
    o.peers = o.on_device() ? std::vector<std::string>{"tesela", "strided-0", "strided-1", "rhs-0"}
                            : std::vector<std::string>{"tesela", "thomas"};
  }
  require(!cusparse || o.on_device(), "bench adi", "--peers", "cuSPARSE's solve on the device: use --data device");
  for (const index_t n : o.n) {
    require(n >= 3, "bench adi", "--n", n, " is less than cuSPARSE's 3");
    require(n <= 46340, "bench adi", "--n", n, " exceeds cuSPARSE's integers, squared");
  }
  if (!o.on_device()) {
    o.common.ncuda = 0;
    return;
  }
  require_gpu("adi");
  if (o.common.ncuda == 0) throw EnvironmentError("bench adi: --ncuda 0 leaves no device for --data device");
  if (o.common.ncpu < 0) o.common.ncpu = 0;  // a core would only fetch the devices' tiles
}

template <class T>
std::unique_ptr<AdiProgram<T>> make_program(const AdiData<T>& data, const std::string& name) {
#if TESELA_HAVE_CUDA
  if (of_cusparse(name)) return cusparse_adi(data, name);
#endif
  return name == "thomas" ? thomas_adi(data) : tesela_adi(data);
}

/// StarPU's workers sleep while somebody else computes.
template <class T>
double advance(AdiProgram<T>& program, index_t steps) {
  const auto paused = program.uses_workers() ? nullptr : std::make_unique<PausedWorkers>();
  wait_for_idle_threads();
  return seconds_of([&] { program.advance(steps); }) / static_cast<double>(steps);
}

template <class T>
double verify(const AdiData<T>& data, AdiProgram<T>& program, index_t steps) {
  program.restart();
  advance(program, steps);
  const double error = data.error(program.u(), steps);
  if (!(error <= 1))
    throw WrongResult(
        fmt::format("bench adi: {}: the error is {:.3g} times what rounding may do", program.name(), error));
  return error;
}

template <class T>
void run_case(const AdiOptions& o, Runtime& runtime, Report& report, index_t n, double ceiling) {
  const index_t tiles = o.tiles > 0 ? o.tiles : o.on_device() ? runtime.gpus() : runtime.cpus();
  const AdiData<T> data(runtime, n, tiles, o.on_device());
  std::vector<std::unique_ptr<AdiProgram<T>>> programs;
  for (const std::string& name : o.peers) programs.push_back(make_program(data, name));
  for (const index_t steps : {index_t{1}, o.steps}) {
    std::vector<Peer> peers;
    peers.reserve(programs.size());
    for (const auto& program : programs)
      peers.push_back({program->name(), [&program = *program, steps] { return advance(program, steps); },
                       [&data, &program = *program, steps] { return verify(data, program, steps); }});
    report.add({fmt::format("{} x {}, {} step{}", n, n, steps, steps == 1 ? "" : "s at once"), n, n, 0,
                fmt::format("{}x{}", data.tile().mb, data.tile().nb), o.data, "GB/s"},
               alternate(peers, o.common.repeat), ceiling,
               [&](double seconds) { return data.bytes() / seconds * 1e-9; });
    if (o.steps == 1) break;
  }
}

template <class T>
void run(AdiOptions o) {
  complete_options(o);
  Runtime runtime(o.runtime());
  Report report("adi", o, &runtime);
  const double ceiling = measure_copy_ceiling(report, runtime, o.on_device());
  for (const index_t n : o.n) run_case<T>(o, runtime, report, n, ceiling);
  report.note(
      fmt::format("times are of one step; rates: {} bytes an unknown (two products and two solves, each reads "
                  "and writes the square once) over the time, for every peer",
                  8 * sizeof(T)));
  report.note(o.on_device()
                  ? "everything stays on the devices; cuSPARSE runs on device 0, and its step includes writing the "
                    "matrices that gtsvInterleavedBatch overwrites"
                  : "cuSPARSE is left out: it needs --data device and a CUDA device; thomas keeps its elimination, on "
                    "all cores");
  report.finish();
}

const cli::Command adi_command(
    cli::Command::Group::bench, "adi", "time steps of the heat equation by alternating directions against cuSPARSE",
    [](cli::App& app) {
      auto o = std::make_shared<AdiOptions>();
      o->common.repeat = 9;
      o->add_to(app, "adi", {.seed = false});
      app.add_list("-n,--n", o->n, "unknowns along a side; several: one case each");
      app.add_option("--tiles", o->tiles, "of whole columns (default: one for each GPU, or core)")->positive();
      app.add_option("--steps", o->steps, "inserted at once; a single one is timed as well")
          ->positive()
          ->show_default();
      std::vector<std::string> names = cusparse_peers;
      names.insert(names.begin(), {"tesela", "thomas"});
      add_peers(app, o->peers, names,
                ". cuSPARSE's, with y by gtsvInterleavedBatch's algorithm A: strided-A (x by gtsv2StridedBatch), rhs-A "
                "(x by gtsv2_nopivot)");
      app.add_option("--data", o->data, "host: on the cores; device: everything on the GPUs (default with one)")
          ->check(cli::one_of({"host", "device"}));
      return for_reals(o, []<class T>(const auto& options) { run<T>(options); });
    });

}  // namespace
}  // namespace tesela::bench
