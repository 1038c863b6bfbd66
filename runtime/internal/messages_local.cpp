#include <tesela/runtime/internal/device_copies.hpp>
#include <tesela/runtime/internal/local_peers.hpp>
#include <tesela/runtime/internal/ranks.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <sched.h>
#include <thread>
#include <utility>
#include <vector>

// Tiles between ranks of one host. MPI has one thread, which copies each tile to and from its own memory. Here the rank
// that needs a tile copies it from the other process with several threads, or from the other's GPU to its own. The
// ranks exchange notes through pipes.

namespace tesela::detail {
namespace {

/// Returns the location of a handle's contents on a memory node.
Runs runs_of(starpu_data_handle_t handle, unsigned node) {
  const auto* m = static_cast<const starpu_matrix_interface*>(starpu_data_get_interface_on_node(handle, node));
  // NOLINTNEXTLINE(performance-no-int-to-ptr): StarPU keeps addresses as integers.
  return {reinterpret_cast<std::byte*>(m->ptr), m->nx * m->elemsize, m->ny, m->ld * m->elemsize};
}

/// Data of a message that both sender and receiver keep.
struct Message {
  starpu_data_handle_t handle;
  int other;  ///< the rank it goes to or comes from
  std::int64_t tag;
  Messages::Done done;
  void* argument;
  unsigned node;  ///< StarPU's memory node of the contents here
  bool on_device() const { return node != STARPU_MAIN_RAM; }
  Runs runs() const { return runs_of(handle, node); }
};

struct Sending : Message {
  std::vector<std::byte> copy = {};  ///< copy of contents that others cannot read in place
};

/// A note between ranks; a pipe writes it whole or not at all.
struct Note {
  enum Kind : std::int64_t { offer, taken, refused, end } kind = end;
  std::int64_t from = 0, tag = 0;
  Sending* sending = nullptr;             ///< on the rank that sends the tile
  struct Receiving* receiving = nullptr;  ///< on the rank that refused, and is offered a copy
  const std::byte* begin = nullptr;       ///< in host memory; null: at `place`
  std::size_t stride = 0;
  DevicePlace place = {};
};

struct Receiving : Message {
  bool acquired = false, offered = false;
  Note offer = {};
  std::atomic<std::size_t> parts = 0;  ///< parts not yet copied
  std::atomic<bool> failed = false;
};

class LocalMessages final : public Messages {
 public:
  explicit LocalMessages(Messages& others) : others_(others) {}

  int rank() const override { return others_.rank(); }
  int size() const override { return others_.size(); }
  std::vector<std::string> gather(std::string_view mine, double patience) override {
    return others_.gather(mine, patience);
  }
  void add(std::span<double> numbers) override { others_.add(numbers); }
  void abort(int code) noexcept override { others_.abort(code); }

  void start() override {
    others_.start();
    peers_.find(others_, devices_);
    if (!peers_.any()) return;
    cpu_set_t cores;
    const int count = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
    ends_ = false;
    threads_.emplace_back([this] { listen(); });
    for (int t = 0; t < std::clamp(count / 2, 1, 4); ++t) threads_.emplace_back([this] { work(); });
  }

  void stop() noexcept override {
    if (!threads_.empty()) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return unfinished_ == 0; });
      ends_ = true;
      lock.unlock();
      jobs_there_.notify_all();
      const Note last{};
      peers_.write_note_to_self(&last, sizeof last);
      for (std::thread& thread : threads_) thread.join();
      threads_.clear();
    }
    peers_.close();
    std::thread([this] { devices_.close(); }).join();  // this thread keeps its current device
    others_.stop();
  }

  void send(void* handle, int to, std::int64_t tag, int priority, Done done, void* argument) override {
    if (!peers_.has(to)) return others_.send(handle, to, tag, priority, done, argument);
    auto* const sending = new Sending{message(handle, to, tag, done, argument)};
    begin(*sending, STARPU_R, [this, sending] {
      if (!sending->on_device()) return offer(*sending);
      const std::lock_guard lock(mutex_);  // not here: this is StarPU's thread, with its own current device
      later([this, sending] { offer(*sending); });
    });
  }

  void receive(void* handle, int from, std::int64_t tag, int priority, Done done, void* argument) override {
    if (!peers_.has(from)) return others_.receive(handle, from, tag, priority, done, argument);
    auto* const receiving = new Receiving{message(handle, from, tag, done, argument)};
    {
      const std::lock_guard lock(mutex_);
      if (const auto early = offers_.extract({from, tag})) {
        receiving->offer = early.mapped();
        receiving->offered = true;
      } else {
        wanted_.emplace(std::pair(from, tag), receiving);
      }
    }
    begin(*receiving, STARPU_W, [this, receiving] {
      const std::lock_guard lock(mutex_);
      receiving->acquired = true;
      if (receiving->offered) copy(*receiving);
    });
  }

 private:
  /// Chooses the memory: large tiles go directly between GPUs; small ones are as fast through the host.
  Message message(void* data, int other, std::int64_t tag, Done done, void* argument) const {
    constexpr std::size_t large = 1 << 15;
    auto* const handle = static_cast<starpu_data_handle_t>(data);
    const bool device = peers_.has_devices(other) && starpu_data_get_size(handle) >= large;
    return {handle, other, tag, done, argument, device ? devices_.node(tag >> count_bits) : unsigned{STARPU_MAIN_RAM}};
  }

  /// Calls `then` when the handle's contents may be accessed on the message's memory node.
  void begin(const Message& message, starpu_data_access_mode mode, std::function<void()> then) {
    {
      const std::lock_guard lock(mutex_);
      ++unfinished_;
    }
    auto* const next = new std::function<void()>(std::move(then));
    const auto run = [](void* argument) {
      const std::unique_ptr<std::function<void()>> it(static_cast<std::function<void()>*>(argument));
      (*it)();
    };
    starpu_data_acquire_on_node_cb(message.handle, static_cast<int>(message.node), mode, run, next);
  }

  void finish(const Message& message) {
    starpu_data_release_on_node(message.handle, static_cast<int>(message.node));
    if (message.done != nullptr) message.done(message.argument);
    const std::lock_guard lock(mutex_);
    --unfinished_;
    changed_.notify_all();
  }

  void offer(Sending& sending) {
    const Runs runs = sending.runs();
    Note note{Note::offer, rank(), sending.tag, &sending, nullptr, runs.begin, runs.stride};
    if (sending.on_device()) {
      note.begin = nullptr;
      if (!devices_.describe(runs.begin, sending.node, note.place)) fail("offer", sending.other);
    }
    answer(note, sending.other);
  }

  void answer(const Note& note, std::int64_t to) { peers_.write_note(static_cast<int>(to), &note, sizeof note); }

  /// Reads notes and leaves the work to other threads, because writers to a full pipe wait for this thread alone.
  void listen() {
    for (Note note; peers_.hear(&note, sizeof note) && note.kind != Note::end;) {
      const std::lock_guard lock(mutex_);
      if (note.kind == Note::taken)
        later([this, sending = note.sending] {
          const std::unique_ptr<Sending> it(sending);
          finish(*it);
        });
      else if (note.kind == Note::refused)
        later([this, note] { send_copy_offer(*note.sending, *note.receiving); });
      else
        handle_offer(note);
    }
  }

  void handle_offer(const Note& note) {
    Receiving* receiving = note.receiving;
    if (receiving == nullptr) {
      const std::pair key(static_cast<int>(note.from), note.tag);
      const auto wanted = wanted_.extract(key);
      if (!wanted) return void(offers_.emplace(key, note));
      receiving = wanted.mapped();
    }
    receiving->offer = note;
    receiving->offered = true;
    if (receiving->acquired) copy(*receiving);
  }

  /// Offers a copy, because other processes cannot read some memory, such as CUDA's page-locked memory.
  void send_copy_offer(Sending& sending, Receiving& refused) {
    const Runs runs = sending.runs();
    sending.copy.resize(runs.size());
    std::byte* const copy = sending.copy.data();
    for (std::size_t j = 0; j < runs.columns; ++j)
      std::memcpy(copy + j * runs.bytes, runs.begin + j * runs.stride, runs.bytes);
    answer({Note::offer, rank(), sending.tag, &sending, &refused, copy, runs.bytes}, sending.other);
  }

  /// Ends all ranks after a copy failed that worked with a sample at the start.
  void fail(const char* what, int other) {
    std::fprintf(stderr,
                 "tesela: rank %d cannot %s a tile in a GPU's memory to or from rank %d; TESELA_LOCAL_COPIES=host\n",
                 rank(), what, other);
    abort(exit_code_of(ErrorKind::environment));
  }

  /// Requires mutex_.
  void copy(Receiving& receiving) {
    constexpr std::size_t part = 1 << 20;
    const Runs runs = receiving.runs();
    const Note& offer = receiving.offer;
    if (receiving.on_device()) {
      receiving.parts = 1;
      return later([this, &receiving, runs] {
        const Note& from = receiving.offer;
        if (!devices_.read(runs, receiving.node, from.place, from.stride)) fail("copy", receiving.other);
        end(receiving);
      });
    }
    const std::size_t most = std::max<std::size_t>(1, 2 * (threads_.size() - 1));
    // Contiguous columns are one run.
    const bool dense = runs.columns == 1 || (runs.stride == runs.bytes && offer.stride == runs.bytes);
    const std::size_t units = dense ? runs.size() : runs.columns;
    const std::size_t parts =
        std::clamp<std::size_t>(runs.size() / part, 1, std::min(most, std::max<std::size_t>(units, 1)));
    receiving.parts = parts;
    for (std::size_t p = 0; p < parts; ++p) {
      const std::size_t first = units * p / parts, count = units * (p + 1) / parts - first;
      const Runs some = dense ? Runs{runs.begin + first, count, 1, count}
                              : Runs{runs.begin + first * runs.stride, runs.bytes, count, runs.stride};
      later([this, &receiving, some, from = offer.begin + first * (dense ? 1 : offer.stride)] {
        if (!peers_.read(receiving.other, some, from, receiving.offer.stride)) receiving.failed = true;
        if (--receiving.parts == 0) end(receiving);
      });
    }
  }

  void end(Receiving& receiving) {
    Note note = receiving.offer;
    const int from = receiving.other;
    note.kind = receiving.failed ? Note::refused : Note::taken;
    if (receiving.failed) {
      note.receiving = &receiving;
      const std::lock_guard lock(mutex_);
      receiving.failed = receiving.offered = false;
    } else {
      const std::unique_ptr<Receiving> it(&receiving);
      finish(*it);
    }
    answer(note, from);
  }

  /// Requires mutex_.
  void later(std::function<void()> job) {
    jobs_.push_back(std::move(job));
    jobs_there_.notify_one();
  }

  void work() {
    for (std::unique_lock lock(mutex_);;) {
      jobs_there_.wait(lock, [this] { return !jobs_.empty() || ends_; });
      if (jobs_.empty()) return;
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      lock.lock();
    }
  }

  Messages& others_;
  LocalPeers peers_;
  DeviceCopies devices_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable changed_, jobs_there_;
  std::deque<std::function<void()>> jobs_;
  // Tags repeat after 2^16 messages of a tile.
  std::multimap<std::pair<int, std::int64_t>, Receiving*> wanted_;
  std::multimap<std::pair<int, std::int64_t>, Note> offers_;
  std::size_t unfinished_ = 0;
  bool ends_ = false;
};

}  // namespace

Messages* with_local_copies(Messages& others) {
  static LocalMessages local(others);
  return &local;
}

}  // namespace tesela::detail
