#include "tools/bench/harness/published.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <set>

namespace tesela::bench {
namespace {

constexpr std::array colors{"#4c72b0", "#dd8452", "#55a868", "#c44e52", "#8172b3",
                            "#937860", "#da8bc3", "#64b5cd", "#ccb974", "#3b3b3b"};

/// Returns a column of Row::more; NaN without it.
double more_of(const Row& row, std::string_view name) {
  for (const auto& [column, value] : row.more)
    if (column == name) return value;
  return std::numeric_limits<double>::quiet_NaN();
}

/// Values by line and by x.
using Lines = std::map<index_t, std::map<double, double>>;

/// Returns the rows of a peer of the study in single precision, measured on a GPU, or on cores if there are more.
std::vector<const Row*> rows_of(const std::vector<Row>& rows, const std::string& peer) {
  std::vector<const Row*> found;
  for (const char* const where : {"GPU, ", "cores, "}) {
    std::vector<const Row*> here;
    for (const Row& row : rows)
      if (row.timing.peer == where + peer && row.what.precision == "s") here.push_back(&row);
    if (here.size() > found.size()) found = here;
  }
  return found;
}

/// Adds a series for each line. Dashed: a second set of lines in the colours of the first.
void add_lines(Chart& chart, const Lines& lines, const std::string& name, bool dashed) {
  std::size_t color = 0;
  for (const auto& [line, points] : lines) {
    Chart::Series s{fmt::format(fmt::runtime(name), line), colors[color++ % colors.size()], {}, {}, {}, dashed};
    for (const double x : chart.x) {
      const auto point = points.find(x);
      s.value.push_back(point == points.end() ? std::numeric_limits<double>::quiet_NaN() : point->second);
    }
    s.low = s.high = s.value;
    chart.series.push_back(std::move(s));
  }
}

/// Adds a series for each name, in the next colours.
void add_named_lines(Chart& chart, const std::map<std::string, std::map<double, double>>& lines, bool dashed) {
  for (const auto& [name, points] : lines) {
    Chart::Series s{name, colors[chart.series.size() % colors.size()], {}, {}, {}, dashed};
    for (const double x : chart.x)
      s.value.push_back(points.contains(x) ? points.at(x) : std::numeric_limits<double>::quiet_NaN());
    s.low = s.high = s.value;
    chart.series.push_back(std::move(s));
  }
}

Chart axes(const std::string& title, const char* x, const char* y, const std::set<double>& at) {
  Chart chart;
  chart.title = title;
  chart.x_label = x;
  chart.y_label = y;
  chart.x.assign(at.begin(), at.end());
  for (const double value : chart.x) chart.categories.push_back(fmt::format("{:g}", value));
  return chart;
}

std::set<double> places(const Lines& lines) {
  std::set<double> at;
  for (const auto& [line, points] : lines)
    for (const auto& [x, y] : points) at.insert(x);
  return at;
}

/// Figure 11: speed-ups of the GPU by order, of Table 5 and ours.
void add_speed_ups(const std::vector<Row>& rows, std::vector<SourceFigure>& figures) {
  Lines theirs, ours;
  for (const Figure& f : published_figures())
    if (f.source == "gracia-gil-2010" && f.column == "CPU") {
      const double gpu = published_value({.source = f.source, .row = f.row, .column = "GPU", .n = f.n});
      theirs[std::atol(std::string(f.row).c_str())][static_cast<double>(f.n)] = f.value / gpu;
    }
  for (const Row& gpu : rows)
    for (const Row& cores : rows)
      if (gpu.timing.peer == "GPU, as in the source" && cores.timing.peer == "cores, as in the source" &&
          gpu.what.n == cores.what.n && gpu.what.k == cores.what.k && gpu.what.precision == "s" &&
          cores.what.precision == "s" && theirs.contains(gpu.what.k) && theirs[gpu.what.k].contains(double(gpu.what.n)))
        ours[gpu.what.k][static_cast<double>(gpu.what.n)] = cores.timing.median() / gpu.timing.median();
  if (ours.empty()) return;
  Chart chart =
      axes("Graciá Gil 2010, Figure 11: speed-up of a GPU over the cores\nlines: eigenvalues of an interval at most",
           "n", "time on the cores / on the GPU", places(theirs));
  chart.logarithmic = true;
  add_lines(chart, theirs, "{}, the source", true);
  add_lines(chart, ours, "{}, ours", false);
  figures.push_back({"figure-11", std::move(chart)});
}

/// Figure 12: eigenvalues found by tolerance.
void add_found(const std::vector<Row>& rows, std::vector<SourceFigure>& figures) {
  Lines lines;
  for (const Row* const row : rows_of(rows, "levinson"))
    lines[row->what.n][std::round(-std::log10(more_of(*row, "tolerance")))] = more_of(*row, "right_percent");
  const std::set<double> at = places(lines);
  if (at.size() < 2) return;
  Chart chart = axes("Graciá Gil 2010, Figure 12: eigenvalues found, ours (the source prints no values)\nlines: orders",
                     "digits: tolerance 10^-k", "correct eigenvalues, %", at);
  add_lines(chart, lines, "n = {}", false);
  figures.push_back({"figure-12", std::move(chart)});
}

/// Figures 13 and 14: intervals that converged or were searched again, and attempts, by order.
void add_intervals(const std::vector<Row>& rows, std::vector<SourceFigure>& figures) {
  Lines converged, again, attempts;
  for (const Row* const row : rows_of(rows, "as in the source")) {
    const auto n = static_cast<double>(row->what.n);
    const double all = more_of(*row, "intervals");
    converged[row->what.k][n] = 100 * more_of(*row, "converged") / all;
    again[row->what.k][n] = 100 * more_of(*row, "relaunched") / all;
    attempts[row->what.k][n] = more_of(*row, "mean_attempts");
  }
  const std::set<double> at = places(attempts);
  if (at.size() < 2) return;
  Chart chart = axes(
      "Graciá Gil 2010, Figure 13: intervals, ours (the source prints no values)\nlines: eigenvalues of an interval at "
      "most",
      "n", "intervals, %", at);
  add_lines(chart, converged, "{}, converged", false);
  add_lines(chart, again, "{}, searched again", true);
  figures.push_back({"figure-13", std::move(chart)});
  chart = axes(
      "Graciá Gil 2010, Figure 14: attempts, ours (the source prints no values)\nlines: eigenvalues of an interval at "
      "most",
      "n", "mean attempts of an interval", at);
  add_lines(chart, attempts, "{}", false);
  figures.push_back({"figure-14", std::move(chart)});
}

/// Returns the number of the figure in chapter 6 of the Cinvestav thesis that draws a table of chapter 6.
int figure_of_table(int table) { return table < 8 ? table : table - 1; }

/// Figures 6.1 to 6.16: times of R and Q by order, of a table and ours.
void add_rotations(const std::vector<Row>& rows, std::vector<SourceFigure>& figures) {
  std::map<int, std::vector<const Row*>> by_table;
  for (const Row& row : rows)
    if (int table = 0; std::sscanf(row.what.title.c_str(), "Table 6.%d:", &table) == 1) by_table[table].push_back(&row);
  for (const auto& [table, ours] : by_table) {
    const std::string name = fmt::format("6.{}", table), &precision = ours.front()->what.precision;
    std::map<std::string, std::map<double, double>> theirs, measured;
    std::set<double> at;
    std::string matrix;
    for (const Figure& f : published_figures())
      if (f.source == "cinvestav-2014" && f.table == name) {
        theirs[std::string(f.column)][static_cast<double>(f.n)] = f.value;
        at.insert(static_cast<double>(f.n));
        matrix = f.row;
      }
    for (const Row* const row : ours) {
      measured[row->timing.peer][static_cast<double>(row->what.n)] = row->timing.median();
      at.insert(static_cast<double>(row->what.n));
    }
    const std::string figure = fmt::format("6.{}", figure_of_table(table));
    Chart chart = axes(fmt::format("Cinvestav thesis, Figure {}: R and Q, {}, {}\ndashed: Table {}; lines: ours",
                                   figure, matrix, precision == "d" ? "double" : "single", name),
                       "n", "seconds", at);
    chart.logarithmic = true;
    add_named_lines(chart, theirs, true);
    add_named_lines(chart, measured, false);
    figures.push_back({"figure-" + figure, std::move(chart)});
  }
}

/// Figure 10 of the cyclic reduction paper: times by order, in single precision.
void add_cyclic_reduction(const std::vector<Row>& rows, std::vector<SourceFigure>& figures) {
  std::map<std::string, std::map<double, double>> measured;
  std::set<double> at;
  for (const Row& row : rows) {
    if (row.what.precision != "s" || row.timing.peer.ends_with("on device")) continue;
    const double unknowns = static_cast<double>(row.what.n) / 1024;
    measured[row.timing.peer][unknowns] = 1e3 * row.timing.median();
    at.insert(unknowns);
  }
  if (at.size() < 2) return;
  Chart chart =
      axes("Cyclic reduction paper, Figure 10: times, ours (the source prints no values)", "Ki unknowns", "ms", at);
  chart.logarithmic = true;
  add_named_lines(chart, measured, false);
  figures.push_back({"figure-10", std::move(chart)});
}

}  // namespace

std::vector<SourceFigure> source_figures(const std::string& benchmark, const std::vector<Row>& rows) {
  std::vector<SourceFigure> figures;
  if (benchmark == "givens-study") add_rotations(rows, figures);
  if (benchmark == "tridiag-study") add_cyclic_reduction(rows, figures);
  if (benchmark != "toeplitz-study") return figures;
  add_speed_ups(rows, figures);
  add_found(rows, figures);
  add_intervals(rows, figures);
  return figures;
}

}  // namespace tesela::bench
