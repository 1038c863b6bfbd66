#include <tesela/runtime/data.hpp>
#include <tesela/runtime/internal/graph_record.hpp>
#include <tesela/runtime/internal/task_records.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace tesela::detail {
namespace {

constexpr std::size_t most_samples = 2000;

double seconds(const timespec& t) { return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec); }

double now() { return starpu_timing_now() * 1e-6; }

std::vector<double> moved_bytes(RuntimeState& state) {
  const std::lock_guard lock(state.statistics_mutex);
  state.collect_links();
  std::vector<double> bytes;
  for (const LinkUse& link : state.links) bytes.push_back(link.bytes);
  return bytes;
}

/// Returns "CPU 3" or "CUDA 1"; "CUDA 1.0" if that GPU has several workers.
std::string short_name(const std::vector<Worker>& workers, std::size_t w) {
  const auto same = [&](const Worker& other) {
    return other.is_gpu == workers[w].is_gpu && other.device == workers[w].device;
  };
  std::string name = (workers[w].is_gpu ? "CUDA " : "CPU ") + std::to_string(workers[w].device);
  if (workers[w].is_gpu && std::count_if(workers.begin(), workers.end(), same) > 1)
    name +=
        '.' + std::to_string(std::count_if(workers.begin(), workers.begin() + static_cast<std::ptrdiff_t>(w), same));
  return name;
}

}  // namespace

TaskRecords::TaskRecords(std::uint32_t before, RuntimeState& state)
    : before_(before), begin_(now()), moved_before_(moved_bytes(state)) {
  sample(begin_, state);
}

std::uint32_t TaskRecords::add(CodeletImpl& codelet, std::uint32_t footprint, std::span<Data* const> tiles,
                               double flops) {
  const auto [kind, is_new] = kinds_.try_emplace(Kind{&codelet, footprint});
  if (is_new) kind->second = sizes_of(tiles);
  tasks_.push_back({.kind = &*kind, .id = tasks_.size() + 1, .gflop = flops * 1e-9});
  return last_number();
}

void TaskRecords::describe(std::uint32_t number, const std::string& label,
                           const std::vector<std::uint32_t>& predecessors) {
  Task& record = task(number);
  record.label = label;
  for (const std::uint32_t p : predecessors)
    if (p > before_) record.predecessors.push_back(p);
}

void TaskRecords::finish(const starpu_task& task_of_starpu, int worker, RuntimeState& state) {
  const auto number = static_cast<std::uint32_t>(task_of_starpu.tag_id);
  if (number <= before_ || number > last_number()) return;  // of an earlier recorder
  const starpu_profiling_task_info& info = *task_of_starpu.profiling_info;
  Task& record = task(number);
  record.worker = worker;
  record.priority = task_of_starpu.priority;
  const auto job = starpu_task_get_job_id(const_cast<starpu_task*>(&task_of_starpu));
  if (job != 0) record.id = job;  // StarPU numbers tasks only while it records them itself
  record.submitted = seconds(info.submit_time);
  record.fetch_begin = seconds(info.acquire_data_start_time);
  record.fetch_end = seconds(info.acquire_data_end_time);
  record.start = seconds(info.start_time);
  record.end = seconds(info.end_time);
  if (record.end >= next_sample_) sample(record.end, state);
}

void TaskRecords::sample(double at, RuntimeState& state) {
  TraceSample taken{at, {}, moved_bytes(state)};
  for (unsigned node = 0; node < starpu_memory_nodes_get_count(); ++node)
    taken.used.push_back(static_cast<double>(starpu_memory_get_used(node)));
  samples_.push_back(std::move(taken));
  next_sample_ = at + interval_;
  if (samples_.size() < most_samples) return;
  interval_ *= 2;  // keeps every other sample
  for (std::size_t k = 0; 2 * k < samples_.size(); ++k) samples_[k] = std::move(samples_[2 * k]);
  samples_.resize((samples_.size() + 1) / 2);
}

Trace TaskRecords::trace(RuntimeState& state) {
  sample(now(), state);
  Trace trace;
  double origin = HUGE_VAL;
  for (const Task& task : tasks_)
    if (task.worker >= 0) origin = std::min(origin, task.start);
  if (origin == HUGE_VAL) origin = begin_;
  for (const Task& record : tasks_) {
    if (record.worker < 0 || !(record.end > record.start)) {
      ++trace.incomplete;
      continue;
    }
    TracedTask traced;
    traced.kernel = record.kind->first.first->name();
    traced.footprint = record.kind->first.second;
    traced.tiles = record.kind->second;
    traced.worker = record.worker;
    traced.priority = record.priority;
    traced.gflop = record.gflop;
    traced.label = record.label;
    traced.id = record.id;
    for (const auto& [to, from] :
         {std::pair{&traced.submitted, record.submitted}, std::pair{&traced.start, record.start},
          std::pair{&traced.end, record.end}, std::pair{&traced.fetch_begin, record.fetch_begin},
          std::pair{&traced.fetch_end, record.fetch_end}})
      *to = from - origin;
    for (const std::uint32_t p : record.predecessors) traced.depends_on.push_back(task(p).id);
    trace.tasks.push_back(std::move(traced));
  }
  std::sort(trace.tasks.begin(), trace.tasks.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  for (const auto& [kind, tiles] : kinds_) {
    CodeletImpl& codelet = *kind.first;
    trace.colors[codelet.name()] = codelet.color();
    const auto [cpu, gpu] = expected_seconds(codelet, kind.second, state);
    const auto known = [](double s) { return s == ExpectedSeconds::unknown ? 0 : s; };
    trace.models.push_back({codelet.name(), kind.second, known(cpu), known(gpu)});
  }
  for (std::size_t w = 0; w < state.workers.size(); ++w)
    trace.workers[static_cast<int>(w)] = short_name(state.workers, w);
  for (unsigned node = 0; node < starpu_memory_nodes_get_count(); ++node) {
    std::array<char, 64> name{};
    starpu_memory_node_get_name(node, name.data(), name.size());
    trace.memories.emplace_back(name.data());
  }
  {
    const std::lock_guard lock(state.statistics_mutex);
    trace.links = state.links;
  }
  moved_before_.resize(trace.links.size());
  for (TraceSample& s : samples_) {
    s.seconds -= origin;
    s.moved.resize(trace.links.size());
    for (std::size_t k = 0; k < s.moved.size(); ++k) s.moved[k] = std::max(0.0, s.moved[k] - moved_before_[k]);
  }
  trace.samples = std::move(samples_);
  for (std::size_t k = 0; k < trace.links.size(); ++k)
    trace.links[k].bytes = std::max(0.0, trace.links[k].bytes - moved_before_[k]);
  return trace;
}

}  // namespace tesela::detail
