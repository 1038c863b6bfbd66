#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/internal/stop_requests.hpp>

#include <starpu.h>

#include <algorithm>
#include <mutex>
#include <new>

namespace tesela::detail {

std::atomic<std::uint64_t> stops_requested{0}, stops_reported{0};
std::atomic<bool> any_batch_lost{false};

namespace {

std::mutex drain_mutex;
/// Message of the first unreported failure. Never destroyed: tasks may run until the last exit handler.
std::string& failure() {
  static auto& what = *new std::string;
  return what;
}
std::uint64_t failure_number = 0;  // stops_requested at that failure
std::atomic<std::uint64_t> cancellation_number{0};

}  // namespace

void TaskBatch::lose() {
  lost = true;
  any_batch_lost = true;
  over = true;
}

void forget_timing() noexcept {
  if (starpu_task* task = starpu_task_get_current(); task != nullptr) task->failed = 1;
}

void report_failure(const std::string& what) noexcept {
  const std::lock_guard lock(drain_mutex);
  if (failure_number <= stops_reported) {
    try {
      failure() = what;
    } catch (...) {
      failure().clear();
    }
    failure_number = stops_requested + 1;
  }
  ++stops_requested;
}

void report_exception(const char* kernel) noexcept {
  forget_timing();
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      report_failure(std::string("kernel ") + kernel + ": not enough host memory");
    } catch (const std::exception& e) {
      report_failure(std::string("kernel ") + kernel + ": " + e.what());
    }
  } catch (...) {
    report_failure({});
  }
}

void report_cancellation() noexcept { cancellation_number = ++stops_requested; }

bool cancellation_pending() noexcept { return cancellation_number > stops_reported; }

std::string stop_reason_since(std::uint64_t seen) {
  const std::lock_guard lock(drain_mutex);
  if (failure_number > seen) return failure().empty() ? "a kernel failed: not enough host memory" : failure();
  return stops_requested > seen ? cancelled : "";
}

void throw_if_stopped_since(std::uint64_t seen) {
  if (const std::string why = stop_reason_since(seen); why == cancelled)
    throw Cancelled();
  else if (!why.empty())
    throw EnvironmentError(why);
}

std::uint64_t mark_stops_reported() noexcept {
  const std::lock_guard lock(drain_mutex);
  const std::uint64_t now = stops_requested;
  stops_reported = std::max(stops_reported.load(), now);
  return now;
}

}  // namespace tesela::detail
