#include "bench/harness/chart.hpp"

#include <tesela/runtime/errors.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace tesela::bench {
namespace {

constexpr std::array colors{"#4c72b0", "#dd8452", "#55a868", "#c44e52", "#8172b3", "#937860", "#da8bc3", "#8c8c8c"};

std::string quoted(std::string text) {
  std::replace(text.begin(), text.end(), '"', '\'');
  return fmt::format("\"{}\"", text);
}

/// A category's label, in two lines where it has a comma or is long and has a hyphen, so that neighbours do not run
/// into each other.
std::string label(const std::string& category) {
  constexpr std::size_t short_enough = 12;
  const std::size_t comma = category.find(", "), hyphen = category.find('-');
  if (comma != std::string::npos)
    return quoted(fmt::format("{}\\n{}", category.substr(0, comma), category.substr(comma + 2)));
  if (category.size() > short_enough && hyphen != std::string::npos)
    return quoted(fmt::format("{}\\n{}", category.substr(0, hyphen + 1), category.substr(hyphen + 1)));
  return quoted(category);
}

std::string number(double x) { return std::isfinite(x) ? fmt::format("{:.6g}", x) : std::string("NaN"); }

/// A decade below the smallest bar, where the bars of a logarithmic chart begin.
double floor_of(const Chart& chart) {
  double least = HUGE_VAL;
  for (const Chart::Series& s : chart.series)
    for (const double x : s.low)
      if (x > 0) least = std::min(least, x);
  return std::isfinite(least) ? std::pow(10.0, std::floor(std::log10(least))) / 2 : 0.1;
}

}  // namespace

std::string gnuplot_script(const Chart& chart) {
  std::string script =
      "set terminal svg size 860,520 font 'sans,13' background '#ffffff' noenhanced\n"
      "set style data histograms\n"
      "set style histogram errorbars gap 1.5 lw 1.2\n"
      "set style fill solid 0.9 noborder\n"
      "set boxwidth 0.92\n"
      "set errorbars 0.5 lc rgb '#333333'\n"
      "set grid ytics lc rgb '#dddddd' lt 1\n"
      "set border 3\n"
      "set xtics nomirror scale 0\n"
      "set ytics nomirror\n"
      "set bmargin 4\n"
      "set key outside top center horizontal\n";
  script += fmt::format("set title {}\nset ylabel {}\n", quoted(chart.title), quoted(chart.y_label));
  if (chart.logarithmic)
    script += fmt::format("set logscale y\nset yrange [{:.3g}:*]\n", floor_of(chart));
  else
    script += "set yrange [0:*]\n";
  script += "$data << END\n";
  for (std::size_t c = 0; c < chart.categories.size(); ++c) {
    script += label(chart.categories[c]);
    for (const Chart::Series& s : chart.series)
      script += fmt::format(" {} {} {}", number(s.value[c]), number(s.low[c]), number(s.high[c]));
    script += "\n";
  }
  script += "END\nplot ";
  for (std::size_t s = 0; s < chart.series.size(); ++s)
    script += fmt::format("{}$data using {}:{}:{}:xtic(1) title {} lc rgb '{}'", s > 0 ? ", " : "", 3 * s + 2,
                          3 * s + 3, 3 * s + 4, quoted(chart.series[s].name), colors[s % colors.size()]);
  return script + "\n";
}

std::string draw_svg(const Chart& chart) {
  const std::string script = gnuplot_script(chart);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> input(std::tmpfile(), &std::fclose);
  std::array<int, 2> output{};
  if (!input || std::fwrite(script.data(), 1, script.size(), input.get()) != script.size() || pipe(output.data()) != 0)
    throw EnvironmentError("no temporary file or pipe for gnuplot");
  std::rewind(input.get());

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(input.get()), 0);
  posix_spawn_file_actions_adddup2(&actions, output[1], 1);
  posix_spawn_file_actions_addclose(&actions, output[0]);
  std::array<char, 8> name{"gnuplot"};
  std::array<char*, 2> arguments{name.data(), nullptr};
  pid_t child = 0;
  const int spawned = posix_spawnp(&child, name.data(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(output[1]);

  std::string svg;
  std::array<char, 65536> buffer{};
  if (spawned == 0)
    for (ssize_t got = 0; (got = read(output[0], buffer.data(), buffer.size())) > 0;)
      svg.append(buffer.data(), static_cast<std::size_t>(got));
  close(output[0]);
  if (spawned != 0) throw EnvironmentError("gnuplot is not installed (Debian: gnuplot-nox)");
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    throw EnvironmentError("gnuplot is not installed (Debian: gnuplot-nox)");
  if (status != 0 || svg.find("</svg>") == std::string::npos) throw EnvironmentError("gnuplot failed");
  return svg;
}

}  // namespace tesela::bench
