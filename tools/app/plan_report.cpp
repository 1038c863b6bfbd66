#include "tools/app/plan_report.hpp"

#include "tools/app/progress.hpp"
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/machine/memory.hpp>
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tesela::cli {
namespace {

constexpr double mebibyte = 1024.0 * 1024.0;

std::string in_mebibytes(const nlohmann::json& bytes) { return fmt::format("{:.1f}", bytes.get<double>() / mebibyte); }

void print_stages(const nlohmann::json& plan) {
  const auto line = [](const std::string& name, const nlohmann::json& host, const std::vector<nlohmann::json>& gpus) {
    fmt::print("{:<18} {:>12}", name, in_mebibytes(host));
    for (const nlohmann::json& bytes : gpus) fmt::print(" {:>12}", in_mebibytes(bytes));
    fmt::print("\n");
  };
  const auto of_gpus = [&](const char* key) {
    std::vector<nlohmann::json> all;
    for (const nlohmann::json& gpu : plan["gpus"]) all.push_back(gpu[key]);
    return all;
  };
  fmt::print("{:<18} {:>12}", "MiB", "host");
  for (std::size_t gpu = 0; gpu < plan["gpus"].size(); ++gpu) fmt::print(" {:>12}", fmt::format("GPU {}", gpu));
  fmt::print("\n");
  for (const nlohmann::json& stage : plan["stages"]) line(stage["name"], stage["host_bytes"], stage["gpu_bytes"]);
  line("most", plan["host"]["peak_bytes"], of_gpus("peak_bytes"));
  if (!plan["gpus"].empty()) line("with reserves", plan["host"]["peak_bytes"], of_gpus("held_bytes"));
  line("there are", plan["host"]["room_bytes"], of_gpus("room_bytes"));
}

/// Prints an array of objects with the same keys.
void print_table(const nlohmann::ordered_json& rows) {
  for (const auto& [key, value] : rows.front().items()) fmt::print("{:>16}", key);
  fmt::print("\n");
  for (const nlohmann::ordered_json& row : rows) {
    for (const auto& [key, value] : row.items())
      fmt::print("{:>16}", value.is_string()         ? value.get<std::string>()
                           : value.is_number_float() ? fmt::format("{:.1f}", value.get<double>())
                                                     : value.dump());
    fmt::print("\n");
  }
}

}  // namespace

void require_plan_alone(const App& app) {
  if (app.count("--plan") == 0) return;
  for (const char* const option : {"--energy", "--trace", "--report"})
    require(app.count(option) == 0, command_name(app), option, "and --plan contradict each other: a plan runs nothing");
}

void PlanOptions::add_to(App& app) {
  app.add_flag("--plan", only, "print the memory of every stage and the largest orders, without a run");
  app.add_option("--memory", memory, "GiB of host memory (default: memory and swap)")->positive();
}

MemoryRoom PlanOptions::room(const Runtime& runtime) const {
  return {memory > 0 ? memory * 1024 * mebibyte : usable_host_bytes(),
          runtime.gpus() > 0 ? static_cast<double>(runtime.device_bytes()) / runtime.gpus() : 0};
}

nlohmann::json plan_json(const MemoryPlan& plan, const MemoryRoom& room) {
  nlohmann::json json = {{"host", {{"peak_bytes", plan.peak(MemoryPlan::host)}, {"room_bytes", room.host}}},
                         {"gpus", nlohmann::json::array()},
                         {"stages", nlohmann::json::array()},
                         {"least", plan.is_least()},
                         {"fits", misfit(plan, room).empty()},
                         {"stays_on_gpus", fits_without_eviction(plan, room)}};
  for (int gpu = 0; gpu < plan.gpus(); ++gpu)
    json["gpus"].push_back({{"peak_bytes", plan.peak(gpu)}, {"held_bytes", plan.held(gpu)}, {"room_bytes", room.gpu}});
  for (index_t s = 0; s <= plan.last_stage(); ++s) {
    nlohmann::json gpus = nlohmann::json::array();
    for (int gpu = 0; gpu < plan.gpus(); ++gpu) gpus.push_back(plan.bytes(s, gpu));
    json["stages"].push_back({{"name", plan.stages()[static_cast<std::size_t>(s)]},
                              {"host_bytes", plan.bytes(s, MemoryPlan::host)},
                              {"gpu_bytes", gpus}});
  }
  return json;
}

int finish_plan(const CommonOptions& options, const Runtime& runtime, nlohmann::json problem, const MemoryPlan& plan,
                const MemoryRoom& room, const nlohmann::ordered_json& more) {
  end_progress();
  const std::string why = misfit(plan, room), command = problem["command"];
  problem.erase("command");
  nlohmann::json report = {{"command", command},
                           {"version", config::version},
                           {"problem", problem},
                           {"machine", machine_json(runtime)},
                           {"plan", plan_json(plan, room)},
                           {"status", why.empty() ? "ok" : "does not fit: " + why}};
  report["plan"].update(nlohmann::json(more));
  if (options.json_path != "-" && !options.quiet) {
    fmt::print("{}:", command);
    for (const auto& [key, value] : problem.items())
      fmt::print(" {}={}", key, value.is_string() ? value.get<std::string>() : value.dump());
    fmt::print("\n\n");
    if (plan.is_least()) fmt::print("too large to count: this is a lower bound\n");
    print_stages(report["plan"]);
    for (const auto& [key, rows] : more.items()) {
      fmt::print("\n{}\n", key);
      print_table(rows);
    }
    fmt::print("\nstatus  {}\n", report["status"].get<std::string>());
  }
  write_json(report, options.json_path);
  return why.empty() ? done : environment;
}

void require_fit(const std::string& command, const MemoryPlan& plan, const MemoryRoom& room) {
  if (const std::string why = misfit(plan, room); !why.empty())
    throw EnvironmentError(command + ": does not fit: " + why +
                           " (--plan shows details, --memory sets the host's memory)");
}

MemoryMeter::MemoryMeter() : host_before_(host_memory().now) {}

void MemoryMeter::measure(const MemoryPlan& plan, const Runtime& runtime, Report& report) const {
  nlohmann::json memory = {
      {"host", {{"planned_bytes", plan.peak(MemoryPlan::host)}, {"measured_bytes", host_memory().most - host_before_}}},
      {"gpus", nlohmann::json::array()}};
  const std::vector<double> held = runtime.device_bytes_held();
  // A rank may have fewer GPUs than the plan.
  for (std::size_t gpu = 0; gpu < std::min(held.size(), static_cast<std::size_t>(plan.gpus())); ++gpu)
    memory["gpus"].push_back({{"planned_bytes", plan.held(static_cast<int>(gpu))}, {"measured_bytes", held[gpu]}});
  report.memory(memory);
}

}  // namespace tesela::cli
