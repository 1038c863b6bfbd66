#include "tools/app/command.hpp"

#include "tools/app/numbers.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/sizes.hpp"
#include <tesela/host/vector_target.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/data.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/machine/topology.hpp>
#include <tesela/runtime/ranks.hpp>
#include <tesela/tiles/io/atomic_file.hpp>
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/io/kept_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>

namespace tesela::cli {
namespace {

std::vector<Command>& registry() {
  static std::vector<Command> all;
  return all;
}

}  // namespace

Command::Command(Group in, const char* called, const char* about, Setup how)
    : group(in), name(called), summary(about), setup(how) {
  registry().push_back(*this);
}

const std::vector<Command>& commands() { return registry(); }

void add_quiet(App& app, bool& quiet) { app.add_flag("--quiet", quiet, "print errors only"); }

void CommonOptions::add_to(App& app, const Taken& taken) {
  default_streams = taken.streams;
  std::vector<std::string> precisions{"s", "d"};
  if (taken.mixed) precisions.emplace_back("mixed");
  if (taken.complex) precisions.insert(precisions.end(), {"c", "z"});
  if (taken.mixed && taken.complex) precisions.emplace_back("mixed-z");
  if (taken.precision)
    app.add_option("-p,--precision", precision,
                   taken.mixed && taken.complex
                       ? "s (single), d (double), mixed (single, refined to double), or complex: c, z, mixed-z"
                   : taken.mixed   ? "s (single), d (double) or mixed (single, refined to double)"
                   : taken.complex ? "s (single), d (double), or complex: c (single), z (double)"
                                   : "s (single) or d (double)")
        ->transform({[](std::string& text) {
                       constexpr std::array<std::pair<const char*, const char*>, 9> longer{{{"single", "s"},
                                                                                            {"float", "s"},
                                                                                            {"float32", "s"},
                                                                                            {"double", "d"},
                                                                                            {"float64", "d"},
                                                                                            {"f64", "d"},
                                                                                            {"complex64", "c"},
                                                                                            {"complex", "z"},
                                                                                            {"complex128", "z"}}};
                       for (const auto& [name, letter] : longer)
                         if (text == name) text = letter;
                       return std::string();
                     },
                     ""})
        ->check(one_of(precisions))
        ->show_default();
  if (taken.seed)
    app.add_option("-s,--seed", seed, "of generated input")->transform(cli::seed_number())->show_default();
  app.add_option("-r,--repeat", repeat,
                 "timed runs (after a warm-up if more than one or traced; the median is reported)")
      ->positive()
      ->show_default();
  add_output(app, Output::report, "-j,--json", json_path,
             "write the report as one JSON object to FILE (- for standard output)");
  if (taken.report) {
    add_quiet(app, quiet);
    app.add_flag("--verbose", verbose, "print workers, transfers, counts and the bound of the time as well");
    if (!app.has_option("--no-check")) app.add_flag("!--no-check", check, "do not measure the errors of the result");
    if (taken.plan && !app.has_option("--plan"))
      app.add_flag("--plan", plan, "print the memory that the run needs, without a run");
  }
  if (taken.energy) app.add_flag("--energy", energy, "energy of the timed runs in J: GPUs by NVML, processors by RAPL");
  if (taken.trace) {
    add_output(app, Output::trace, "--trace", trace_dir,
               "record the timed runs: trace.svg, trace.json (Perfetto), paje.trace (ViTE) and more in DIR");
    add_output(app, Output::text, "--report", page_path,
               "record the last run: a page for a browser with schedule, graph, kernels, memory and bounds")
        ->check(ends_with({".html", ".htm"}, "a page"));
  }
  if (taken.cores) {
    app.add_option(
           "--sched", scheduler,
           "StarPU scheduler (default: STARPU_SCHED; else dmdas with a GPU, lws without), such as dmdas, dmda, lws, "
           "ws, eager or prio")
        ->type_name("POLICY");
    app.add_option(
           "--ncpu", ncpu,
           "CPU workers (default: STARPU_NCPU, else every core; with GPUs all cores but their drivers' and one)")
        ->non_negative();
    app.add_option("--grid", grid, "PxQ: grid of the processes of mpirun (default: as square as possible)")
        ->type_name("GRID");
  }
  if (!taken.gpus) return;
  app.add_option("--ncuda", ncuda, "CUDA devices (default: STARPU_NCUDA, else all)")->non_negative();
  app.add_option("--streams", streams,
                 "tasks that a GPU runs at a time (default: STARPU_NWORKER_PER_CUDA, else " +
                     std::to_string(default_streams) + ")")
      ->positive();
}

RuntimeOptions CommonOptions::runtime() const {
  if (const int there = config::have_cuda ? count_cuda_devices() : 0; ncuda > there)
    throw EnvironmentError(fmt::format("--ncuda {}: {}", ncuda,
                                       !config::have_cuda ? "this build has no CUDA variants"
                                       : there == 0       ? "no GPU is visible"
                                                          : fmt::format("only {} visible", there)));
  RuntimeOptions options;
  if (ncpu >= 0) options.cpus = ncpu;
  if (ncuda >= 0) options.gpus = ncuda;
  if (!scheduler.empty()) options.scheduler = scheduler;
  if (!grid.empty()) {
    const std::vector<index_t> sizes = parse_sizes("--grid", grid, "PxQ", 2);
    if (sizes.size() != 2 || sizes[0] > detail::most_ranks || sizes[1] > detail::most_ranks)
      throw ArgumentError("tesela", "--grid",
                          fmt::format("{} is not PxQ, of {} processes at most", grid, detail::most_ranks));
    options.grid = {static_cast<int>(sizes[0]), static_cast<int>(sizes[1])};
  }
  if (streams > 0)
    options.streams_per_gpu = streams;
  else if (default_streams > 1 && std::getenv("STARPU_NWORKER_PER_CUDA") == nullptr)
    options.streams_per_gpu = default_streams;
  options.trace_dir = trace_dir;
  options.trace_from_start = false;
  options.profile = true;
  return options;
}

int run_single_or_wide(CommonOptions& common, const std::function<int()>& single, const std::function<int()>& wide) {
  const bool complex = common.complex();
  if (common.precision != "s" && common.precision != "c") return wide();
  try {
    return single();
  } catch (const PrecisionError& error) {
    if (launched_with_others()) throw;  // other ranks may not have read that number
    common.note = std::string("computed in double precision: ") + error.what();
  }
  common.precision = complex ? "z" : "d";
  return wide();
}

void require_holds_numbers(const char* command, const CommonOptions& common,
                           std::initializer_list<std::pair<const char*, const std::string*>> outputs) {
  for (const auto& [option, path] : outputs)
    if (common.complex() && !path->empty() && format_of_name(*path) == MatrixFileFormat::plain_text)
      throw ArgumentError(command, option, *path + ": plain text holds real numbers only; write .npy or .mtx");
}

nlohmann::json machine_json(const Runtime& runtime) {
  const Machine machine = describe_machine();
  nlohmann::json gpus = nlohmann::json::array();
  for (const Gpu& gpu : machine.gpus) gpus.push_back(gpu.name);
  return {{"host", machine.host},
          {"cpu", machine.cpu_model},
          {"vector_unit", vector_target()},
          {"cores", machine.cores},
          {"memory_bytes", machine.memory_bytes},
          {"gpus", gpus},
          {"cpu_workers", runtime.cpus()},
          {"cuda_devices", runtime.gpus()},
          {"scheduler", runtime.scheduler()},
          {"starpu", Runtime::starpu_version()},
          {"cuda", machine.cuda_runtime}};
}

nlohmann::json workers_json(const Statistics& statistics) {
  nlohmann::json workers = nlohmann::json::array();
  for (const WorkerUse& use : statistics.workers) {
    nlohmann::json tasks = nlohmann::json::object(), busy = nlohmann::json::object();
    for (const KernelUse& kernel : use.kernels) {
      tasks[kernel.kernel] = tasks.value(kernel.kernel, index_t{0}) + kernel.tasks;
      busy[kernel.kernel] = busy.value(kernel.kernel, 0.0) + kernel.busy_seconds;
    }
    workers.push_back({{"name", use.worker.name},
                       {"tasks", tasks},
                       {"kernel_s", busy},
                       {"busy_s", use.busy_seconds},
                       {"waiting_s", use.waiting_seconds},
                       {"idle_s", std::max(0.0, use.total_seconds - use.busy_seconds)}});
  }
  return workers;
}

void write_json(const nlohmann::json& object, const std::string& path) {
  if (path.empty()) return;
  // File names may contain any bytes.
  const std::string text = object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (path == "-") {
    std::cout << text;  // run_program() reports a failure to print
    return;
  }
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace tesela::cli
