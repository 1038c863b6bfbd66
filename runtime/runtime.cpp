#include <tesela/runtime/internal/environment.hpp>
#include <tesela/runtime/internal/ranks.hpp>
#include <tesela/runtime/internal/starpu.hpp>
#include <tesela/runtime/internal/stop_requests.hpp>
#include <tesela/runtime/internal/topology_parts.hpp>
#include <tesela/runtime/machine/topology.hpp>
#include <tesela/runtime/out_of_memory.hpp>
#include <tesela/runtime/ranks.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/runtime/runtime.hpp>

#include <starpu_fxt.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <thread>
#include <tuple>
#include <utility>

#if TESELA_HAVE_CUDA
#include <cuda_runtime_api.h>
#include <starpu_cublas_v2.h>
#include <starpu_cusolver.h>
#endif

namespace tesela {
namespace {

/// Restores the thread's current CUDA device at its end: StarPU's first start on a machine measures transfers between
/// all devices on the caller's thread and leaves the last device current.
class ScopedCurrentDevice {
 public:
#if TESELA_HAVE_CUDA
  ScopedCurrentDevice() { known_ = cudaGetDevice(&before_) == cudaSuccess; }
  ~ScopedCurrentDevice() {
    int now = 0;
    if (known_ && cudaGetDevice(&now) == cudaSuccess && now != before_) cudaSetDevice(before_);
  }
  ScopedCurrentDevice(const ScopedCurrentDevice&) = delete;
  ScopedCurrentDevice& operator=(const ScopedCurrentDevice&) = delete;

 private:
  int before_ = 0;
  bool known_ = false;
#endif
};

std::atomic<bool> running{false};

/// trace_dir of the running Runtime. Never destroyed, since a Runtime may end in an exit handler.
std::string& active_trace_folder() {
  static auto& directory = *new std::string;
  return directory;
}

std::mutex current_mutex;
detail::RuntimeState* current = nullptr;  // null unless a Runtime runs

bool known_scheduler(const std::string& name) {
  for (const std::string& known : Runtime::schedulers())
    if (known == name) return true;
  return false;
}

std::string list_of_schedulers() {
  std::string list;
  for (const std::string& name : Runtime::schedulers()) list += (list.empty() ? "" : " ") + name;
  return list;
}

/// StarPU would overwrite the events that an earlier Runtime of this process recorded in this folder.
void require_no_unconverted_trace(const std::string& folder) {
  if (!folder.empty() && detail::unconverted_traces().contains(folder))
    throw EnvironmentError("an earlier Runtime of this process recorded a trace in " + folder +
                           ", and a second one would overwrite it: use one Runtime, convert the first trace "
                           "(convert_trace), or choose another directory");
}

void apply(const RuntimeOptions& options, detail::ScopedEnvironment& env, bool several) {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  detail::check_limits(std::clamp(options.cpus.value_or(cores), 1, std::max(cores, 1)) + 1, !options.trace_dir.empty());
  const bool use_gpus = detail::wants_gpus(options.gpus) && count_cuda_devices() > 0;
  if (!use_gpus) detail::ignore_devices(env);
  if (options.scheduler) {
    require(known_scheduler(*options.scheduler), "Runtime", "scheduler", "'", *options.scheduler,
            "' is not one of: ", list_of_schedulers());
    env.set("STARPU_SCHED", *options.scheduler);
  } else if (const char* name = std::getenv("STARPU_SCHED"); name == nullptr || *name == 0) {
    env.set("STARPU_SCHED", use_gpus ? "dmdas" : "lws");
  } else if (!known_scheduler(name)) {
    throw EnvironmentError("STARPU_SCHED=" + std::string(name) +
                           " is not a StarPU scheduler; set one of: " + list_of_schedulers());
  }
  for (const auto& [value, variable, argument] :
       {std::tuple{options.cpus, "STARPU_NCPU", "cpus"}, std::tuple{options.gpus, "STARPU_NCUDA", "gpus"}})
    if (value) {
      require(*value >= 0, "Runtime", argument, *value, " is negative");
      env.set(variable, std::to_string(*value));
    }
  detail::require_cores_for(options.cpus);
  if (const int there = config::have_cuda ? count_cuda_devices() : 0; options.gpus.value_or(0) > there)
    throw EnvironmentError("Runtime: " + std::to_string(*options.gpus) + " GPUs wanted, and " +
                           (!config::have_cuda ? "this build has no CUDA variants"
                            : there == 0       ? "none is visible"
                                               : "only " + std::to_string(there) + " visible"));
  if (options.gpu_megabytes) {
    require(*options.gpu_megabytes >= 1, "Runtime", "gpu_megabytes", *options.gpu_megabytes, " is less than 1");
    env.set("STARPU_LIMIT_CUDA_MEM", std::to_string(*options.gpu_megabytes));
  }
  if (options.streams_per_gpu) {
    require(*options.streams_per_gpu >= 1, "Runtime", "streams_per_gpu", *options.streams_per_gpu, " is less than 1");
    env.set("STARPU_NWORKER_PER_CUDA", std::to_string(*options.streams_per_gpu));
  }
  detail::give_streams_threads(env);
  detail::check_numbers();
  detail::spare_small_memory(env);
  detail::provide_home(env);
  detail::reserve_inserting_core(env, several);
  if (!options.trace_dir.empty()) {
    if (launched_rank() == 0) detail::claim_trace_folder(options.trace_dir);  // ranks share the folder
    require_no_unconverted_trace(options.trace_dir);
    active_trace_folder() = options.trace_dir;
    // The first events name the ranks.
    starpu_fxt_autostart_profiling(options.trace_from_start || several ? 1 : 0);
    env.set("STARPU_FXT_TRACE", "1");
    env.set("STARPU_FXT_PREFIX", options.trace_dir);
    env.unset("STARPU_FXT_SUFFIX");  // convert_trace expects the default name
  } else {
    active_trace_folder().clear();
    detail::check_trace_prefix();
    require_no_unconverted_trace(detail::environments_trace_folder());
  }
}

void describe_workers(detail::RuntimeState& state) {
  for (unsigned w = 0; w < starpu_worker_get_count(); ++w) {
    const int id = static_cast<int>(w);
    const bool gpu = starpu_worker_get_type(id) == STARPU_CUDA_WORKER;
    std::array<char, 64> name{};
    starpu_worker_get_name(id, name.data(), name.size());
    state.workers.push_back({name.data(), gpu, starpu_worker_get_devid(id)});
    if (!gpu) {
      ++state.cpus;
      continue;
    }
    const unsigned node = starpu_worker_get_memory_node(w);
    const auto known = std::find(state.gpu_nodes.begin(), state.gpu_nodes.end(), node);
    const auto device = static_cast<std::size_t>(known - state.gpu_nodes.begin());
    const bool first = known == state.gpu_nodes.end();
    const std::vector<std::uint32_t> none(starpu_worker_get_count() / 32 + 1);
    if (first) state.gpu_workers.push_back({none, none, none});
    auto& sets = state.gpu_workers[device];
    for (auto* const set : {&sets.all, first ? &sets.first : &sets.others})
      (*set)[w / 32] |= std::uint32_t{1} << w % 32;
    if (!first) continue;
    state.gpu_nodes.push_back(node);
    const auto bytes = starpu_memory_get_total(node);
    if (bytes > 0) state.smallest_device = std::min(state.smallest_device, static_cast<std::size_t>(bytes));
  }
  state.gpus = static_cast<int>(state.gpu_nodes.size());
  for (auto& [all, first, others] : state.gpu_workers)
    if (first == all) others = all;
}

}  // namespace

Runtime::Runtime(const RuntimeOptions& options) : state_(std::make_shared<detail::RuntimeState>()) {
  if (running.exchange(true))
    throw LifetimeError("Runtime: another Runtime is alive; StarPU runs once in a process, share the first");
  try {
    detail::ScopedEnvironment env;
    detail::connect_ranks(*state_);
    detail::set_rank_grid(*state_, options.grid);
    detail::share_host(*state_, env, options.gpus);
    apply(options, env, state_->messages != nullptr);
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.catch_signals = 0;  // the application handles Ctrl-C
    // Keeps histories under any scheduler, for Bounds.
    if (options.profile && std::getenv("STARPU_CALIBRATE") == nullptr) conf.calibrate = 1;
    const int status = [&] {
      [[maybe_unused]] const ScopedCurrentDevice same;
      return starpu_init(&conf);
    }();
    if (status != 0)
      throw EnvironmentError("StarPU found no worker to start (" + detail::describe_variable("STARPU_NCPU") + ", " +
                             detail::describe_variable("STARPU_NCUDA") + ", " + std::to_string(count_cuda_devices()) +
                             " CUDA devices): set STARPU_NCPU to 1 or more, or run where a GPU is visible");
    if (state_->messages != nullptr) state_->messages->start();  // start() also reads the environment
    state_->scheduler = std::getenv("STARPU_SCHED");
    const std::string traced = options.trace_dir.empty() ? detail::environments_trace_folder() : options.trace_dir;
    if (!traced.empty()) detail::unconverted_traces().insert(traced);
    if (const char* calibrate = std::getenv("STARPU_CALIBRATE")) state_->calibrates = std::atoi(calibrate) > 0;
  } catch (...) {
    detail::shut_down_ranks(*state_);
    running = false;
    throw;
  }
  state_->profile = options.profile;
  if (const char* limit = detail::host_memory_limit(); limit != nullptr) {
    state_->host_limited_by = limit;
    for (unsigned node = 0; node < starpu_memory_nodes_get_count(); ++node)
      if (const auto bytes = starpu_memory_get_total(node); starpu_node_get_kind(node) == STARPU_CPU_RAM && bytes > 0)
        state_->host_limit = std::min(state_->host_limit, static_cast<std::size_t>(bytes));
  }
  describe_workers(*state_);
  detail::reduce_worker_counts(*state_);
  if (state_->messages != nullptr && !options.trace_dir.empty() && !options.trace_from_start) stop_trace();
#if TESELA_HAVE_CUDA
  if (state_->gpus > 0) {
    starpu_cublas_init();
    starpu_cusolver_init();
  }
#endif
  // The setting belongs to the process, so a previous Runtime's value may still be set.
  starpu_profiling_status_set(options.profile ? STARPU_PROFILING_ENABLE : STARPU_PROFILING_DISABLE);
  reset_statistics();
  const std::lock_guard lock(current_mutex);
  current = state_.get();
}

Runtime::~Runtime() {
  {
    const std::lock_guard lock(current_mutex);
    current = nullptr;
  }
  try {
    state_->submit_deferred(detail::RuntimeState::every_graph);
  } catch (const std::exception&) {
    // Graph::wait would have reported it, but nobody called it.
  }
  if (std::uncaught_exceptions() > 0) detail::shut_down_ranks(*state_);
  starpu_task_wait_for_all();
  detail::mark_stops_reported();
  state_->release_all();
  state_->statuses.clear();
  if (state_->messages != nullptr) state_->messages->stop();
#if TESELA_HAVE_CUDA
  if (state_->gpus > 0) {
    starpu_cusolver_shutdown();
    starpu_cublas_shutdown();
  }
#endif
  state_->alive = false;
  starpu_shutdown();
  if (!active_trace_folder().empty() && std::uncaught_exceptions() == 0) {
    if (state_->messages != nullptr) state_->messages->gather("");  // rank 0 converts the events of all ranks
    if (rank() == 0) detail::remove_events_beyond(active_trace_folder(), ranks());
  }
  running = false;
}

int polling_cores() {
  const std::lock_guard lock(current_mutex);
  if (current == nullptr) return 0;
  return static_cast<int>(std::count_if(current->workers.begin(), current->workers.end(),
                                        [](const Worker& worker) { return worker.is_gpu; }));
}

const std::vector<Worker>& Runtime::workers() const { return state_->workers; }
int Runtime::cpus() const { return state_->agreed.cpus; }
int Runtime::gpus() const { return state_->agreed.gpus; }
bool Runtime::gpus_on_all_ranks() const { return state_->agreed.gpus_on_all_ranks; }
int Runtime::rank() const { return state_->rank; }
int Runtime::ranks() const { return state_->ranks; }
std::array<int, 2> Runtime::grid() const { return {state_->grid_rows, state_->grid_columns}; }
std::string Runtime::scheduler() const { return state_->scheduler; }
std::size_t Runtime::device_bytes() const {
  return gpus() > 0 ? state_->smallest_device * static_cast<std::size_t>(gpus()) : 0;
}

std::size_t device_limit() {
  const std::lock_guard lock(current_mutex);
  return current != nullptr && current->gpus > 0 ? current->smallest_device : 0;
}

std::vector<double> Runtime::device_bytes_held() const {
  std::vector<double> held;
  for (const unsigned node : state_->gpu_nodes) held.push_back(static_cast<double>(starpu_memory_get_used(node)));
  return held;
}

void Runtime::start_trace() { starpu_fxt_start_profiling(); }

void Runtime::stop_trace() { starpu_fxt_stop_profiling(); }

void Runtime::mark_trace(const std::string& name) {
  starpu_fxt_trace_user_event_string((detail::trace_mark + name).c_str());
}

index_t Runtime::pending_tasks() {
  const std::lock_guard lock(current_mutex);
  if (current == nullptr) return 0;
  const std::lock_guard graphs_lock(current->mutex);
  index_t pending = 0;
  for (const detail::GraphTasks* graph : current->graphs) pending += graph->unfinished;
  return pending;
}

void Runtime::cancel() noexcept { detail::report_cancellation(); }

bool Runtime::cancelled() noexcept { return detail::cancellation_pending(); }

std::vector<std::string> Runtime::schedulers() {
  std::vector<std::string> names;
  for (starpu_sched_policy** policy = starpu_sched_get_predefined_policies(); *policy != nullptr; ++policy)
    if ((*policy)->policy_name != nullptr) names.emplace_back((*policy)->policy_name);
  return names;
}

std::string Runtime::starpu_version() {
  int major = 0, minor = 0, release = 0;
  starpu_get_version(&major, &minor, &release);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

PinnedMemory::PinnedMemory(Runtime& runtime, void* data, std::size_t bytes) : state_(runtime.state()) {
  if (state_->gpus == 0 || bytes == 0) return;
  // CUDA refuses to copy from or to a partly page-locked block, and StarPU then ends the process.
  const auto* const begin = static_cast<const std::byte*>(data);
  const std::scoped_lock lock(state_->mutex);
  const auto inside = [&](const detail::RuntimeState::Mapped& other) {
    const auto* const first = static_cast<const std::byte*>(other.data);
    return begin >= first && begin + bytes <= first + other.bytes;
  };
  const bool covered =
      std::any_of(state_->mapped.begin(), state_->mapped.end(), [&](const auto& m) { return m.pinned && inside(m); });
  for (const auto& other : state_->mapped) {
    const auto* const first = static_cast<const std::byte*>(other.data);
    if (covered || inside(other) || begin >= first + other.bytes || first >= begin + bytes) continue;
    const bool around = first >= begin && first + other.bytes <= begin + bytes;
    if (around && !other.pinned) continue;
    throw ArgumentError("TileMatrix::map", "a",
                        "overlaps memory that another matrix maps and GPUs read: map the whole once and take views");
  }
  pinned_ = !covered && starpu_memory_pin(data, bytes) == 0;
  state_->mapped.push_back({data, bytes, pinned_});
  data_ = data;
  bytes_ = bytes;
}

PinnedMemory::PinnedMemory(PinnedMemory&& other) noexcept
    : state_(std::move(other.state_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      pinned_(other.pinned_) {}

PinnedMemory::~PinnedMemory() {
  if (data_ == nullptr) return;
  const std::scoped_lock lock(state_->mutex);
  const detail::RuntimeState::Mapped mine{data_, bytes_, pinned_};
  state_->mapped.erase(std::find(state_->mapped.begin(), state_->mapped.end(), mine));
  if (pinned_ && state_->alive) starpu_memory_unpin(data_, bytes_);
}

int require_device_memory(const Runtime& runtime, const void* a, int gpu) {
  if (const int gpus = runtime.state()->gpus; gpu >= gpus)
    throw EnvironmentError("memory of GPU " + std::to_string(gpu) + ": this runtime has " + std::to_string(gpus) +
                           " GPUs");
#if TESELA_HAVE_CUDA
  const int device = starpu_memory_node_get_devid(runtime.state()->gpu_nodes[static_cast<std::size_t>(gpu)]);
  cudaPointerAttributes memory{};
  const bool known = cudaPointerGetAttributes(&memory, a) == cudaSuccess;
  if (!known) static_cast<void>(cudaGetLastError());
  require(known && memory.type == cudaMemoryTypeDevice && memory.device == device, "TileMatrix::map_device", "a",
          "is not memory of CUDA device ", device);
  return device;
#else
  static_cast<void>(a);
  return -1;
#endif
}

void wait_for_default_stream([[maybe_unused]] int device) {
#if TESELA_HAVE_CUDA
  int current = 0;
  const bool switched = cudaGetDevice(&current) == cudaSuccess && cudaSetDevice(device) == cudaSuccess;
  const cudaError_t status = cudaStreamSynchronize(cudaStreamLegacy);
  if (switched) cudaSetDevice(current);
  if (status != cudaSuccess)
    throw EnvironmentError(std::string("work on the user's stream failed: ") + cudaGetErrorString(status));
#endif
}

HostBuffer::HostBuffer(Runtime& runtime, std::size_t bytes)
    : state_(runtime.state()), bytes_(bytes), pinned_(state_->gpus > 0) {
  if (bytes == 0) return;
  constexpr std::size_t page = 4096;
  if (pinned_) pinned_ = starpu_malloc_flags(&data_, bytes, STARPU_MALLOC_PINNED) == 0;
  if (!pinned_) data_ = std::aligned_alloc(page, (bytes + page - 1) / page * page);
  if (data_ == nullptr) throw OutOfMemory("not enough host memory for " + std::to_string(bytes) + " bytes");
}

HostBuffer::~HostBuffer() {
  if (data_ == nullptr) return;
  if (pinned_ && state_->alive)
    starpu_free_flags(data_, bytes_, STARPU_MALLOC_PINNED);
  else if (!pinned_)
    std::free(data_);
}

}  // namespace tesela
