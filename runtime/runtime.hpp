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

/// What a Runtime may be told; what is left out comes from StarPU's environment variables, and from the machine.
struct RuntimeOptions {
  /// CPU workers (STARPU_NCPU); by default one on each core, but beside GPUs none on their drivers' and on one more,
  /// which is the inserting thread's (STARPU_RESERVE_NCPU).
  std::optional<int> cpus = {};
  std::optional<int> gpus = {};  ///< CUDA devices (STARPU_NCUDA), no more than are visible
  /// Tasks that one GPU runs at a time, each on its own stream (STARPU_NWORKER_PER_CUDA): with 2, the panels of a
  /// factorization run beside its updates.
  std::optional<int> streams_per_gpu = {};
  /// A thread of its own for each of these streams (STARPU_CUDA_THREAD_PER_WORKER): for tasks that wait for the GPU
  /// themselves, as some of cuSOLVER's do.
  bool thread_per_stream = false;
  std::optional<int> gpu_megabytes = {};      ///< of each GPU's memory that tiles may take, MiB (STARPU_LIMIT_CUDA_MEM)
  std::optional<std::string> scheduler = {};  ///< StarPU policy (STARPU_SCHED); default dmdas with a GPU, lws without
  /// Record FxT events here; see convert_trace. EnvironmentError when another process records there.
  std::string trace_dir = {};
  bool trace_from_start = true;  ///< false: record nothing before Runtime::start_trace
  bool profile = false;          ///< time every task and transfer, for Runtime::statistics
  /// How several ranks stand in a grid, rows and columns of it: tile (i, j) of a matrix has its place at row i mod rows
  /// and column j mod columns. By default as square as their number allows, no fewer columns than rows. 0 rows,
  /// or 0 columns: as many as there are for the other number.
  std::optional<std::array<int, 2>> grid = {};
};

/// One processing unit that runs tasks.
struct Worker {
  std::string name;
  bool is_gpu = false;
  int device = 0;  ///< CUDA device, or core
};

/// What one kernel did on one worker.
struct KernelUse {
  std::string kernel;
  index_t tasks = 0;
  double busy_seconds = 0;  ///< 0 unless RuntimeOptions::profile
};

/// What one worker did since the last reset.
struct WorkerUse {
  Worker worker;
  index_t tasks = 0;
  double busy_seconds = 0;      ///< in kernels
  double waiting_seconds = 0;   ///< for data
  double sleeping_seconds = 0;  ///< with nothing to run
  double total_seconds = 0;
  std::vector<KernelUse> kernels;
};

/// What crossed one directed link between two memories since the last reset.
struct LinkUse {
  std::string from = {}, to = {};
  index_t transfers = 0;
  double bytes = 0;
};

/// What one rank did since the last reset.
struct RankUse {
  std::string host = {};
  int workers = 0;
  index_t tasks = 0;
  double bytes_sent = 0, bytes_received = 0;  ///< of tiles
  double peak_bytes = 0;                      ///< of host memory, since the process began
};

struct Statistics {
  std::vector<WorkerUse> workers;
  std::vector<LinkUse> links;  ///< of links that moved something
};

/// StarPU, started once. Destroying it waits for all tasks, brings all registered data home and stops the workers.
/// There is one at a time; graphs and tiles that outlive it throw LifetimeError when used. It starts and ends while no
/// other thread uses it; in between, all threads may (see Graph).
class Runtime {
 public:
  /// Throws LifetimeError when another Runtime is alive, ArgumentError for an unknown options.scheduler, and
  /// EnvironmentError when StarPU cannot start: an unknown STARPU_SCHED, no worker at all, fewer GPUs than wanted, …
  explicit Runtime(const RuntimeOptions& options = {});
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  const std::vector<Worker>& workers() const;
  int cpus() const;  ///< CPU workers; among several ranks the least that one has, since sizes follow from it
  int gpus() const;  ///< CUDA devices in use, likewise, but one where some ranks have GPUs and others none
  int rank() const;  ///< this process's number among those that run this program together (mpirun): 0 … ranks() - 1
  int ranks() const;
  std::array<int, 2> grid() const;  ///< rows and columns of ranks: rank p columns + q stands at (p, q)
  std::string scheduler() const;
  /// Bytes that tiles may take on all GPUs together (STARPU_LIMIT_CUDA_MEM counts); 0 without a GPU.
  std::size_t device_bytes() const;
  /// Bytes that tiles take now on each GPU, with those that are kept for tiles to come.
  std::vector<double> device_bytes_held() const;

  /// Counters since construction or the last reset; the times are measured only with RuntimeOptions::profile.
  Statistics statistics();
  void reset_statistics();
  /// Of each rank, in order. All ranks call it alike.
  std::vector<RankUse> rank_statistics();

  /// With trace_dir and without trace_from_start: records from here on, after a warm-up, say.
  void start_trace();
  void stop_trace();  ///< records no more until start_trace

  /// Tasks submitted and not yet finished, over all graphs (and hints that are on their way).
  static index_t pending_tasks();

  /// Makes every task that has not started do nothing, so that each graph's wait() returns soon, with Cancelled; the
  /// runtime works as before after that. With no Runtime alive it concerns the next one's first graph.
  /// Async-signal-safe.
  static void cancel() noexcept;
  /// True from cancel() until the first wait() that throws Cancelled (or the end of a graph or Runtime with tasks that
  /// nobody waited for): what a loop on the host that inserts tasks may ask to stop early.
  static bool cancelled() noexcept;

  /// The names of StarPU's scheduling policies.
  static std::vector<std::string> schedulers();
  /// StarPU's version, "1.4.10".
  static std::string starpu_version();

  const std::shared_ptr<detail::RuntimeState>& state() const { return state_; }

 private:
  std::shared_ptr<detail::RuntimeState> state_;
};

/// How many workers there are of each kind: what sizes and plans follow from, also for a machine that is not this one.
struct WorkerCounts {
  int cpus = 0, gpus = 0;
  WorkerCounts(int c, int g) : cpus(c), gpus(g) {}
  WorkerCounts(const Runtime& runtime) : cpus(runtime.cpus()), gpus(runtime.gpus()) {}
};

/// Page-locks host memory for fast transfers while it lives; does nothing without a GPU. When it outlives its runtime
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

/// Throws EnvironmentError where the runtime has no GPU of this number, and ArgumentError where `a` is not memory of
/// it. Returns its CUDA device.
int require_device_memory(const Runtime& runtime, const void* a, int gpu);

/// Waits for what is under way on the device's default stream, which no task's stream waits for: cudaMemcpy from
/// memory that is not page-locked returns before its last bytes have arrived.
void wait_for_default_stream(int device);

/// Host memory that GPUs transfer at full speed: page-locked when the runtime has one. Throws EnvironmentError when
/// there is not enough. Page-locked memory that outlives its runtime is kept until the process ends.
class HostBuffer {
 public:
  HostBuffer(Runtime& runtime, std::size_t bytes);
  ~HostBuffer();
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  void* data() const { return data_; }

 private:
  std::shared_ptr<detail::RuntimeState> state_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool pinned_ = false;
};

}  // namespace tesela
