#pragma once

#include <tesela/host/blas.hpp>
#include <tesela/runtime/types.hpp>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace tesela {

/// Calls work(first, end) for shares of `at_once` of the numbers 0 … count - 1, on all cores. `work` must not throw.
template <class Work>
void on_all_cores(index_t count, index_t at_once, const Work& work) {
  std::atomic<index_t> next = 0;
  const auto take = [&] {
    for (index_t first = next.fetch_add(at_once); first < count; first = next.fetch_add(at_once))
      work(first, std::min(first + at_once, count));
  };
  std::vector<std::jthread> team;
  for (index_t t = std::min<index_t>(blas::all_cores(), ceil_div(count, at_once)); t > 1; --t) team.emplace_back(take);
  take();
}

}  // namespace tesela
