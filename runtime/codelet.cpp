#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/internal/starpu.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <string_view>
#include <utility>

#if TESELA_WITH_CUDA
#include <cuda_runtime.h>
#include <starpu_cublas_v2.h>
#include <starpu_cusolver.h>
#endif

namespace tesela {
namespace detail {
namespace {

std::mutex registry_mutex;
std::deque<CodeletImpl>& registry() {
  static std::deque<CodeletImpl> codelets;
  return codelets;
}
std::mutex drain_mutex;
std::string failure;               // the first of those that no wait() has reported
std::uint64_t failure_number = 0;  // of drains_requested, at that failure
std::atomic<std::uint64_t> cancellation_number{0};

std::uint32_t footprint_of_task(starpu_task* task) {
  return task->cl_arg != nullptr ? static_cast<const CallHeader*>(task->cl_arg)->footprint : 0;
}

std::uint64_t mix(std::uint64_t h, std::uint64_t value) {
  h ^= value + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdu;
  return h ^ (h >> 33);
}

}  // namespace

TileMemory tile_memory(void* interface) noexcept {
  const auto* m = static_cast<const starpu_matrix_interface*>(interface);
  // StarPU keeps addresses as integers. NOLINTNEXTLINE(performance-no-int-to-ptr)
  return {reinterpret_cast<void*>(m->ptr), m->nx, m->ny, m->ld};
}

std::uint32_t footprint(std::uint64_t cost_key, std::span<Data* const> data) {
  std::uint64_t h = mix(data.size(), cost_key);
  for (const Data* d : data) {
    h = mix(h, static_cast<std::uint64_t>(d->shape().rows) << 32 | static_cast<std::uint64_t>(d->shape().cols));
    h = mix(h, d->element_size());
  }
  return static_cast<std::uint32_t>(h ^ (h >> 32));
}

starpu_data_access_mode to_starpu(Mode mode) {
  switch (mode) {
    case Mode::in:
      return STARPU_R;
    case Mode::out:
      return STARPU_W;
    case Mode::inout:
      return STARPU_RW;
    case Mode::commute:
      return static_cast<starpu_data_access_mode>(STARPU_RW | STARPU_COMMUTE);
    case Mode::reduce:
      return STARPU_REDUX;
    case Mode::scratch:
      return STARPU_SCRATCH;
  }
  return STARPU_NONE;
}

CodeletImpl::CodeletImpl(const CodeletSpec& spec, starpu_perfmodel* model) : has_list_(spec.has_list) {
  for (const Mode mode : spec.modes) modes_.push_back(to_starpu(mode));
  starpu_codelet_init(&codelet_);
  codelet_.name = spec.name;
  codelet_.color = spec.color;
  codelet_.model = model;
  codelet_.cpu_funcs[0] = spec.cpu;
  if (spec.cpu != nullptr) codelet_.where |= STARPU_CPU;
#if TESELA_WITH_CUDA
  codelet_.cuda_funcs[0] = spec.cuda;
  codelet_.cuda_flags[0] = STARPU_CUDA_ASYNC;
  if (spec.cuda != nullptr) codelet_.where |= STARPU_CUDA;
#endif
  if (has_list_ || modes_.size() > STARPU_NMAXBUFS) {
    codelet_.nbuffers = has_list_ ? STARPU_VARIABLE_NBUFFERS : static_cast<int>(modes_.size());
    if (!has_list_) codelet_.dyn_modes = modes_.data();
  } else {
    codelet_.nbuffers = static_cast<int>(modes_.size());
    std::copy(modes_.begin(), modes_.end(), codelet_.modes);
  }
}

CodeletImpl& make_codelet(const CodeletSpec& spec) {
  const std::lock_guard lock(registry_mutex);
  // Kernels of one name (float and double, say) share a model: StarPU keeps one file of history per name. What a user
  // calls `gemm` is not what we do.
  const bool ours = std::string_view(spec.type).starts_with("N6tesela");
  static std::map<std::string, starpu_perfmodel> models;
  auto [it, is_new] = models.try_emplace(std::string(ours ? "tesela_" : "user_") + spec.name);
  if (is_new) {
    it->second.type = STARPU_HISTORY_BASED;
    it->second.symbol = it->first.c_str();
    it->second.footprint = &footprint_of_task;
  }
  return registry().emplace_back(spec, &it->second);
}

std::vector<CodeletImpl*> all_codelets() {
  const std::lock_guard lock(registry_mutex);
  std::vector<CodeletImpl*> all;
  for (CodeletImpl& codelet : registry()) all.push_back(&codelet);
  return all;
}

std::string describe_workers(const RuntimeState& state) {
  return std::to_string(state.cpus) + " CPU and " + std::to_string(state.gpus) + " CUDA workers";
}

std::uint32_t workers_for(const CodeletImpl& codelet, const RuntimeState& state) {
  std::uint32_t where = 0;
  if (codelet.has_cpu() && state.cpus > 0) where |= STARPU_CPU;
  if (codelet.has_cuda() && state.gpus > 0) where |= STARPU_CUDA;
  if (where == 0)
    throw NoWorkerError(std::string("kernel '") + codelet.name() + "' has " +
                        (codelet.has_cpu() ? "only a CPU variant" : "only a CUDA variant") + ", and this runtime has " +
                        describe_workers(state) +
                        (codelet.has_cpu() ? ": set STARPU_NCPU to 1 or more"
                                           : ": run where a GPU is visible and STARPU_NCUDA is not 0"));
  return where;
}

void forget_timing() noexcept {
  if (starpu_task* task = starpu_task_get_current(); task != nullptr) task->failed = 1;
}

void report_failure(const std::string& what) noexcept {
  const std::lock_guard lock(drain_mutex);
  if (failure_number <= drains_reported) {
    try {
      failure = what;
    } catch (...) {
      failure.clear();
    }
    failure_number = drains_requested + 1;
  }
  ++drains_requested;
}

void report_exception(const char* kernel) noexcept {
  forget_timing();
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      report_failure(std::string("kernel ") + kernel + ": not enough host memory");
    } catch (const std::exception& e) {
      report_failure(std::string("kernel ") + kernel + ": " + e.what());
    }
  } catch (...) {
    report_failure({});
  }
}

void report_cancellation() noexcept { cancellation_number = ++drains_requested; }

bool cancellation_pending() noexcept { return cancellation_number > drains_reported; }

void throw_if_drained_since(std::uint64_t seen) {
  const std::lock_guard lock(drain_mutex);
  if (failure_number > seen)
    throw EnvironmentError(failure.empty() ? "a kernel failed: not enough host memory" : failure);
  if (drains_requested > seen) throw Cancelled();
}

std::uint64_t report_drains() noexcept {
  const std::lock_guard lock(drain_mutex);
  const std::uint64_t now = drains_requested;
  drains_reported = std::max(drains_reported.load(), now);
  return now;
}

namespace {

void record_use(const starpu_task* task) {
  const int worker = starpu_worker_get_id();
  if (worker < 0 || task->profiling_info == nullptr) return;
  const double us = starpu_timing_timespec_delay_us(const_cast<timespec*>(&task->profiling_info->start_time),
                                                    const_cast<timespec*>(&task->profiling_info->end_time));
  auto& use = static_cast<const CallHeader*>(task->cl_arg)->codelet->uses[worker];
  use.tasks.fetch_add(1, std::memory_order_relaxed);
  use.nanoseconds.fetch_add(static_cast<std::uint64_t>(us * 1e3), std::memory_order_relaxed);
}

}  // namespace

void finish_task(void* argument) {
  static_cast<const CallHeader*>(static_cast<const starpu_task*>(argument)->cl_arg)->graph->finish();
}

void finish_profiled_task(void* argument) {
  record_use(static_cast<const starpu_task*>(argument));
  finish_task(argument);
}

#if TESELA_WITH_CUDA
void check_last_launch(const CudaContext& context) noexcept {
  context.check(static_cast<int>(cudaGetLastError()), "a kernel launch");
}
#else
void check_last_launch(const CudaContext&) noexcept {}
#endif

}  // namespace detail

#if TESELA_WITH_CUDA
CUstream_st* CudaContext::stream() const noexcept {
  return redirected_ != nullptr ? redirected_ : starpu_cuda_get_local_stream();
}
cublasContext* CudaContext::cublas() const noexcept { return starpu_cublas_get_local_handle(); }
#else
CUstream_st* CudaContext::stream() const noexcept { return nullptr; }
cublasContext* CudaContext::cublas() const noexcept { return nullptr; }
#endif

#if TESELA_WITH_CUDA && defined(STARPU_HAVE_LIBCUSOLVER)
cusolverDnContext* CudaContext::cusolver() const noexcept { return starpu_cusolverDn_get_local_handle(); }
#else
cusolverDnContext* CudaContext::cusolver() const noexcept { return nullptr; }
#endif

bool CudaContext::check(int status, const char* call) const noexcept {
  if (status == 0) return true;
  detail::report_failure(std::string("kernel ") + kernel_ + ": " + call + " failed with status " +
                         std::to_string(status) + " on " + [] {
                           char name[64] = "the host";
                           if (starpu_worker_get_id() >= 0)
                             starpu_worker_get_name(starpu_worker_get_id(), name, sizeof name);
                           return std::string(name);
                         }());
  return false;
}

}  // namespace tesela
