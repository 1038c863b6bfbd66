#include "tools/app/outputs.hpp"
#include "tools/bench/harness/report.hpp"
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

namespace tesela::bench {
namespace {

/// Returns the fields of one line of a CSV without quotes.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
      fields.back() += line[i++];
    else if (line[i] == '"')
      quoted = !quoted;
    else if (line[i] == ',' && !quoted)
      fields.emplace_back();
    else
      fields.back() += line[i];
  }
  return fields;
}

std::string picture_of(const std::string& path) {
  std::string svg = std::filesystem::path(path).replace_extension("svg").string();
  require(svg != path, "bench plot", "CSV", path, " would be replaced by its picture");
  return svg;
}

/// Draws FILE.svg next to a benchmark's FILE.csv, as the benchmark itself does if gnuplot is installed; with times
/// instead of rates if `times`.
void plot(const std::string& path, bool times) {
  std::ifstream file(path);
  std::string line;
  index_t comments = 0;  // lines in front that name the command
  while (std::getline(file, line) && line.starts_with('#')) ++comments;
  if (!file) throw FileError(path, "cannot be read, or is empty");
  const std::vector<std::string> names = fields_of(line);
  std::vector<Row> rows;
  std::string benchmark, gpu, machine;
  for (index_t number_of_line = comments + 2; std::getline(file, line); ++number_of_line) {
    const std::vector<std::string> values = fields_of(line);
    if (values.size() != names.size())
      throw FileError(path, "line " + std::to_string(number_of_line) + " is cut short");
    std::map<std::string, std::string> field;
    for (std::size_t f = 0; f < names.size(); ++f) field[names[f]] = values[f];
    const auto number = [&](const char* name) {
      try {
        return std::stod(field[name]);
      } catch (const std::exception&) {
        throw FileError(path, std::string("column ") + name + " holds '" + field[name] + "', not a number");
      }
    };
    if (const auto median = field.find("median_s"); median != field.end() && median->second.empty())
      continue;  // a peer that did not run
    Row row;
    const auto count = [&](const char* name) { return field[name].empty() ? 0 : static_cast<index_t>(number(name)); };
    row.what = {field["case"], count("m"),    count("n"),         count("k"),
                field["tile"], field["data"], field["rate_unit"], field["precision"]};
    row.timing.peer = field["peer"];
    row.gpus = static_cast<int>(count("gpus"));
    row.timing.seconds = {number("median_s")};
    const auto date = std::find(names.begin(), names.end(), "date");
    for (auto name = date == names.end() ? date : date + 1; name != names.end(); ++name)
      if (!field[*name].empty() && *name != "remark") row.more.emplace_back(*name, number(name->c_str()));
    row.rate = number("rate");
    // A rate is inverse to the time, except if it is a time itself (µs a task).
    const bool time =
        field["rate_unit"].find("s") != std::string::npos && field["rate_unit"].find("/s") == std::string::npos;
    const double slow = number("max_s") / number("median_s"), fast = number("min_s") / number("median_s");
    row.rate_low = time ? row.rate * fast : row.rate / slow;
    row.rate_high = time ? row.rate * slow : row.rate / fast;
    if (times) {
      row.what.rate_unit = "ms";
      row.rate = 1e3 * number("median_s");
      row.rate_low = 1e3 * number("min_s");
      row.rate_high = 1e3 * number("max_s");
    }
    rows.push_back(row);
    benchmark = field["benchmark"];
    gpu = field["gpu"];
    machine = field["machine"];
  }
  if (rows.empty()) throw FileError(path, "has no rows");
  const auto [fewest, most] =
      std::minmax_element(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.gpus < b.gpus; });
  const std::string where = gpu.empty()                  ? machine
                            : fewest->gpus == most->gpus ? fmt::format("{} {}", most->gpus, gpu)
                                                         : gpu;
  const std::string svg = picture_of(path);
  for (const std::string& picture : write_charts(benchmark, rows, where, svg)) fmt::print("wrote {}\n", picture);
}

const cli::Command command(
    cli::Command::Group::bench, "plot", "draw the plot of a benchmark's CSV again", [](cli::App& app) {
      auto files = std::make_shared<std::vector<std::string>>();
      auto times = std::make_shared<bool>(false);
      app.add_option("CSV", *files, "CSV files of benchmarks, for example from a machine without gnuplot")->required();
      app.add_flag("--times", *times, "milliseconds instead of rates");
      cli::declare_outputs(app, cli::Output::text, "CSV", [files] {
        std::vector<std::string> pictures;
        for (const std::string& file : *files) pictures.push_back(picture_of(file));
        return pictures;
      });
      app.footer("Example:\n  tesela bench plot docs/benchmarks/*.csv");
      return std::function<int()>([files, times] {
        for (const std::string& file : *files) plot(file, *times);
        return int{cli::done};
      });
    });

}  // namespace
}  // namespace tesela::bench
