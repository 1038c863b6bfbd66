#include <tesela/algorithms/support/run_concurrently.hpp>
#include <tesela/runtime/errors.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

namespace tesela {

void run_concurrently(std::span<const index_t> sizes, int threads,
                      const std::function<void(std::size_t job, int thread)>& job) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return sizes[i] > sizes[j]; });
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr first;
  const auto work = [&](int thread) {
    for (std::size_t at; (at = next++) < order.size();) try {
        job(order[at], thread);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!first) first = std::current_exception();
        try {
          throw;
        } catch (const Cancelled&) {
          first = std::current_exception();
          next = order.size();
        } catch (...) {
        }
      }
  };
  {
    std::vector<std::jthread> team;
    const auto most = static_cast<int>(std::min(order.size(), static_cast<std::size_t>(std::max(threads, 1))));
    for (int thread = 1; thread < most; ++thread) team.emplace_back(work, thread);
    work(0);
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace tesela
