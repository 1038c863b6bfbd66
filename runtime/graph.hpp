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

/// Priorities are one scale for all graphs of a Runtime: 0 … highest_priority. Longest paths fill it.
inline constexpr int highest_priority = 1'000'000;

/// Schedulers that know priorities run ready tasks of higher priority first. Where a task may run is for the scheduler
/// to choose, but for the following.
struct Priority {
  int value = 0;
  bool gpu = false;  ///< not on a core where a GPU can run it, whatever the scheduler's models say
  /// If not negative, on this of the GPUs (modulo their number) where one can run it: for chains of tasks on data that
  /// are too large to move, which the scheduler would spread while it learns how long they take.
  int device = -1;
  bool core = false;  ///< not on a GPU where a core can run it
};
inline constexpr Priority urgent{highest_priority};  ///< short, and others wait for it
inline constexpr Priority on_gpu{0, true};
inline constexpr Priority on_core{0, false, -1, true};
constexpr Priority on_gpu_number(std::size_t device) { return {0, true, static_cast<int>(device % 4096)}; }

/// A numerical outcome: 0, or the first nonzero value that a kernel wrote to a status tile (LAPACK's info).
struct Status {
  index_t info = 0;
  bool ok() const { return info == 0; }
};

struct GraphOptions {
  std::string name = "tesela";  ///< of its picture (write_dot)
  bool record = false;          ///< keep the DAG, for write_dot and bounds in seconds (about 100 B a task)
  /// If not negative, all that would run on some GPU by its Priority runs on this one (modulo their number): several
  /// graphs of whole problems then share the GPUs.
  int gpu = -1;
  /// Hold tasks back until submit(), wait(), the graph's end or an access on the host to one of their tiles, and then
  /// give each the length of the longest path from it to the end as its priority; implies record.
  bool longest_path_priorities = false;
};

/// How large a graph is and how fast it could run.
struct Bounds {
  index_t tasks = 0;
  double work_flops = 0;
  double path_flops = 0;  ///< of the longest path
  // The rest needs GraphOptions::record and performance models that know each kernel at each shape: StarPU learns while
  // a kernel is new to it, and whenever STARPU_CALIBRATE=1. `untimed` counts the tasks of which it knows too little.
  index_t untimed = 0;
  double path_seconds = 0;  ///< longest path, each task on its fastest kind of worker
  double area_seconds = 0;  ///< all the work, divided over the workers as well as it can be
  double lower_bound_seconds() const { return path_seconds > area_seconds ? path_seconds : area_seconds; }
};

/// A task graph: tasks run in any order that respects the dependences which the sequence of insertions implies.
///
/// Threads: any number of them may work on one Runtime at once, each with graphs of its own; a Graph is used by one
/// thread at a time. Two threads may share the tiles that both only read: by tasks (In), by Tile::read, by the hints
/// prefetch_to_gpu and bring_home, and by whatever copies and views of their matrices they make. A tile that one thread
/// writes (by a task, on the host, by forget or reduction) or ends is that thread's alone, from there until it has
/// waited for the tasks on it and the threads have synchronized. Kernels, their models, traces and the figures of
/// Runtime::statistics are everybody's and need no care. Runtime::cancel and a failed kernel concern all graphs.
class Graph {
 public:
  explicit Graph(Runtime& runtime, GraphOptions options = {});
  /// Waits for the graph's own tasks. (Call wait() to learn about failures.)
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Inserts one task of kernel K on these tiles (one for each parameter of its variants; a std::span or vector of
  /// tiles for a list). It starts when what it reads is ready. Throws NoWorkerError when no worker can run K,
  /// LifetimeError when the runtime is gone, and ArgumentError when the task reads a tile that nothing wrote, reduces
  /// into one without Graph::reduction, or takes one tile twice other than by In.
  template <Kernel K, class... Tiles>
  void insert(const typename K::Args& args, const Tiles&... tiles) {
    insert<K>(Priority{0}, args, tiles...);
  }
  template <Kernel K, class... Tiles>
  void insert(Priority priority, const typename K::Args& args, const Tiles&... tiles);

  /// Submits what longest_path_priorities holds back; otherwise everything is submitted already.
  void submit();

  /// Waits until all tasks of this graph have run, whatever other graphs do. Returns the first nonzero status in the
  /// order of the status() calls, and sets all of them to 0. Throws EnvironmentError when a kernel reported a failed
  /// device call, and Cancelled after Runtime::cancel: tasks were dropped then, in every graph that had some, and each
  /// of these graphs' wait() says so once. What its tasks since the wait() before were to write is lost: reading it is
  /// an ArgumentError until it is written anew. The graph takes new tasks afterwards, whatever wait() said.
  Status wait();

  /// A new one-element tile, 0 at first, that kernels write a numerical status to; wait() collects it. What a kernel
  /// writes counts within its own tiles, as LAPACK's info does; wait() adds `offset` to a positive one (a row or column
  /// of the whole problem), so that no kernel needs to know where it works. It is the graph's and
  /// ends with it: the next graph may get the same one. A loop without end takes it once, before it begins.
  Tile<int> status(index_t offset = 0);

  /// Work space for kernels' Scratch parameters: one tile of this shape for the whole graph (every worker has its own
  /// copy). A task that needs two of one shape asks for them by number: `which` tells them apart.
  template <class T>
  Tile<T> scratch(index_t rows, index_t cols, index_t which = 0) {
    return Tile<T>(scratch_data(Shape{rows, cols}, sizeof(T), which));
  }

  /// Says how Reduce accesses to a tile begin (Zero: Out) and combine (Add: Commute, In). Throws NoWorkerError when no
  /// worker can run one of them. Tasks that reduce into the tile run only where Zero can run as well.
  template <Kernel Zero, Kernel Add, class T>
  void reduction(const Tile<T>& tile);  // both with default Args

  /// Hints: bring a tile to a GPU, or to its place on the host, as soon as the tasks before it allow.
  template <class T>
  void prefetch_to_gpu(const Tile<T>& tile, int gpu) {
    prefetch(tile.data(), gpu);
  }
  template <class T>
  void bring_home(const Tile<T>& tile) {
    prefetch(tile.data(), -1);
  }

  /// Tells that a tile's contents are not needed any more, once the tasks inserted so far have run.
  template <class T>
  void forget(const Tile<T>& tile) {
    invalidate(tile.data());
  }

  Runtime& runtime() const;
  int gpu() const;  ///< GraphOptions::gpu
  index_t tasks() const;
  Bounds bounds() const;

  /// Writes the recorded graph for Graphviz: a node per task in its kernel's colour, an edge per dependence.
  void write_dot(const std::string& path) const;

 private:
  struct Impl;
  struct Insertion {
    detail::CodeletImpl* codelet;
    detail::CallHeader* call;  // malloc'ed; ownership passes to the task
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
CallHeader* pack_call(const Args& args) {
  static_assert(alignof(Call<Args>) <= alignof(std::max_align_t));
  auto* call = static_cast<Call<Args>*>(std::malloc(sizeof(Call<Args>)));
  if (call == nullptr) throw std::bad_alloc();
  ::new (call) Call<Args>{{}, args};
  return &call->header;
}

template <class Args>
std::uint64_t cost_key_of([[maybe_unused]] const Args& args) {
  if constexpr (requires { args.cost_key(); })
    return static_cast<std::uint64_t>(args.cost_key());
  else
    return 0;
}

template <class K>
std::vector<std::byte> call_bytes() {
  Call<typename K::Args> call{{}, typename K::Args{}};
  call.header.buffers = static_cast<std::uint32_t>(Codelet<K>::arity);
  std::vector<std::byte> bytes(sizeof call);
  std::memcpy(bytes.data(), &call, sizeof call);
  return bytes;
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
  static_assert(sizeof...(Tiles) == C::arity, "one tile for each tile parameter of the kernel's variants");
  []<std::size_t... I>(std::index_sequence<I...>) {
    static_assert((detail::accepts<std::tuple_element_t<I, typename C::Parameters>, Tiles>() && ...),
                  "a tile's element type differs from the kernel parameter's");
  }
  (std::make_index_sequence<C::arity>{});

  double flops = 0;
  Insertion task{
      &C::get(), nullptr, sizeof(detail::Call<typename K::Args>), {}, C::modes, 0, priority, detail::cost_key_of(args)};
  if constexpr (!C::has_list) {
    if constexpr (detail::HasFlops<K>) {
      static_assert(
          requires { K::flops(args, tiles.shape()...); }, "flops takes the Args and one Shape for each tile");
      flops = K::flops(args, tiles.shape()...);
    }
    const std::array<detail::Data*, C::arity> data{&tiles.data()...};
    task.data = data;
    task.flops = flops;
    task.call = detail::pack_call(args);
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
    task.call = detail::pack_call(args);
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
