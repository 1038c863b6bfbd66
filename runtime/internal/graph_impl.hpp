#pragma once

// The members of a Graph: internal to the runtime.

#include <tesela/runtime/graph.hpp>
#include <tesela/runtime/internal/dynamic_call.hpp>
#include <tesela/runtime/internal/graph_record.hpp>
#include <tesela/runtime/internal/starpu.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tesela {
namespace detail {

/// Destroys a task that was not submitted, with its arguments.
struct DestroyTask {
  void operator()(starpu_task* task) const {
    if (task->cl_arg != nullptr) release_call(*static_cast<CallHeader*>(task->cl_arg));
    task->destroy = 0;
    starpu_task_destroy(task);
  }
};
using OwnedTask = std::unique_ptr<starpu_task, DestroyTask>;

}  // namespace detail

struct Graph::Impl {
  Runtime* runtime;
  std::shared_ptr<detail::RuntimeState> state;
  GraphOptions options;
  std::uint64_t id;  // never reused
  Bounds bounds;
  int lowest_priority = 0, highest_priority = 0;
  std::optional<detail::GraphRecord> record;

  struct StatusSlot {
    std::unique_ptr<detail::Data> data;
    index_t offset = 0;
    bool written = false;  // by a task since the last wait()
  };
  std::vector<StatusSlot> statuses;
  std::vector<index_t> written_statuses;  // written slots only, so that wait() does not look at unused ones
  bool statuses_at_home = false;          // no task since wait()
  std::map<std::tuple<index_t, index_t, std::size_t, index_t>, detail::Data> scratch;

  struct Held {
    detail::OwnedTask task;      // null for a hint
    std::function<void()> hint;  // keeps its position among the tasks
  };
  std::vector<Held> held;  // not submitted yet, under longest_path_priorities

  std::mutex held_mutex;  // protects `held` and `record` in that case: another thread may submit them

  std::shared_ptr<detail::GraphTasks> tasks = std::make_shared<detail::GraphTasks>();
  std::shared_ptr<detail::TaskBatch> part;  // since the last wait()

  /// Keyed by address, which a later tile may reuse; AccessHistory::data identifies the tile.
  std::unordered_map<const detail::Data*, detail::AccessHistory> histories;
  /// With several ranks, indexed by Data::id from first_id on, since a graph has millions of tasks there.
  static constexpr std::uint64_t page = 256;
  std::vector<std::unique_ptr<detail::AccessHistory[]>> by_id;
  std::uint64_t first_id = 0;
  detail::AccessHistory& history_of(detail::Data& data);
  struct Tile {
    std::uintptr_t address;
    std::uint64_t id;
  };
  std::vector<Tile> last_tiles;  // of the last task
  /// Prefetches the tiles that a loop uses next, if it goes on by the same step as from the last task to this one.
  void prefetch_next(std::span<detail::Data* const> data);
  std::vector<detail::AccessHistory*> touched;  // one for each tile of the task being inserted
  std::uint64_t insertion = 0;

  /// Returns the mode of the task's b-th tile; all tiles of a list have the list's mode.
  static Mode mode_of(const Insertion& task, std::size_t b) { return task.modes[std::min(b, task.modes.size() - 1)]; }

  /// A task that had to wait, when it was inserted, for a tile that the program held on the host.
  struct Blocked {
    const char* kernel;
    const detail::Data* data;
    std::uint64_t data_id;
    Mode mode;
    std::string label;
  };
  std::vector<Blocked> blocked;  // since the last wait()
  /// Prints the first task of `blocked` whose tile is held still.
  void report_blocked() const;

  void require_alive() const {
    if (!state->alive) throw LifetimeError("Graph: its Runtime was destroyed; destroy graphs first");
  }
  /// Throws for tasks that StarPU would abort on or that would wait for themselves; fills `touched`.
  void check(const Insertion& task);
  /// Returns the kinds of worker that may run this task. Throws NoWorkerError or EnvironmentError if none can.
  std::int32_t placement(const Insertion& task, std::uint32_t footprint);
  /// Tasks with the same kernel, shapes and cost key.
  struct Kind {
    index_t inserted = 0;
    std::optional<bool> on_cores;  // once the performance model knows both times
  };
  std::map<std::pair<const detail::CodeletImpl*, std::uint32_t>, Kind> kinds;
  /// Returns whether cores may run this task, which GPUs can run too: if the cores together do at least half as much as
  /// a GPU. While the model knows no time on a core, StarPU would try every kind of task there ten times: it may do so
  /// if the graph has many of the kind, each of them short.
  bool suits_a_core(const Insertion& task, std::uint32_t footprint, std::size_t bytes);
  /// Makes StarPU's task, without the kernel's arguments.
  detail::OwnedTask make_task(const Insertion& task, std::int32_t where) const;
  /// Records the dependences of this task: always the longest path, and the edges if the graph is recorded.
  void track(const Insertion& task, std::uint32_t footprint);
  /// Adds the task to the records of a TaskRecorder, and returns its number; 0 without a recorder.
  std::uint32_t record_run(const Insertion& task, std::uint32_t footprint);
  std::uint32_t recorded = 0;  // number of the last task. StarPU's task keeps it in tag_id, which is otherwise unused
  void submit(detail::OwnedTask task) const;

  // Among several ranks (graph_ranks.cpp):
  struct Inserted {
    std::uint32_t hash;    // half of the hash of all tasks up to this one
    std::uint32_t kernel;  // index in `kernels`
  };
  std::deque<Inserted> inserted;  // since the last wait(); small, because there are millions
  std::uint64_t inserted_hash = 0;
  struct Named {
    const char* name;
    std::uint64_t hash;
  };
  std::vector<Named> kernels;
  std::uint32_t kernel_of(const char* name);
  /// Returns the rank on which this task runs; all ranks compute the same one.
  int rank_of(const Insertion& task) const;
  /// Sends the tiles that the task reads to its rank, and records its writes. Returns whether this rank runs it.
  bool meet(const Insertion& task);
  /// Returns or throws the result of wait() after all tasks have run; `seen`: stop_requests reported when the first was
  /// inserted.
  Status outcome(std::uint64_t seen);
  /// Throws if ranks inserted different tasks.
  void require_same_graph();
  /// Combines the status and the failures of all ranks. Throws EnvironmentError that names the rank that failed.
  Status agree(Status mine, index_t number, const std::string& failure) const;
  void submit_deferred();
  /// Runs a hint on this data, or holds it back among the tasks.
  void in_order(detail::Data&, bool writes, std::function<void()> hint);
};

}  // namespace tesela
