#pragma once

#include <tesela/runtime/types.hpp>

#include <functional>
#include <span>

namespace tesela {

/// Runs job(i, thread) for all i < sizes.size() on `threads` threads, numbered from 0, the largest job first: a thread
/// takes the next job when its last one has ended. Returns when all have ended. An exception does not stop other jobs,
/// except Cancelled, after which no job starts; the first exception is rethrown at the end. Each job may have its own
/// graphs on one Runtime (see Graph).
void run_concurrently(std::span<const index_t> sizes, int threads,
                      const std::function<void(std::size_t job, int thread)>& job);

}  // namespace tesela
