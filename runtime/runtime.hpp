#pragma once

#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/types.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tesela {

namespace detail {
struct RuntimeState;
}

/// Settings of a Runtime; StarPU's environment variables and the machine supply the rest.
struct RuntimeOptions {
  /// CPU workers (STARPU_NCPU). By default one on each core. With GPUs, the cores of the GPUs' drivers and one more,
  /// for the inserting thread (STARPU_RESERVE_NCPU), have none.
  std::optional<int> cpus = {};
  std::optional<int> gpus = {};  ///< CUDA devices (STARPU_NCUDA), at most the visible ones
  /// Tasks that one GPU runs at a time, each on its own stream (STARPU_NWORKER_PER_CUDA): with 2, the panels of a
  /// factorization run during its updates.
  std::optional<int> streams_per_gpu = {};
  std::optional<int> gpu_megabytes = {};      ///< MiB of each GPU for tiles (STARPU_LIMIT_CUDA_MEM)
  std::optional<std::string> scheduler = {};  ///< StarPU policy (STARPU_SCHED); default dmdas with a GPU, lws without
  /// Folder for FxT events (see convert_trace). EnvironmentError if another process records there.
  std::string trace_dir = {};
  bool trace_from_start = true;  ///< false: record nothing before Runtime::start_trace
  bool profile = false;          ///< time every task and transfer, for Runtime::statistics
  /// Rows and columns of the grid of ranks: tile (i, j) of a matrix has its place at row i mod rows and column j mod
  /// columns. By default as square as the number of ranks allows, with at least as many columns as rows. 0 rows or 0
  /// columns: computed from the other number.
  std::optional<std::array<int, 2>> grid = {};
};

/// One processing unit that runs tasks.
struct Worker {
  std::string name;     ///< for example core 3 or GPU 0
  bool is_gpu = false;  ///< whether it is a GPU
  int device = 0;       ///< CUDA device, or core
};

/// Tasks of one kernel on one worker.
struct KernelUse {
  std::string kernel;
  index_t tasks = 0;        ///< number of finished tasks
  double busy_seconds = 0;  ///< 0 unless RuntimeOptions::profile
};

/// Activity of one worker since the last reset.
struct WorkerUse {
  Worker worker;
  index_t tasks = 0;               ///< number of finished tasks
  double busy_seconds = 0;         ///< in kernels
  double waiting_seconds = 0;      ///< for data
  double sleeping_seconds = 0;     ///< with nothing to run
  double total_seconds = 0;        ///< since the last reset
  std::vector<KernelUse> kernels;  ///< one for each kernel that ran
};

/// Transfers over one directed link between two memories since the last reset.
struct LinkUse {
  std::string from = {}, to = {};  ///< names of the memories
  index_t transfers = 0;           ///< number of copies
  double bytes = 0;                ///< sum of all copies
};

/// Activity of one rank since the last reset.
struct RankUse {
  std::string host = {};                      ///< name of the machine
  int workers = 0;                            ///< number of workers
  index_t tasks = 0;                          ///< number of finished tasks
  double bytes_sent = 0, bytes_received = 0;  ///< of tiles
  double peak_bytes = 0;                      ///< maximum of host memory since the process began
};

/// Use of workers and links by the tasks of a graph.
struct Statistics {
  std::vector<WorkerUse> workers;
  std::vector<LinkUse> links;  ///< links with at least one transfer
};

/// StarPU, started once. Destroying it waits for all tasks, brings all registered data home and stops the workers. Only
/// one may exist at a time; graphs and tiles that outlive it throw LifetimeError when used. No other thread may use it
/// while it starts or ends; in between, all threads may (see Graph).
class Runtime {
 public:
  /// Throws LifetimeError if another Runtime is alive, ArgumentError for an unknown options.scheduler, and
  /// EnvironmentError if StarPU cannot start: an unknown STARPU_SCHED, no worker at all, fewer GPUs than wanted, …
  explicit Runtime(const RuntimeOptions& options = {});
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  const std::vector<Worker>& workers() const;
  int cpus() const;  ///< CPU workers; with several ranks the minimum, since sizes follow from it
  int gpus() const;  ///< CUDA devices in use; with several ranks the minimum, but 1 if only some ranks have GPUs
  bool gpus_on_all_ranks() const;  ///< whether each rank has a GPU, for kernels without a variant for cores
  int rank() const;                ///< this process's number among the ranks of the program (mpirun): 0 … ranks() - 1
  int ranks() const;               ///< number of processes
  std::array<int, 2> grid() const;  ///< rows and columns of ranks: rank p columns + q is at (p, q)
  std::string scheduler() const;    ///< name of StarPU's policy
  /// Returns the bytes that tiles may occupy on all GPUs together (respects STARPU_LIMIT_CUDA_MEM); 0 without a GPU.
  std::size_t device_bytes() const;
  /// Returns the bytes of tiles on each GPU now, including memory that is kept for later tiles.
  std::vector<double> device_bytes_held() const;

  /// Returns the counters since construction or the last reset; times need RuntimeOptions::profile.
  Statistics statistics();
  void reset_statistics();
  /// Returns the statistics of each rank, in order. All ranks must call it.
  std::vector<RankUse> rank_statistics();

  /// Begins to record, for example after a warm-up. Needs trace_dir without trace_from_start.
  void start_trace();
  void stop_trace();  ///< stops recording until start_trace
  /// Adds a named moment to a trace that is being recorded (Trace::marks), such as the start of a run.
  void mark_trace(const std::string& name);

  /// Returns the number of tasks submitted and not yet finished, over all graphs (including hints in progress).
  static index_t pending_tasks();

  /// Makes every task that has not started do nothing, so that each graph's wait() soon throws Cancelled; after that
  /// the runtime works normally. Without a living Runtime it cancels the first graph of the next one.
  /// Async-signal-safe.
  static void cancel() noexcept;
  /// Returns true from cancel() until the first wait() that throws Cancelled (or the end of a graph or Runtime with
  /// tasks that nobody waited for), so that a host loop that inserts tasks can stop early.
  static bool cancelled() noexcept;

  /// Returns the names of StarPU's scheduling policies.
  static std::vector<std::string> schedulers();
  /// Returns StarPU's version, such as "1.4.10".
  static std::string starpu_version();

  /// Returns the state that graphs and tiles share.
  const std::shared_ptr<detail::RuntimeState>& state() const { return state_; }

 private:
  std::shared_ptr<detail::RuntimeState> state_;
};

/// Number of workers of each kind, from which sizes and plans follow; may describe another machine.
struct WorkerCounts {
  int cpus = 0, gpus = 0;         ///< numbers of cores and of GPUs
  bool gpus_on_all_ranks = true;  ///< whether each rank has a GPU
  WorkerCounts(int c, int g) : cpus(c), gpus(g), gpus_on_all_ranks(g > 0) {}
  WorkerCounts(const Runtime& runtime)
      : cpus(runtime.cpus()), gpus(runtime.gpus()), gpus_on_all_ranks(runtime.gpus_on_all_ranks()) {}
};

/// Page-locks host memory for fast transfers while it lives; does nothing without a GPU. If it outlives its runtime,
/// the memory stays page-locked until the process ends.
class PinnedMemory {
 public:
  PinnedMemory(Runtime& runtime, void* data, std::size_t bytes);
  ~PinnedMemory();
  PinnedMemory(PinnedMemory&& other) noexcept;
  PinnedMemory& operator=(PinnedMemory&&) = delete;

 private:
  std::shared_ptr<detail::RuntimeState> state_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool pinned_ = false;
};

/// Returns the CUDA device of the runtime's GPU with this number. Throws EnvironmentError if the runtime has no such
/// GPU, and ArgumentError if `a` is not in its memory.
int require_device_memory(const Runtime& runtime, const void* a, int gpu);

/// Waits for the device's default stream, which no task's stream waits for: cudaMemcpy from memory that is not
/// page-locked returns before its last bytes have arrived.
void wait_for_default_stream(int device);

/// Host memory that GPUs transfer at full speed: page-locked if the runtime has a GPU. Throws EnvironmentError if
/// memory is exhausted. Page-locked memory that outlives its runtime is kept until the process ends.
class HostBuffer {
 public:
  HostBuffer(Runtime& runtime, std::size_t bytes);
  ~HostBuffer();
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  void* data() const { return data_; }  ///< address of the first byte

 private:
  std::shared_ptr<detail::RuntimeState> state_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool pinned_ = false;
};

}  // namespace tesela
