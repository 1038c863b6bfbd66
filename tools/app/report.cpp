#include "tools/app/report.hpp"

#include "tools/app/median.hpp"
#include "tools/app/progress.hpp"
#include "tools/app/regression_table.hpp"
#include "tools/app/sizes.hpp"
#include "tools/app/standard_streams.hpp"
#include "tools/app/trace_report.hpp"
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/ranks.hpp>
#include <tesela/runtime/shortest.hpp>
#include <tesela/runtime/trace/trace_picture.hpp>
#include <tesela/tiles/io/file_batch.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unistd.h>

namespace tesela::cli {
namespace {

std::string bytes(double b) {
  if (b >= 1e9) return fmt::format("{:.2f} GB", b / 1e9);
  if (b >= 1e6) return fmt::format("{:.2f} MB", b / 1e6);
  return fmt::format("{:.0f} B", b);
}

/// Formats a check's value: counts as integers, errors with three digits.
std::string short_number(double value) {
  if (std::isnan(value)) return "nan";  // of either sign
  const bool whole = value == std::trunc(value) && std::abs(value) < 1e15;
  return whole ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string energy_line(const nlohmann::json& energy) {
  const auto joules = [&](const char* key) {
    return energy[key].is_null() ? std::string("unavailable") : fmt::format("{:.4g} J", energy[key].get<double>());
  };
  std::string line = fmt::format("GPUs {}, processors {}", joules("gpu_j"), joules("cpu_j"));
  if (!energy["gflops_per_j"].is_null()) line += fmt::format(", {:.4g} Gflop/J", energy["gflops_per_j"].get<double>());
  return line;
}

std::string memory_line(const nlohmann::json& memory) {
  const auto both = [](const nlohmann::json& place) {
    return fmt::format("{} of {} planned", bytes(place["measured_bytes"].get<double>()),
                       bytes(place["planned_bytes"].get<double>()));
  };
  std::string line = "host " + both(memory["host"]);
  for (const nlohmann::json& gpu : memory["gpus"]) line += ", GPU " + both(gpu);
  return line;
}

/// Returns "x.npy: 4 x 1, float64".
std::string line_of(const nlohmann::json& written) {
  return written["file"].get<std::string>() +
         (written.contains("contents") ? ": " + written["contents"].get<std::string>() : "");
}

bool has_file(const nlohmann::json& written, const std::string& path) {
  return std::any_of(written.begin(), written.end(), [&](const auto& file) { return file["file"] == path; });
}

/// Returns the main properties of the problem for the table; the JSON has all.
std::string problem_line(const nlohmann::json& problem) {
  std::string line;
  const auto add = [&](const char* key) {
    const nlohmann::json& value = problem[key];
    line += fmt::format(" {}={}", key, value.is_string() ? value.get<std::string>() : value.dump());
  };
  for (const char* key : {"m", "n", "k", "nt", "nr", "signals", "constellation", "observations", "equations", "batch",
                          "jobs", "count", "at_once", "sizes", "rhs"})
    if (problem.contains(key)) add(key);
  for (const char* key : {"sigma", "range", "vectors", "periodic"})  // if the problem has them
    if (problem.contains(key) && problem[key] != 0 && problem[key] != false) add(key);
  for (const char* key : {"input", "precision", "method"})
    if (problem.contains(key)) add(key);
  std::string tile;
  for (const char* key : {"mb", "nb", "kb"})
    if (problem.contains(key)) tile += (tile.empty() ? "" : "x") + problem[key].dump();
  return tile.empty() ? line : line + " tile=" + tile;
}

}  // namespace

Report::Report(const std::string& command, const CommonOptions& options)
    : json_path_(options.json_path),
      trace_dir_(options.trace_dir),
      page_path_(options.page_path),
      energy_(options.energy),
      quiet_(options.quiet),
      verbose_(options.verbose),
      check_(options.check) {
  if (!page_path_.empty()) require_trace_page();
  if (options.plan) plan_only(command, options.json_path, options.quiet);
  json_ = {{"command", command}, {"version", config::version}, {"status", "ok"}};
  json_["checks"] = json_["limits"] = nlohmann::json::object();
  if (!options.note.empty()) note(options.note);
  if (quiet_)
    forbid_progress();
  else
    start_progress();
}

Report::~Report() { end_progress(); }

nlohmann::json energy_json(const Energy& run, double flops) {
  const auto value = [](const std::optional<double>& joules) {
    return joules ? nlohmann::json(*joules) : nlohmann::json();
  };
  const double all = run.gpus.value_or(0) + run.cores.value_or(0);
  return {{"gpu_j", value(run.gpus)},
          {"cpu_j", value(run.cores)},
          {"gflops_per_j", value(all > 0 && flops > 0 ? std::optional(flops * 1e-9 / all) : std::nullopt)}};
}

void Report::measured_energy(const Timed& runs, double flops) {
  Energy run = runs.energy;
  for (auto* const joules : {&run.gpus, &run.cores})
    if (*joules) **joules /= static_cast<double>(runs.seconds.size());
  json_["energy"] = energy_json(run, flops);
}

void Report::measured(Runtime& runtime, const Graph& graph, const Timed& runs, std::optional<double> flops) {
  const std::vector<double>& seconds = runs.seconds;
  const Statistics statistics = runtime.statistics();
  const Bounds bounds = graph.bounds();
  const double median = bench::median(seconds);
  const auto [fastest, slowest] = std::minmax_element(seconds.begin(), seconds.end());
  double waiting = 0;
  std::map<std::string, index_t> tasks;
  for (const WorkerUse& use : statistics.workers) {
    waiting = std::max(waiting, use.waiting_seconds);
    for (const KernelUse& kernel : use.kernels) tasks[kernel.kernel] += kernel.tasks;
  }
  json_["counts"]["tasks"] = tasks;
  json_["machine"] = machine_json(runtime);
  json_["workers"] = workers_json(statistics);
  json_["links"] = nlohmann::json::array();
  for (const LinkUse& link : statistics.links)
    json_["links"].push_back(
        {{"from", link.from}, {"to", link.to}, {"transfers", link.transfers}, {"bytes", link.bytes}});
  if (runtime.ranks() > 1) {
    json_["ranks"] = nlohmann::json::array();
    for (const RankUse& use : runtime.rank_statistics())
      json_["ranks"].push_back({{"host", use.host},
                                {"workers", use.workers},
                                {"tasks", use.tasks},
                                {"bytes_sent", use.bytes_sent},
                                {"bytes_received", use.bytes_received},
                                {"peak_bytes", use.peak_bytes}});
  }
  // transfer: the longest time that one worker waited for data; transfers that overlap with work do not count.
  json_["seconds"] = {{"compute", median},
                      {"transfer", waiting},
                      {"runs", seconds.size()},
                      {"fastest", *fastest},
                      {"slowest", *slowest}};
  json_["gflops"] = flops.value_or(bounds.work_flops) / median * 1e-9;
  if (energy_) measured_energy(runs, flops.value_or(bounds.work_flops));
  json_["bounds"] = {{"tasks", bounds.tasks},
                     {"work_flops", bounds.work_flops},
                     {"path_flops", bounds.path_flops},
                     {"untimed_tasks", bounds.untimed},
                     {"path_s", bounds.path_seconds},
                     {"area_s", bounds.area_seconds},
                     {"lower_bound_s", bounds.lower_bound_seconds()}};
  show_progress(check_ ? Stage::checking : Stage::ending);
}

void Report::rate(const std::string& name, double flops) {
  json_["rates"][name + "_gflops"] = flops / json_["seconds"]["compute"].get<double>() * 1e-9;
}

void Report::count(const std::string& name, index_t value) { json_["counts"][name] = value; }
void Report::check(const std::string& name, double value) { json_["checks"][name] = value; }

std::string is_wrong(const std::string& name, const Measured& measured) {
  if (measured.good()) return {};
  if (!std::isfinite(measured.error)) return fmt::format("not finite: {}", name);
  if (!measured.useful())
    return fmt::format(
        "inaccurate: {} {:.2g} is inconclusive: rounding may leave {:.2g} if a problem is ill-conditioned or its "
        "numbers are near the smallest one, and a limit above {} proves nothing",
        name, measured.error, measured.bound, useful_bound);
  return fmt::format("inaccurate: {} {:.2g}, at most {:.2g}", name, measured.error, measured.limit());
}

void Report::check(const std::string& name, const Measured& measured) {
  if (!check_) return;
  check(name, measured.error);
  json_["limits"][name] = measured.limit();
  if (const std::string wrong = is_wrong(name, measured); !wrong.empty()) fail(wrong);
}

void Report::check_count(const std::string& name, double number, double most) {
  check(name, number);
  json_["limits"][name] = most;
  if (!(number <= most)) fail(fmt::format("inaccurate: {} {:.2g}, at most {:.2g}", name, number, most));
}

void Report::fail(const std::string& status) {
  if (good_) remark(status);
  good_ = false;
}

void Report::dropped_rows(const std::vector<index_t>& rows) {
  json_["dropped_rows"] = nlohmann::json::array();
  for (const index_t row : rows) json_["dropped_rows"].push_back(row + 1);
}

void Report::note(const std::string& text) { json_["notes"].push_back(text); }

void Report::remark(const std::string& status) { json_["status"] = status; }

void Report::add_answer(const std::string& name, const std::string& table, const nlohmann::json& numbers) {
  answers_ += '\n' + table;
  if (!numbers.is_null()) json_["answer"][name] = numbers;
}

void Report::wrote(const std::string& path, const std::string& contents) {
  json_["written"].push_back({{"file", path}, {"contents", contents}});
}

void Report::print_results() const {
  if (print_)
    print_();
  else if (json_.contains("regression"))
    fmt::print("{}", regression_table(json_["regression"]));
  else
    fmt::print("{}\n", answers_);
  if (json_.contains("jobs"))
    for (const auto& job : json_["jobs"])
      fmt::print("job     {} n={} {:.4f} s: {}\n", job["file"].get<std::string>(), job["n"].get<index_t>(),
                 job["seconds"].get<double>(), job["status"].get<std::string>());
  if (json_.contains("error_rates"))
    for (const auto& rate : json_["error_rates"])
      fmt::print("{:>6g} dB {:<18} {} {:.3g}\n", rate["ebn0_db"].get<double>(), rate["detector"].get<std::string>(),
                 rate.contains("ber") ? "ber" : "information",
                 rate[rate.contains("ber") ? "ber" : "information"].get<double>());
}

/// Prints what --verbose adds.
void Report::print_details() const {
  for (const auto& [name, value] : json_["counts"].items())
    if (!value.is_object()) fmt::print("{:<20} {}\n", name, value.get<index_t>());
  if (json_.contains("memory")) fmt::print("memory  {}\n", memory_line(json_["memory"]));
  if (json_.contains("rates"))
    for (const auto& [name, rate] : json_["rates"].items()) fmt::print("{:<20} {:.1f}\n", name, rate.get<double>());
  const auto& bounds = json_["bounds"];
  if (bounds["untimed_tasks"].get<index_t>() < bounds["tasks"].get<index_t>())
    fmt::print("bound   {:.4f} s = max(critical path {:.4f}, work / workers {:.4f}){}\n",
               bounds["lower_bound_s"].get<double>(), bounds["path_s"].get<double>(), bounds["area_s"].get<double>(),
               bounds["untimed_tasks"].get<index_t>() > 0
                   ? "; without a model yet: " + counted(bounds["untimed_tasks"].get<index_t>(), "task")
                   : "");
  else if (bounds["tasks"].get<index_t>() > 0)
    fmt::print("bound   unknown: the performance models have no history of these tasks yet, run again\n");
  fmt::print("\n{:<36} {:>8} {:>10} {:>10} {:>10}\n", "worker", "tasks", "busy s", "waiting s", "idle s");
  for (const auto& worker : json_["workers"]) {
    index_t tasks = 0;
    for (const auto& [kernel, count] : worker["tasks"].items()) tasks += count.get<index_t>();
    fmt::print("{:<36} {:>8} {:>10.4f} {:>10.4f} {:>10.4f}\n", worker["name"].get<std::string>(), tasks,
               worker["busy_s"].get<double>(), worker["waiting_s"].get<double>(), worker["idle_s"].get<double>());
  }
  for (const auto& link : json_["links"])
    fmt::print("{:<36} {:>8} {:>10}\n", link["from"].get<std::string>() + " -> " + link["to"].get<std::string>(),
               link["transfers"].get<index_t>(), bytes(link["bytes"].get<double>()));
}

void Report::print() const {
  fmt::print("{}:{}\n", json_["command"].get<std::string>(), problem_line(json_["problem"]));
  print_results();

  const std::string status = json_["status"];
  fmt::print("status  {}\n", coloured(status,
                                      !good_           ? Colour::red
                                      : status == "ok" ? Colour::green
                                                       : Colour::yellow,
                                      STDOUT_FILENO));
  if (json_.contains("notes"))
    for (const auto& note : json_["notes"]) fmt::print("note    {}\n", note.get<std::string>());
  for (const auto& [name, value] : json_["checks"].items()) {
    const auto number = value.get<double>();
    if (const auto limit = json_["limits"].find(name); limit != json_["limits"].end())
      fmt::print("{:<20} {} (at most {})\n", name, short_number(number), short_number(limit->get<double>()));
    else
      fmt::print("{:<20} {}\n", name, short_number(number));
  }
  if (json_.contains("workers")) {
    const auto& seconds = json_["seconds"];
    const int runs = seconds["runs"];
    const double gflops = json_["gflops"];
    fmt::print("time    {:.4g} s{}{}; {:.4g} s in all, with input{} and output\n", seconds["compute"].get<double>(),
               runs > 1                                   ? fmt::format(" (median of {})", runs)
               : trace_dir_.empty() && page_path_.empty() ? " (first run)"
                                                          : "",
               gflops >= 1 ? fmt::format(", {:.1f} GFLOP/s", gflops) : "", seconds["total"].get<double>(),
               check_ ? ", checks" : "");
    fmt::print("ran on  {}, scheduler {}\n", counted(std::ssize(json_["workers"]), "worker"),
               json_["machine"]["scheduler"].get<std::string>());
    if (json_.contains("energy")) fmt::print("energy  {}\n", energy_line(json_["energy"]));
    if (verbose_) print_details();
  }
  if (json_.contains("written"))
    for (const auto& file : json_["written"]) fmt::print("wrote   {}\n", line_of(file));
}

/// Prints the status, and the jobs that failed.
void Report::print_failures() const {
  const auto line = [&](const std::string& what) {
    print_error(fmt::format("tesela: {}: {}", json_["command"].get<std::string>(), what));
  };
  line(json_["status"].get<std::string>());
  if (!json_.contains("jobs")) return;
  for (const auto& job : json_["jobs"])
    if (job["status"] != "ok")
      line(fmt::format("{}: {}", job["file"].get<std::string>(), job["status"].get<std::string>()));
}

void Report::write_page() {
  if (launched_rank() > 0) return;
  if (recorded_.tasks.empty()) json_["notes"].push_back("no task was recorded for the page");
  if (json_.contains("ranks")) json_["notes"].push_back("the page shows the tasks of rank 0");
  const std::string command = json_["command"];
  write_trace_page(recorded_, json_, "tesela " + command + problem_line(json_["problem"]), page_path_);
  json_["written"].push_back({{"file", page_path_}, {"contents", "page for a browser"}});
}

ExitCode Report::finish() {
  end_progress();
  json_["seconds"]["total"] = whole_.seconds();
  if (FileBatch* const outputs = FileBatch::current(); outputs != nullptr && !good_) outputs->discard();
  if (!trace_dir_.empty()) finish_trace(trace_dir_, quiet_);
  if (!good_) json_.erase("written");
  if (const FileBatch* const outputs = FileBatch::current(); outputs != nullptr)
    for (const std::string& path : outputs->paths())
      if (!has_file(json_["written"], path)) json_["written"].push_back({{"file", path}});
  if (!check_ && json_["status"] == "ok") remark("ok (not checked)");
  if (!page_path_.empty()) write_page();
  if (quiet_ && !good_)
    print_failures();
  else if (!quiet_ && json_path_ != "-")
    print();
  write_json(json_, json_path_);
  return good_ ? done : numerical_failure;
}

}  // namespace tesela::cli
