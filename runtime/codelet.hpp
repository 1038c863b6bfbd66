#pragma once

#include <tesela/runtime/access.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/cuda_context.hpp>
#include <tesela/runtime/scalar.hpp>

#include <array>
#include <atomic>
#include <concepts>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <tuple>
#include <typeinfo>
#include <utility>
#include <vector>

namespace tesela {
namespace detail {

class CodeletImpl;
struct RuntimeState;

/// State that a graph shares with its tasks.
struct GraphTasks {
  static constexpr std::uint64_t no_tasks = UINT64_MAX;
  /// Tasks do nothing once stops_requested exceeds this number; no_tasks if the graph has no task to wait for.
  std::atomic<std::uint64_t> stops_seen{no_tasks};
  std::atomic<std::int64_t> unfinished{0};
  RuntimeState* runtime = nullptr;

  /// Counts one task or hint as finished. The graph may be destroyed when it returns.
  void finish() noexcept;
};

/// The tasks that a graph inserted between two calls of wait(). The data that they write refer to it.
struct TaskBatch {
  TaskBatch(std::shared_ptr<GraphTasks> of, std::uint64_t stop_requests) : tasks(std::move(of)), seen(stop_requests) {}
  void lose();

  const std::shared_ptr<GraphTasks> tasks;
  const std::uint64_t seen;       ///< stops_reported at its first task; more requests than these drop its tasks
  std::atomic<bool> over{false};  ///< all tasks have run or were dropped
  std::atomic<bool> lost{false};  ///< some tasks were dropped, and wait() has reported it
};

/// Header of every task's argument block; StarPU's callbacks read it without knowing the kernel.
struct CallHeader {
  CodeletImpl* codelet = nullptr;
  GraphTasks* graph = nullptr;  // null: StarPU's own task, which combines a reduction
  std::uint32_t footprint = 0;  // hash of shapes and cost key, the key of the performance model
  std::uint32_t buffers = 0;    // number of tiles; exceeds the fixed parameters if the kernel accepts a list
};

template <class Args>
struct Call {
  CallHeader header;
  Args args;
};

/// A tile in the memory of a worker.
struct TileMemory {
  void* data;
  index_t rows, cols, ld;
};
TileMemory tile_memory(void* interface) noexcept;

/// Number of requests to drop the queued tasks (a cancellation, a failed codelet), and number that a wait() has
/// reported. Not inline, because a library with hidden symbols would get its own copy. With two counters, neither a
/// signal handler nor the wait() of a second graph can lose a request.
extern std::atomic<std::uint64_t> stops_requested, stops_reported;
/// Whether any TaskBatch was ever lost; most programs can skip the check of each tile.
extern std::atomic<bool> any_batch_lost;
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "Runtime::cancel must be async-signal-safe");

/// Returns true if a request that the task's graph has not reported exists: the task then does nothing, so that the
/// graph stop_requests. StarPU's own tasks, which combine reductions of graphs that may have ended, always run.
inline bool dropped(const CallHeader& task) noexcept {
  return task.graph != nullptr &&
         stops_requested.load(std::memory_order_relaxed) > task.graph->stops_seen.load(std::memory_order_relaxed);
}

/// Excludes the running task's meaningless time from its performance model.
void forget_timing() noexcept;

void check_last_launch(const CudaContext&) noexcept;

/// Whether TESELA_CHECK=1 asks for a check of every task on a core. The first call reads the variable.
bool checks_accesses();

/// Runs a CPU variant on blocks that show a wrong mode: every byte of Out and Scratch blocks is 0xff before (NaN in a
/// real block, -1 in an integer one), and the values of In blocks must be the same afterwards.
///
/// modes   of the fixed parameters; the last one repeats for a list.
/// Throws  std::logic_error with the first element of an In block that changed.
void run_checked(const std::function<void()>& kernel, std::span<void* const> blocks, std::span<const Mode> modes);

/// Reports the current exception as a failure of this kernel; it must not reach StarPU's C frames.
void report_exception(const char* kernel) noexcept;

template <class P>
P as_parameter(void* interface) noexcept {
  using Pointer = decltype(P::data);
  const TileMemory t = tile_memory(interface);
  P p;
  p.data = static_cast<Pointer>(t.data);
  p.rows = t.rows;
  p.cols = t.cols;
  p.ld = t.ld;
  return p;
}

/// A kernel parameter that is a list of tiles with one access mode: std::span<const In<T>>. It must come last.
template <class P>
struct ListOf : std::false_type {};
template <class P>
struct ListOf<std::span<const P>> : std::true_type {
  using element = P;
};

template <class P>
constexpr Mode mode_of() {
  if constexpr (ListOf<P>::value)
    return ListOf<P>::element::mode;
  else
    return P::mode;
}

template <class P>
struct ValueOf {
  using type = typename P::value_type;
};
template <class P>
struct ValueOf<std::span<const P>> {
  using type = typename P::value_type;
};

template <class P>
constexpr bool is_tile = requires {
  P::mode;
};
template <class P>
constexpr bool is_tile<std::span<const P>> = is_tile<P>;

template <class F>
struct Signature {
  static_assert(sizeof(F) == 0,
                "a variant is static void cpu(const Args&, tiles...) or cuda(CudaContext&, const Args&, tiles...)");
};
template <class A, class... P>
struct Signature<void (*)(const A&, P...) noexcept> {
  static_assert((is_tile<P> && ...),
                "a variant takes tiles by value: In<T>, Out<T>, InOut<T>, Commute<T>, Reduce<T>, Scratch<T>, or a "
                "std::span<const In<T>> (or of another mode) of any number");
  static constexpr bool on_gpu = false;
  using Args = A;
  using Parameters = std::tuple<P...>;
};
template <class A, class... P>
struct Signature<void (*)(CudaContext&, const A&, P...) noexcept> : Signature<void (*)(const A&, P...) noexcept> {
  static constexpr bool on_gpu = true;
};
template <class A, class... P>
struct Signature<void (*)(const A&, P...)> : Signature<void (*)(const A&, P...) noexcept> {};
template <class A, class... P>
struct Signature<void (*)(CudaContext&, const A&, P...)> : Signature<void (*)(CudaContext&, const A&, P...) noexcept> {
};

template <class K>
concept HasCpu = requires {
  &K::cpu;
};
/// Whether K has a CUDA variant. `cores_only` says that the one that the template declares does not exist for K's
/// element type.
template <class K>
concept HasCuda = requires {
  &K::cuda;
}
&&!requires { requires K::cores_only; };
template <class K>
concept HasFlops = requires {
  &K::flops;
};

template <class K>
struct Deduced {
  static_assert(HasCpu<K> || HasCuda<K>, "a kernel needs a cpu or a cuda variant");
  template <class Kernel>
  static auto pick() {
    if constexpr (HasCpu<Kernel> && HasCuda<Kernel>) {
      using Cpu = Signature<decltype(&Kernel::cpu)>;
      using Cuda = Signature<decltype(&Kernel::cuda)>;
      static_assert(!Cpu::on_gpu && Cuda::on_gpu, "a cuda variant, and no other, takes a CudaContext& first");
      static_assert(std::is_same_v<typename Cpu::Parameters, typename Cuda::Parameters>,
                    "the cpu and the cuda variant of a kernel must take the same tiles in the same modes");
      return Cpu{};
    } else if constexpr (HasCpu<Kernel>) {
      return Signature<decltype(&Kernel::cpu)>{};
    } else {
      return Signature<decltype(&Kernel::cuda)>{};
    }
  }
  using Type = decltype(pick<K>());
  using Parameters = typename Type::Parameters;
  static_assert(std::is_same_v<typename Type::Args, typename K::Args>,
                "the variants of a kernel must take its own Args by const reference");
  static_assert(std::is_trivially_copyable_v<typename K::Args>,
                "a kernel's Args travel as bytes: no strings, vectors or other owners in them");
  static constexpr std::size_t arity = std::tuple_size_v<Parameters>;
  template <std::size_t I>
  using Parameter = std::tuple_element_t<I, Parameters>;

  template <std::size_t... I>
  static constexpr bool lists_before_the_last(std::index_sequence<I...>) {
    return ((I + 1 < arity && ListOf<Parameter<I>>::value) || ...);
  }
  static_assert(!lists_before_the_last(std::make_index_sequence<arity>{}),
                "a list of tiles must be the last parameter");

  static constexpr bool has_list() {
    if constexpr (arity == 0)
      return false;
    else
      return ListOf<Parameter<arity - 1>>::value;
  }
};

/// Builds the I-th argument of a variant from StarPU's buffers. A list's blocks are stored in `list` during the call.
template <class P, class Views>
decltype(auto) argument(void** buffers, std::size_t index, std::size_t count, Views& list) {
  if constexpr (ListOf<P>::value) {
    for (std::size_t b = index; b < count; ++b) list.push_back(as_parameter<typename ListOf<P>::element>(buffers[b]));
    return P(list);
  } else {
    return as_parameter<P>(buffers[index]);
  }
}

/// Returns a task's arguments, or the default arguments if StarPU runs the kernel without a task.
template <class Args>
const Args& arguments_of(const Call<Args>* call) noexcept {
  if constexpr (std::is_default_constructible_v<Args>) {
    static const Args none{};
    if (call == nullptr) return none;
  }
  return call->args;
}

template <class K, bool cuda>
void run_variant(void** buffers, void* packed) noexcept {
  using D = Deduced<K>;
  using Args = typename K::Args;
  const auto* call = static_cast<const Call<Args>*>(packed);
  // StarPU initializes a worker's copy of a reduction without a task and its arguments; that call must never be
  // dropped.
  if (call != nullptr && dropped(call->header)) return forget_timing();
  const Args& args = arguments_of(call);
  try {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      [[maybe_unused]] const std::size_t count = call != nullptr ? call->header.buffers : D::arity;
      [[maybe_unused]] auto list = [] {
        if constexpr (D::has_list())
          return std::vector<typename ListOf<typename D::template Parameter<D::arity - 1>>::element>{};
        else
          return 0;
      }();
      if constexpr (cuda) {
        CudaContext context(K::name);
        K::cuda(context, args, argument<typename D::template Parameter<I>>(buffers, I, count, list)...);
        check_last_launch(context);
      } else {
        const auto kernel = [&] {
          K::cpu(args, argument<typename D::template Parameter<I>>(buffers, I, count, list)...);
        };
        static constexpr std::array<Mode, D::arity> modes{mode_of<typename D::template Parameter<I>>()...};
        checks_accesses() ? run_checked(kernel, {buffers, call != nullptr ? call->header.buffers : D::arity}, modes)
                          : kernel();
      }
    }
    (std::make_index_sequence<D::arity>{});
  } catch (...) {
    report_exception(K::name);
  }
}

/// A kernel with its types erased.
struct CodeletSpec {
  const char* name;
  const char* type;  // the kernel's type, as typeid names it
  std::uint32_t color;
  void (*cpu)(void**, void*);
  void (*cuda)(void**, void*);
  std::span<const Mode> modes;  // modes of the fixed parameters; the last one repeats when has_list
  bool has_list;
};

CodeletImpl& make_codelet(const CodeletSpec&);

}  // namespace detail

/// A kernel: a struct with a name, an Args type and variants `cpu` and/or `cuda`, each `static void (…, const Args&,
/// tiles…)`, with tiles of type In, Out, InOut, Commute, Reduce or Scratch. A variant may throw, for example if an
/// allocation fails: later tasks do nothing then, and Graph::wait() throws an EnvironmentError that names the kernel. A
/// numerical outcome, such as a zero pivot, goes to a status tile instead.
///
/// Optional members: `cores_only` (true: the declared CUDA variant does not exist for this element type), `color`
/// (0xRRGGBB of its tasks in traces), `flops(args, shapes…)` (one Shape for each tile, or one std::span<const Shape> of
/// all tiles if the kernel accepts a list), and `cost_key()` in Args (the arguments that change the run time).
template <class K>
concept Kernel = requires {
  { K::name } -> std::convertible_to<const char*>;
  typename K::Args;
};

/// The StarPU codelet of a kernel, made from the kernel's declaration at its first use.
template <Kernel K>
class Codelet {
 public:
  using Parameters = typename detail::Deduced<K>::Parameters;       ///< types of the tiles of its variants, a list last
  static constexpr std::size_t arity = detail::Deduced<K>::arity;   ///< number of `Parameters`
  static constexpr bool has_list = detail::Deduced<K>::has_list();  ///< whether the last one is a list of tiles
  /// Access mode of each parameter.
  static constexpr auto modes = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<Mode, arity>{detail::mode_of<std::tuple_element_t<I, Parameters>>()...};
  }
  (std::make_index_sequence<arity>{});

  /// Returns the codelet.
  static detail::CodeletImpl& get() {
    static detail::CodeletImpl& codelet = make();
    return codelet;
  }

 private:
  static detail::CodeletImpl& make() {
    detail::CodeletSpec spec{K::name, typeid(K).name(), 0, nullptr, nullptr, modes, has_list};
    if constexpr (requires { K::color; }) spec.color = K::color;
    if constexpr (detail::HasCpu<K>) spec.cpu = &detail::run_variant<K, false>;
    // In a build without CUDA the variant is declared but not defined, so no code may refer to it.
    if constexpr (config::have_cuda && detail::HasCuda<K>) spec.cuda = &detail::run_variant<K, true>;
    return detail::make_codelet(spec);
  }
};

}  // namespace tesela
