#include "tools/app/chart.hpp"

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

constexpr double width = 980, height = 460, letter = 7.4, margin = 90;

std::string quoted(std::string text) {
  std::replace(text.begin(), text.end(), '"', '\'');
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.replace(at, 1, "\\n");
  return fmt::format("\"{}\"", text);
}

/// Returns the number of characters, not bytes.
std::size_t length(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Splits a category's label into two lines if it has a comma, or is long and has a hyphen, so that neighbours do not
/// overlap.
std::string in_two_lines(const std::string& category) {
  constexpr std::size_t short_enough = 12;
  const std::size_t comma = category.find(", "), hyphen = category.find('-');
  if (comma != std::string::npos) return category.substr(0, comma) + "\n" + category.substr(comma + 2);
  if (category.size() > short_enough && hyphen != std::string::npos)
    return category.substr(0, hyphen + 1) + "\n" + category.substr(hyphen + 1);
  return category;
}

std::string number(double x) { return std::isfinite(x) ? fmt::format("{:.6g}", x) : std::string("NaN"); }

/// Returns the start of a logarithmic axis: 1, 2 or 5 times a power of ten below the smallest value.
double floor_of(const Chart& chart) {
  double least = HUGE_VAL;
  for (const Chart::Series& s : chart.series)
    for (const double x : s.low)
      if (x > 0) least = std::min(least, x);
  if (!std::isfinite(least)) return 0.1;
  const double power = std::pow(10.0, std::floor(std::log10(0.7 * least)));
  for (const double factor : {5.0, 2.0})
    if (factor * power <= 0.7 * least) return factor * power;
  return power;
}

/// Returns the width of the plot itself, without the y axis and the key.
double plot_width(const Chart& chart) {
  std::size_t longest = 5;
  for (const Chart::Series& s : chart.series) longest = std::max(longest, length(s.name));
  return width - margin - 60 - letter * static_cast<double>(longest);
}

/// Prints the categories under their groups of bars: horizontally if they fit, otherwise slanted.
std::string bar_labels(const Chart& chart, std::vector<std::string>& labels) {
  const double room = plot_width(chart) / static_cast<double>(chart.categories.size() + 1);
  std::size_t longest = 0;
  bool fit = true;
  for (const std::string& category : chart.categories) {
    labels.push_back(in_two_lines(category));
    longest = std::max(longest, length(category));
    const std::string& label = labels.back();
    const std::size_t cut = std::min(label.find('\n'), label.size());
    const std::size_t widest = std::max(length(label.substr(0, cut)), length(label.substr(cut)));
    fit = fit && letter * static_cast<double>(widest) < 0.95 * room;
  }
  if (fit) return "set bmargin 4\n";
  labels = chart.categories;
  return fmt::format("set xtics rotate by 30 right\nset bmargin {}\n", 3 + longest / 4);
}

std::string bars(const Chart& chart) {
  std::vector<std::string> labels;
  std::string script =
      "set style data histograms\n"
      "set style histogram errorbars gap 1.5 lw 1.2\n"
      "set style fill solid 0.95 noborder\n"
      "set boxwidth 0.92\n"
      "set errorbars 0.5 lc rgb '#333333'\n"
      "set xtics nomirror scale 0\n" +
      bar_labels(chart, labels) + "$data << END\n";
  for (std::size_t c = 0; c < chart.categories.size(); ++c) {
    script += quoted(labels[c]);
    for (const Chart::Series& s : chart.series)
      script += fmt::format(" {} {} {}", number(s.value[c]), number(s.low[c]), number(s.high[c]));
    script += "\n";
  }
  script += "END\nplot ";
  for (std::size_t s = 0; s < chart.series.size(); ++s)
    script += fmt::format("{}$data using {}:{}:{}:xtic(1) title {} lc rgb '{}'", s > 0 ? ", " : "", 3 * s + 2,
                          3 * s + 3, 3 * s + 4, quoted(chart.series[s].name), chart.series[s].color);
  return script + "\n";
}

/// Returns whether the numbers spread so far that the axis should be logarithmic.
bool spread(const std::vector<double>& x) { return x.front() > 0 && x.back() / x.front() >= 8; }

std::string lines(const Chart& chart) {
  const std::vector<double>& x = chart.x;
  std::string script = "set bmargin 4\nset datafile missing 'NaN'\n";
  if (spread(x))
    script += fmt::format("set logscale x\nset xrange [{:.6g}:{:.6g}]\n", x.front() / 1.2, x.back() * 1.2);
  else
    script += fmt::format("set xrange [{:.6g}:{:.6g}]\n", x.front() - (x.back() - x.front()) / 12,
                          x.back() + (x.back() - x.front()) / 12);
  script += "set xtics nomirror (";
  for (std::size_t c = 0; c < x.size(); ++c)
    script += fmt::format("{}{} {:.10g}", c > 0 ? ", " : "", quoted(chart.categories[c]), x[c]);
  script += fmt::format(")\nset xlabel {}\n", quoted(chart.x_label));
  std::string plot;
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const Chart::Series& series = chart.series[s];
    script += fmt::format("$series{} << END\n", s);
    for (std::size_t c = 0; c < x.size(); ++c)
      if (std::isfinite(series.value[c]))
        script += fmt::format("{:.10g} {} {} {}\n", x[c], number(series.value[c]), number(series.low[c]),
                              number(series.high[c]));
    script += "END\n";
    plot += fmt::format("{}$series{} using 1:2:3:4 with yerrorlines lw 1.8 pt {} ps 0.7 dt {} lc rgb '{}' title {}",
                        s > 0 ? ", " : "plot ", s, series.dashed ? 6 : 7, series.dashed ? 2 : 1, series.color,
                        quoted(series.name));
  }
  if (chart.ideal && !chart.series.empty())
    if (const double first = chart.series.front().value.front(); std::isfinite(first))
      plot += fmt::format(", {} * x dt 3 lw 1.5 lc rgb '#999999' title 'proportional'", number(first / x.front()));
  return script + plot + "\n";
}

}  // namespace

std::string gnuplot_script(const Chart& chart) {
  std::string script = fmt::format(
      "set terminal svg size {},{} font 'sans,13' background '#ffffff' noenhanced\n"
      "set grid ytics lc rgb '#dddddd' lt 1\n"
      "set border 3\n"
      "set ytics nomirror\n"
      "set key outside right center vertical Left reverse samplen 2\n"
      "set title {}\nset ylabel {}\n",
      width, height, quoted(chart.title), quoted(chart.y_label));
  if (chart.logarithmic)
    script += fmt::format("set logscale y\nset yrange [{:.3g}:*]\n", floor_of(chart));
  else
    script += "set yrange [0:*]\n";
  return script + (chart.x.empty() ? bars(chart) : lines(chart));
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
