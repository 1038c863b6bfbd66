#include <tesela/runtime/internal/ranks.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <sched.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

// Tiles between ranks of one host. MPI has one thread, which copies into memory of its own and out of it. Here who
// needs a tile copies it out of the other process, by several threads. What they tell each other are notes in a pipe.

namespace tesela::detail {
namespace {

/// How a tile lies in a process: `columns` runs of `bytes`, `stride` bytes from one to the next.
struct Runs {
  std::byte* begin = nullptr;
  std::size_t bytes = 0, columns = 0, stride = 0;

  explicit Runs(starpu_data_handle_t handle) {
    const auto* m =
        static_cast<const starpu_matrix_interface*>(starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM));
    begin = reinterpret_cast<std::byte*>(m->ptr);  // NOLINT(performance-no-int-to-ptr)
    bytes = m->nx * m->elemsize;
    columns = m->ny;
    stride = m->ld * m->elemsize;
  }
  std::size_t size() const { return bytes * columns; }
};

struct Sending {
  starpu_data_handle_t handle;
  int to;
  std::int64_t tag;
  Messages::Done done;
  void* argument;
  std::vector<std::byte> copy = {};  ///< of what others cannot read where it lies
};

/// A pipe takes a note at once or not at all.
struct Note {
  enum Kind : std::int64_t { offer, taken, refused, end } kind = end;
  std::int64_t from = 0, tag = 0;
  Sending* sending = nullptr;             ///< of the rank that sends the tile
  struct Receiving* receiving = nullptr;  ///< of the one that was refused, and is offered a copy
  std::byte* begin = nullptr;
  std::size_t stride = 0;
};

struct Receiving {
  starpu_data_handle_t handle;
  int from;
  std::int64_t tag;
  Messages::Done done;
  void* argument;
  bool acquired = false, offered = false;
  Note offer = {};
  std::atomic<std::size_t> parts = 0;  ///< that are still copied
  std::atomic<bool> failed = false;
};

struct Peer {
  pid_t pid = 0;
  int pipe = -1;  ///< where it reads; -1: out of reach
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
    find_peers();
    if (std::none_of(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.pipe >= 0; })) return;
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
      tell(own_pipe_[1], {});
      for (std::thread& thread : threads_) thread.join();
      threads_.clear();
    }
    for (Peer& peer : peers_)
      if (peer.pipe >= 0) close(peer.pipe);
    peers_.clear();
    for (int& end : own_pipe_)
      if (end >= 0) close(std::exchange(end, -1));
    others_.stop();
  }

  void send(void* handle, int to, std::int64_t tag, int priority, Done done, void* argument) override {
    if (peers_[static_cast<std::size_t>(to)].pipe < 0) return others_.send(handle, to, tag, priority, done, argument);
    auto* const sending = new Sending{static_cast<starpu_data_handle_t>(handle), to, tag, done, argument};
    begin(sending->handle, STARPU_R, [this, sending] {
      const Runs runs(sending->handle);
      answer(to_offer(*sending, runs.begin, runs.stride), sending->to);
    });
  }

  void receive(void* handle, int from, std::int64_t tag, int priority, Done done, void* argument) override {
    if (peers_[static_cast<std::size_t>(from)].pipe < 0)
      return others_.receive(handle, from, tag, priority, done, argument);
    auto* const receiving = new Receiving{static_cast<starpu_data_handle_t>(handle), from, tag, done, argument};
    {
      const std::lock_guard lock(mutex_);
      Tray& tray = trays_[{from, tag}];
      if (tray.offers.empty()) {
        tray.wanted.push_back(receiving);
      } else {
        receiving->offer = tray.offers.front();
        receiving->offered = true;
        tray.offers.pop_front();
      }
    }
    begin(receiving->handle, STARPU_W, [this, receiving] {
      const std::lock_guard lock(mutex_);
      receiving->acquired = true;
      if (receiving->offered) copy(*receiving);
    });
  }

 private:
  /// What is offered and wanted under one tag, each in its order.
  struct Tray {
    std::deque<Receiving*> wanted;
    std::deque<Note> offers;
  };

  /// Ranks whose memory this one can read, and that can read this one's.
  void find_peers() {
    static std::atomic<std::uint64_t> token;
    token =
        static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) * 0x9e3779b97f4a7c15u ^
        static_cast<std::uint64_t>(getpid());
    const char* const wanted = std::getenv("TESELA_LOCAL_COPIES");
    const bool willing = (wanted == nullptr || *wanted != '0') && pipe2(own_pipe_, O_CLOEXEC) == 0;
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // else some kernels let only parents read
    char host[256] = {};
    gethostname(host, sizeof host - 1);
    std::ostringstream mine;
    mine << host << ' ' << getpid() << ' ' << own_pipe_[1] << ' ' << reinterpret_cast<std::uintptr_t>(&token) << ' '
         << token;
    peers_.assign(static_cast<std::size_t>(size()), {});
    std::string reached(peers_.size(), '0');
    const std::vector<std::string> all = gather(mine.str(), 0);
    for (std::size_t r = 0; r < all.size(); ++r) {
      std::istringstream in(all[r]);
      std::string there;
      int pipe = -1;
      std::uintptr_t address = 0;
      std::uint64_t said = 0, found = 0;
      in >> there >> peers_[r].pid >> pipe >> address >> said;
      if (!willing || there != host || pipe < 0 || static_cast<int>(r) == rank()) continue;
      const iovec to{&found, sizeof found}, from{reinterpret_cast<void*>(address), sizeof found};  // NOLINT
      if (process_vm_readv(peers_[r].pid, &to, 1, &from, 1, 0) != sizeof found || found != said) continue;
      // To read and write: then it has a reader even when the other process has none any more.
      const std::string path = "/proc/" + std::to_string(peers_[r].pid) + "/fd/" + std::to_string(pipe);
      peers_[r].pipe = open(path.c_str(), O_RDWR | O_CLOEXEC);
      reached[r] = peers_[r].pipe >= 0 ? '1' : '0';
    }
    const std::vector<std::string> of_all = gather(reached, 0);
    for (std::size_t r = 0; r < peers_.size(); ++r)
      if (of_all[r][static_cast<std::size_t>(rank())] != '1' && peers_[r].pipe >= 0)
        close(std::exchange(peers_[r].pipe, -1));
  }

  /// What follows once the handle's contents may be read or written in host memory.
  void begin(starpu_data_handle_t handle, starpu_data_access_mode mode, std::function<void()> then) {
    {
      const std::lock_guard lock(mutex_);
      ++unfinished_;
    }
    auto* const next = new std::function<void()>(std::move(then));
    const auto run = [](void* argument) {
      const std::unique_ptr<std::function<void()>> it(static_cast<std::function<void()>*>(argument));
      (*it)();
    };
    starpu_data_acquire_on_node_cb(handle, STARPU_MAIN_RAM, mode, run, next);
  }

  void finish(starpu_data_handle_t handle, Done done, void* argument) {
    starpu_data_release_on_node(handle, STARPU_MAIN_RAM);
    if (done != nullptr) done(argument);
    const std::lock_guard lock(mutex_);
    --unfinished_;
    changed_.notify_all();
  }

  Note to_offer(Sending& sending, std::byte* begin, std::size_t stride) const {
    return {Note::offer, rank(), sending.tag, &sending, nullptr, begin, stride};
  }

  static void tell(int pipe, const Note& note) {
    while (write(pipe, &note, sizeof note) < 0 && errno == EINTR) continue;
  }
  void answer(const Note& note, std::int64_t to) { tell(peers_[static_cast<std::size_t>(to)].pipe, note); }

  /// Takes notes, and leaves to others what they bring with them: a full pipe waits for this thread alone.
  void listen() {
    for (Note note;;) {
      const ssize_t got = read(own_pipe_[0], &note, sizeof note);
      if (got < 0 && errno == EINTR) continue;
      if (got != sizeof note || note.kind == Note::end) return;
      const std::lock_guard lock(mutex_);
      if (note.kind == Note::taken)
        later([this, sending = note.sending] {
          const std::unique_ptr<Sending> it(sending);
          finish(it->handle, it->done, it->argument);
        });
      else if (note.kind == Note::refused)
        later([this, note] { offer_copy(note); });
      else
        take_offer(note);
    }
  }

  void take_offer(const Note& note) {
    Receiving* receiving = note.receiving;
    if (receiving == nullptr) {
      const auto place = trays_.try_emplace({static_cast<int>(note.from), note.tag}).first;
      if (place->second.wanted.empty()) return place->second.offers.push_back(note);
      receiving = place->second.wanted.front();
      place->second.wanted.pop_front();
      if (place->second.wanted.empty()) trays_.erase(place);
    }
    receiving->offer = note;
    receiving->offered = true;
    if (receiving->acquired) copy(*receiving);
  }

  /// CUDA's own page-locked memory, say, is no other process' to read.
  void offer_copy(const Note& refused) {
    Sending& sending = *refused.sending;
    const Runs runs(sending.handle);
    sending.copy.resize(runs.size());
    for (std::size_t j = 0; j < runs.columns; ++j)
      std::memcpy(sending.copy.data() + j * runs.bytes, runs.begin + j * runs.stride, runs.bytes);
    Note note = to_offer(sending, sending.copy.data(), runs.bytes);
    note.receiving = refused.receiving;
    answer(note, sending.to);
  }

  /// With mutex_ held.
  void copy(Receiving& receiving) {
    constexpr std::size_t part = 1 << 20;
    const Runs runs(receiving.handle);
    const std::size_t most = std::max<std::size_t>(1, 2 * (threads_.size() - 1));
    // Columns that lie one behind the other are one.
    const bool dense = runs.columns == 1 || (runs.stride == runs.bytes && receiving.offer.stride == runs.bytes);
    const std::size_t units = dense ? runs.size() : runs.columns, width = dense ? 1 : runs.bytes;
    const std::size_t parts =
        std::clamp<std::size_t>(units * width / part, 1, std::min(most, std::max<std::size_t>(units, 1)));
    receiving.parts = parts;
    for (std::size_t p = 0; p < parts; ++p)
      later([this, &receiving, runs, dense, first = units * p / parts, last = units * (p + 1) / parts] {
        const Note& offer = receiving.offer;
        const bool right = dense ? read_bytes(receiving.from, runs.begin + first, offer.begin + first, last - first)
                                 : read_columns(receiving.from, runs, offer, first, last);
        if (!right) receiving.failed = true;
        if (--receiving.parts == 0) end(receiving);
      });
  }

  bool read_bytes(int from, std::byte* to, std::byte* there, std::size_t bytes) const {
    while (bytes > 0) {
      const iovec here{to, bytes}, other{there, bytes};
      const ssize_t got = process_vm_readv(pid_of(from), &here, 1, &other, 1, 0);
      if (got <= 0) return false;
      to += got;
      there += got;
      bytes -= static_cast<std::size_t>(got);
    }
    return true;
  }

  bool read_columns(int from, const Runs& runs, const Note& offer, std::size_t first, std::size_t last) const {
    constexpr std::size_t most = 512;  // the system takes 1024
    std::vector<iovec> here, other;
    for (std::size_t j = first; j < last; first = j) {
      here.clear(), other.clear();
      for (; j < last && j - first < most; ++j) {
        here.push_back({runs.begin + j * runs.stride, runs.bytes});
        other.push_back({offer.begin + j * offer.stride, runs.bytes});
      }
      const auto expected = static_cast<ssize_t>(here.size() * runs.bytes);
      if (process_vm_readv(pid_of(from), here.data(), here.size(), other.data(), other.size(), 0) != expected)
        return false;
    }
    return true;
  }

  pid_t pid_of(int rank) const { return peers_[static_cast<std::size_t>(rank)].pid; }

  void end(Receiving& receiving) {
    Note note = receiving.offer;
    const int from = receiving.from;
    note.kind = receiving.failed ? Note::refused : Note::taken;
    if (receiving.failed) {
      note.receiving = &receiving;
      const std::lock_guard lock(mutex_);
      receiving.failed = receiving.offered = false;
    } else {
      const std::unique_ptr<Receiving> it(&receiving);
      finish(it->handle, it->done, it->argument);
    }
    answer(note, from);
  }

  /// With mutex_ held.
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
  std::vector<Peer> peers_;
  int own_pipe_[2] = {-1, -1};
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable changed_, jobs_there_;
  std::deque<std::function<void()>> jobs_;
  std::map<std::pair<int, std::int64_t>, Tray> trays_;
  std::size_t unfinished_ = 0;
  bool ends_ = false;
};

}  // namespace

Messages* with_local_copies(Messages& others) {
  static LocalMessages local(others);
  return &local;
}

}  // namespace tesela::detail
