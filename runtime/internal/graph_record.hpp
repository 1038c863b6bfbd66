#pragma once

// The recorded graph: internal to the runtime.

#include <tesela/runtime/graph.hpp>
#include <tesela/runtime/internal/starpu.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
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
/// follows. The members fill one cache line.
struct alignas(64) AccessHistory {
  std::uint64_t data = 0;       // Data::id
  std::uint64_t insertion = 0;  // the graph's last one with this data, and its mode: detects a tile used twice by a
                                // task
  Mode insertion_mode = Mode::in;
  Mode kind = Mode::in;
  double current_end = 0, previous_end = 0;  // end of the longest path through each group, in flops
  struct Tasks {
    std::vector<std::uint32_t> current, previous;
  };
  std::unique_ptr<Tasks> tasks = {};  // of each group, in a recorded graph

  double begin(Mode mode);  // opens or joins a group; returns the end of the previous group
};

/// Every task of a graph in order of insertion, each with its predecessors (all inserted before it).
class GraphRecord {
 public:
  using TaskId = std::uint32_t;

  /// Appends a task whose predecessors follow by depends_on, and its accesses by uses.
  TaskId add(CodeletImpl& codelet, std::uint32_t footprint, std::span<Data* const> tiles, double flops,
             Priority priority, std::string label);
  /// Sets the number of the last task in TaskRecords.
  void set_number(std::uint32_t number) { tasks_.back().number = number; }
  /// Returns the numbers of the last task's predecessors in TaskRecords, 0 for an unrecorded task.
  std::vector<std::uint32_t> numbers_before_last() const;
  const std::string& label_of_last() const { return tasks_.back().label; }
  /// `by_status`: a status tile causes the dependences. Call it with other tiles first.
  void depends_on(const std::vector<TaskId>& predecessors, bool by_status = false);
  void uses(const Data& data, Mode mode) { accesses_.push_back({data.id, static_cast<double>(data.bytes()), mode}); }
  std::size_t size() const { return tasks_.size(); }

  /// Returns the longest path from the start of each task, from number `first` on, to the end of the graph, in flops (a
  /// task without flops counts 1).
  std::vector<double> path_to_end(std::size_t first) const;

  /// Fills in the bounds that need the performance models.
  void time(Bounds& bounds, const RuntimeState& state) const;

  void write_dot(const std::string& path, const std::string& name, bool status_edges) const;

  /// Tasks with one codelet and footprint.
  struct Kind {
    std::string tiles;  // "256x256x8 256x64x8"
    double bytes = 0;   // of all tiles
  };
  struct Task {
    CodeletImpl* codelet;
    std::uint32_t footprint, first_predecessor, first_access;
    Priority priority;
    double flops;
    std::string label;
    const Kind* kind;
    std::uint32_t number = 0;
  };
  struct Access {
    std::uint64_t data;  // Data::id
    double bytes;
    Mode mode;
  };
  const Task& task(std::size_t t) const { return tasks_[t]; }
  std::span<const TaskId> predecessors(std::size_t task) const;
  /// Returns the task's accesses, without scratch tiles.
  std::span<const Access> accesses(std::size_t task) const;

 private:
  std::vector<Task> tasks_;
  std::map<std::pair<CodeletImpl*, std::uint32_t>, Kind> kinds_;
  std::vector<Access> accesses_;
  std::vector<TaskId> edges_;
  std::vector<bool> by_status_;         // of each edge: only a status tile causes it
  std::vector<TaskId> last_successor_;  // the last successor of each task, so that an edge appears once
};

/// Returns the sizes of tiles: "256x256x8 256x64x8".
std::string sizes_of(std::span<Data* const> tiles);

/// Returns the least time in which c CPU and g GPU workers can finish classes of independent, infinitely divisible
/// work. Class i needs cpu[i] seconds in total on one CPU or gpu[i] on one GPU (infinite: it cannot run there).
double area_bound(std::vector<std::pair<double, double>> cpu_gpu_seconds, int cpus, int gpus);

}  // namespace tesela::detail
