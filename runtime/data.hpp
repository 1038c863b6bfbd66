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

/// Which of several processes have what is in a tile. All keep the same book, since all insert the same tasks.
struct Whereabouts {
  int place = -1;            ///< whose tasks write it; -1: of the rank that writes it first
  int holder = -1;           ///< which wrote it last; -1: none
  std::uint64_t copies = 0;  ///< a bit for each rank that has it as it is now
  bool at(int rank) const { return (copies >> rank & 1) != 0; }
};

/// One StarPU data handle: a block of memory that StarPU copies between the nodes of the machine. Graphs of several
/// threads may read it together, so an insertion that only reads changes nothing here that is not atomic. A rank keeps
/// the book of millions of tasks that it does not run: what that takes is one cache line.
class alignas(64) Data {
 public:
  enum class OnRelease : std::uint8_t { bring_home, drop };

  /// `home` is the block's place in host memory, or in that of the runtime's `gpu`-th GPU where that is not negative,
  /// or null for a block that StarPU allocates where it is first written.
  Data(Runtime& runtime, void* home, Shape shape, index_t ld, std::size_t element_size, OnRelease on_release,
       int gpu = -1);
  ~Data();
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;

  Shape shape() const { return {rows_, cols_}; }
  std::size_t element_size() const { return element_size_; }
  std::size_t bytes() const { return std::size_t{rows_} * cols_ * element_size_; }
  /// Throws LifetimeError once the runtime is gone. Among several ranks it is registered where it is first needed.
  void* handle() const;
  void require_alive() const;
  bool registered() const { return handle_ != nullptr; }
  void release() noexcept;

  void set_label(std::shared_ptr<const std::string> name, index_t i, index_t j);
  std::string label() const;

  /// Among several ranks: the home is in the memory of that one alone, and so is what it held.
  void live_at(int rank);
  /// Among several ranks, once the tasks inserted so far have run: `rank` gets the contents (done: as Messages::send),
  /// or all do, or those that have a home for them.
  void bring_to(int rank, int priority, const std::shared_ptr<GraphTasks>& graph);
  void bring_to_all();
  void bring_to_homes();
  /// What that rank received goes, once the tasks that read it have run: it waits for them there. False where the
  /// program holds it, or where it has the contents from no other rank.
  bool drop_copy(int rank);
  /// A task there writes it, or all ranks did alike, or it was forgotten.
  void written_at(int rank);
  void written_by_all();
  void forgotten();
  const Whereabouts& whereabouts() const { return where_; }
  int usual_place() const;  // by its label, where nobody said

  /// Waits for the tasks before it and makes the contents up to date at home (Mode::in), or says that what is there is
  /// what counts now (Mode::inout). Does nothing more on a rank that is not its home.
  void acquire_home(Mode mode);

  void set_reduction(CodeletImpl& zero, CodeletImpl& combine, std::vector<std::byte> combine_call);
  bool has_reduction() const { return combine_ != nullptr; }
  const CodeletImpl* zero() const { return zero_; }

  /// Whether anything was written to it, or will be by the tasks inserted so far: what StarPU aborts on when it is not.
  bool has_value() const { return has_value_.load(std::memory_order_relaxed); }
  void set_value(bool value) {
    if (value != has_value()) has_value_.store(value, std::memory_order_relaxed);
  }

  /// Where the last task that writes it was inserted; null when none was.
  const std::shared_ptr<GraphPart>& writer() const { return writer_; }
  void set_writer(const std::shared_ptr<GraphPart>& part) {
    if (part != writer_) writer_ = part;
  }
  /// Tasks were dropped where it was last written: it holds what it held before, or a part of what it should.
  bool is_lost() const { return any_part_lost && writer_ != nullptr && writer_->lost; }

  /// Before an access that may make StarPU allocate it in host memory: EnvironmentError where that is limited and full.
  void reserve(Mode mode);

  /// Says that a graph holds an access back (see GraphOptions::longest_path_priorities).
  void hold(std::uint64_t graph, bool writes);
  /// Submits what graphs but this one hold back, if an access has to come after it: any access after a writing one, a
  /// writing one after any.
  void submit_held(bool writes, std::uint64_t but = 0);

  const std::uint64_t id;  // no other has it, ever

 private:
  friend TileMemory acquire_on_host(Data&, Mode);
  friend void release_on_host(Data&) noexcept;
  friend int take_status(Data&);
  friend struct RuntimeState;
  void enlist() const;  // with StarPU
  void leave() noexcept;
  void note_copy(int rank);
  void let_go() noexcept;
  void changes() noexcept;  // what others received is not what it holds any more

  std::shared_ptr<RuntimeState> state_;
  Whereabouts where_;
  mutable void* handle_ = nullptr;
  std::uint32_t rows_, cols_;
  std::uint32_t slot_ = 0;      // among RuntimeState::versions; 0 while nobody received it
  std::uint16_t messages_ = 0;  // that all ranks sent each other of it, modulo 2^16
  std::int8_t home_rank_ = -1;  // whose memory alone it is at home in; -1: each rank's that has one
  bool has_home_;
  std::atomic<bool> has_value_;
  OnRelease on_release_;

  std::size_t element_size_;
  void* home_;
  index_t ld_;
  int home_node_;             // StarPU's memory node; -1 without a home
  std::size_t reserved_ = 0;  // bytes, of RuntimeState::host_limit
  std::shared_ptr<const std::string> name_;
  index_t i_ = 0, j_ = 0;
  CodeletImpl *zero_ = nullptr, *combine_ = nullptr;
  std::vector<std::vector<std::byte>> combine_calls_;  // every one that a submitted task may still point to
  std::shared_ptr<GraphPart> writer_;
  std::atomic<std::uint64_t> held_by_{0};  // the graph that holds accesses back, or every_graph for several
  std::atomic<bool> held_writing_{false};
  std::atomic<int> held_on_host_{0};
  Data *next_ = nullptr, *previous_ = nullptr;  // the runtime's list of what is registered

 public:
  /// Of a status tile: its number among its graph's.
  index_t status_number = -1;
};

TileMemory acquire_on_host(Data&, Mode);
void release_on_host(Data&) noexcept;

/// A status tile's value, which becomes 0, once the tasks that write it have run; among ranks what is here.
int take_status(Data&);

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

/// A reference to one tile: what Graph::insert takes. Copying it copies the reference.
template <class T>
class Tile {
 public:
  using value_type = T;
  explicit Tile(detail::Data& data) : data_(&data) {}

  Shape shape() const { return data_->shape(); }
  index_t rows() const { return shape().rows; }
  index_t cols() const { return shape().cols; }
  detail::Data& data() const { return *data_; }

  /// Waits for the tasks that write the tile and brings it to the host. Throws Cancelled or EnvironmentError when those
  /// tasks were dropped (see Graph::wait), ArgumentError when nothing was ever written. Hold it no longer than needed:
  /// a task that writes the tile waits for its end, and a wait() for that task, on the same thread, would wait for
  /// ever.
  HostAccess<const T> read() const { return {*data_, Mode::in}; }
  /// As read(), to change the tile in place: waits for the tasks that read it as well. Throws as read() does.
  HostAccess<T> update() const { return {*data_, Mode::inout}; }
  /// Waits for the tasks that use the tile; what it held is lost. Throws as read() does, when tasks were dropped.
  HostAccess<T> write() const { return {*data_, Mode::out}; }

 private:
  detail::Data* data_;
};

}  // namespace tesela
