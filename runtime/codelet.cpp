#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/internal/simulation.hpp>
#include <tesela/runtime/internal/starpu.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <string_view>

namespace tesela::detail {
namespace {

std::mutex registry_mutex;
/// Never destroyed, like the models: StarPU keeps pointers to both until it shuts down, possibly in an exit handler,
/// after statics of a later first use are gone.
std::deque<CodeletImpl>& registry() {
  static auto& codelets = *new std::deque<CodeletImpl>;
  return codelets;
}
std::uint32_t footprint_of_task(starpu_task* task) {
  return task->cl_arg != nullptr ? static_cast<const CallHeader*>(task->cl_arg)->footprint : 0;
}

std::uint64_t mix(std::uint64_t h, std::uint64_t value) {
  h ^= value + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdu;
  return h ^ (h >> 33);
}

/// Returns StarPU's model of this name; needs the registry's lock.
starpu_perfmodel* model_of(const std::string& symbol) {
  static auto& models = *new std::map<std::string, starpu_perfmodel>;
  auto [it, is_new] = models.try_emplace(symbol);
  if (is_new) {
    it->second.type = STARPU_HISTORY_BASED;
    it->second.symbol = it->first.c_str();
    it->second.footprint = &footprint_of_task;
    if (simulates) simulate(it->second);
  }
  return &it->second;
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
    case Mode::in: return STARPU_R;
    case Mode::out: return STARPU_W;
    case Mode::inout: return STARPU_RW;
    case Mode::commute: return static_cast<starpu_data_access_mode>(STARPU_RW | STARPU_COMMUTE);
    case Mode::reduce: return STARPU_REDUX;
    case Mode::scratch: return STARPU_SCRATCH;
  }
  return STARPU_NONE;
}

CodeletImpl::CodeletImpl(const CodeletSpec& spec, starpu_perfmodel* model, bool is_dynamic)
    : has_list_(spec.has_list), is_dynamic_(is_dynamic) {
  for (const Mode mode : spec.modes) modes_.push_back(to_starpu(mode));
  starpu_codelet_init(&codelet_);
  codelet_.name = spec.name;
  codelet_.color = spec.color;
  codelet_.model = model;
  codelet_.cpu_funcs[0] = spec.cpu;
  if (spec.cpu != nullptr) codelet_.where |= STARPU_CPU;
#if TESELA_HAVE_CUDA
  codelet_.cuda_funcs[0] = spec.cuda;
  codelet_.cuda_flags[0] = STARPU_CUDA_ASYNC;
  if (spec.cuda != nullptr) codelet_.where |= STARPU_CUDA;
#endif
  if (simulates) {  // of a kernel without times on GPUs no task goes there (timed_workers)
    codelet_.cuda_funcs[0] = [](void**, void*) {};
    codelet_.cuda_flags[0] = STARPU_CUDA_ASYNC;
    codelet_.where |= STARPU_CUDA;
  }
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
  // Kernels of one name (for float and double) share a model, since StarPU keeps one history file per name. The prefix
  // separates a user's `gemm` from ours.
  const bool ours = std::string_view(spec.type).starts_with("N6tesela");
  return registry().emplace_back(spec, model_of(std::string(ours ? "tesela_" : "user_") + spec.name));
}

CodeletImpl& dynamic_codelet(const CodeletSpec& spec, const std::string& model) {
  const std::lock_guard lock(registry_mutex);
  using Key = std::tuple<std::string, std::string, std::uint32_t, std::vector<Mode>, bool, bool, bool>;
  static auto& codelets = *new std::map<Key, CodeletImpl*>;
  const auto [it, is_new] = codelets.try_emplace(Key{spec.name,
                                                     model,
                                                     spec.color,
                                                     {spec.modes.begin(), spec.modes.end()},
                                                     spec.has_list,
                                                     spec.cpu != nullptr,
                                                     spec.cuda != nullptr});
  if (is_new) {
    CodeletSpec lasting = spec;
    lasting.name = std::get<0>(it->first).c_str();
    it->second = &registry().emplace_back(lasting, model_of("user_" + model), true);
  }
  return *it->second;
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
  return simulates ? timed_workers(codelet, where) : where;
}

}  // namespace tesela::detail
