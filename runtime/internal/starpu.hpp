#pragma once

// StarPU for the runtime's sources; internal to the runtime, never included from a public header.

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

/// Data::id of the newest data. All ranks start from one value, since message tags use it.
extern std::atomic<std::uint64_t> last_data_id;

/// A first-in, first-out queue in one block of memory.
template <class T>
class Queue {
 public:
  std::size_t size() const { return elements_.size() - first_; }
  const T& front() const { return elements_[first_]; }
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

class TaskRecords;

struct RuntimeState {
  RuntimeState();
  ~RuntimeState();
  std::mutex mutex;
  bool alive = true;
  std::atomic<bool> profile{false};
  int cpus = 0, gpus = 0;
  Messages* messages = nullptr;    // null for a single process
  bool has_null_messages = false;  // other ranks are absent, and tasks do nothing (null_messages)
  int rank = 0, ranks = 1;
  int grid_rows = 1, grid_columns = 1;                          // of ranks
  std::atomic<std::uint64_t> bytes_sent{0}, bytes_received{0};  // to and from other ranks, since the last reset
  WorkerCounts agreed{0, 0};                                    // minima over all ranks
  index_t least_workers = 0;                                    // minimum over all ranks
  /// Tile that a rank received, and number of its changes. After the tile's end another tile reuses the slot.
  struct Version {
    Data* data = nullptr;
    std::uint32_t number = 0;
  };
  std::vector<Version> versions = std::vector<Version>(1);  // slot 0 is unused
  std::vector<std::uint32_t> free_slots;
  std::uint32_t allocate_slot(Data&);
  void free_slot(std::uint32_t);
  /// Copies that a rank received, oldest first. Every rank records them for all ranks.
  struct Received {
    struct Copy {
      std::uint32_t slot, version, kib;
    };
    Queue<Copy> copies;
    std::size_t kib = 0;
  };
  std::vector<Received> received;  // for each rank
  std::size_t received_limit = 0;
  /// Drops the rank's oldest copies beyond the limit. The rank waits for the tasks that read them, so that tasks and
  /// messages do not run far ahead. A waiting rank depends only on older tasks, so ranks cannot deadlock.
  void limit_received(int rank);
  /// Returns the default rank of tile (i, j) of a matrix: tiles are dealt cyclically over the grid of ranks.
  int rank_of(index_t i, index_t j) const;
  std::string scheduler;
  bool calibrates = false;  // STARPU_CALIBRATE requests histories of all workers
  std::vector<Worker> workers;
  std::vector<unsigned> gpu_nodes;  // StarPU memory node of each CUDA device
  /// Workers of a GPU as bit sets: all, the worker of its first stream, and the others (with one stream the same
  /// three).
  struct GpuWorkers {
    std::vector<std::uint32_t> all, first, others;
  };
  std::vector<GpuWorkers> gpu_workers;
  std::size_t smallest_device = SIZE_MAX;  // least number of bytes that StarPU may use on a GPU
  struct Times {
    double busy = 0, waiting = 0, sleeping = 0, total = 0;
    double waiting_before = 0;  // StarPU's last value, which reading does not reset
  };
  std::mutex statistics_mutex;
  std::vector<Times> times;    // of each worker, since the last reset
  std::vector<LinkUse> links;  // of each bus, since the last reset
  void collect_profile();
  void collect_links();                  // a part of it
  std::atomic<bool> recording{false};    // whether `records` exists
  std::mutex records_mutex;              // before statistics_mutex, if both are locked
  std::unique_ptr<TaskRecords> records;  // of a TaskRecorder
  std::uint32_t records_before = 0;      // number of the last record of earlier recorders
  /// Ends the recording and returns it.
  std::unique_ptr<TaskRecords> take_records();
  Data* registered = nullptr;          // head of the list of live data
  std::set<const GraphTasks*> graphs;  // live graphs

  // Limit on StarPU's allocations in host memory, if no disk can take the rest:
  std::size_t host_limit = SIZE_MAX;  // bytes
  std::string host_limited_by;        // the variable that sets it
  std::atomic<std::size_t> host_used{0}, host_leaving{0};
  void reserve_host(std::size_t bytes);

  std::mutex holding_mutex;
  std::map<std::uint64_t, std::function<void()>> holding;  // submits the tasks of each graph that holds some back
  std::atomic<int> deferring_graph_count{0};

  std::mutex waiting_mutex;
  std::condition_variable all_finished;  // the tasks of some graph have finished
  std::atomic<int> waiting{0};           // number of waiting threads
  /// Waits until all submitted tasks of the graph have run, whatever other graphs do. Calls `after_a_second` once if
  /// they have not by then.
  void wait_for(const GraphTasks& graph, const std::function<void()>& after_a_second = {});

  /// Added to Data::host_accesses_ by a host access that writes.
  static constexpr int host_write = 1 << 20;
  /// Whether the program holds the tile on the host so that a task with this access must wait.
  static bool blocks(const Data& data, Mode mode) { return data.host_accesses_ >= (mode == Mode::in ? host_write : 1); }
  /// Whether the tile exists still, and the program holds it so.
  bool still_blocks(const Data* data, std::uint64_t id, Mode mode);

  struct Mapped {
    void* data;
    std::size_t bytes;
    bool pinned;  // false if a mapping that existed when it began covers it
    bool operator==(const Mapped&) const = default;
  };
  std::vector<Mapped> mapped;  // by PinnedMemory

  StatusPool statuses;

  static constexpr std::uint64_t every_graph = UINT64_MAX;
  /// Submits the tasks that this graph holds back (every_graph: all graphs except `but`), before another use of its
  /// tiles.
  void submit_deferred(std::uint64_t graph, std::uint64_t but = 0);
  void add(Data&);
  void remove(Data&) noexcept;
  void release_all() noexcept;
};

/// A kernel's StarPU codelet and performance model, and the statistics of its tasks on each worker.
class CodeletImpl {
 public:
  CodeletImpl(const CodeletSpec&, starpu_perfmodel*, bool is_dynamic = false);
  CodeletImpl(const CodeletImpl&) = delete;
  CodeletImpl& operator=(const CodeletImpl&) = delete;

  const char* name() const { return codelet_.name; }
  bool has_cpu() const { return codelet_.cpu_funcs[0] != nullptr; }
  bool has_cuda() const { return codelet_.cuda_funcs[0] != nullptr; }
  bool has_list() const { return has_list_; }
  bool is_dynamic() const { return is_dynamic_; }  // its tasks have a DynamicCall
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
  bool has_list_, is_dynamic_;
};

/// Returns the kinds of worker (STARPU_CPU, STARPU_CUDA) that exist and have a variant of the kernel; throws
/// NoWorkerError if there are none.
std::uint32_t workers_for(const CodeletImpl&, const RuntimeState&);
std::string describe_workers(const RuntimeState&);

starpu_data_access_mode to_starpu(Mode);
std::vector<CodeletImpl*> all_codelets();

/// Returns the codelet of all DynamicKernels with this description and model.
CodeletImpl& dynamic_codelet(const CodeletSpec&, const std::string& model);

/// Returns the key of a task in its performance model: a hash of the cost key and of its tiles' shapes and element
/// sizes.
std::uint32_t footprint(std::uint64_t cost_key, std::span<Data* const>);

/// Copies data to its place on the host after the tasks inserted so far, as one more task that this graph waits for.
void bring_home(starpu_data_handle_t, GraphTasks&);

/// StarPU's callbacks after a task; the argument is the task. The second adds the task's time to its codelet's uses.
void finish_task(void* task);
void finish_profiled_task(void* task);

}  // namespace tesela::detail
