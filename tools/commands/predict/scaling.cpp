#include "tools/commands/predict/scaling.hpp"

#include "tools/app/chart.hpp"
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/io/atomic_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>

namespace tesela::cli {

std::vector<std::string> grown(std::vector<std::string> command, double factor) {
  const std::string kind = command.front();
  const bool linear = kind == "tridiag" || kind == "ols";
  const double growth = linear ? factor : std::cbrt(factor);
  const std::vector<std::string> options = kind == "tridiag" ? std::vector<std::string>{"--n"}
                                           : kind == "ols"   ? std::vector<std::string>{"--m"}
                                                             : std::vector<std::string>{"--n", "--m", "--k"};
  bool found = false;
  for (std::size_t w = 1; w < command.size(); ++w)
    for (const std::string& option : options) {
      const std::string_view word = command[w];
      const bool joined = word.starts_with(option + "=");
      const bool named = word == option || word == option.substr(1);  // --n or -n
      if (!joined && (!named || w + 1 == command.size())) continue;
      std::string& text = joined ? command[w] : command[w + 1];
      const std::string number = joined ? text.substr(option.size() + 1) : text;
      std::size_t read = 0;
      double size = 0;
      try {
        size = std::stod(number, &read);
      } catch (const std::exception&) {
        read = 0;
      }
      require(read == number.size() && size >= 1 && size < 1e15, "predict", "--weak", "cannot enlarge ", option, " ",
              number);
      constexpr double step = 64;
      const double size_then = factor == 1 ? size : std::max(std::round(growth * size / step), 1.0) * step;
      text = (joined ? option + "=" : "") + fmt::format("{:.0f}", size_then);
      found = true;
    }
  require(found, "predict", "--weak", "needs the size of the problem in the command: ", options.front(), " N");
  return command;
}

void plot_scaling(const std::string& title, const nlohmann::json& runs, const std::string& path) {
  std::set<double> gpus, cores;
  for (const auto& run : runs) {
    if (run["gpus"] > 0) gpus.insert(run["gpus"].get<double>());
    if (run["gpus"] == 0) cores.insert(run["cores"].get<double>());
  }
  const bool over_gpus = gpus.size() > 1;
  const std::set<double>& numbers = over_gpus ? gpus : cores;
  const bool one_scheduler =
      std::all_of(runs.begin(), runs.end(), [&](const auto& run) { return run["scheduler"] == runs[0]["scheduler"]; });
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  bench::Chart chart{.title = title,
                     .y_label = "GFLOP/s",
                     .x_label = over_gpus ? "GPUs" : "cores",
                     .categories = {},
                     .x = {numbers.begin(), numbers.end()},
                     .ideal = true,
                     .series = {}};
  chart.logarithmic = chart.x.back() >= 8 * chart.x.front();  // as the other axis, so that `proportional` is straight
  for (const double x : chart.x) chart.categories.push_back(fmt::format("{:.0f}", x));
  constexpr std::array<const char*, 6> colors{"#4c72b0", "#c44e52", "#55a868", "#8172b2", "#ccb974", "#64b5cd"};
  std::map<std::string, std::size_t> place;
  const auto add = [&](const std::string& name, bool dashed, double x, double rate) {
    const auto [at, is_new] = place.try_emplace(name, chart.series.size());
    if (is_new) {  // a scheduler and its bound in turn
      const std::vector<double> empty(chart.x.size(), nothing);
      chart.series.push_back({name, colors[chart.series.size() / 2 % colors.size()], empty, empty, empty, dashed});
    }
    const auto c = static_cast<std::size_t>(std::find(chart.x.begin(), chart.x.end(), x) - chart.x.begin());
    bench::Chart::Series& series = chart.series[at->second];
    series.value[c] = series.low[c] = series.high[c] = rate;
  };
  for (const auto& run : runs) {
    if (over_gpus != (run["gpus"] > 0)) continue;
    const double x = run[over_gpus ? "gpus" : "cores"].get<double>(), rate = run["gflops"].get<double>();
    const std::string name = (one_scheduler ? "" : run["scheduler"].get<std::string>() + ", ") +
                             run["scaling"].get<std::string>() + " scaling";
    add(name, false, x, rate);
    add(name + ", bound", true, x, rate * run["seconds"].get<double>() / run["bound"]["seconds"].get<double>());
  }
  AtomicFile file(path);
  file.write(bench::draw_svg(chart));
  file.commit();
}

}  // namespace tesela::cli
