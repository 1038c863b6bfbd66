#include <tesela/tiles/io/atomic_file.hpp>
#include <tesela/tiles/io/unfinished_files.hpp>

#include <climits>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace tesela {
namespace {

// A signal handler may run on another thread than the writer, so the atomic state alone hands a slot over.
enum State : int { unused, filling, ready, removing, removed };

struct Slot {
  std::atomic<int> state{unused};
  pid_t owner = 0;  // a forked child must not remove its parent's files
  char path[PATH_MAX] = {};
};
static_assert(std::atomic<int>::is_always_lock_free);

std::array<Slot, 16> slots;

}  // namespace

int remember_unfinished(const std::string& path) noexcept {
  if (path.size() >= sizeof(Slot::path)) return -1;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    int expected = unused;
    if (!slots[i].state.compare_exchange_strong(expected, filling)) continue;
    slots[i].owner = getpid();
    std::memcpy(slots[i].path, path.c_str(), path.size() + 1);
    slots[i].state = ready;
    return static_cast<int>(i);
  }
  return -1;
}

void forget_unfinished(int slot) noexcept {
  if (slot < 0) return;
  auto& state = slots[static_cast<std::size_t>(slot)].state;
  int expected = ready;
  if (state.compare_exchange_strong(expected, unused)) return;
  while (state != removed) {  // the handler, on another thread, still reads the path
  }
  state = unused;
}

void remove_unfinished_files() noexcept {
  const int interrupted_errno = errno;
  for (auto& slot : slots) {
    int expected = ready;
    if (!slot.state.compare_exchange_strong(expected, removing)) continue;
    if (slot.owner == getpid()) unlink(slot.path);
    slot.state = removed;
  }
  errno = interrupted_errno;
}

}  // namespace tesela
