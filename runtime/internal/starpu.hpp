#pragma once

// StarPU as the runtime's own sources see it; not installed, never included from a public header.

#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/data.hpp>
#include <tesela/runtime/internal/messages.hpp>
#include <tesela/runtime/internal/status_pool.hpp>
#include <tesela/runtime/runtime.hpp>

#include <starpu.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace tesela::detail {

/// Data::id of the last that was made. Ranks begin alike, whatever each did before: messages go by it.
extern std::atomic<std::uint64_t> last_data_id;

/// First in, first out, in one block of memory.
template <class T>
class Queue {
 public:
  std::size_t size() const { return elements_.size() - first_; }
  void push(const T& element) { elements_.push_back(element); }
  T pop() {
    const T element = elements_[first_++];
    if (2 * first_ > elements_.size() && first_ > 256) {
      elements_.erase(elements_.begin(), elements_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    return element;
  }

 private:
  std::vector<T> elements_;
  std::size_t first_ = 0;
};

struct RuntimeState {
  std::mutex mutex;
  bool alive = true;
  bool profile = false;
  int cpus = 0, gpus = 0;
  Messages* messages = nullptr;  // null for a process of its own
  bool pretends = false;         // others are not there, and tasks do nothing (pretended_messages)
  int rank = 0, ranks = 1;
  int grid_rows = 1, grid_columns = 1;                          // of ranks
  std::atomic<std::uint64_t> bytes_sent{0}, bytes_received{0};  // to and from other ranks, since the last reset
  WorkerCounts agreed{0, 0};                                    // the least of all ranks
  index_t least_workers = 0;                                    // likewise
  /// Of what ranks received: the tile, and how often it has changed. Its place is another tile's after its end.
  struct Version {
    Data* data = nullptr;
    std::uint32_t number = 0;
  };
  std::vector<Version> versions = std::vector<Version>(1);  // the first is nobody's
  std::vector<std::uint32_t> free_slots;
  std::uint32_t take_slot(Data&);
  void give_slot_back(std::uint32_t);
  /// What a rank has from others in memory of its own, oldest first. All ranks know it of all.
  struct Received {
    struct Copy {
      std::uint32_t slot, version, kib;
    };
    Queue<Copy> copies;
    std::size_t kib = 0;
  };
  std::vector<Received> received;  // of each rank
  std::size_t received_limit = 0;
  /// Drops the oldest copies that the rank holds beyond the limit; there it waits for the tasks that read them, so that
  /// neither tasks nor messages run far ahead. Ranks that wait so wait for older tasks only, and so not for each other.
  void limit_received(int rank);
  /// Whose tile (i, j) of a matrix is, where nobody said: the ranks are a grid, dealt cyclically.
  int rank_of(index_t i, index_t j) const;
  std::string scheduler;
  bool calibrates = false;  // STARPU_CALIBRATE asks for histories of all workers
  std::vector<Worker> workers;
  std::vector<unsigned> gpu_nodes;                      // StarPU memory node of each CUDA device
  std::vector<std::vector<std::uint32_t>> gpu_workers;  // of each, the set of its workers: a bit each
  std::size_t smallest_device = SIZE_MAX;               // bytes that StarPU may use on the GPU with the least
  struct Times {
    double busy = 0, waiting = 0, sleeping = 0, total = 0;
    double waiting_before = 0;  // as StarPU said it last: this one it does not reset when it is read
  };
  std::mutex statistics_mutex;
  std::vector<Times> times;    // of each worker, since the last reset
  std::vector<LinkUse> links;  // of each bus, since the last reset
  void collect_profile();
  Data* registered = nullptr;          // head of the list of live data
  std::set<const GraphTasks*> graphs;  // the live ones

  // Where somebody limits what StarPU allocates in host memory, with no disk to move it to:
  std::size_t host_limit = SIZE_MAX;  // bytes
  std::string host_limited_by;        // the variable that does
  std::atomic<std::size_t> host_used{0}, host_leaving{0};
  void reserve_host(std::size_t bytes);

  std::mutex holding_mutex;
  std::map<std::uint64_t, std::function<void()>> holding;  // of the graphs that hold tasks back: submits them
  std::atomic<int> graphs_holding{0};

  std::mutex waiting_mutex;
  std::condition_variable all_finished;  // the tasks of some graph
  std::atomic<int> waiting{0};           // threads
  /// Returns when all tasks that the graph submitted have run, whatever other graphs do.
  void wait_for(const GraphTasks& graph);

  struct Mapped {
    void* data;
    std::size_t bytes;
    bool pinned;  // else a mapping that was there covers it, or did when it began
    bool operator==(const Mapped&) const = default;
  };
  std::vector<Mapped> mapped;  // by PinnedMemory

  StatusPool statuses;

  static constexpr std::uint64_t every_graph = UINT64_MAX;
  /// Submits what this graph holds back (every_graph: all but one do): something outside it is about to use its tiles.
  void submit_held(std::uint64_t graph, std::uint64_t but = 0);
  void add(Data&);
  void remove(Data&) noexcept;
  void release_all() noexcept;
};

/// A kernel's StarPU codelet and performance model, and what its tasks did on each worker.
class CodeletImpl {
 public:
  CodeletImpl(const CodeletSpec&, starpu_perfmodel*);
  CodeletImpl(const CodeletImpl&) = delete;
  CodeletImpl& operator=(const CodeletImpl&) = delete;

  const char* name() const { return codelet_.name; }
  bool has_cpu() const { return codelet_.cpu_funcs[0] != nullptr; }
  bool has_cuda() const { return codelet_.cuda_funcs[0] != nullptr; }
  bool has_list() const { return has_list_; }
  std::uint32_t color() const { return codelet_.color; }
  starpu_codelet* starpu() { return &codelet_; }
  starpu_perfmodel* model() { return codelet_.model; }
  const std::vector<starpu_data_access_mode>& modes() const { return modes_; }

  struct Use {
    std::atomic<std::uint64_t> tasks{0}, nanoseconds{0};
  };
  Use uses[STARPU_NMAXWORKERS];

 private:
  starpu_codelet codelet_{};
  std::vector<starpu_data_access_mode> modes_;
  bool has_list_;
};

/// The kinds of worker there are that have a variant of the kernel (STARPU_CPU, STARPU_CUDA); NoWorkerError when none.
std::uint32_t workers_for(const CodeletImpl&, const RuntimeState&);
std::string describe_workers(const RuntimeState&);

starpu_data_access_mode to_starpu(Mode);
std::vector<CodeletImpl*> all_codelets();

/// What a task's performance model tells apart: the kernel's cost key and the shapes and element sizes of its tiles.
std::uint32_t footprint(std::uint64_t cost_key, std::span<Data* const>);

/// Brings data to its place on the host once the tasks before it have run; one more task that this graph waits for.
void bring_home(starpu_data_handle_t, GraphTasks&);

/// StarPU's callback after a task; after a profiled one it adds its time to its codelet's uses. The argument is the
/// task.
void finish_task(void* task);
void finish_profiled_task(void* task);

}  // namespace tesela::detail
