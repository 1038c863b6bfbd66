#include "tools/app/trace_report.hpp"

#include "tools/app/standard_streams.hpp"
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/ranks.hpp>
#include <tesela/runtime/shortest.hpp>
#include <tesela/runtime/trace/trace_picture.hpp>
#include <tesela/tiles/io/atomic_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

namespace tesela::cli {
namespace {

/// Returns whether the folder has StarPU's raw record without its conversion.
bool only_recorded(const std::string& directory) {
  namespace fs = std::filesystem;
  std::error_code error;  // later reads report an unreadable directory
  if (fs::exists(fs::path(directory) / "paje.trace", error) || fs::exists(fs::path(directory) / "tasks.rec", error))
    return false;
  for (auto file = fs::directory_iterator(directory, error); !error && file != fs::directory_iterator();
       file.increment(error))
    if (file->path().filename().string().starts_with("prof_file_")) return true;
  return false;
}

/// Throws ArgumentError unless the folder exists and has a file of a trace.
void require_trace_folder(const std::string& directory) {
  namespace fs = std::filesystem;
  std::error_code error;  // later reads report an unreadable directory
  if (!fs::exists(directory, error)) throw ArgumentError("trace", directory, "no such folder");
  if (!fs::is_directory(directory, error)) throw ArgumentError("trace", directory, "is a file, not a trace's folder");
  for (auto file = fs::directory_iterator(directory, error); !error && file != fs::directory_iterator();
       file.increment(error))
    if (is_trace_file(file->path().filename().string())) return;
  if (!error) throw ArgumentError("trace", directory, "no trace's folder: paje.trace and tasks.rec are missing");
}

/// Returns the trace of a folder after a conversion if it needs one; nothing, with a message, if it holds no task.
std::optional<Trace> trace_in(const std::string& directory) {
  require_trace_folder(directory);
  if (only_recorded(directory)) convert_trace(directory);
  Trace trace = read_trace(directory);
  if (trace.incomplete > 0)
    print_error(fmt::format("tesela: {}: left out: {} that ran when the recording began or ended", directory,
                            counted(static_cast<std::int64_t>(trace.incomplete), "task")));
  if (!trace.tasks.empty()) return trace;
  print_error(fmt::format("tesela: {}: the trace holds no task, so it has no picture", directory));
  return std::nullopt;
}

double end_of(const Trace& trace) {
  return std::max_element(trace.tasks.begin(), trace.tasks.end(),
                          [](const auto& a, const auto& b) { return a.end < b.end; })
      ->end;
}

void require_range(double end, double from, double to) {
  if (from >= end) throw ArgumentError("trace", "--from", fmt::format("the last task ends after {:.6g} s", end));
  if (to != 0 && to <= from) throw ArgumentError("trace", "--to", "is not later than --from");
}

}  // namespace

bool is_trace_file(const std::string& name) {
  if (name == "trace.html" || name == "trace.svg" || name == "traces.svg" || name == "trace.json" ||
      name.starts_with("prof_file_"))
    return true;
  const auto extension = std::filesystem::path(name).extension();
  return extension == ".trace" || extension == ".rec" || extension == ".dot" || extension == ".data";
}

bool draw_trace(const std::string& directory, double from, double to) {
  const std::optional<Trace> trace = trace_in(directory);
  if (!trace) return false;
  require_range(end_of(*trace), from, to);
  AtomicFile picture(directory + "/trace.svg");
  picture.write(trace_picture(*trace, from, to));
  picture.commit();
  write_trace_events(*trace, directory + "/trace.json");
  return true;
}

bool compare_traces(const std::vector<std::string>& directories, const std::string& path, double from, double to) {
  std::vector<TitledTrace> traces;
  double end = 0;
  for (const std::string& directory : directories) {
    std::optional<Trace> trace = trace_in(directory);
    if (!trace) return false;
    end = std::max(end, end_of(*trace));
    traces.push_back({directory, std::move(*trace)});
  }
  require_range(end, from, to);
  AtomicFile picture(path);
  picture.write(trace_pictures(traces, from, to));
  picture.commit();
  return true;
}

void write_trace_page(const Trace& trace, const nlohmann::json& report, const std::string& title,
                      const std::string& path) {
  AtomicFile file(path);
  file.write(trace_page(trace, summarize(trace), title,
                        report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
  file.commit();
}

bool report_trace(const std::string& directory, const std::string& path) {
  require_trace_page();
  std::optional<Trace> trace = trace_in(directory);
  if (!trace) return false;
  const std::size_t runs = trace->marks.size();
  nlohmann::json report = nlohmann::json::object();
  if (runs > 0) report["notes"] = {fmt::format("the last of {} recorded runs", runs)};
  write_trace_page(last_part(std::move(*trace)), report, directory, path);
  return true;
}

void finish_trace(const std::string& directory, bool quiet) {
  if (launched_rank() > 0) return;  // rank 0 does it
  convert_trace(directory);
  const bool drawn = draw_trace(directory);
  if (quiet) return;
  print_error(fmt::format("trace: {0}/{1}paje.trace (`vite {0}/paje.trace`), dag.dot, tasks.rec", directory,
                          drawn ? "trace.svg, trace.json (open it in https://ui.perfetto.dev), " : ""));
}

}  // namespace tesela::cli
