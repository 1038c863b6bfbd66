#pragma once

// What a Graph holds: not installed, the runtime's own.

#include <tesela/runtime/graph.hpp>
#include <tesela/runtime/internal/graph_record.hpp>
#include <tesela/runtime/internal/starpu.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace tesela {
namespace detail {

/// Of a task that was not submitted; its arguments go with it.
struct DestroyTask {
  void operator()(starpu_task* task) const {
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
  std::uint64_t id;  // no other has it, ever
  Bounds bounds;
  int lowest_priority = 0, highest_priority = 0;
  std::optional<detail::GraphRecord> record;

  struct StatusSlot {
    std::unique_ptr<detail::Data> data;
    index_t offset = 0;
    bool written = false;  // by a task since the last wait()
  };
  std::vector<StatusSlot> statuses;
  std::vector<index_t> written_statuses;  // so that one of many costs a wait() nothing where no task took it
  bool statuses_at_home = false;          // since wait() there was no task
  std::map<std::tuple<index_t, index_t, std::size_t, index_t>, detail::Data> scratch;

  struct Held {
    detail::OwnedTask task;      // null for a hint
    std::function<void()> hint;  // keeps its place among the tasks
  };
  std::vector<Held> held;  // with longest_path_priorities: what is not submitted yet

  std::mutex held_mutex;  // of `held` and `record` then: another thread may submit them

  std::shared_ptr<detail::GraphTasks> tasks = std::make_shared<detail::GraphTasks>();
  std::shared_ptr<detail::GraphPart> part;  // since the last wait()

  /// By address, which a later tile may have again: AccessHistory::data tells.
  std::unordered_map<const detail::Data*, detail::AccessHistory> histories;
  /// Among several ranks by Data::id, from that of the first on: a graph has millions of tasks there.
  static constexpr std::uint64_t page = 256;
  std::vector<std::unique_ptr<detail::AccessHistory[]>> by_id;
  std::uint64_t first_id = 0;
  detail::AccessHistory& history_of(detail::Data& data);
  std::vector<detail::AccessHistory*> touched;  // of the task being inserted, one for each of its tiles
  std::uint64_t insertion = 0;

  /// The mode of the task's b-th tile; a list's mode is that of all its tiles.
  static Mode mode_of(const Insertion& task, std::size_t b) { return task.modes[std::min(b, task.modes.size() - 1)]; }

  void require_alive() const {
    if (!state->alive) throw LifetimeError("Graph: its Runtime was destroyed; destroy graphs first");
  }
  /// Refuses, by name, the tasks that StarPU would abort on or that would wait for themselves; fills `touched`.
  void check(const Insertion& task);
  /// Which kinds of worker may run this task, or NoWorkerError / EnvironmentError saying why none can.
  std::int32_t placement(const Insertion& task) const;
  /// Whether it would keep a core busy for long, and no model says how long: StarPU would try it there ten times first.
  bool too_large_to_try(const Insertion& task, std::size_t bytes) const;
  /// For StarPU, but for the kernel's arguments.
  detail::OwnedTask make_task(const Insertion& task, std::int32_t where) const;
  /// Follows the dependences that this task implies: the longest path always, the edges when the graph is recorded.
  void track(const Insertion& task);
  void submit(detail::OwnedTask task) const;

  // Among several ranks (graph_ranks.cpp):
  struct Inserted {
    std::uint32_t hash;    // half of that of all tasks up to it
    std::uint32_t kernel;  // its place in `kernels`
  };
  std::deque<Inserted> inserted;  // since the last wait(): millions, so that each is small
  std::uint64_t inserted_hash = 0;
  struct Named {
    const char* name;
    std::uint64_t hash;
  };
  std::vector<Named> kernels;
  std::uint32_t kernel_of(const char* name);
  /// The one where this task runs: all ranks find the same.
  int rank_of(const Insertion& task) const;
  /// Brings what the task reads to where it runs, and notes what it writes there. Answers whether that is here.
  bool meet(const Insertion& task);
  /// What wait() says once all tasks have run, where `seen` drains had been requested when the first was inserted.
  Status outcome(std::uint64_t seen);
  /// Throws where ranks inserted different tasks.
  void require_same_graph();
  /// The graph's status, and whether tasks were dropped, from all ranks: EnvironmentError names the rank that failed.
  Status agree(Status mine, index_t number, const std::string& failure) const;
  void submit_held();
  /// Runs a hint on this data, or holds it back among the tasks.
  void in_order(detail::Data&, bool writes, std::function<void()> hint);
};

}  // namespace tesela
