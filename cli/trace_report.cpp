#include "cli/trace_report.hpp"

#include "runtime/errors.hpp"
#include "runtime/trace.hpp"
#include "tiles/atomic_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

namespace tesela::cli {
namespace {

/// A fixed wheel of well-separated colours: one a kernel, in order of name.
const char* const colours[] = {"#4c72b0", "#dd8452", "#55a868", "#c44e52", "#8172b3",
                               "#937860", "#da8bc3", "#8c8c8c", "#ccb974", "#64b5cd"};

/// Inside a gnuplot string in single quotes.
std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? "''" : std::string(1, c);
  return out;
}

std::string script(const std::string& directory, const std::vector<TracedTask>& tasks) {
  std::map<std::string, std::vector<const TracedTask*>> kernels;
  std::map<int, double> busy;
  double end = 0;
  for (const TracedTask& task : tasks) {
    kernels[task.kernel].push_back(&task);
    busy[task.worker] += task.end - task.start;
    end = std::max(end, task.end);
  }
  std::map<int, int> row;
  std::string labels;
  for (const auto& [worker, seconds] : busy) {
    row.emplace(worker, static_cast<int>(row.size()));
    labels += fmt::format("{}\"worker {} ({:.0f} %% busy)\" {}", labels.empty() ? "" : ", ", worker,
                          100 * seconds / std::max(end, 1e-12), row[worker]);
  }
  const double scale = end < 1 ? 1e3 : 1;
  constexpr std::size_t many = 300;  // from here on a bar is hardly wider than its border
  std::string text = fmt::format(
      "set terminal svg size 1200,{} noenhanced dynamic background rgb 'white' font 'sans-serif,12'\nset output "
      "'{}/trace.svg'\n"
      "set xlabel 'time ({})'\nset xrange [0:{}]\nset yrange [{}:-0.6]\nset ytics ({})\nset key outside top "
      "horizontal\n"
      "set style fill solid 0.9 {}\nset border 3\nset tics nomirror\n",
      140 + 46 * row.size(), quoted(directory), scale == 1 ? "s" : "ms", end * scale,
      static_cast<double>(row.size()) - 0.4, labels, tasks.size() > many ? "noborder" : "border lc rgb 'white'");
  std::string plots, data;
  std::size_t colour = 0;
  for (const auto& [kernel, list] : kernels) {
    plots += fmt::format("{} '-' using (($1+$2)/2):3:1:2:($3-0.4):($3+0.4) with boxxyerror lc rgb '{}' title '{}'",
                         plots.empty() ? "plot" : ",", colours[colour++ % std::size(colours)], kernel);
    for (const TracedTask* task : list)
      data += fmt::format("{} {} {}\n", task->start * scale, task->end * scale, row[task->worker]);
    data += "e\n";
  }
  return text + plots + "\n" + data;
}

}  // namespace

void draw_trace(const std::string& directory) {
  const std::vector<TracedTask> tasks = read_tasks(directory);
  if (tasks.empty()) {
    fmt::print(stderr, "tesela: the trace holds no task, so no picture of it\n");
    return;
  }
  std::FILE* gnuplot = popen("gnuplot 2>/dev/null", "w");
  const std::string text = script(directory, tasks);
  const bool sent = gnuplot != nullptr && std::fwrite(text.data(), 1, text.size(), gnuplot) == text.size();
  if (gnuplot == nullptr || pclose(gnuplot) != 0 || !sent)
    fmt::print(stderr, "tesela: no picture: gnuplot is missing or failed (the trace itself is complete)\n");
}

void finish_trace(const std::string& directory) {
  convert_trace(directory);
  draw_trace(directory);
  fmt::print(stderr, "trace: {0}/paje.trace (open it with `vite {0}/paje.trace`), dag.dot, tasks.rec, trace.svg\n",
             directory);
}

}  // namespace tesela::cli
