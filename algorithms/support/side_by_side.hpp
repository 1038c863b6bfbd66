#pragma once

#include <tesela/runtime/types.hpp>

#include <functional>
#include <span>

namespace tesela {

/// Runs job(i, thread) for every i below sizes.size() on so many threads, counted from 0, the largest first: a thread
/// that has ended one takes the next. Returns when all have ended. What a job throws stops no other one, but for
/// Cancelled, after which none begins; the first that was thrown is thrown at the end. Jobs may each have graphs of
/// their own on one Runtime (see Graph).
void side_by_side(std::span<const index_t> sizes, int threads,
                  const std::function<void(std::size_t job, int thread)>& job);

}  // namespace tesela
