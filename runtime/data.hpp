#pragma once

#include <tesela/runtime/access.hpp>
#include <tesela/runtime/codelet.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace tesela {

class Runtime;

namespace detail {

/// The most ranks that share a graph.
inline constexpr int most_ranks = 4096;

/// Ranks that have a tile's contents. All ranks hold the same record, since all insert the same tasks. A set of
/// one rank, of all ranks, or of some of the first 64 ranks needs no memory.
class TileLocation {
 public:
  TileLocation() = default;
  ~TileLocation() { clear(); }
  TileLocation(const TileLocation&) = delete;
  TileLocation& operator=(const TileLocation&) = delete;

  int place() const { return place_; }    ///< rank whose tasks write it; -1: the rank that writes it first
  int holder() const { return holder_; }  ///< rank that wrote it last; -1: none
  /// Whether the rank has the current contents.
  bool at(int rank) const {
    if (kind_ >= none) return kind_ == rank;
    if (kind_ == near) return rank < 64 && (bits_ >> rank & 1) != 0;
    return kind_ == all || (words_[rank / 64] >> rank % 64 & 1) != 0;
  }
  /// Whether all ranks have the contents.
  bool everywhere() const { return kind_ == all; }

  int home() const { return home_; }  ///< the only rank with a home for it; -1: each rank that has one
  void set_home(int rank) { home_ = static_cast<std::int16_t>(rank); }
  void set_place(int rank) { place_ = static_cast<std::int16_t>(rank); }
  void set_holder(int rank) { holder_ = static_cast<std::int16_t>(rank); }
  /// Sets the rank that wrote it. No other rank has the contents.
  void written_at(int rank) {
    clear();
    holder_ = kind_ = static_cast<std::int16_t>(rank);
  }
  /// The same contents were written on all ranks.
  void written_by_all(int rank) {
    written_at(rank);
    kind_ = all;
  }
  void add(int rank, int ranks);
  void remove(int rank, int ranks);

 private:
  static constexpr std::int16_t none = -1, all = -2, near = -3, far = -4;
  void spread(int ranks);  // changes the set's form to far
  void clear() {
    if (kind_ == far) delete[] words_;
    kind_ = none;
  }

  std::int16_t place_ = -1, holder_ = -1, home_ = -1;
  std::int16_t kind_ = none;  // the only rank with the contents, or the form of the set
  union {
    std::uint64_t bits_ = 0;  // near: one bit for each of the first 64 ranks
    std::uint64_t* words_;    // far: one bit for each rank
  };
};

/// One StarPU data handle: a block of memory that StarPU copies between the memories of the machine. Graphs of several
/// threads may read it together, so an insertion that only reads changes atomic members alone. A rank also tracks the
/// tiles of millions of tasks that it does not run; the members for this fill one cache line, and the writer begins the
/// next one.
class alignas(64) Data {
 public:
  enum class OnRelease : std::uint8_t { bring_home, drop };

  /// `home`: the block in host memory, or in the memory of the runtime's GPU number `gpu` if that is not negative. If
  /// null, StarPU allocates the block at the first write.
  Data(Runtime& runtime, void* home, Shape shape, index_t ld, std::size_t element_size, OnRelease on_release,
       int gpu = -1);
  ~Data();
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;

  Shape shape() const { return {rows_, cols_}; }
  std::size_t element_size() const { return element_size_; }
  std::size_t bytes() const { return std::size_t{rows_} * cols_ * element_size_; }
  /// Throws LifetimeError once the runtime is gone. With several ranks, registers the block at its first use.
  void* handle() const;
  void require_alive() const;
  bool registered() const { return handle_ != nullptr; }
  void release() noexcept;

  void set_label(std::shared_ptr<const std::string> name, index_t i, index_t j);
  std::string label() const;

  /// With several ranks: only this rank has a home for it, with the initial contents.
  void set_home_rank(int rank);
  /// With several ranks, after the tasks inserted so far: sends the contents to `rank`, to all ranks, or to the ranks
  /// that have a home for them (Messages::send).
  void send_to(int rank, int priority, const std::shared_ptr<GraphTasks>& graph);
  void bring_to_all();
  void send_to_homes();
  /// Drops the copy that `rank` received; on that rank it first waits for the tasks that read the copy. Returns false
  /// if `rank` wrote the tile last, if the program holds it on the host, or if it has a reduction.
  bool drop_copy(int rank);
  /// Records a write by a task on that rank, an identical write on all ranks, or a Graph::forget.
  void record_write_at(int rank);
  void record_write_by_all();
  void forgotten();
  const TileLocation& whereabouts() const { return where_; }
  int default_owner() const;  // the rank of its label (i, j) in the grid

  /// Waits for earlier tasks and copies the contents to the home (Mode::in), or declares the home's contents current
  /// (Mode::inout). With several ranks, Mode::in sends them to every rank that has a home.
  void acquire_home(Mode mode);

  void set_reduction(CodeletImpl& zero, CodeletImpl& combine, std::vector<std::byte> combine_call);
  bool has_reduction() const { return combine_ != nullptr; }
  const CodeletImpl* zero() const { return zero_; }

  /// Whether the tile was written, or will be by the tasks inserted so far. StarPU aborts when a task reads it
  /// otherwise.
  bool has_value() const { return has_value_.load(std::memory_order_relaxed); }
  void set_value(bool value) {
    if (value != has_value()) has_value_.store(value, std::memory_order_relaxed);
  }

  /// The graph part with the last task that writes it; null without such a task.
  const std::shared_ptr<TaskBatch>& writer() const { return writer_; }
  void set_writer(const std::shared_ptr<TaskBatch>& part) {
    if (part != writer_) writer_ = part;
  }
  /// Whether dropped tasks should have written it: its contents are old or incomplete.
  bool is_lost() const { return any_batch_lost && writer_ != nullptr && writer_->lost; }

  /// Precedes an access for which StarPU may allocate host memory. Throws EnvironmentError if the limit is reached.
  void reserve(Mode mode);

  /// Notes that a graph holds an access back (see GraphOptions::longest_path_priorities).
  void hold(std::uint64_t graph, bool writes);
  /// Submits the accesses that other graphs hold back if the new access must follow them: after a write any access,
  /// after a read a write. Skips the graph `but`.
  void submit_deferred(bool writes, std::uint64_t but = 0);

  const std::uint64_t id;  // never reused

 private:
  friend TileMemory acquire_on_host(Data&, Mode);
  friend void release_on_host(Data&) noexcept;
  friend int read_and_clear_status(Data&);
  friend struct RuntimeState;
  void enlist() const;  // registers it with StarPU
  void leave() noexcept;
  void record_copy(int rank);
  void release_copy() noexcept;
  void changes() noexcept;  // invalidates the copies that other ranks received

  RuntimeState* const state_;
  TileLocation where_;
  mutable void* handle_ = nullptr;
  std::uint32_t rows_, cols_, element_size_;
  std::uint32_t slot_ = 0;      // index in RuntimeState::versions; 0 while nobody received it
  std::uint16_t messages_ = 0;  // messages with this tile between all ranks, modulo 2^16
  bool has_home_;
  std::atomic<bool> has_value_;
  std::atomic<int> host_accesses_{0};

  std::shared_ptr<TaskBatch> writer_;

 public:
  /// Index of a status tile in its graph.
  index_t status_number = -1;

 private:
  const std::shared_ptr<RuntimeState> kept_state_;
  OnRelease on_release_;
  void* home_;
  index_t ld_;
  int home_node_;             // StarPU's memory node; -1 without a home
  std::size_t reserved_ = 0;  // bytes of RuntimeState::host_limit
  std::shared_ptr<const std::string> name_;
  index_t i_ = 0, j_ = 0;
  CodeletImpl *zero_ = nullptr, *combine_ = nullptr;
  std::vector<std::vector<std::byte>> combine_calls_;  // each that a submitted task may still point to
  std::atomic<std::uint64_t> deferred_by_{0};          // the graph that holds accesses back, or every_graph for several
  std::atomic<bool> defers_write_{false};
  Data *next_ = nullptr, *previous_ = nullptr;  // the runtime's list of registered data
};

TileMemory acquire_on_host(Data&, Mode);
void release_on_host(Data&) noexcept;

/// Returns a status tile's value after the tasks that write it, and sets it to 0; with several ranks the local value.
int read_and_clear_status(Data&);

}  // namespace detail

/// A tile held on the host: valid until it goes out of scope. T is const for reading.
template <class T>
class HostAccess : public Block<T> {
 public:
  HostAccess(detail::Data& tile, Mode mode) : data_(&tile) {
    const detail::TileMemory t = detail::acquire_on_host(tile, mode);
    this->data = static_cast<T*>(t.data);
    this->rows = t.rows;
    this->cols = t.cols;
    this->ld = t.ld;
  }
  ~HostAccess() { detail::release_on_host(*data_); }
  HostAccess(const HostAccess&) = delete;
  HostAccess& operator=(const HostAccess&) = delete;

 private:
  detail::Data* data_;
};

/// A reference to one tile, the argument of Graph::insert. Copying it copies the reference.
template <class T>
class Tile {
 public:
  using value_type = T;
  explicit Tile(detail::Data& data) : data_(&data) {}

  /// Return the shape, and the data of the runtime.
  Shape shape() const { return data_->shape(); }
  index_t rows() const { return shape().rows; }
  index_t cols() const { return shape().cols; }
  detail::Data& data() const { return *data_; }

  /// Waits for the tasks that write the tile and brings it to the host. Throws Cancelled or EnvironmentError if those
  /// tasks were dropped (see Graph::wait), and ArgumentError if nothing wrote the tile. Hold the access no longer than
  /// needed: a task that writes the tile waits for its end, and a wait() for that task on the same thread would never
  /// return.
  HostAccess<const T> read() const { return {*data_, Mode::in}; }
  /// Like read(), to change the tile in place: also waits for the tasks that read it. Throws as read() does.
  HostAccess<T> update() const { return {*data_, Mode::inout}; }
  /// Waits for the tasks that use the tile; its contents are lost. Throws as read() does if tasks were dropped.
  HostAccess<T> write() const { return {*data_, Mode::out}; }

 private:
  detail::Data* data_;
};

}  // namespace tesela
