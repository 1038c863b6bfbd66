#pragma once

// The recorded graph: internal to the runtime.

#include <tesela/runtime/graph.hpp>
#include <tesela/runtime/internal/starpu.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace tesela::detail {

// Predictions of the performance models: internal to the runtime.

struct ExpectedSeconds {
  static constexpr double unknown = std::numeric_limits<double>::infinity();
  double cpu = unknown, gpu = unknown;
  double best() const { return std::min(cpu, gpu); }
};

/// Returns the expected times of a task with this footprint from the kernel's history.
ExpectedSeconds expected_seconds(CodeletImpl& codelet, std::uint32_t footprint, const RuntimeState& state);

/// The last accesses to a piece of data in a graph: the current group of accesses that may run together (readers,
/// commuting or reducing tasks, or one writer) and the previous group, from which every dependence of the next access
/// follows. All members except the lists fill one cache line.
struct alignas(64) AccessHistory {
  std::uint64_t data = 0;       // Data::id
  std::uint64_t insertion = 0;  // the graph's last one with this data, and its mode: detects a tile used twice by a
                                // task
  Mode insertion_mode = Mode::in;
  Mode kind = Mode::in;
  double current_end = 0, previous_end = 0;  // end of the longest path through each group, in flops
  std::vector<std::uint32_t> current = {}, previous = {};

  double begin(Mode mode);  // opens or joins a group; returns the end of the previous group
};

/// Every task of a graph in order of insertion, each with its predecessors (all inserted before it).
class GraphRecord {
 public:
  using TaskId = std::uint32_t;

  /// Appends a task whose predecessors follow by depends_on.
  TaskId add(CodeletImpl& codelet, std::uint32_t footprint, double flops, std::string label);
  /// Sets the number of the last task in TaskRecords.
  void set_number(std::uint32_t number) { tasks_.back().number = number; }
  /// Returns the numbers of the last task's predecessors in TaskRecords, 0 for an unrecorded task.
  std::vector<std::uint32_t> numbers_before_last() const;
  const std::string& label_of_last() const { return tasks_.back().label; }
  /// `by_status`: a status tile causes the dependences. Call it with other tiles first.
  void depends_on(const std::vector<TaskId>& predecessors, bool by_status = false);
  std::size_t size() const { return tasks_.size(); }

  /// Returns the longest path from the start of each task, from number `first` on, to the end of the graph, in flops (a
  /// task without flops counts 1).
  std::vector<double> path_to_end(std::size_t first) const;

  /// Fills in the bounds that need the performance models.
  void time(Bounds& bounds, const RuntimeState& state) const;

  void write_dot(const std::string& path, const std::string& name, bool status_edges) const;

 private:
  struct Task {
    CodeletImpl* codelet;
    std::uint32_t footprint;
    std::uint32_t first_predecessor;
    double flops;
    std::string label;
    std::uint32_t number = 0;
  };
  std::span<const TaskId> predecessors(std::size_t task) const;

  std::vector<Task> tasks_;
  std::vector<TaskId> edges_;
  std::vector<bool> by_status_;         // of each edge: only a status tile causes it
  std::vector<TaskId> last_successor_;  // the last successor of each task, so that an edge appears once
};

/// Returns the least time in which c CPU and g GPU workers can finish classes of independent, infinitely divisible
/// work. Class i needs cpu[i] seconds in total on one CPU or gpu[i] on one GPU (infinite: it cannot run there).
double area_bound(std::vector<std::pair<double, double>> cpu_gpu_seconds, int cpus, int gpus);

}  // namespace tesela::detail
