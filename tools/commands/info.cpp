#include "tools/app/command.hpp"
#include "tools/app/outputs.hpp"
#include <tesela/host/blas.hpp>
#include <tesela/host/vector_target.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/machine/topology.hpp>
#include <tesela/runtime/ranks.hpp>
#include <tesela/runtime/trace.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tesela::cli {
namespace {

std::string memory(index_t bytes) {
  if (bytes >= index_t{1} << 30) return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
  if (bytes >= index_t{1} << 20) return fmt::format("{:.4g} MiB", static_cast<double>(bytes) / (1 << 20));
  return fmt::format("{:.4g} KiB", static_cast<double>(bytes) / (1 << 10));
}

std::string variants() {
  return config::have_cuda ? fmt::format("CPU, CUDA (compute capability {})", config::cuda_architectures)
                           : "CPU only (this build found no nvcc)";
}

nlohmann::json report(const Machine& machine) {
  nlohmann::json caches = nlohmann::json::array(), gpus = nlohmann::json::array();
  for (const Cache& cache : machine.caches)
    caches.push_back({{"level", cache.level}, {"count", cache.count}, {"bytes", cache.bytes}});
  for (const Gpu& gpu : machine.gpus)
    gpus.push_back({{"device", gpu.device},
                    {"name", gpu.name},
                    {"compute_capability", gpu.compute_capability},
                    {"multiprocessors", gpu.multiprocessors},
                    {"memory_bytes", gpu.memory_bytes},
                    {"pci", gpu.pci},
                    {"pcie_link", gpu.pcie_link},
                    {"nvlinks", gpu.nvlinks},
                    {"peers", gpu.peers},
                    {"shared_bytes_per_block", gpu.shared_per_block},
                    {"shared_bytes_per_block_most", gpu.shared_per_block_most},
                    {"shared_bytes_per_multiprocessor", gpu.shared_per_multiprocessor},
                    {"registers_per_block", gpu.registers_per_block},
                    {"registers_per_multiprocessor", gpu.registers_per_multiprocessor},
                    {"l2_bytes", gpu.l2_bytes},
                    {"clock_khz", gpu.clock_khz},
                    {"memory_clock_khz", gpu.memory_clock_khz},
                    {"memory_bus_bits", gpu.memory_bus_bits},
                    {"ecc", gpu.ecc}});
  return {{"command", "info"},
          {"version", config::version},
          {"machine",
           {{"host", machine.host},
            {"cpu", machine.cpu_model},
            {"vector_unit", vector_target()},
            {"vector_units", vector_targets()},
            {"sockets", machine.sockets},
            {"numa_nodes", machine.numa_nodes},
            {"cores", machine.cores},
            {"threads", machine.threads},
            {"memory_bytes", machine.memory_bytes},
            {"caches", caches},
            {"gpus", gpus}}},
          {"starpu", Runtime::starpu_version()},
          {"schedulers", Runtime::schedulers()},
          {"traces", can_trace()},
          {"blas", blas::description()},
          {"mpi", mpi_description()},
          {"cuda_runtime", machine.cuda_runtime},
          {"cuda_driver", machine.cuda_driver},
          {"variants", variants()},
          {"status", "ok"}};
}

void print(const Gpu& gpu) {
  fmt::print("GPU {}      {}, compute capability {}, {} multiprocessors, {}, PCIe {}{}{}{}\n", gpu.device, gpu.name,
             gpu.compute_capability, gpu.multiprocessors, memory(gpu.memory_bytes),
             gpu.pcie_link.empty() ? "unknown" : gpu.pcie_link, gpu.pci.empty() ? "" : " at " + gpu.pci,
             gpu.nvlinks > 0 ? fmt::format(", {} NVLinks", gpu.nvlinks) : "",
             gpu.peers.empty() ? "" : fmt::format(", reaches GPU {}", fmt::join(gpu.peers, " ")));
  const auto megahertz = [](int khz) { return khz > 0 ? fmt::format("{} MHz", khz / 1000) : "unknown"; };
  fmt::print(
      "           shared memory {} a block (at most {}), {} a multiprocessor; registers {} a block, {} a "
      "multiprocessor\n",
      memory(gpu.shared_per_block), memory(gpu.shared_per_block_most), memory(gpu.shared_per_multiprocessor),
      gpu.registers_per_block, gpu.registers_per_multiprocessor);
  fmt::print("           L2 {}, clock {}, memory clock {}, bus {} bits, ECC {}\n", memory(gpu.l2_bytes),
             megahertz(gpu.clock_khz), megahertz(gpu.memory_clock_khz), gpu.memory_bus_bits, gpu.ecc ? "on" : "off");
}

void print(const Machine& machine) {
  fmt::print("tesela     {}, variants: {}\n", config::version, variants());
  fmt::print("StarPU     {}, traces {}\n", Runtime::starpu_version(),
             can_trace() ? "yes (FxT)" : "no (built without FxT)");
  fmt::print("BLAS       {}\n", blas::description());
  fmt::print("MPI        {}\n", mpi_description().empty() ? "none: built without it" : mpi_description());
  if (config::have_cuda)
    fmt::print("CUDA       runtime {}, driver {}\n", machine.cuda_runtime,
               machine.cuda_driver.empty() ? "none" : machine.cuda_driver);
  fmt::print("host       {}: {}\n", machine.host, machine.cpu_model);
  fmt::print("cores      {} ({} threads) on {} socket{}, {} NUMA node{}, {}\n", machine.cores, machine.threads,
             machine.sockets, machine.sockets == 1 ? "" : "s", machine.numa_nodes, machine.numa_nodes == 1 ? "" : "s",
             memory(machine.memory_bytes));
  fmt::print("vectors    {} (TESELA_ISA selects one of: {})\n", vector_target(), fmt::join(vector_targets(), " "));
  for (const Cache& cache : machine.caches)
    fmt::print("L{} cache   {} x {}\n", cache.level, cache.count, memory(cache.bytes));
  for (const Gpu& gpu : machine.gpus) print(gpu);
  if (machine.gpus.empty()) fmt::print("GPUs       none\n");
  constexpr std::size_t width = 80;
  std::string line = "schedulers";
  for (const std::string& name : Runtime::schedulers()) {
    if (line.size() + 1 + name.size() > width) fmt::print("{}\n", line), line.assign(10, ' ');
    line += " " + name;
  }
  fmt::print("{}\n", line);
}

struct Options {
  std::string json_path;
  bool quiet = false;
};

int run(const Options& o) {
  const Machine machine = describe_machine();
  if (o.json_path != "-" && !o.quiet) print(machine);
  write_json(report(machine), o.json_path);
  return done;
}

const Command info(Command::Group::top, "info", "what this machine has and what this build can do", [](App& app) {
  auto o = std::make_shared<Options>();
  add_output(app, Output::report, "-j,--json", o->json_path,
             "write the report as one JSON object to FILE (- for standard output)");
  add_quiet(app, o->quiet);
  return std::function<int()>([o] { return run(*o); });
});

}  // namespace
}  // namespace tesela::cli
