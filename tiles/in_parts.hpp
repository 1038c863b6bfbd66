#pragma once

#include <tesela/runtime/types.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

namespace tesela {

/// Calls f(first, count) on all cores for consecutive parts of 0 … count - 1, each of length `part` >= 1 except the
/// last. When all calls have ended, throws the exception of the first part that failed.
template <class F>
void in_parts(index_t count, index_t part, const F& f) {
  const index_t parts = ceil_div(count, part);
  const index_t cores = std::max<index_t>(std::thread::hardware_concurrency(), 1);
  std::atomic<index_t> next = 0;
  std::mutex mutex;
  index_t failed = std::numeric_limits<index_t>::max();
  std::exception_ptr why;
  const auto work = [&] {
    for (index_t p = next++; p < parts; p = next++) {
      try {
        f(p * part, std::min(part, count - p * part));
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (p < failed) failed = p, why = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> team;
    for (index_t t = 1; t < std::min(cores, parts); ++t) team.emplace_back(work);
    work();
  }
  if (why) std::rethrow_exception(why);
}

}  // namespace tesela
