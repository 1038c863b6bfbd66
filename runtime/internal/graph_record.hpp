#pragma once

// The recorded graph: not installed, the runtime's own.

#include <tesela/runtime/graph.hpp>
#include <tesela/runtime/internal/starpu.hpp>

#include <string>
#include <vector>

namespace tesela::detail {

/// Who used a piece of data last in a graph: the current group of accesses that may run together (readers, commuting
/// or reducing tasks, or one writer) and the group before it. Enough to derive every dependence of the next access. All
/// but the lists is in one cache line.
struct alignas(64) AccessHistory {
  std::uint64_t data = 0;       // Data::id
  std::uint64_t insertion = 0;  // the graph's last one that took it, and how: to see a tile that one task takes twice
  Mode insertion_mode = Mode::in;
  Mode kind = Mode::in;
  double current_end = 0, previous_end = 0;  // of the longest path through each group, in flops
  std::vector<std::uint32_t> current = {}, previous = {};

  double begin(Mode mode);  // opens or joins a group; returns the end of the one before
};

/// Every task of a graph in order of insertion, each with the tasks it waits for (all of them inserted before it).
class GraphRecord {
 public:
  using TaskId = std::uint32_t;

  /// Appends a task whose predecessors follow by depends_on.
  TaskId add(CodeletImpl& codelet, std::uint32_t footprint, double flops, std::string label);
  void depends_on(const std::vector<TaskId>& predecessors);
  std::size_t size() const { return tasks_.size(); }

  /// The longest path from the start of each task, from `first` on, to the end of the graph, in flops (a task without
  /// flops counts 1).
  std::vector<double> path_to_end(std::size_t first) const;

  /// Fills in the figures that need the performance models.
  void time(Bounds& bounds, const RuntimeState& state) const;

  void write_dot(const std::string& path, const std::string& name) const;

 private:
  struct Task {
    CodeletImpl* codelet;
    std::uint32_t footprint;
    std::uint32_t first_predecessor;
    double flops;
    std::string label;
  };
  std::span<const TaskId> predecessors(std::size_t task) const;

  std::vector<Task> tasks_;
  std::vector<TaskId> edges_;
  std::vector<TaskId> last_successor_;  // of each task: so that an edge appears once
};

/// The least time in which c CPU and g GPU workers can finish classes of independent, infinitely divisible work: class
/// i takes cpu[i] seconds in all on one CPU or gpu[i] on one GPU (infinite: it cannot run there).
double area_bound(std::vector<std::pair<double, double>> cpu_gpu_seconds, int cpus, int gpus);

}  // namespace tesela::detail
