#pragma once

#include <tesela/runtime/types.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <sched.h>
#include <thread>
#include <type_traits>
#include <unistd.h>
#include <vector>

namespace tesela {

/// Returns the number of cores that this process may use, at least 1. taskset, Slurm and mpirun may grant it a part of
/// the machine. The process counts, not the thread, since StarPU binds its workers to one core each.
inline index_t all_cores() {
  cpu_set_t granted;
  if (sched_getaffinity(getpid(), sizeof granted, &granted) == 0) return std::max<index_t>(CPU_COUNT(&granted), 1);
  return std::max<index_t>(std::thread::hardware_concurrency(), 1);  // over 1024 cores
}

/// Calls f(first, end) for the blocks of `block` >= 1 consecutive indices of 0 ... count - 1, on all cores. The last
/// block may be shorter. As many blocks as cores run at the same time.
///
/// Waits   until every block has ended.
/// Throws  the exception of the first block that failed. The other blocks run all the same.
template <class F>
void parallel_for(index_t count, index_t block, const F& f) {
  if (count == 0) return;
  const index_t blocks = ceil_div(count, block);
  std::atomic<index_t> next = 0;
  std::mutex mutex;
  index_t failed = std::numeric_limits<index_t>::max();
  std::exception_ptr error;
  const auto work = [&] {
    for (index_t b = next++; b < blocks; b = next++) {
      try {
        f(b * block, std::min((b + 1) * block, count));
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (b < failed) failed = b, error = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> team;
    for (index_t t = 1; t < std::min(all_cores(), blocks); ++t) team.emplace_back(work);
    work();
  }
  if (error) std::rethrow_exception(error);
}

/// Calls f(i) for the indices 0 ... count - 1, or f(first, end) for one block of indices per core, whichever F accepts.
template <class F>
void parallel_for(index_t count, const F& f) {
  if constexpr (std::is_invocable_v<const F&, index_t>)
    parallel_for(count, 1, [&f](index_t i, index_t) { f(i); });
  else
    parallel_for(count, std::max<index_t>(ceil_div(count, all_cores()), 1), f);
}

}  // namespace tesela
