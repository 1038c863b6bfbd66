#include "tools/app/arguments.hpp"
#include "tools/app/command.hpp"
#include "tools/app/median.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/report.hpp"
#include "tools/commands/predict/child.hpp"
#include "tools/commands/predict/prediction.hpp"
#include <tesela/algorithms/support/tuned_tile.hpp>
#include <tesela/runtime/machine/topology.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/io/atomic_file.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace tesela::cli {
namespace {

struct Options {
  std::vector<std::string> command;
  std::string machine, json_path;
  int gpus = -1, cores = -1;
  double budget = 60;
  bool apply = false, measure = false, quiet = false;
};

/// Values of the options that the search chooses; empty: the default.
using Choice = std::map<std::string, std::string>;

/// A choice with its predicted time, and its measured time if it ran on this machine.
struct Candidate {
  Choice choice;
  double seconds, interpolated;
  std::optional<double> measured = {};
  TileShape tile;
};

/// Returns the command with the options of the choice, except the scheduler.
std::vector<std::string> words_of(const std::vector<std::string>& command, const Choice& choice) {
  std::vector<std::string> words = command;
  for (const auto& [option, value] : choice)
    if (!value.empty() && option != "--sched") words.insert(words.end(), {option, value});
  return words;
}

std::string text_of(const Choice& choice) {
  std::string text;
  for (const auto& [option, value] : choice)
    if (!value.empty()) text += (text.empty() ? "" : " ") + option + ' ' + value;
  return text.empty() ? "default" : text;
}

/// Searches one option after the other, starts again after an improvement, and ends with the budget.
class Search {
 public:
  Search(const Options& o, const MachineFolder& machine, int gpus, int cores)
      : o_(o), machine_(machine), gpus_(gpus), cores_(cores) {}

  /// Returns all candidates, the fastest first.
  std::vector<Candidate> run() {
    evaluate({});
    best_ = 0;
    for (bool better = true; better && in_time();) {
      const std::size_t before = best_;
      for (const auto& [option, values] : alternatives())
        for (const std::string& value : values) {
          if (!in_time()) break;
          if (option == "--sched" && value == scheduler_) continue;
          Choice choice = found_[best_].choice;
          choice[option] = value;
          evaluate(choice);
        }
      better = best_ != before;
    }
    complete_ = in_time();
    std::vector<Candidate> all = found_;
    std::stable_sort(all.begin(), all.end(), [this](const Candidate& a, const Candidate& b) {
      return std::pair{!is_trusted(a), a.seconds} < std::pair{!is_trusted(b), b.seconds};
    });
    return all;
  }
  const Candidate& standard() const { return found_.front(); }
  /// Whether the search ended before its budget.
  bool complete() const { return complete_; }
  Shape shape() const { return {m_, n_}; }

 private:
  bool in_time() const { return watch_.seconds() < o_.budget; }

  /// Returns whether a candidate may precede the default: its times are recorded, or runs here will confirm it.
  /// Interpolated times were wrong by a factor of two. The simulator runs tasks of several streams at full speed each,
  /// although they share the GPU.
  bool is_trusted(const Candidate& c) const {
    constexpr double most = 0.25;  // of the time
    const auto streams = c.choice.find("--streams");
    const bool shares_gpu = streams != c.choice.end() && streams->second != "1";
    return o_.measure || o_.apply || (!shares_gpu && c.interpolated <= std::max(most, standard().interpolated));
  }

  void evaluate(const Choice& choice) {
    if (!known_.insert(text_of(choice)).second) return;
    const auto scheduler = choice.find("--sched");
    const Prediction p = predict(words_of(o_.command, choice), machine_, gpus_, cores_,
                                 scheduler == choice.end() ? "" : scheduler->second);
    const nlohmann::json& problem = p.report.at("problem");
    found_.push_back({.choice = choice,
                      .seconds = p.seconds(),
                      .interpolated = p.interpolated(),
                      .tile = {problem.value("mb", index_t{0}), problem.value("nb", index_t{0})}});
    if (choice.empty()) scheduler_ = p.report.at("machine").at("scheduler");
    n_ = problem.value("n", index_t{0});
    m_ = problem.value("m", n_);
    if (is_trusted(found_.back()) && found_.back().seconds < found_[best_].seconds) best_ = found_.size() - 1;
  }

  /// Returns the options with the values to try next to the best choice.
  std::vector<std::pair<std::string, std::vector<std::string>>> alternatives() const {
    const TileShape standard = found_.front().tile;
    const index_t width = std::min(standard.mb, standard.nb);
    std::vector<std::string> tiles;
    for (const double factor : {0.5, 0.75, 1.0, 1.5, 2.0}) {
      const auto nb = static_cast<index_t>(factor * static_cast<double>(width)) / 32 * 32;
      constexpr index_t most_columns = 64;  // more would take minutes in the simulator
      if (nb < 32 || ceil_div(n_, nb) > most_columns) continue;
      if (o_.command.front() == "lu") {
        tiles.push_back(fmt::format("{}", nb));
        continue;
      }
      tiles.push_back(fmt::format("{0}x{0}", nb));
      if (o_.command.front() == "qr")
        for (const index_t mb : {4 * nb, std::max(standard.mb, m_)}) tiles.push_back(fmt::format("{}x{}", mb, nb));
      else if (gpus_ > 0)
        tiles.push_back(fmt::format("{}x{}", nb, n_));
    }
    std::vector<std::pair<std::string, std::vector<std::string>>> all{{"--tile", tiles}};
    if (o_.command.front() == "qr") {
      all.push_back({"--ib", {"16", "32", "64", "128"}});
      all.push_back({"--tree", {"diagonal", "binary", "greedy", "fibonacci"}});
    }
    all.push_back({"--sched", {"lws", "dmdas", "dmda", "prio", "eager"}});
    if (gpus_ > 0) all.push_back({"--streams", {"1", "2", "4"}});
    return all;
  }

  const Options& o_;
  const MachineFolder& machine_;
  int gpus_, cores_;
  Stopwatch watch_;
  std::vector<Candidate> found_;
  std::set<std::string> known_;
  std::size_t best_ = 0;
  index_t m_ = 0, n_ = 0;
  std::string scheduler_;  // the default
  bool complete_ = false;
};

/// Runs the candidates on this machine, in turn, and sets their measured times.
void measure(const Options& o, std::vector<Candidate*> candidates) {
  constexpr int rounds = 3;
  std::vector<std::vector<double>> seconds(candidates.size());
  for (int round = 0; round < rounds; ++round)
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      std::vector<std::string> words = words_of(o.command, candidates[c]->choice);
      if (const auto s = candidates[c]->choice.find("--sched"); s != candidates[c]->choice.end() && !s->second.empty())
        words.insert(words.end(), {"--sched", s->second});
      words.insert(words.end(), {"--no-check", "--repeat", "3", "--json", "-"});
      const auto report = nlohmann::json::parse(output_of(program_beside_this("tesela"), words, {}));
      seconds[c].push_back(report.at("seconds").at("compute").get<double>());
    }
  for (std::size_t c = 0; c < candidates.size(); ++c) candidates[c]->measured = bench::median(seconds[c]);
}

/// Writes the tile where qr_tile, cholesky_tile and lu_tile read it.
std::string apply(const TunedTile& tuned) {
  const std::string path = tuned_tiles_path();
  require(!path.empty(), "tune", "--apply", "needs the variable HOME or TESELA_TUNED, which names the file to write");
  std::vector<TunedTile> tiles = read_tuned_tiles(path);
  std::erase_if(tiles, [&](const TunedTile& t) {
    return t.algorithm == tuned.algorithm && t.cores == tuned.cores && t.gpus == tuned.gpus && t.shape == tuned.shape;
  });
  tiles.push_back(tuned);
  std::error_code error;
  if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty())
    std::filesystem::create_directories(folder, error);
  AtomicFile file(path);
  file.write(to_csv(tiles));
  file.commit();
  return path;
}

int run_tuning(const Options& o) {
  require(o.command.front() == "qr" || o.command.front() == "cholesky" || o.command.front() == "lu", "tune", "COMMAND",
          "'", o.command.front(), "' cannot be tuned: it is not one of qr, cholesky, lu");
  for (const std::string& word : o.command)
    for (const auto& [option, chosen] : {std::pair{"--tile", "tile"}, {"-t", "tile"}, {"--sched", "scheduler"}})
      require(word != option, "tune", "COMMAND", "has ", word, ": tune chooses the ", chosen);
  require_simulable("tune", o.command);
  require_free_workers("tune", o.command);
  require(!o.machine.empty(), "tune", "--machine",
          "is missing: name the folder of a machine, or record this one with `tesela predict record --out FOLDER -- "
          "COMMAND`");
  const MachineFolder machine = read_machine(o.machine);
  const int gpus = o.gpus >= 0 ? o.gpus : machine.gpus(),
            cores = o.cores >= 0 ? o.cores : suitable_cores(machine, gpus);
  require_workers("tune", machine, gpus, cores);
  if (o.measure || o.apply)
    require(machine.about.value("processor", "") == describe_machine().cpu_model, "tune",
            o.apply ? "--apply" : "--measure", o.machine, " describes another machine than this one");
  Search search(o, machine, gpus, cores);
  std::vector<Candidate> all = search.run();
  const Candidate standard = search.standard();
  require(standard.seconds > 0, "tune", "COMMAND", "has no task that takes time");
  constexpr std::size_t shown = 3;
  const auto is_standard = [](const Candidate& c) { return c.choice.empty(); };
  std::vector<Candidate*> best;
  for (Candidate& c : all)
    if (best.size() < shown || is_standard(c)) best.push_back(&c);
  if (o.measure || o.apply) {
    measure(o, best);
    std::stable_sort(best.begin(), best.end(), [](auto* a, auto* b) { return *a->measured < *b->measured; });
  }
  const Candidate& chosen = *best.front();
  nlohmann::json rows = nlohmann::json::array();
  for (const Candidate* c : best)
    rows.push_back({{"options", text_of(c->choice)},
                    {"predicted_s", c->seconds},
                    {"gain", standard.seconds / c->seconds},
                    {"interpolated_share", c->interpolated},
                    {"measured_s", c->measured ? nlohmann::json(*c->measured) : nlohmann::json()}});
  std::string applied;
  if (o.apply && (chosen.tile.mb != standard.tile.mb || chosen.tile.nb != standard.tile.nb))
    applied = apply({o.command.front(), cores, gpus, search.shape(), chosen.tile});
  if (!o.quiet && o.json_path != "-") {
    fmt::print("tune: {} on {}, {} GPUs, {} cores: {} candidates{}\n", fmt::join(o.command, " "),
               machine.about["name"].get<std::string>(), gpus, cores, all.size(),
               search.complete() ? "" : ", the budget ended the search");
    for (const auto& r : rows)
      fmt::print("{:<44} {:>10.5g} s {:>6.3f} times as fast, {:>3.0f} % interpolated{}\n",
                 r["options"].get<std::string>(), r["predicted_s"].get<double>(), r["gain"].get<double>(),
                 100 * r["interpolated_share"].get<double>(),
                 r["measured_s"].is_null() ? "" : fmt::format(", measured {:.4g} s", r["measured_s"].get<double>()));
    if (!applied.empty())
      fmt::print("wrote   {}: the tile\n", applied);
    else if (o.apply)
      fmt::print("note    the default tile was the fastest, so that nothing was written\n");
  }
  write_json({{"command", "tune"},
              {"tuned", o.command},
              {"gpus", gpus},
              {"cores", cores},
              {"candidates", all.size()},
              {"best", rows},
              {"applied", applied},
              {"status", "ok"}},
             o.json_path);
  return done;
}

const Command tune_command(
    Command::Group::top, "tune", "fastest tile, tree and scheduler on a recorded machine, by simulation", [](App& app) {
      auto o = std::make_shared<Options>();
      app.add_option("COMMAND", o->command, "after --, the command to tune: qr, cholesky or lu with its options")
          ->required();
      app.add_option("--machine", o->machine, "folder of the machine, such as docs/machines/two-cores")
          ->type_name("DIR");
      app.add_option("--gpus", o->gpus, "GPUs (default: the machine's)")->non_negative();
      app.add_option("--cores", o->cores, "CPU workers (default: as the machine would choose)")->non_negative();
      app.add_option("--budget", o->budget, "seconds of the search")->transform(positive_up_to(1e9))->show_default();
      app.add_flag("--measure", o->measure, "run the three best and the default here, and rank them by that time");
      app.add_flag(
          "--apply", o->apply,
          "measure too, and write the best tile where default tiles come from: TESELA_TUNED, or tesela/tuned.csv "
          "in the user's folder of settings");
      add_output(app, Output::report, "-j,--json", o->json_path,
                 "write the candidates as one JSON object to FILE (- for standard output)");
      add_quiet(app, o->quiet);
      app.footer(
          "Examples:\n"
          "  tesela tune --machine docs/machines/two-cores -- qr --n 4096\n"
          "  tesela tune --machine here --measure --apply -- cholesky --n 8192");
      return std::function<int()>([o] { return run_or_help(o->command, [o] { return run_tuning(*o); }); });
    });

}  // namespace
}  // namespace tesela::cli
