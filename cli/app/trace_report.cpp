#include "cli/app/trace_report.hpp"

#include "cli/app/standard_streams.hpp"
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/trace.hpp>
#include <tesela/tiles/io/atomic_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

namespace tesela::cli {
namespace {

/// A kernel's colour: of its name alone, so that it is the same in every picture. Of one saturation, in any hue and one
/// of three lightnesses.
std::string colour(const std::string& kernel) {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : kernel) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  constexpr std::array lightnesses{0.42, 0.56, 0.70};
  const double hue = hash % 360 / 30.0, lightness = lightnesses[hash / 360 % lightnesses.size()];
  const auto channel = [&](double n) {  // HSL to RGB
    const double k = std::fmod(n + hue, 12);
    const double value =
        lightness - 0.5 * std::min(lightness, 1 - lightness) * std::clamp(std::min(k - 3, 9 - k), -1.0, 1.0);
    return static_cast<int>(std::lround(255 * value));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", channel(0), channel(8), channel(4));
}

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
  for (const auto& [kernel, list] : kernels) {
    plots += fmt::format("{} '-' using (($1+$2)/2):3:1:2:($3-0.4):($3+0.4) with boxxyerror lc rgb '{}' title '{}'",
                         plots.empty() ? "plot" : ",", colour(kernel), kernel);
    for (const TracedTask* task : list)
      data += fmt::format("{} {} {}\n", task->start * scale, task->end * scale, row[task->worker]);
    data += "e\n";
  }
  return text + plots + "\n" + data;
}

/// Whether StarPU's raw record lies here, not converted yet.
bool only_recorded(const std::string& directory) {
  namespace fs = std::filesystem;
  std::error_code error;  // a directory that cannot be read is reported by who reads from it
  if (fs::exists(fs::path(directory) / "paje.trace", error)) return false;
  for (auto file = fs::directory_iterator(directory, error); !error && file != fs::directory_iterator();
       file.increment(error))
    if (file->path().filename().string().starts_with("prof_file_")) return true;
  return false;
}

}  // namespace

bool is_trace_file(const std::string& name) {
  if (name == "trace.svg" || name.starts_with("prof_file_")) return true;
  const auto extension = std::filesystem::path(name).extension();
  return extension == ".trace" || extension == ".rec" || extension == ".dot" || extension == ".data" ||
         extension == ".html";
}

bool draw_trace(const std::string& directory) {
  if (only_recorded(directory)) convert_trace(directory);
  const std::vector<TracedTask> tasks = read_tasks(directory);
  if (tasks.empty()) {
    tell("tesela: the trace holds no task, so no picture of it");
    return false;
  }
  std::FILE* gnuplot = popen("gnuplot 2>/dev/null", "w");
  const std::string text = script(directory, tasks);
  const bool sent = gnuplot != nullptr && std::fwrite(text.data(), 1, text.size(), gnuplot) == text.size();
  if (gnuplot != nullptr && pclose(gnuplot) == 0 && sent) return true;
  tell("tesela: no picture: gnuplot is missing or failed (the trace itself is complete)");
  return false;
}

void finish_trace(const std::string& directory) {
  convert_trace(directory);
  const bool drawn = draw_trace(directory);
  tell(fmt::format("trace: {0}/paje.trace (open it with `vite {0}/paje.trace`), dag.dot, tasks.rec{1}", directory,
                   drawn ? ", trace.svg" : ""));
}

}  // namespace tesela::cli
