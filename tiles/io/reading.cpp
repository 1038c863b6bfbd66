#include <tesela/tiles/io/reading.hpp>

#include <algorithm>
#include <mutex>

namespace tesela {
namespace {

struct Named {
  std::mutex mutex;
  std::string name;
  std::chrono::steady_clock::time_point since;
};

/// Never destroyed, as threads may read at the end of the process.
Named& named() {
  static auto& one = *new Named;
  return one;
}

}  // namespace

std::atomic<std::uint64_t> Reading::read_{0}, Reading::size_{0};

Reading::Reading(const std::string& name, std::uint64_t size) {
  const std::lock_guard lock(named().mutex);
  named().name = name;
  named().since = std::chrono::steady_clock::now();
  size_ = size;
  read_ = 0;
}

Reading::~Reading() {
  const std::lock_guard lock(named().mutex);
  named().name.clear();
}

Reading::State Reading::now() {
  const std::lock_guard lock(named().mutex);
  const std::uint64_t size = size_, read = read_;
  return {named().name, size > 0 ? std::min(read, size) : read, size, named().since};
}

}  // namespace tesela
