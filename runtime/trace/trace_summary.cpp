#include <tesela/runtime/internal/graph_record.hpp>
#include <tesela/runtime/trace/trace_summary.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace tesela {
namespace {

using detail::ExpectedSeconds;

double median(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// The number of seconds before each moment during which a condition held.
class HeldSeconds {
 public:
  /// Appends that the condition holds from one moment to the next; in order of time.
  void add(double from, double to) {
    if (!(to > from)) return;
    from_.push_back(from);
    before_.push_back(sum_);
    to_.push_back(to);
    sum_ += to - from;
  }
  double until(double time) const {
    const auto next = std::upper_bound(from_.begin(), from_.end(), time);
    if (next == from_.begin()) return 0;
    const auto k = static_cast<std::size_t>(next - from_.begin()) - 1;
    return before_[k] + std::min(time, to_[k]) - from_[k];
  }

 private:
  std::vector<double> from_, to_, before_;
  double sum_ = 0;
};

/// Divides the idle time of workers by reason.
class IdleTime {
 public:
  explicit IdleTime(const std::vector<TracedTask>& tasks) {
    struct Change {
      double time;
      int ready, uninserted;
    };
    std::unordered_map<std::uint64_t, double> end;
    for (const TracedTask& task : tasks) end.emplace(task.id, task.end);
    std::vector<Change> changes;
    for (const TracedTask& task : tasks) {
      double free = 0;  // when the task's predecessors have ended
      for (const std::uint64_t id : task.depends_on)
        if (const auto it = end.find(id); it != end.end()) free = std::max(free, it->second);
      free = std::min(free, task.start);
      const double inserted = std::min(task.submitted, task.start), ready = std::max(free, inserted);
      if (inserted > free) {
        changes.push_back({free, 0, 1});
        changes.push_back({inserted, 0, -1});
      }
      changes.push_back({ready, 1, 0});
      changes.push_back({task.start, -1, 0});
      last_start_ = std::max(last_start_, task.start);
    }
    std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.time < b.time; });
    index_t ready = 0, uninserted = 0;
    double time = 0;
    for (const Change& change : changes) {
      if (ready > 0)
        ready_.add(time, change.time);
      else if (uninserted > 0)
        uninserted_.add(time, change.time);
      time = std::max(time, change.time);
      ready += change.ready;
      uninserted += change.uninserted;
    }
  }

  /// Adds an idle interval to the worker's reasons; it fetched tiles in a part of it.
  void add(double from, double to, double fetch_begin, double fetch_end, WorkerSummary& worker) const {
    fetch_begin = std::clamp(fetch_begin, from, std::max(from, to));
    fetch_end = std::clamp(fetch_end, fetch_begin, std::max(fetch_begin, to));
    worker.data += fetch_end - fetch_begin;
    add(from, fetch_begin, worker);
    add(fetch_end, to, worker);
  }

 private:
  void add(double from, double to, WorkerSummary& worker) const {
    const double end = std::max(from, last_start_);
    if (to > end) worker.end += to - end;
    to = std::min(to, end);
    if (!(to > from)) return;
    const double ready = ready_.until(to) - ready_.until(from);
    const double insertion = uninserted_.until(to) - uninserted_.until(from);
    worker.ready += ready;
    worker.insertion += insertion;
    worker.dependences += std::max(0.0, to - from - ready - insertion);
  }

  HeldSeconds ready_, uninserted_;
  double last_start_ = 0;
};

void summarize_workers(const Trace& trace, TraceSummary& summary) {
  const IdleTime idle(trace.tasks);
  std::map<int, WorkerSummary> workers;
  std::map<int, double> until;  // end of each worker's last task; some overlap on a GPU
  for (const auto& [id, name] : trace.workers) workers[id] = {.worker = id, .name = name};
  for (const TracedTask& task : trace.tasks) {
    WorkerSummary& worker = workers[task.worker];
    double& last = until[task.worker];
    ++worker.tasks;
    if (task.start > last) idle.add(last, task.start, task.fetch_begin, task.fetch_end, worker);
    worker.busy += std::max(0.0, task.end - std::max(task.start, last));
    last = std::max(last, task.end);
  }
  for (auto& [id, worker] : workers) {
    if (const double last = until[id]; last < summary.seconds)
      idle.add(last, summary.seconds, summary.seconds, summary.seconds, worker);
    summary.workers.push_back(worker);
  }
}

/// The measured seconds of a kind of tasks on each kind of worker, and the model's.
struct Class {
  std::vector<double> cpu, gpu;
  double model_cpu = 0, model_gpu = 0;
  ExpectedSeconds expected;
  bool unmodelled = false;
};
using ClassKey = std::tuple<std::string, std::string, std::uint32_t>;
ClassKey key_of(const TracedTask& task) { return {task.kernel, task.tiles, task.footprint}; }

void summarize_classes(const Trace& trace, TraceSummary& summary) {
  std::map<std::pair<std::string, std::uint32_t>, const TaskModel*> models;
  for (const TaskModel& model : trace.models) models[{model.kernel, model.footprint}] = &model;
  std::map<ClassKey, Class> classes;
  std::vector<const Class*> class_of;
  int cpus = 0, gpus = 0;
  std::map<int, bool> on_gpu;
  for (const auto& [id, name] : trace.workers) ++((on_gpu[id] = is_gpu_worker(name)) ? gpus : cpus);
  for (const TracedTask& task : trace.tasks) {
    Class& kind = classes[key_of(task)];
    class_of.push_back(&kind);
    (on_gpu[task.worker] ? kind.gpu : kind.cpu).push_back(task.end - task.start);
    if (const auto it = models.find({task.kernel, task.footprint}); it != models.end()) {
      kind.model_cpu = it->second->cpu_seconds;
      kind.model_gpu = it->second->gpu_seconds;
    }
  }
  std::vector<std::pair<double, double>> work;
  for (auto& [key, kind] : classes) {
    if (kind.model_cpu > 0) kind.expected.cpu = kind.model_cpu;
    if (kind.model_gpu > 0) kind.expected.gpu = kind.model_gpu;
    kind.unmodelled = kind.model_cpu <= 0 && kind.model_gpu <= 0;
    const auto count = static_cast<double>(kind.cpu.size() + kind.gpu.size());
    for (const bool gpu : {false, true}) {
      std::vector<double>& times = gpu ? kind.gpu : kind.cpu;
      if (times.empty()) continue;
      const auto [least, most] = std::minmax_element(times.begin(), times.end());
      ModelSummary model{std::get<0>(key),
                         std::get<1>(key),
                         gpu,
                         std::ssize(times),
                         *least,
                         0,
                         *most,
                         gpu ? kind.model_gpu : kind.model_cpu};
      model.median = median(times);
      if (kind.unmodelled) (gpu ? kind.expected.gpu : kind.expected.cpu) = model.median;
      summary.models.push_back(std::move(model));
    }
    if (kind.unmodelled) summary.unmodelled += static_cast<index_t>(count);
    work.emplace_back(kind.expected.cpu * count, kind.expected.gpu * count);
  }
  summary.area_bound = detail::area_bound(std::move(work), cpus, gpus);

  std::unordered_map<std::uint64_t, double> end;
  std::vector<std::size_t> by_end(trace.tasks.size());
  for (std::size_t t = 0; t < by_end.size(); ++t) by_end[t] = t;
  std::sort(by_end.begin(), by_end.end(),
            [&](std::size_t a, std::size_t b) { return trace.tasks[a].end < trace.tasks[b].end; });
  for (const std::size_t t : by_end) {
    double begin = 0;
    for (const std::uint64_t id : trace.tasks[t].depends_on)
      if (const auto it = end.find(id); it != end.end()) begin = std::max(begin, it->second);
    const double ends = begin + class_of[t]->expected.best();
    end[trace.tasks[t].id] = ends;
    summary.path_bound = std::max(summary.path_bound, ends);
  }
}

void summarize_kernels(const Trace& trace, TraceSummary& summary) {
  std::map<std::pair<std::string, bool>, std::pair<KernelSummary, std::vector<double>>> kernels;
  double all = 0;
  std::map<int, bool> on_gpu;
  for (const auto& [id, name] : trace.workers) on_gpu[id] = is_gpu_worker(name);
  for (const TracedTask& task : trace.tasks) {
    const bool gpu = on_gpu[task.worker];
    auto& [kernel, times] = kernels[{task.kernel, gpu}];
    const double seconds = task.end - task.start;
    kernel.kernel = task.kernel;
    kernel.gpu = gpu;
    ++kernel.tasks;
    kernel.seconds += seconds;
    kernel.gflops += task.gflop;
    times.push_back(seconds);
    all += seconds;
  }
  for (auto& [key, value] : kernels) {
    auto& [kernel, times] = value;
    kernel.median = median(times);
    kernel.share = all > 0 ? kernel.seconds / all : 0;
    kernel.gflops = kernel.seconds > 0 ? kernel.gflops / kernel.seconds : 0;
    summary.kernels.push_back(kernel);
  }
  std::stable_sort(summary.kernels.begin(), summary.kernels.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
}

}  // namespace

bool is_gpu_worker(const std::string& name) { return name.find("CUDA") != std::string::npos; }

TraceSummary summarize(const Trace& trace) {
  TraceSummary summary;
  for (const TracedTask& task : trace.tasks) summary.seconds = std::max(summary.seconds, task.end);
  summarize_kernels(trace, summary);
  summarize_classes(trace, summary);
  summarize_workers(trace, summary);
  summary.path = critical_path(trace.tasks);
  for (const std::size_t t : summary.path) summary.path_seconds += trace.tasks[t].end - trace.tasks[t].start;
  return summary;
}

Trace last_part(Trace trace) {
  if (trace.marks.empty()) return trace;
  const double from = trace.marks.back().seconds;
  std::erase_if(trace.tasks, [&](const TracedTask& task) { return task.start < from; });
  trace.marks.clear();
  const double origin = trace.tasks.empty() ? 0 : trace.tasks.front().start;
  for (TracedTask& task : trace.tasks)
    for (double* time : {&task.start, &task.end, &task.submitted, &task.fetch_begin, &task.fetch_end}) *time -= origin;
  return trace;
}

}  // namespace tesela
