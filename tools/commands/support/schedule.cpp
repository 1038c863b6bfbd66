#include "tools/app/command.hpp"
#include "tools/app/outputs.hpp"
#include "tools/commands/support/pictures.hpp"
#include <tesela/algorithms/support/critical_path.hpp>
#include <tesela/algorithms/support/schedule.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/io/atomic_file.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

namespace tesela::cli {
namespace {

constexpr index_t largest_list = 1'000'000;  // rotations: a list and its task graphs within seconds
constexpr index_t largest_table = 64;        // columns that a terminal may show

struct Options {
  std::string order = "diagonal", svg, dot, json;
  index_t m = -1, n = -1;
  std::vector<index_t> staircase;  ///< last nonzero row of each column
  bool quiet = false;
  bool check = true;  ///< whether the order is legal
};

/// Name of PGS-2 as Figure 3.4 of the Cinvestav thesis (docs/sources.md) prints it for six rows.
constexpr auto printed_pgs2 = "pgs2-printed";

std::string all_orders() {
  return fmt::format("{}, {}, {}", schedule_order_list(), fmt::join(wavefront_orders(), ", "), printed_pgs2);
}

Schedule make_printed_pgs2() {
  constexpr index_t stages[5][5] = {{6}, {4, 11}, {3, 6, 10}, {2, 5, 9, 14}, {1, 3, 6, 10, 15}};
  Schedule schedule{printed_pgs2, 6, 5, {0, 1, 2, 3, 4}, {}};
  for (index_t i = 1; i < 6; ++i)
    for (index_t j = 0; j < i; ++j) schedule.eliminations.push_back({i, j, i - 1, stages[i - 1][j]});
  std::sort(schedule.eliminations.begin(), schedule.eliminations.end(), [](const Elimination& a, const Elimination& b) {
    return std::tuple(a.stage, a.column, a.row) < std::tuple(b.stage, b.column, b.row);
  });
  return schedule;
}

std::vector<index_t> rotations_of(const Schedule& schedule) {
  std::vector<index_t> rotations(static_cast<std::size_t>(schedule.stages()));
  for (const Elimination& e : schedule.eliminations) ++rotations[static_cast<std::size_t>(e.stage - 1)];
  return rotations;
}

/// Stage of (row, column) or 0, by rows.
std::vector<std::vector<index_t>> table_of(const Schedule& schedule) {
  std::vector<std::vector<index_t>> table(static_cast<std::size_t>(schedule.m),
                                          std::vector<index_t>(static_cast<std::size_t>(schedule.n)));
  for (const Elimination& e : schedule.eliminations)
    table[static_cast<std::size_t>(e.row)][static_cast<std::size_t>(e.column)] = e.stage;
  return table;
}

void print_table(const Schedule& schedule) {
  if (schedule.n > largest_table || schedule.m > largest_picture) {
    fmt::print("(no table: more than {} rows or {} columns)\n", largest_picture, largest_table);
    return;
  }
  const std::size_t width = std::max<std::size_t>(std::to_string(schedule.stages()).size(), 2) + 1;
  fmt::print("{:>4} |", "");
  for (index_t j = 1; j <= schedule.n; ++j) fmt::print("{:>{}}", j, width);
  fmt::print("\n-----+{:-<{}}\n", "", width * static_cast<std::size_t>(schedule.n));
  index_t i = 0;
  for (const auto& row : table_of(schedule)) {
    fmt::print("{:>4} |", ++i);
    for (const index_t stage : row) fmt::print("{:>{}}", stage > 0 ? std::to_string(stage) : ".", width);
    fmt::print("\n");
  }
}

/// The formula of diagonal, i + j - 2, counts one stage more than there is when its last entry (m, n) is on the
/// diagonal.
bool last_stage_is_empty(const Schedule& schedule) {
  return schedule.order == "diagonal" && schedule.m == schedule.n && schedule.m >= 2 && schedule.ends.empty();
}

nlohmann::json json_of(const TilePath& path) {
  return {{"critical_path", path.critical_path},
          {"work", path.work},
          {"tasks",
           {{"geqrt", path.geqrt},
            {"unmqr", path.unmqr},
            {"tsqrt", path.tsqrt},
            {"tsmqr", path.tsmqr},
            {"ttqrt", path.ttqrt},
            {"ttmqr", path.ttmqr}}}};
}

struct Result {
  Schedule schedule;
  bool checked = true;
  std::optional<std::string> violation;
  index_t critical_path = 0;
  TilePath ts, tt;
  bool sums() const { return schedule.sums != Sums::none; }
  bool staircase() const { return !schedule.ends.empty(); }  ///< of entries: tiles are full
  /// Returns the largest number of rotations, or entries, in a stage: the processors with which every stage takes the
  /// time of one rotation.
  index_t processors() const {
    const std::vector<index_t> counts = rotations_of(schedule);
    return counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
  }
  /// Returns the busy fraction of these processors' time.
  double efficiency() const {
    const auto slots = static_cast<double>(processors()) * static_cast<double>(schedule.stages());
    return slots > 0 ? static_cast<double>(schedule.eliminations.size()) / slots : 1;
  }
};

/// Sizes that nobody said, and a list that is not too long.
void resolve(Options& o) {
  const bool sums = is_wavefront_order(o.order);
  if (o.order == printed_pgs2) {
    require(o.staircase.empty() && (o.m < 0 || o.m == 6) && (o.n < 0 || o.n == 5), "schedule", "--order", o.order,
            " is 6 x 5, without --staircase");
    o.m = 6, o.n = 5;
  }
  if (!o.staircase.empty()) {
    require(!sums, "schedule", "--staircase", o.order, " has none");
    o.n = static_cast<index_t>(o.staircase.size());
    const index_t longest = *std::max_element(o.staircase.begin(), o.staircase.end());
    if (o.m < 0) o.m = longest;
    require(longest <= o.m, "schedule", "--staircase", fmt::format("row {} of {} rows", longest, o.m));
  }
  if (o.n < 0) o.n = sums && o.m >= 0 ? o.m : sums ? 8 : 4;
  if (o.m < 0) o.m = sums ? o.n : 8;
  require(!sums || o.m == o.n, "schedule", "--m",
          fmt::format("{} is of square matrices, not {} x {}", o.order, o.m, o.n));
  const index_t columns = std::min(std::max<index_t>(o.m - 1, 0), o.n);
  require(
      std::max(o.m, o.n) <= largest_list &&
          (sums ? o.n * o.n : o.m * columns - columns * (columns + 1) / 2) <= largest_list,
      "schedule", "--m, --n",
      fmt::format("{} x {} is beyond {} {}, rows or columns", o.m, o.n, largest_list, sums ? "entries" : "rotations"));
}

Schedule make(const Options& o) {
  if (is_wavefront_order(o.order)) return make_wavefront(o.order, o.n);
  if (o.order == printed_pgs2) return make_printed_pgs2();
  try {
    require_schedule_order("schedule", "--order", o.order);
  } catch (const ArgumentError&) {
    throw ArgumentError("schedule", "--order", "'" + o.order + "' is none of " + all_orders());
  }
  return make_schedule(o.order, o.m, o.n, {}, o.staircase);
}

Result study(Options options) {
  resolve(options);
  Result result{make(options), options.check, {}, 0, {}, {}};
  if (options.check) result.violation = violation(result.schedule);
  if (result.violation || result.sums()) return result;
  result.critical_path = critical_path(result.schedule);
  if (result.staircase()) return result;
  result.ts = tile_path(result.schedule, false);
  result.tt = tile_path(result.schedule, true);
  return result;
}

void print(const Result& result) {
  const Schedule& schedule = result.schedule;
  fmt::print("schedule: order={} m={} n={}\n\nstage at which entry (row, column) becomes {}\n\n", schedule.order,
             schedule.m, schedule.n, result.sums() ? "final" : "zero");
  print_table(schedule);
  const std::vector<index_t> rotations = rotations_of(schedule);
  std::string by_stage;
  if (!rotations.empty() && rotations.size() <= largest_picture)
    by_stage = fmt::format(" = {}", fmt::join(rotations, " + "));
  fmt::print("\nstages     {}\n{:<10} {}{}\n", schedule.stages(), result.sums() ? "entries" : "rotations",
             schedule.eliminations.size(), by_stage);
  if (result.staircase()) fmt::print("columns    end with rows {}\n", fmt::join(schedule.ends, ", "));
  if (last_stage_is_empty(schedule))
    fmt::print("           the last stage of the formula, m + n - 2 = {}, is empty: ({}, {}) is on the diagonal\n",
               schedule.m + schedule.n - 2, schedule.m, schedule.n);
  if (schedule.order == "pgs1") {
    const Overlap overlap = overlapped(schedule);
    fmt::print("pipelined  {} stages, {} rotations in flight at most, where each takes a stage a column\n",
               overlap.stages, overlap.in_flight);
  }
  fmt::print("processors {}, busy {:.1f} % of the time\nlegal      {}\n", result.processors(),
             100 * result.efficiency(), result.violation.value_or(result.checked ? "yes" : "not checked"));
  if (result.violation || result.sums()) return;
  if (result.staircase()) return fmt::print("\ncritical path of rotations: {}\n", result.critical_path);
  fmt::print("\n{:<14} {:>13} {:>10} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}\n{:<14} {:>13} {:>10}\n", "", "critical path",
             "work", "geqrt", "unmqr", "tsqrt", "tsmqr", "ttqrt", "ttmqr", "rotations", result.critical_path,
             schedule.eliminations.size());
  for (const auto& [name, path] : {std::pair{"tiles, TS", &result.ts}, std::pair{"tiles, TT", &result.tt}})
    fmt::print("{:<14} {:>13} {:>10} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}\n", name, path->critical_path, path->work,
               path->geqrt, path->unmqr, path->tsqrt, path->tsmqr, path->ttqrt, path->ttmqr);
  fmt::print("a rotation costs 1; tiles cost geqrt 4, unmqr 6, tsqrt 6, tsmqr 12, ttqrt 2, ttmqr 6 (nb^3 / 3 flops)\n");
}

nlohmann::json report(const Result& result) {
  const Schedule& schedule = result.schedule;
  nlohmann::json json{{"command", "schedule"},
                      {"version", config::version},
                      {"problem", {{"order", schedule.order}, {"m", schedule.m}, {"n", schedule.n}}},
                      {"stages", schedule.stages()},
                      {result.sums() ? "entries" : "rotations", schedule.eliminations.size()},
                      {result.sums() ? "entries_by_stage" : "rotations_by_stage", rotations_of(schedule)},
                      {"processors", result.processors()},
                      {"efficiency", result.efficiency()},
                      {"last_stage_empty", last_stage_is_empty(schedule)},
                      {"eliminations", nlohmann::json::array()},
                      {"checks", nlohmann::json::object()},
                      {"status", result.violation ? "illegal: " + *result.violation : "ok"}};
  if (result.checked) json["checks"]["legal"] = !result.violation;
  if (schedule.order == "pgs1") {
    const Overlap overlap = overlapped(schedule);
    json["pipelined"] = {{"stages", overlap.stages}, {"in_flight", overlap.in_flight}, {"work", overlap.work}};
  }
  for (const Elimination& e : schedule.eliminations)
    json["eliminations"].push_back({e.row + 1, e.column + 1, e.pivot + 1, e.stage});
  if (!result.violation && !result.sums()) json["critical_path"] = {{"rotations", result.critical_path}};
  if (result.staircase())
    json["problem"]["staircase"] = schedule.ends;
  else if (json.contains("critical_path"))
    json["critical_path"].update({{"ts", json_of(result.ts)}, {"tt", json_of(result.tt)}});
  return json;
}

int run(const Options& options) {
  const Result result = study(options);
  const auto write = [](const std::string& path, auto draw) {
    if (path.empty()) return;
    AtomicFile file(path);
    file.write(draw());
    file.commit();
  };
  write(options.svg, [&] { return draw_schedule(result.schedule); });
  if (!result.violation) write(options.dot, [&] { return schedule_dot(result.schedule); });
  if (options.json != "-" && !options.quiet) print(result);
  write_json(report(result), options.json);
  return result.violation ? numerical_failure : done;
}

const Command schedule(
    Command::Group::top, "schedule",
    "the order in which a matrix becomes triangular, by rotations, tile kernels or sums", [](App& app) {
      auto options = std::make_shared<Options>();
      app.add_option("--order", options->order, all_orders())->type_name("ORDER")->show_default();
      app.add_option("-m,--m", options->m, "rows (default: 8; of wavefronts n)")->non_negative();
      app.add_option("-n,--n", options->n, "columns (default: 4; of wavefronts 8)")->non_negative();
      app.add_list("--staircase", options->staircase,
                   "the last row of each column that is not zero: R1,R2,... (says n; zeros are skipped)")
          ->positive()
          ->excludes(app.get_option("--n"));
      add_output(app, Output::text, "--svg", options->svg, "draw it into FILE");
      add_output(app, Output::text, "--dot", options->dot, "write the dependences of its entries to FILE for Graphviz");
      add_output(app, Output::report, "-j,--json", options->json,
                 "write stages, (row, column, pivot, stage) of each rotation and the critical paths to FILE (- for "
                 "standard output)");
      add_quiet(app, options->quiet);
      app.add_flag("!--no-check", options->check, "do not check that the order is legal");
      app.footer(
          "Examples:\n"
          "  tesela schedule --order greedy --m 15 --n 6 --svg greedy.svg\n"
          "  tesela schedule --staircase 2,4,6,6,6 --m 6");
      return std::function<int()>([options] { return run(*options); });
    });

}  // namespace
}  // namespace tesela::cli
