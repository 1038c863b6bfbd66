#include "tools/commands/predict/predict.hpp"

#include "tools/app/arguments.hpp"
#include "tools/app/command.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/outputs.hpp"
#include "tools/commands/predict/child.hpp"
#include "tools/commands/predict/prediction.hpp"
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <memory>

namespace tesela::cli {
namespace {

/// Returns the measured seconds of the same command with the same workers, or null.
nlohmann::json measured_seconds(const MachineFolder& machine, const PredictOptions& o, const Prediction& p) {
  const std::string command = fmt::format("{}", fmt::join(o.command, " "));
  for (const auto& run : machine.about.value("measured", nlohmann::json::array()))
    if (run.at("command") == command && run.at("cores") == p.cores && run.at("gpus") == p.gpus &&
        run.at("scheduler") == p.report["machine"]["scheduler"])
      return run.at("seconds");
  return {};
}

nlohmann::json json_of(const MachineFolder& machine, const PredictOptions& o, const Prediction& p,
                       const Prediction& first) {
  const double speed_up = first.seconds() / p.seconds();
  const nlohmann::json measured = measured_seconds(machine, o, p);
  const nlohmann::json error = measured.is_null() ? measured : nlohmann::json(p.seconds() / measured.get<double>() - 1);
  return {{"gpus", p.gpus},
          {"cores", p.cores},
          {"scheduler", p.report["machine"]["scheduler"]},
          {"seconds", p.seconds()},
          {"measured_s", measured},
          {"error", error},
          {"gflops", p.report["gflops"]},
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

void print(const PredictOptions& o, const MachineFolder& machine, const nlohmann::json& runs) {
  fmt::print("predict: {} on {}\n", fmt::join(o.command, " "), machine.about["name"].get<std::string>());
  fmt::print("{:>4} {:>5} {:<8} {:>11} {:>16} {:>10} {:>11} {:>8} {:>10} {:>12}\n", "gpus", "cores", "sched", "time s",
             "measured", "GFLOP/s", "bound s", "speed-up", "efficiency", "interpolated");
  for (const auto& run : runs) {
    const std::string measured =
        run["measured_s"].is_null()
            ? ""
            : fmt::format("{:.4g} ({:+.1f} %)", run["measured_s"].get<double>(), 100 * run["error"].get<double>());
    fmt::print("{:>4} {:>5} {:<8} {:>11.5g} {:>16} {:>10.1f} {:>11.5g} {:>8.2f} {:>10} {:>10.1f} %\n",
               run["gpus"].get<int>(), run["cores"].get<int>(), run["scheduler"].get<std::string>(),
               run["seconds"].get<double>(), measured, run["gflops"].get<double>(),
               run["bound"]["seconds"].get<double>(), run["speed_up"].get<double>(),
               run["efficiency"].is_null() ? "" : fmt::format("{:.0f} %", 100 * run["efficiency"].get<double>()),
               100 * run["interpolated_share"].get<double>());
  }
  for (const auto& run : runs)
    for (const auto& link : run["links"])
      fmt::print("link    {} GPUs, {}: {} -> {} {:.3f} GB in {} transfers\n", run["gpus"].get<int>(),
                 run["scheduler"].get<std::string>(), link["from"].get<std::string>(), link["to"].get<std::string>(),
                 1e-9 * link["bytes"].get<double>(), link["transfers"].get<index_t>());
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

int run_predictions(const PredictOptions& o) {
  require_simulable(o.command);
  require_free_workers(o.command);
  require(!o.machine.empty(), "predict", "--machine",
          "is missing: name the folder of a machine, or record this one "
          "with `tesela predict record --out FOLDER -- COMMAND`");
  const MachineFolder machine = read_machine(o.machine);
  const std::vector<int> gpus = o.gpus.empty() ? std::vector{machine.gpus()} : numbers_of("--gpus", o.gpus);
  const auto cores_of = [&](int g) {
    return o.cores.empty() ? std::vector{suitable_cores(machine, g)} : numbers_of("--cores", o.cores);
  };
  for (const int g : gpus)
    for (const int c : cores_of(g)) require_workers(machine, g, c);
  std::vector<Prediction> predictions;
  nlohmann::json runs = nlohmann::json::array();
  for (const int g : gpus)
    for (const int c : cores_of(g))
      for (const std::string& scheduler : split_list(o.schedulers, ',')) {
        predictions.push_back(predict(o.command, machine, g, c, scheduler));
        runs.push_back(json_of(machine, o, predictions.back(), predictions.front()));
      }
  if (!o.quiet && o.json_path != "-") print(o, machine, runs);
  write_json({{"command", "predict"},
              {"version", config::version},
              {"predicted", o.command},
              {"problem", predictions.front().report["problem"]},
              {"machine", machine.about},
              {"runs", runs},
              {"status", "ok"}},
             o.json_path);
  return done;
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
      add_output(app, Output::report, "-j,--json", o->json_path,
                 "write the predictions as one JSON object to FILE (- for standard output)");
      add_quiet(app, o->quiet);
      app.add_option("-o,--out", o->out, "record: folder that gets the machine, or more times of it")->type_name("DIR");
      app.add_option("--name", o->name, "record: name of the machine (default: its GPU's or processor's)");
      app.add_option("--note", o->note, "record: a remark, which predictions repeat");
      app.footer(
          "Examples:\n"
          "  tesela predict --machine docs/machines/two-cores -- qr --n 4096\n"
          "  tesela predict --machine docs/machines/two-cores --sched lws,dmdas,eager -- cholesky --n 4096\n"
          "  tesela predict record --out here -- qr --n 4096");
      return std::function<int()>([o] {
        try {
          if (o->command.front() != "record") return run_predictions(*o);
          require(!o->out.empty(), "predict record", "--out", "is missing: it names the folder to write");
          return record_machine(*o);
        } catch (const ChildFailed& failed) {
          return failed.code;  // it has printed the reason
        }
      });
    });

}  // namespace

}  // namespace tesela::cli
