#include "tools/app/trace_report.hpp"
#include <tesela/tiles/io/atomic_file.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

namespace tesela::cli {
namespace {

/// Returns microseconds, the format's unit, rounded to StarPU's nanoseconds.
double microseconds(double seconds) { return std::round(seconds * 1e9) / 1e3; }

/// The threads of one worker. Events of a thread must not partially overlap, so a task that begins before the previous
/// task on the same worker ended (possible on a GPU) goes to another thread.
class Lanes {
 public:
  Lanes(int worker, std::string name) : worker_(worker), name_(std::move(name)) { add(); }

  int thread_of(const TracedTask& task) {
    std::size_t lane = 0;
    while (lane < ends_.size() && microseconds(task.start) < ends_[lane]) ++lane;
    if (lane == ends_.size()) add();
    ends_[lane] = microseconds(task.start) + microseconds(task.end - task.start);
    return thread(lane);
  }

  /// Writes the names and the order of the threads.
  void describe(const std::function<void(const nlohmann::json&)>& write) const {
    for (std::size_t lane = 0; lane < ends_.size(); ++lane) {
      const std::string name = lane == 0 ? name_ : name_ + ", beside";
      for (const auto& [what, args] :
           {std::pair{"thread_name", nlohmann::json{{"name", name}}},
            std::pair{"thread_sort_index", nlohmann::json{{"sort_index", worker_ * 64 + static_cast<int>(lane)}}}})
        write({{"name", what}, {"ph", "M"}, {"pid", 0}, {"tid", thread(lane)}, {"args", args}});
    }
  }

 private:
  void add() { ends_.push_back(-HUGE_VAL); }
  int thread(std::size_t lane) const { return worker_ + 1000 * static_cast<int>(lane); }

  int worker_;
  std::string name_;
  std::vector<double> ends_;
};

nlohmann::json event(const TracedTask& task, int thread) {
  nlohmann::json args{
      {"id", task.id}, {"priority", task.priority}, {"waited_us", microseconds(task.start - task.submitted)}};
  if (!task.tiles.empty()) args["tiles"] = task.tiles;
  if (task.gflop > 0) {
    args["gflop"] = task.gflop;
    args["gflop_per_s"] = task.gflop / (task.end - task.start);
  }
  return {{"name", task.kernel},
          {"cat", "task"},
          {"ph", "X"},
          {"ts", microseconds(task.start)},
          {"dur", microseconds(task.end - task.start)},
          {"pid", 0},
          {"tid", thread},
          {"args", args}};
}

}  // namespace

void write_trace_events(const Trace& trace, const std::string& path) {
  AtomicFile file(path);
  file.write("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n");
  bool first = true;
  const auto write = [&](const nlohmann::json& event) {
    if (!std::exchange(first, false)) file.write(",\n");
    file.write(event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  };
  write({{"name", "process_name"}, {"ph", "M"}, {"pid", 0}, {"args", {{"name", "tesela"}}}});
  std::map<int, Lanes> lanes;
  for (const auto& [worker, name] : trace.workers) lanes.try_emplace(worker, worker, name);
  for (const TracedTask& task : trace.tasks) write(event(task, lanes.at(task.worker).thread_of(task)));
  for (const auto& [worker, its] : lanes) its.describe(write);
  file.write("\n]}\n");
  file.commit();
}

}  // namespace tesela::cli
