#include <tesela/runtime/internal/graph_record.hpp>

#include <cstdio>

namespace tesela::detail {
namespace {

constexpr double unknown = ExpectedSeconds::unknown;  // infinite

}  // namespace

double AccessHistory::begin(Mode mode) {
  // Accesses of these modes may run together (or in any order) within one group.
  const bool shareable = mode == Mode::in || mode == Mode::commute || mode == Mode::reduce;
  if (mode != kind || !shareable) {
    kind = mode;
    previous_end = current_end;
    if (tasks != nullptr) {
      std::swap(tasks->previous, tasks->current);
      tasks->current.clear();
    }
  }
  return previous_end;
}

std::string sizes_of(std::span<Data* const> tiles) {
  std::string sizes;
  for (const Data* tile : tiles)
    sizes += (sizes.empty() ? "" : " ") + std::to_string(tile->shape().rows) + 'x' +
             std::to_string(tile->shape().cols) + 'x' + std::to_string(tile->element_size());
  return sizes;
}

GraphRecord::TaskId GraphRecord::add(CodeletImpl& codelet, std::uint32_t footprint, std::span<Data* const> tiles,
                                     double flops, Priority priority, std::string label) {
  const auto [kind, is_new] = kinds_.try_emplace({&codelet, footprint});
  if (is_new) {
    kind->second.tiles = sizes_of(tiles);
    for (const Data* tile : tiles) kind->second.bytes += static_cast<double>(tile->bytes());
  }
  tasks_.push_back({&codelet, footprint, static_cast<std::uint32_t>(edges_.size()),
                    static_cast<std::uint32_t>(accesses_.size()), priority, flops, std::move(label), &kind->second});
  const auto self = static_cast<TaskId>(tasks_.size() - 1);
  last_successor_.push_back(self);
  return self;
}

void GraphRecord::depends_on(const std::vector<TaskId>& predecessors, bool by_status) {
  const auto self = static_cast<TaskId>(tasks_.size() - 1);
  for (const TaskId p : predecessors) {
    if (std::exchange(last_successor_[p], self) == self) continue;
    edges_.push_back(p);
    by_status_.push_back(by_status);
  }
}

std::span<const GraphRecord::TaskId> GraphRecord::predecessors(std::size_t task) const {
  const std::size_t first = tasks_[task].first_predecessor;
  const std::size_t last = task + 1 < tasks_.size() ? tasks_[task + 1].first_predecessor : edges_.size();
  return std::span(edges_).subspan(first, last - first);
}

std::span<const GraphRecord::Access> GraphRecord::accesses(std::size_t task) const {
  const std::size_t first = tasks_[task].first_access;
  const std::size_t last = task + 1 < tasks_.size() ? tasks_[task + 1].first_access : accesses_.size();
  return std::span(accesses_).subspan(first, last - first);
}

std::vector<std::uint32_t> GraphRecord::numbers_before_last() const {
  std::vector<std::uint32_t> numbers;
  for (const TaskId p : predecessors(tasks_.size() - 1)) numbers.push_back(tasks_[p].number);
  return numbers;
}

std::vector<double> GraphRecord::path_to_end(std::size_t first) const {
  std::vector<double> longest(tasks_.size() - first, 0);
  for (std::size_t t = tasks_.size(); t-- > first;) {
    longest[t - first] += std::max(tasks_[t].flops, 1.0);
    for (const TaskId p : predecessors(t))
      if (p >= first) longest[p - first] = std::max(longest[p - first], longest[t - first]);
  }
  return longest;
}

void GraphRecord::time(Bounds& bounds, const RuntimeState& state) const {
  std::map<std::pair<CodeletImpl*, std::uint32_t>, std::pair<ExpectedSeconds, index_t>> classes;
  std::vector<double> end(tasks_.size(), 0);
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    const Task& task = tasks_[t];
    auto [it, is_new] = classes.try_emplace({task.codelet, task.footprint});
    if (is_new) it->second.first = expected_seconds(*task.codelet, task.footprint, state);
    ++it->second.second;
    double begin = 0;
    for (const TaskId p : predecessors(t)) begin = std::max(begin, end[p]);
    const double seconds = it->second.first.best();
    if (seconds == unknown) ++bounds.untimed;
    end[t] = begin + (seconds == unknown ? 0 : seconds);
    bounds.path_seconds = std::max(bounds.path_seconds, end[t]);
  }
  std::vector<std::pair<double, double>> work;
  for (const auto& [key, value] : classes)
    if (value.first.best() != unknown) {
      const auto count = static_cast<double>(value.second);
      work.emplace_back(value.first.cpu * count, value.first.gpu * count);
    }
  int gpu_workers = 0;
  for (const Worker& worker : state.workers) gpu_workers += worker.is_gpu ? 1 : 0;
  bounds.area_seconds = area_bound(std::move(work), state.cpus, gpu_workers);
}

double area_bound(std::vector<std::pair<double, double>> work, int cpus, int gpus) {
  const auto on_cpu = [&](double s) { return cpus > 0 ? s / cpus : unknown; };
  const auto on_gpu = [&](double s) { return gpus > 0 ? s / gpus : unknown; };
  // Moves classes from the CPUs to the GPUs in order of acceleration. The optimum of this linear program splits at most
  // one class, and then both sides finish together.
  std::sort(work.begin(), work.end(), [](const auto& a, const auto& b) {
    return a.first * b.second > b.first * a.second || (a.first == unknown && b.first != unknown);
  });
  double cpu = 0, gpu = 0;
  for (const auto& [c, g] : work) cpu += c > 0 && on_cpu(c) != unknown ? c : 0;
  double forced = 0;  // work that only a GPU can do
  for (const auto& [c, g] : work)
    if (on_cpu(c) == unknown) forced += g;
  gpu = forced;
  double best = std::max(cpu > 0 ? on_cpu(cpu) : 0, gpu > 0 ? on_gpu(gpu) : 0);
  for (const auto& [c, g] : work) {
    if (on_cpu(c) == unknown || on_gpu(g) == unknown) continue;
    // Fraction f of this class on the GPUs: (cpu - f c) / cpus = (gpu + f g) / gpus.
    const double f = std::clamp((on_cpu(cpu) - on_gpu(gpu)) / (on_cpu(c) + on_gpu(g)), 0.0, 1.0);
    cpu -= f * c;
    gpu += f * g;
    best = std::min(best, std::max(cpu > 0 ? on_cpu(cpu) : 0, gpu > 0 ? on_gpu(gpu) : 0));
    if (f < 1) break;
  }
  return best;
}

void GraphRecord::write_dot(const std::string& path, const std::string& name, bool status_edges) const {
  const auto quoted = [](const std::string& text) {
    std::string result;
    for (const char c : text) {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
    return result;
  };
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) throw FileError(path, "cannot be created");
  std::fprintf(file, "digraph \"%s\" {\n  rankdir=TB;\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n",
               quoted(name).c_str());
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    const Task& task = tasks_[t];
    const std::uint32_t color = task.codelet->color(), red = color >> 16, green = color >> 8 & 255, blue = color & 255;
    const bool dark = 299 * red + 587 * green + 114 * blue < 128000;
    const std::string label = (task.label.empty() ? "" : "\\n") + quoted(task.label);
    std::fprintf(file, "  t%zu [label=\"%s%s\", fillcolor=\"#%06x\", fontcolor=\"%s\"];\n", t,
                 quoted(task.codelet->name()).c_str(), label.c_str(), color, dark ? "white" : "black");
    std::size_t edge = task.first_predecessor;
    for (const TaskId p : predecessors(t))
      if (!by_status_[edge++] || status_edges) std::fprintf(file, "  t%u -> t%zu;\n", p, t);
  }
  std::fprintf(file, "}\n");
  const bool failed = std::ferror(file) != 0;
  if (std::fclose(file) != 0 || failed) throw FileError(path, "could not be written (disk full?)");
}

}  // namespace tesela::detail
