#include <tesela/runtime/internal/simulation.hpp>
#include <tesela/runtime/machine/machine_times.hpp>
#include <tesela/runtime/simulation/simulation.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <map>
#include <sstream>
#include <sys/mman.h>
#include <tuple>
#include <unistd.h>

namespace tesela {
namespace {

/// The machine's times, read at the first use.
const KernelTimes& machine() {
  static const auto& times = *new KernelTimes([] {
    const char* const path = std::getenv("TESELA_SIMULATED_TIMES");
    return path != nullptr ? read_kernel_times(path) : std::vector<KernelTime>{};
  }());
  return times;
}

/// Returns the symbol of the kernel's model.
const char* symbol_of(const detail::CodeletImpl& codelet) {
  return const_cast<detail::CodeletImpl&>(codelet).model()->symbol;  // model() changes nothing
}

/// A model's symbol, a footprint, and whether on a GPU. Two models never share the address of their symbol.
using Key = std::tuple<const char*, std::uint32_t, bool>;
struct ModelTime {
  KernelTimes::Found time;
  double total = 0;  // seconds of the tasks since the last reset
};

/// The times that were looked up. SimGrid runs all parts of the program on one thread, so it needs no lock.
std::map<Key, ModelTime>& model_times() {
  static auto& all = *new std::map<Key, ModelTime>;
  return all;
}

/// Returns the time of a kernel on one kind of worker, not a number if it has none there.
ModelTime& model_time(const char* symbol, std::uint32_t footprint, bool gpu, double bytes, double flops) {
  const auto [it, is_new] = model_times().try_emplace({symbol, footprint, gpu}, ModelTime{});
  if (is_new && machine().has(symbol, gpu))
    it->second.time = machine().find(symbol, gpu, footprint, bytes, flops);
  else if (is_new)
    it->second.time = {std::numeric_limits<double>::quiet_NaN(), true};
  return it->second;
}

/// Returns the time of a task; StarPU's own tasks have no arguments and take a microsecond.
ModelTime& model_time(const starpu_task& task, bool gpu) {
  static ModelTime of_starpu{{1e-6, true}};
  const auto* const call = static_cast<const detail::CallHeader*>(task.cl_arg);
  if (call == nullptr || task.cl->model == nullptr) return of_starpu;
  const char* const symbol = task.cl->model->symbol;
  if (const auto it = model_times().find({symbol, call->footprint, gpu}); it != model_times().end()) return it->second;
  double bytes = 0;
  for (unsigned b = 0; b < STARPU_TASK_GET_NBUFFERS(&task); ++b)
    bytes += static_cast<double>(starpu_data_get_size(STARPU_TASK_GET_HANDLE(&task, b)));
  return model_time(symbol, call->footprint, gpu, bytes, task.flops);
}

bool is_gpu(int worker) { return starpu_worker_get_type(worker) == STARPU_CUDA_WORKER; }

double microseconds(starpu_task* task, unsigned worker, unsigned) {
  return 1e6 * model_time(*task, is_gpu(static_cast<int>(worker))).time.seconds;
}

}  // namespace

/// Set by the simulator's StarPU (scripts/patches/simgrid/04-strided-copies.patch); null in others.
extern "C" __attribute__((weak)) double (*starpu_simgrid_copy_time_ratio)(starpu_data_handle_t, unsigned, unsigned);

namespace {

/// Returns the time of a copy over the time for contiguous memory of its size: longer if the host's tile is a block of
/// a larger matrix.
double copy_time_ratio(starpu_data_handle_t handle, unsigned from, unsigned to) {
  struct ColumnBytes {
    double to_gpu = 0, from_gpu = 0;
  };
  static const ColumnBytes column = [] {
    ColumnBytes bytes;
    if (const char* const text = std::getenv("TESELA_SIMULATED_COLUMNS"); text != nullptr)
      std::istringstream(text) >> bytes.to_gpu >> bytes.from_gpu;
    return bytes;
  }();
  if ((from != STARPU_MAIN_RAM && to != STARPU_MAIN_RAM) ||
      starpu_data_get_interface_id(handle) != STARPU_MATRIX_INTERFACE_ID)
    return 1;
  const auto* const host =
      static_cast<const starpu_matrix_interface*>(starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM));
  if (host->ld <= host->nx) return 1;
  const double each = from == STARPU_MAIN_RAM ? column.to_gpu : column.from_gpu;
  return 1 + each / static_cast<double>(host->nx * host->elemsize);
}

}  // namespace

void detail::simulate(starpu_perfmodel& model) {
  if (&starpu_simgrid_copy_time_ratio != nullptr) starpu_simgrid_copy_time_ratio = &copy_time_ratio;
  model.type = STARPU_PER_WORKER;
  model.worker_cost_function = &microseconds;
}

std::uint32_t detail::timed_workers(const CodeletImpl& codelet, std::uint32_t where) {
  const char* const symbol = symbol_of(codelet);
  std::uint32_t timed = 0;
  if (machine().has(symbol, false)) timed |= STARPU_CPU;
  if (machine().has(symbol, true)) timed |= STARPU_CUDA;
  if ((where & timed) != 0) return where & timed;
  refuse_untimed(codelet.name(), (where & STARPU_CPU) != 0, (where & STARPU_CUDA) != 0);
}

void detail::refuse_untimed(const char* kernel, bool cores, bool gpus) {
  throw EnvironmentError(std::string("the machine's folder has no times of kernel '") + kernel + "' on " +
                         (!gpus    ? "a core"
                          : !cores ? "a GPU"
                                   : "a core or a GPU") +
                         ": add them on that machine by `tesela predict record --out FOLDER -- COMMAND`, with this "
                         "command and its options, or `--program -- PROGRAM` for the kernels of another program");
}

void detail::look_up_times(const CodeletImpl& codelet, std::uint32_t footprint, double bytes, double flops) {
  for (const bool gpu : {false, true}) model_time(symbol_of(codelet), footprint, gpu, bytes, flops);
}

detail::ExpectedSeconds detail::simulated_seconds(const CodeletImpl& codelet, std::uint32_t footprint) {
  const auto of = [&](bool gpu) {
    const auto it = model_times().find({symbol_of(codelet), footprint, gpu});
    return it != model_times().end() && it->second.time.seconds > 0 ? it->second.time.seconds
                                                                    : detail::ExpectedSeconds::unknown;
  };
  return {of(false), of(true)};
}

void detail::count_simulated(const starpu_task& task, int worker) {
  ModelTime& time = model_time(task, is_gpu(worker));
  time.total += time.time.seconds;
}

void detail::reset_simulated_times() {
  for (auto& [key, time] : model_times()) time.total = 0;
}

void detail::wait_for_simulated(const GraphTasks& graph) {
  constexpr float moment = 1e-6F;
  while (graph.unfinished != 0) {
    starpu_task_wait_for_all();
    if (graph.unfinished != 0) starpu_sleep(moment);  // a copy to the host
  }
}

void detail::refuse_values(const Data& data) {
  const std::string label = data.label();
  throw EnvironmentError("this program cannot be simulated: what it does next depends on the values of " +
                         (label.empty() ? "a tile" : "tile " + label) + ", and a simulation has no values");
}

bool is_simulated() noexcept { return detail::simulates; }

bool simulates_int8() noexcept {
  const char* const variable = detail::simulates ? std::getenv("TESELA_SIMULATED_INT8") : nullptr;
  return variable != nullptr && *variable == '1';
}

double clock_seconds() noexcept {
  if (detail::simulates) return 1e-6 * starpu_timing_now();
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

SimulatedTimes simulated_times() {
  SimulatedTimes times;
  for (const auto& [key, time] : model_times()) {
    if (time.total <= 0) continue;
    times.seconds += time.total;
    if (time.time.measured) continue;
    times.interpolated_seconds += time.total;
    times.kernels.emplace_back(std::get<0>(key));
  }
  std::sort(times.kernels.begin(), times.kernels.end());
  times.kernels.erase(std::unique(times.kernels.begin(), times.kernels.end()), times.kernels.end());
  return times;
}

namespace {

std::map<void*, std::size_t>& mapped() {
  static auto& all = *new std::map<void*, std::size_t>;
  return all;
}

}  // namespace

void* simulated_memory(std::size_t bytes) noexcept {
  constexpr std::size_t shared = std::size_t{1} << 26;
  void* const memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  const std::size_t part = std::min(bytes, shared);
  const int file = memfd_create("tesela", MFD_CLOEXEC);
  bool good = file >= 0 && ftruncate(file, static_cast<off_t>(part)) == 0;
  for (std::size_t at = 0; good && at < bytes; at += part)
    good = mmap(static_cast<char*>(memory) + at, std::min(part, bytes - at), PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
  if (file >= 0) close(file);
  if (good) {
    mapped()[memory] = bytes;
    return memory;
  }
  munmap(memory, bytes);
  return nullptr;
}

void release_simulated_memory(void* memory) noexcept {
  const auto it = mapped().find(memory);
  if (it == mapped().end()) return;
  munmap(memory, it->second);
  mapped().erase(it);
}

}  // namespace tesela
