#pragma once

#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/data.hpp>
#include <tesela/runtime/runtime.hpp>

#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <type_traits>

namespace tesela {

class AnyTile;
class DynamicKernel;
class KernelTimes;
struct DynamicTask;
struct PredictedRun;
struct SimulatedMachine;

/// Priorities have one scale for all graphs of a Runtime: 0 … highest_priority, the length of the longest path.
inline constexpr int highest_priority = 1'000'000;

/// Streams of a GPU that may run a task, if it has several (RuntimeOptions::streams_per_gpu).
enum class GpuStream : std::uint8_t {
  any,    ///< all of them
  first,  ///< the first one
  others  ///< all but the first
};

/// Schedulers with priorities run ready tasks of higher priority first. The scheduler chooses the worker, within these
/// limits.
struct Priority {
  int value = 0;     ///< a higher value runs first
  bool gpu = false;  ///< never on a core if a GPU can run it, whatever the scheduler's models predict
  /// If not negative, the task runs on this GPU (modulo their number) if a GPU can run it: for chains of tasks on data
  /// too large to move, which a scheduler would spread over GPUs while its models are incomplete.
  int device = -1;
  bool core = false;  ///< never on a GPU if a core can run it
  /// Only with `device`. A critical path on the first stream does not wait for other tasks that a stream has begun.
  GpuStream stream = GpuStream::any;
};
inline constexpr Priority urgent{highest_priority};     ///< short, and other tasks wait for it
inline constexpr Priority on_gpu{0, true};              ///< by Priority::gpu
inline constexpr Priority on_core{0, false, -1, true};  ///< by Priority::core
/// Returns the priority of tasks that run on this GPU.
constexpr Priority on_gpu_number(std::size_t device) { return {0, true, static_cast<int>(device % 4096)}; }

/// A numerical outcome: 0, or the first nonzero value that a kernel wrote to a status tile (like LAPACK's info).
struct Status {
  index_t info = 0;
  bool ok() const { return info == 0; }  ///< whether info is 0
};

/// Options of a Graph.
struct GraphOptions {
  std::string name = "tesela";  ///< name in its picture (write_dot)
  bool record = false;          ///< keep the DAG, for write_dot and for bounds in seconds (about 100 B per task)
  /// If not negative, tasks whose Priority requires a GPU run on this one (modulo their number): several graphs of
  /// whole problems can then share the GPUs.
  int gpu = -1;
  /// Holds tasks back until submit(), wait(), the graph's end or a host access to one of their tiles. Each task then
  /// gets the length of its longest path to the end of the graph as its priority. Implies record.
  bool longest_path_priorities = false;
};

/// Size of a graph and bounds of its run time.
struct Bounds {
  index_t tasks = 0;      ///< number of tasks
  double work_flops = 0;  ///< flops of all tasks
  double path_flops = 0;  ///< flops of the longest path
  // The other figures need GraphOptions::record and performance models for each kernel at each shape. StarPU fills them
  // while a kernel is new, and always under STARPU_CALIBRATE=1. `untimed` counts the tasks without a sufficient model.
  index_t untimed = 0;      ///< number of tasks without a sufficient model
  double path_seconds = 0;  ///< longest path, each task on its fastest kind of worker
  double area_seconds = 0;  ///< the whole work, divided optimally over the workers
  /// Returns the larger bound: no schedule on this machine is faster.
  double lower_bound_seconds() const { return path_seconds > area_seconds ? path_seconds : area_seconds; }
};

/// A task graph: tasks run in any order that respects the dependences implied by the order of insertion.
///
/// Threads: several threads may use one Runtime at once, each with its own graphs; only one thread at a time may use a
/// Graph. Threads may share tiles that all of them only read: by tasks (In), Tile::read, the hints prefetch_to_gpu and
/// bring_home, and copies and views of the matrices. If a thread writes a tile (by a task, on the host, by forget or
/// reduction) or destroys it, no other thread may use the tile until the writing thread has waited for its tasks and
/// the threads have synchronized. Kernels, their models, traces and Runtime::statistics are safe to share.
/// Runtime::cancel and a failed kernel affect all graphs.
class Graph {
 public:
  explicit Graph(Runtime& runtime, GraphOptions options = {});
  /// Waits for the graph's tasks. (Call wait() to learn about failures.)
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Inserts one task of kernel K.
  ///
  /// tiles    one for each parameter of K's variants; a std::span or vector of tiles for a list.
  /// Throws   NoWorkerError if no worker can run K, LifetimeError if the runtime is gone, and ArgumentError if the task
  ///          reads a tile that nothing wrote, reduces into a tile without Graph::reduction, or uses one tile twice
  ///          other than by In.
  template <Kernel K, class... Tiles>
  void insert(const typename K::Args& args, const Tiles&... tiles) {
    insert<K>(Priority{0}, args, tiles...);
  }
  template <Kernel K, class... Tiles>
  void insert(Priority priority, const typename K::Args& args, const Tiles&... tiles);

  /// Inserts one task of a kernel described at run time (dynamic_kernel.hpp). Throws as insert<K> does, and
  /// ArgumentError for a wrong number of tiles.
  void insert(const DynamicKernel& kernel, std::span<const AnyTile> tiles, const DynamicTask& task);

  /// Submits the tasks that longest_path_priorities holds back; without that option all are submitted already.
  void submit();

  /// Waits for all tasks of this graph, whatever other graphs do.
  ///
  /// Returns  the first nonzero status in the order of the status() calls; sets all of them to 0.
  /// Throws   EnvironmentError if a kernel reported a failed device call, and Cancelled after Runtime::cancel. In both
  ///          cases tasks were dropped, and wait() of each affected graph reports it once. Tiles that the graph's tasks
  ///          since the previous wait() write are lost: reading such a tile is an ArgumentError until a new write. The
  ///          graph accepts new tasks afterwards.
  Status wait();

  /// Returns a new one-element tile, initially 0, for a kernel's numerical status; wait() collects it.
  ///
  /// A kernel writes an index within its own tiles, as LAPACK's info. wait() adds `offset`, a row or column of the
  /// whole problem, to a positive value, so that the kernel does not need its position. The tile ends with the graph,
  /// and a later graph may get it again. An endless loop should call status() once, before it begins.
  Tile<int> status(index_t offset = 0);

  /// Returns work space for kernels' Scratch parameters: one tile of this shape for the whole graph; each worker has
  /// its own copy. `which` distinguishes several of one shape that one task uses.
  template <class T>
  Tile<T> scratch(index_t rows, index_t cols, index_t which = 0) {
    return Tile<T>(scratch_data(Shape{rows, cols}, sizeof(T), which));
  }

  /// Sets the kernels of Reduce accesses to a tile: Zero (Out) initializes, Add (Commute, In) combines. Throws
  /// NoWorkerError if no worker can run one of them. Tasks that reduce into the tile run only on workers that can also
  /// run Zero.
  template <Kernel Zero, Kernel Add, class T>
  void reduction(const Tile<T>& tile);  // both with default Args

  /// Lets tasks reduce into a tile: copies start with zeros, and `add` combines two of them (Commute, In).
  /// Throws as reduction<Zero, Add> does, and ArgumentError for another kernel. `add` and its arguments
  /// live until the program ends.
  void reduction(const AnyTile& tile, const DynamicKernel& add, const std::shared_ptr<const void>& args = nullptr);

  /// Hints: copy a tile to a GPU, or to its place on the host, after the tasks inserted so far.
  template <class T>
  void prefetch_to_gpu(const Tile<T>& tile, int gpu) {
    prefetch(tile.data(), gpu);
  }
  template <class T>
  void bring_home(const Tile<T>& tile) {
    prefetch(tile.data(), -1);
  }

  /// Declares a tile's contents unneeded after the tasks inserted so far.
  template <class T>
  void forget(const Tile<T>& tile) {
    invalidate(tile.data());
  }

  Runtime& runtime() const;  ///< runtime of its tasks
  int gpu() const;           ///< GraphOptions::gpu
  index_t tasks() const;     ///< number of inserted tasks
  Bounds bounds() const;     ///< its size, and bounds of its run time

  /// Predicts a run of the recorded graph on another machine (predicted_run.hpp). Throws ArgumentError if the graph was
  /// not recorded or the machine has no worker, and EnvironmentError if a kernel has no times there.
  PredictedRun predict(const SimulatedMachine& machine, const KernelTimes& times) const;

  /// Writes the recorded graph for Graphviz: a node per task in its kernel's colour, an edge per dependence.
  /// `status_edges`: false leaves out dependences that only tiles of status() cause.
  void write_dot(const std::string& path, bool status_edges = true) const;

 private:
  struct Impl;
  struct Insertion {
    detail::CodeletImpl* codelet;
    const void* source;                        // argument of pack
    detail::CallHeader* (*pack)(const void*);  // returns the malloc'ed argument block, if this rank runs the task
    std::size_t call_bytes;
    std::span<detail::Data* const> data;
    std::span<const Mode> modes;
    double flops;
    Priority priority;
    std::uint64_t cost_key;
  };
  void insert(const Insertion&);
  detail::Data& scratch_data(Shape, std::size_t element_size, index_t which);
  void prefetch(detail::Data&, int gpu);
  void invalidate(detail::Data&);

  std::unique_ptr<Impl> impl_;
};

namespace detail {

template <class Args>
CallHeader* pack_call(const void* args) {
  static_assert(alignof(Call<Args>) <= alignof(std::max_align_t));
  auto* call = static_cast<Call<Args>*>(std::malloc(sizeof(Call<Args>)));
  if (call == nullptr) throw std::bad_alloc();
  ::new (call) Call<Args>{{}, *static_cast<const Args*>(args)};
  return &call->header;
}

template <class Args>
std::uint64_t cost_key_of([[maybe_unused]] const Args& args) {
  if constexpr (requires { args.cost_key(); })
    return static_cast<std::uint64_t>(args.cost_key());
  else
    return 0;
}

/// Returns the cost key of a task of K. Complex numbers are as long as real ones of another precision, so their kernels
/// have other keys.
template <class K>
std::uint64_t task_key(const typename K::Args& args) {
  constexpr bool complex = []<std::size_t... I>(std::index_sequence<I...>) {
    return (is_complex<typename ValueOf<std::tuple_element_t<I, typename Codelet<K>::Parameters>>::type> || ...);
  }
  (std::make_index_sequence<Codelet<K>::arity>{});
  return cost_key_of(args) ^ (complex ? 0x9e3779b97f4a7c15u : 0u);
}

template <class K>
std::vector<std::byte> call_bytes() {
  Call<typename K::Args> call{{}, typename K::Args{}};
  call.header.buffers = static_cast<std::uint32_t>(Codelet<K>::arity);
  std::vector<std::byte> bytes(sizeof call);
  std::memcpy(bytes.data(), &call, sizeof call);
  return bytes;
}

template <class A>
constexpr bool is_tile_argument = requires(const A& a) {
  a.data();
  a.shape();
};

/// Whether an argument of Graph::insert is a tile, or a list of tiles.
template <class A>
constexpr bool holds_tiles() {
  if constexpr (requires(const A& a) { *std::begin(a); })
    return is_tile_argument<std::remove_cvref_t<decltype(*std::begin(std::declval<const A&>()))>>;
  else
    return is_tile_argument<A>;
}

template <class P, class Argument>
constexpr bool accepts() {
  if constexpr (ListOf<P>::value) return requires(const Argument& a) {
      std::span<const Tile<typename ValueOf<P>::type>>(a);
    };
  else
    return std::is_same_v<Argument, Tile<typename ValueOf<P>::type>>;
}

}  // namespace detail

template <Kernel K, class... Tiles>
void Graph::insert(Priority priority, const typename K::Args& args, const Tiles&... tiles) {
  using C = Codelet<K>;
  static_assert((detail::holds_tiles<Tiles>() && ...),
                "insert takes tiles, such as A(i, j) of a TileMatrix, or lists of tiles (tiles_of)");
  static_assert(sizeof...(Tiles) == C::arity, "one tile for each tile parameter of the kernel's variants");
  []<std::size_t... I>(std::index_sequence<I...>) {
    static_assert((detail::accepts<std::tuple_element_t<I, typename C::Parameters>, Tiles>() && ...),
                  "a tile's element type differs from the kernel parameter's");
  }
  (std::make_index_sequence<C::arity>{});

  double flops = 0;
  using Args = typename K::Args;
  Insertion task{&C::get(), &args,    &detail::pack_call<Args>, sizeof(detail::Call<Args>), {}, C::modes,
                 0,         priority, detail::task_key<K>(args)};
  if constexpr (!C::has_list) {
    if constexpr (detail::HasFlops<K>) {
      static_assert(
          requires { K::flops(args, tiles.shape()...); }, "flops takes the Args and one Shape for each tile");
      flops = K::flops(args, tiles.shape()...);
    }
    const std::array<detail::Data*, C::arity> data{&tiles.data()...};
    task.data = data;
    task.flops = flops;
    insert(task);
  } else {
    std::vector<detail::Data*> data;
    std::vector<Shape> shapes;
    const auto add = [&]<class A>(const A& a) {
      if constexpr (requires { a.shape(); }) {
        data.push_back(&a.data());
        shapes.push_back(a.shape());
      } else {
        for (const auto& tile : a) {
          data.push_back(&tile.data());
          shapes.push_back(tile.shape());
        }
      }
    };
    (add(tiles), ...);
    if constexpr (detail::HasFlops<K>) {
      static_assert(
          requires { K::flops(args, std::span<const Shape>{}); },
          "with a list of tiles, flops takes the Args and the Shapes of all tiles in one std::span");
      flops = K::flops(args, std::span<const Shape>(shapes));
    }
    task.data = data;
    task.flops = flops;
    insert(task);
  }
}

template <Kernel Zero, Kernel Add, class T>
void Graph::reduction(const Tile<T>& tile) {
  static_assert(Codelet<Zero>::modes == std::array{Mode::out}, "Zero writes its one tile (Out)");
  static_assert(Codelet<Add>::modes == std::array{Mode::commute, Mode::in}, "Add adds a tile (In) to one (Commute)");
  static_assert(std::is_default_constructible_v<typename Zero::Args>, "Zero runs with default Args");
  tile.data().set_reduction(Codelet<Zero>::get(), Codelet<Add>::get(), detail::call_bytes<Add>());
}

}  // namespace tesela
