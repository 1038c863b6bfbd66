#include "tools/commands/predict/predict.hpp"

#include "tools/app/arguments.hpp"
#include "tools/app/command.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/outputs.hpp"
#include "tools/commands/predict/child.hpp"
#include "tools/commands/predict/prediction.hpp"
#include "tools/commands/predict/scaling.hpp"
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/data.hpp>
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <sstream>

namespace tesela::cli {
namespace {

/// Returns the measured seconds of the same command with the same workers, or null.
nlohmann::json measured_seconds(const MachineFolder& machine, const std::vector<std::string>& words,
                                const Prediction& p) {
  const std::string command = fmt::format("{}", fmt::join(words, " "));
  for (const auto& run : machine.about.value("measured", nlohmann::json::array()))
    if (run.at("command") == command && run.at("cores") == p.cores && run.at("gpus") == p.gpus &&
        run.at("scheduler") == p.report["machine"]["scheduler"])
      return run.at("seconds");
  return {};
}

nlohmann::json json_of(const MachineFolder& machine, const std::vector<std::string>& words, bool weak,
                       const Prediction& p, const Prediction& first) {
  const double speed_up = weak ? p.rate() / first.rate() : first.seconds() / p.seconds();
  const nlohmann::json measured = measured_seconds(machine, words, p);
  const nlohmann::json error = measured.is_null() ? measured : nlohmann::json(p.seconds() / measured.get<double>() - 1);
  return {{"command", words},
          {"scaling", weak ? "weak" : "strong"},
          {"gpus", p.gpus},
          {"cores", p.cores},
          {"scheduler", p.report["machine"]["scheduler"]},
          {"seconds", p.seconds()},
          {"measured_s", measured},
          {"error", error},
          {"gflops", p.rate()},
          {"tasks", p.report["bounds"]["tasks"]},
          {"bound",
           {{"seconds", p.report["bounds"]["lower_bound_s"]},
            {"path_s", p.report["bounds"]["path_s"]},
            {"area_s", p.report["bounds"]["area_s"]}}},
          {"speed_up", speed_up},
          {"efficiency", (p.gpus > 0) == (first.gpus > 0) ? nlohmann::json(speed_up * first.workers() / p.workers())
                                                          : nlohmann::json()},  // GPUs are not counted in cores
          {"task_s", p.task_seconds()},
          {"interpolated_share", p.interpolated()},
          {"interpolated_kernels", p.report["simulation"]["interpolated_kernels"]},
          {"links", p.report["links"]}};
}

/// Speed of the link between hosts.
struct HostLink {
  double bytes_per_second = 0, seconds = 0;
};

HostLink link_of(const std::string& text) {
  double gigabytes = 0, microseconds = 0;
  char comma = 0, more = 0;
  std::istringstream in(text);
  const bool right = in >> gigabytes && gigabytes > 0 && std::isfinite(gigabytes) &&
                     (!(in >> comma) || (comma == ',' && in >> microseconds && microseconds >= 0 && !(in >> more)));
  require(right, "predict", "--link", "'", text, "' is not a speed in GB/s with a latency in µs, such as 25,2");
  return {1e9 * gigabytes, 1e-6 * microseconds};
}

/// Returns the bound of a run on several hosts with the prediction's workers each.
nlohmann::json bound_of(const PredictOptions& o, const MachineFolder& machine, const Prediction& p, int hosts) {
  const HostLink link = link_of(o.link);
  const double bytes = hosts > 1 ? bytes_of_host(o.command, machine, p.gpus, p.cores, hosts) : 0;
  const double path = p.report["bounds"]["path_s"], work = p.report["bounds"]["area_s"].get<double>() / hosts,
               links = bytes > 0 ? bytes / link.bytes_per_second + link.seconds : 0;
  return {
      {"hosts", hosts},
      {"gpus", p.gpus},
      {"cores", p.cores},
      {"bytes_of_host", bytes},
      {"bound", {{"seconds", std::max({path, work, links})}, {"path_s", path}, {"area_s", work}, {"link_s", links}}}};
}

void print(const PredictOptions& o, const MachineFolder& machine, const nlohmann::json& runs,
           const nlohmann::json& hosts) {
  fmt::print("predict: {} on {}\n", fmt::join(o.command, " "), machine.about["name"].get<std::string>());
  fmt::print("{:>4} {:>5} {:<8} {:>11} {:>16} {:>10} {:>11} {:>8} {:>10} {:>12}{}\n", "gpus", "cores", "sched",
             "time s", "measured", "GFLOP/s", "bound s", "speed-up", "efficiency", "interpolated",
             o.weak ? "  scaling" : "");
  for (const auto& run : runs) {
    const std::string measured =
        run["measured_s"].is_null()
            ? ""
            : fmt::format("{:.4g} ({:+.1f} %)", run["measured_s"].get<double>(), 100 * run["error"].get<double>());
    const std::string scaling =
        run["scaling"] == "strong"
            ? "  strong"
            : fmt::format("  weak: {}", fmt::join(run["command"].get<std::vector<std::string>>(), " "));
    fmt::print("{:>4} {:>5} {:<8} {:>11.5g} {:>16} {:>10.1f} {:>11.5g} {:>8.2f} {:>10} {:>10.1f} %{}\n",
               run["gpus"].get<int>(), run["cores"].get<int>(), run["scheduler"].get<std::string>(),
               run["seconds"].get<double>(), measured, run["gflops"].get<double>(),
               run["bound"]["seconds"].get<double>(), run["speed_up"].get<double>(),
               run["efficiency"].is_null() ? "" : fmt::format("{:.0f} %", 100 * run["efficiency"].get<double>()),
               100 * run["interpolated_share"].get<double>(), o.weak ? scaling : "");
  }
  for (const auto& run : runs)
    for (const auto& link : run["links"])
      fmt::print("link    {} GPUs, {}: {} -> {} {:.3f} GB in {} transfers\n", run["gpus"].get<int>(),
                 run["scheduler"].get<std::string>(), link["from"].get<std::string>(), link["to"].get<std::string>(),
                 1e-9 * link["bytes"].get<double>(), link["transfers"].get<index_t>());
  for (const auto& h : hosts)
    fmt::print(
        "bound   {} hosts of {} GPUs, {} cores: {:.4g} s; path {:.4g} s, work {:.4g} s, link {:.4g} s for {:.3f} GB\n",
        h["hosts"].get<int>(), h["gpus"].get<int>(), h["cores"].get<int>(), h["bound"]["seconds"].get<double>(),
        h["bound"]["path_s"].get<double>(), h["bound"]["area_s"].get<double>(), h["bound"]["link_s"].get<double>(),
        1e-9 * h["bytes_of_host"].get<double>());
  if (machine.about.contains("note")) fmt::print("note    {}\n", machine.about["note"].get<std::string>());
}

/// Reads a list of numbers. One word in place of several options' values, so that -- may follow it.
std::vector<int> numbers_of(const char* option, const std::string& text) {
  std::vector<int> numbers;
  for (const std::string& word : split_list(text, ',')) {
    int number = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    require(error == std::errc() && end == word.data() + word.size() && number >= 0, "predict", option, "'", text,
            "' is not a list of numbers such as 1,2,4");
    numbers.push_back(number);
  }
  return numbers;
}

/// Makes --json FILE of the predicted command an option of the prediction, which reports in the command's place.
void take_json(PredictOptions& o) {
  std::vector<std::string>& words = o.command;
  const auto at = std::find_if(words.begin(), words.end(), [](const auto& w) { return w == "--json" || w == "-j"; });
  if (at == words.end() || at + 1 == words.end()) return;
  o.json_path = at[1];
  words.erase(at, at + 2);
}

int run_predictions(const PredictOptions& o) {
  require_simulable("predict", o.command);
  require_free_workers("predict", o.command);
  require(!o.machine.empty(), "predict", "--machine",
          "is missing: name the folder of a machine, or record this one "
          "with `tesela predict record --out FOLDER -- COMMAND`");
  const MachineFolder machine = read_machine(o.machine);
  const std::vector<int> gpus = o.gpus.empty() ? std::vector{machine.gpus()} : numbers_of("--gpus", o.gpus);
  const auto cores_of = [&](int g) {
    return o.cores.empty() ? std::vector{suitable_cores(machine, g)} : numbers_of("--cores", o.cores);
  };
  for (const int g : gpus)
    for (const int c : cores_of(g)) require_workers("predict", machine, g, c);
  const auto with_gpus = std::count_if(gpus.begin(), gpus.end(), [](int g) { return g > 0; });
  const bool some_cores = std::count(gpus.begin(), gpus.end(), 0) > 0 && cores_of(0).size() > 1;
  require(o.plot_path.empty() || with_gpus > 1 || some_cores, "predict", "--plot",
          "needs several numbers in --gpus, or in --cores without a GPU");
  const std::vector<std::string> schedulers = split_list(o.schedulers, ',');
  for (const std::string& scheduler : schedulers) require_scheduler(scheduler);
  if (o.weak) grown(o.command, 1);
  const std::vector<int> hosts = o.hosts.empty() ? std::vector<int>{} : numbers_of("--hosts", o.hosts);
  for (const int h : hosts)
    require(h >= 1 && h <= detail::most_ranks, "predict", "--hosts", h, " is not in 1 ... ", detail::most_ranks);
  require(hosts.empty() || !o.link.empty(), "predict", "--link", "is missing: the speed between hosts, such as 25,2");
  if (!o.link.empty()) link_of(o.link);
  std::vector<Prediction> predictions;
  nlohmann::json runs = nlohmann::json::array();
  std::optional<Prediction> first_weak;
  for (const bool weak : {false, true})
    for (const int g : weak && !o.weak ? std::vector<int>{} : gpus)
      for (const int c : cores_of(g))
        for (const std::string& scheduler : schedulers) {
          const int workers = g > 0 ? g : c;
          const auto words =
              weak ? grown(o.command, static_cast<double>(workers) / predictions.front().workers()) : o.command;
          predictions.push_back(predict(words, machine, g, c, scheduler));
          if (weak && !first_weak) first_weak = predictions.back();
          runs.push_back(json_of(machine, words, weak, predictions.back(), weak ? *first_weak : predictions.front()));
        }
  if (!o.plot_path.empty())
    plot_scaling(
        fmt::format("{} on {}, predicted", fmt::join(o.command, " "), machine.about["name"].get<std::string>()), runs,
        o.plot_path);
  nlohmann::json bounds = nlohmann::json::array();
  for (std::size_t p = 0; p < predictions.size(); ++p)
    if (runs[p]["scaling"] == "strong" &&
        (p == 0 || predictions[p].gpus != predictions[p - 1].gpus || predictions[p].cores != predictions[p - 1].cores))
      for (const int h : hosts) bounds.push_back(bound_of(o, machine, predictions[p], h));
  if (!o.quiet && o.json_path != "-") print(o, machine, runs, bounds);
  write_json({{"command", "predict"},
              {"version", config::version},
              {"predicted", o.command},
              {"problem", predictions.front().report["problem"]},
              {"machine", machine.about},
              {"runs", runs},
              {"hosts", bounds},
              {"status", "ok"}},
             o.json_path);
  return done;
}

/// Throws ArgumentError for an option of the other of the two: a prediction and a recording.
void require_options(const App& app, bool record) {
  if (record)
    for (const char* const option :
         {"--machine", "--gpus", "--cores", "--sched", "--hosts", "--link", "--weak", "--plot", "--json"})
      require(app.count(option) == 0, "predict record", option,
              "belongs to a prediction; options of the recorded command follow --");
  else
    for (const char* const option : {"--out", "--name", "--note", "--program"})
      require(app.count(option) == 0, "predict", option, "belongs to predict record");
}

const Command predict_command(
    Command::Group::top, "predict", "time of a run on a recorded machine, by simulation", [](App& app) {
      auto o = std::make_shared<PredictOptions>();
      app.add_option(
             "COMMAND", o->command,
             "after --, the command to predict: gemm, qr, lu, cholesky, tridiag or ols --method tall-skinny with its "
             "options; with record before --, the command that is run on this machine")
          ->required();
      app.add_option("--machine", o->machine, "folder of the machine, such as docs/machines/two-cores")
          ->type_name("DIR");
      app.add_option("--gpus", o->gpus, "numbers of GPUs, such as 1,2,4,8 (default: the machine's)")->type_name("LIST");
      app.add_option("--cores", o->cores, "numbers of CPU workers (default: as the machine would choose)")
          ->type_name("LIST");
      app.add_option("--sched", o->schedulers, "schedulers, such as dmdas,lws (default: as the machine would choose)")
          ->type_name("LIST");
      app.add_option("--hosts", o->hosts, "numbers of such hosts, each a rank: bounds of their time alone")
          ->type_name("LIST");
      app.add_option("--link", o->link, "speed and latency between hosts: GB/s,µs")->type_name("SPEED");
      app.add_flag("--weak", o->weak, "also problems that grow with the workers, with equal work for each");
      add_output(app, Output::text, "--plot", o->plot_path,
                 "draw the rates over the GPUs or cores as SVG (needs gnuplot)");
      add_output(app, Output::report, "-j,--json", o->json_path,
                 "write the predictions as one JSON object to FILE (- for standard output)");
      add_quiet(app, o->quiet);
      app.add_option("-o,--out", o->out, "record: folder that gets the machine, or more times of it")->type_name("DIR");
      app.add_option("--name", o->name, "record: name of the machine (default: its GPU's or processor's)");
      app.add_option("--note", o->note, "record: a remark, which predictions repeat");
      app.add_flag("--program", o->program,
                   "record: the words after -- are a program with its arguments, such as python3 mine.py");
      app.footer(
          "Examples:\n"
          "  tesela predict --machine docs/machines/two-cores -- qr --n 4096\n"
          "  tesela predict --machine docs/machines/two-cores --sched lws,dmdas,eager -- cholesky --n 4096\n"
          "  tesela predict record --out here -- qr --n 4096");
      return std::function<int()>([o, &app] {
        const bool record = o->command.front() == "record";
        if (record) o->command.erase(o->command.begin());
        require_options(app, record);
        return run_or_help(o->program ? std::vector<std::string>{} : o->command, [o, record] {
          if (record) return record_machine(*o);
          take_json(*o);
          return run_predictions(*o);
        });
      });
    });

}  // namespace

}  // namespace tesela::cli
