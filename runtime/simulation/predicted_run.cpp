#include <tesela/runtime/internal/graph_impl.hpp>
#include <tesela/runtime/internal/model_entries.hpp>
#include <tesela/runtime/internal/simulation.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/runtime/simulation/predicted_run.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <unordered_map>

// Prediction of a recorded graph by list scheduling (predicted_run.hpp).

namespace tesela {
namespace {

using detail::GraphRecord;

constexpr double never = std::numeric_limits<double>::infinity();

bool reads(Mode mode) { return mode != Mode::out; }
bool writes(Mode mode) { return mode != Mode::in; }

class Schedule {
 public:
  Schedule(const GraphRecord& record, const SimulatedMachine& machine, const KernelTimes& times)
      : record_(record),
        times_(times),
        cores_(static_cast<std::size_t>(machine.cores)),
        workers_(static_cast<std::size_t>(machine.cores + machine.gpus)),
        memories_(static_cast<std::size_t>(machine.gpus) + 1),
        links_(memories_ * memories_) {
    for (std::size_t from = 0; from < memories_; ++from)
      for (std::size_t to = 0; to < memories_; ++to)
        if (from != to) link(from, to).speed = speed(machine, name(from), name(to));
  }

  PredictedRun run() {
    std::vector<std::size_t> ready = prepare();
    double now = 0;
    for (;;) {
      std::sort(ready.begin(), ready.end(), [&](auto a, auto b) { return key(a) < key(b); });
      for (const std::size_t t : ready) assign(t, now);
      ready.clear();
      for (std::size_t w = 0; w < workers_.size(); ++w)
        if (!workers_[w].running) begin(w, now);
      if (ends_.empty()) return finished();
      now = ends_.top().first;
      for (; !ends_.empty() && ends_.top().first == now; ends_.pop()) end(ends_.top().second, ready);
    }
  }

 private:
  struct Link {
    LinkSpeed speed;
    double free = 0;  // end of the last copy
    LinkUse use;
  };
  struct Time {
    std::optional<KernelTimes::Found> core, gpu;
  };
  using Key = std::pair<int, std::size_t>;  // tasks of high priority first, otherwise in order of insertion
  struct Worker {
    std::set<Key> queue;
    double queued = 0;  // seconds of the tasks in the queue
    double free = 0;    // end of the running task
    bool running = false;
    std::size_t task = 0;
  };
  struct Task {
    std::size_t waits_for = 0;  // unfinished predecessors
    std::vector<std::size_t> successors{};
    const Time* time = nullptr;
    double arrival = 0;  // of its last tile
    TracedTask traced{};
  };

  static std::string name(std::size_t memory) { return memory == 0 ? "RAM" : "GPU" + std::to_string(memory - 1); }
  static LinkSpeed speed(const SimulatedMachine& machine, const std::string& from, const std::string& to) {
    for (const LinkSpeed& one : machine.links)
      if (one.from == from && one.to == to && one.bytes_per_second > 0) return one;
    throw ArgumentError("Graph::predict", "machine.links", "the speed from " + from + " to " + to + " is missing");
  }
  Link& link(std::size_t from, std::size_t to) { return links_[from * memories_ + to]; }
  Key key(std::size_t t) const { return {-record_.task(t).priority.value, t}; }
  bool is_gpu(std::size_t w) const { return w >= cores_; }
  std::size_t memory_of(std::size_t w) const { return is_gpu(w) ? w - cores_ + 1 : 0; }

  /// Fills tasks_ and returns the tasks without predecessors.
  std::vector<std::size_t> prepare() {
    std::vector<std::size_t> first;
    tasks_.resize(record_.size());
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      const GraphRecord::Task& task = record_.task(t);
      tasks_[t].time = &time_of(task);
      const auto predecessors = record_.predecessors(t);
      tasks_[t].waits_for = predecessors.size();
      for (const GraphRecord::TaskId p : predecessors) {
        tasks_[p].successors.push_back(t);
        tasks_[t].traced.depends_on.push_back(p + 1);
      }
      if (predecessors.empty()) first.push_back(t);
      for (const GraphRecord::Access& access : record_.accesses(t)) {
        std::vector<double>& here = copies_[access.data];
        if (!here.empty()) continue;
        here.assign(memories_, never);
        here[0] = 0;
      }
    }
    return first;
  }

  const Time& time_of(const GraphRecord::Task& task) {
    const std::uint32_t footprint = detail::footprint_with_flops(task.footprint, task.flops);
    const auto [it, is_new] = known_.try_emplace({task.codelet, footprint});
    if (!is_new) return it->second;
    const char* const model = task.codelet->model()->symbol;
    const bool core = cores_ > 0 && times_.has(model, false), gpu = memories_ > 1 && times_.has(model, true);
    if (!core && !gpu) detail::refuse_untimed(task.codelet->name(), cores_ > 0, memories_ > 1);
    const auto found = [&](bool on_gpu) { return times_.find(model, on_gpu, footprint, task.kind->bytes, task.flops); };
    if (gpu) it->second.gpu = found(true);
    if (core) it->second.core = found(false);
    const auto number_of_cores = static_cast<double>(cores_);  // as Graph::Impl::suits_a_core
    if (gpu && core && it->second.core->seconds > 2 * number_of_cores * it->second.gpu->seconds)
      it->second.core.reset();
    run_.trace.colors[task.codelet->name()] = task.codelet->color();
    run_.trace.models.push_back(
        {task.codelet->name(), task.footprint, core ? found(false).seconds : 0, gpu ? it->second.gpu->seconds : 0});
    return it->second;
  }

  /// Returns the time of a task on a worker, or null if it must not run there.
  const KernelTimes::Found* time_on(std::size_t t, std::size_t w) const {
    const Priority& place = record_.task(t).priority;
    const Time& time = *tasks_[t].time;
    if (!is_gpu(w)) return time.core && !(time.gpu && (place.gpu || place.device >= 0)) ? &*time.core : nullptr;
    if (!time.gpu || (place.core && time.core)) return nullptr;
    const std::size_t gpus = memories_ - 1, gpu = w - cores_;
    return place.device >= 0 && static_cast<std::size_t>(place.device) % gpus != gpu ? nullptr : &*time.gpu;
  }

  /// Returns the memory with the copy that arrives first, and its arrival at `to` without other copies.
  std::pair<std::size_t, double> source(const GraphRecord::Access& access, std::size_t to, double now) {
    const std::vector<double>& there = copies_[access.data];
    std::pair<std::size_t, double> best{to, there[to]};
    for (std::size_t from = 0; from < memories_ && there[to] == never; ++from) {
      if (there[from] == never) continue;
      const LinkSpeed& one = link(from, to).speed;
      const double arrival = std::max(now, there[from]) + one.seconds + access.bytes / one.bytes_per_second;
      if (arrival < best.second) best = {from, arrival};
    }
    return best;
  }

  /// Queues the task on the worker where it ends first, and copies its tiles there.
  void assign(std::size_t t, double now) {
    std::size_t chosen = workers_.size();
    double least = never;
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      const KernelTimes::Found* const time = time_on(t, w);
      if (time == nullptr) continue;
      double begin = std::max(now, workers_[w].free) + workers_[w].queued;
      for (const GraphRecord::Access& access : record_.accesses(t))
        if (reads(access.mode)) begin = std::max(begin, source(access, memory_of(w), now).second);
      if (begin + time->seconds >= least) continue;
      least = begin + time->seconds;
      chosen = w;
    }
    const std::size_t memory = memory_of(chosen);
    for (const GraphRecord::Access& access : record_.accesses(t)) {
      std::vector<double>& there = copies_[access.data];
      if (reads(access.mode) && there[memory] == never) {
        const std::size_t from = source(access, memory, now).first;
        Link& used = link(from, memory);
        used.free = std::max({now, used.free, there[from]}) + access.bytes / used.speed.bytes_per_second;
        there[memory] = used.free + used.speed.seconds;
        ++used.use.transfers;
        used.use.bytes += access.bytes;
      }
      if (reads(access.mode)) tasks_[t].arrival = std::max(tasks_[t].arrival, there[memory]);
      if (!writes(access.mode)) continue;
      std::fill(there.begin(), there.end(), never);
      there[memory] = now;
    }
    workers_[chosen].queue.insert(key(t));
    workers_[chosen].queued += time_on(t, chosen)->seconds;
  }

  /// Begins the next task of a worker, if there is one.
  void begin(std::size_t w, double now) {
    Worker* from = &workers_[w];
    for (std::size_t other = 0; !is_gpu(w) && workers_[w].queue.empty() && other < cores_; ++other)
      if (!workers_[other].queue.empty() && (from->queue.empty() || workers_[other].queued > from->queued))
        from = &workers_[other];
    if (from->queue.empty()) return;
    const std::size_t t = from->queue.begin()->second;
    const KernelTimes::Found& time = *time_on(t, w);
    from->queue.erase(from->queue.begin());
    from->queued -= time.seconds;
    Task& task = tasks_[t];
    task.traced.worker = static_cast<int>(w);
    task.traced.fetch_begin = now;
    task.traced.start = task.traced.fetch_end = std::max(now, task.arrival);
    workers_[w].free = task.traced.end = task.traced.start + time.seconds;
    workers_[w].running = true;
    workers_[w].task = t;
    ends_.emplace(task.traced.end, w);
    run_.task_seconds += time.seconds;
    if (time.measured) return;
    run_.interpolated_seconds += time.seconds;
    interpolated_.insert(record_.task(t).codelet->model()->symbol);
  }

  void end(std::size_t w, std::vector<std::size_t>& ready) {
    workers_[w].running = false;
    for (const std::size_t next : tasks_[workers_[w].task].successors)
      if (--tasks_[next].waits_for == 0) ready.push_back(next);
  }

  PredictedRun finished() {
    Trace& trace = run_.trace;
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      TracedTask& traced = tasks_[t].traced;
      const GraphRecord::Task& task = record_.task(t);
      traced.kernel = task.codelet->name();
      traced.submitted = -1;
      traced.id = t + 1;
      traced.priority = task.priority.value;
      traced.gflop = task.flops * 1e-9;
      traced.tiles = task.kind->tiles;
      traced.label = task.label;
      traced.footprint = task.footprint;
      run_.seconds = std::max(run_.seconds, traced.end);
      trace.tasks.push_back(std::move(traced));
    }
    std::stable_sort(trace.tasks.begin(), trace.tasks.end(), [](auto& a, auto& b) { return a.start < b.start; });
    for (std::size_t w = 0; w < workers_.size(); ++w)
      trace.workers[static_cast<int>(w)] =
          is_gpu(w) ? "CUDA " + std::to_string(w - cores_) : "CPU " + std::to_string(w);
    for (std::size_t from = 0; from < memories_; ++from)
      for (std::size_t to = 0; to < memories_; ++to) {
        LinkUse use = link(from, to).use;
        use.from = name(from);
        use.to = name(to);
        if (use.transfers > 0) trace.links.push_back(std::move(use));
      }
    run_.interpolated_kernels.assign(interpolated_.begin(), interpolated_.end());
    return std::move(run_);
  }

  const GraphRecord& record_;
  const KernelTimes& times_;
  std::size_t cores_;
  std::vector<Worker> workers_;  // cores first
  std::size_t memories_;
  std::vector<Link> links_;
  std::vector<Task> tasks_;
  std::map<std::pair<detail::CodeletImpl*, std::uint32_t>, Time> known_;
  std::unordered_map<std::uint64_t, std::vector<double>> copies_;  // of each tile: since when in each memory
  using End = std::pair<double, std::size_t>;                      // time and worker
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::set<std::string> interpolated_;
  PredictedRun run_;
};

}  // namespace

PredictedRun Graph::predict(const SimulatedMachine& machine, const KernelTimes& times) const {
  impl_->require_alive();
  require(impl_->record.has_value(), "Graph::predict", "options.record", "false: the graph was not recorded");
  require(machine.cores >= 0 && machine.gpus >= 0 && machine.cores + machine.gpus > 0, "Graph::predict", "machine",
          machine.cores, " cores and ", machine.gpus, " GPUs run no task");
  return Schedule(*impl_->record, machine, times).run();
}

}  // namespace tesela
