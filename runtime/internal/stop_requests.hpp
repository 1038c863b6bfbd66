#pragma once

// Why queued tasks are dropped, and which reasons were reported: internal to the runtime. (See also detail::dropped.)

#include <tesela/runtime/errors.hpp>

#include <cstdint>
#include <string>

namespace tesela::detail {

/// Requests a drain: after a failure of a codelet (an empty string if no memory is left for the message), or for
/// Runtime::cancel (async-signal-safe).
void report_failure(const std::string& what) noexcept;
void report_cancellation() noexcept;
bool cancellation_pending() noexcept;

/// Throws the reason of a drain after the first `seen` requests: EnvironmentError for a failure, otherwise Cancelled.
void throw_if_stopped_since(std::uint64_t seen);

/// Returns the same reason as a string: empty without one, `cancelled`, or the failure.
inline constexpr const char* cancelled = "cancelled";
std::string stop_reason_since(std::uint64_t seen);

/// Message about data that dropped tasks should have written.
inline constexpr const char* lost =
    "tasks that were to write it were dropped: their graph was cancelled, or failed; write it, or make a new matrix";

/// Marks all stop_requests requested so far as reported, once no task is left to drop; returns their number.
std::uint64_t mark_stops_reported() noexcept;

/// The last Error constructed on this thread. ~Runtime ends the other ranks by it during unwinding, when C++ gives a
/// destructor no access to the exception.
struct LastError {
  std::string what;
  ErrorKind kind = ErrorKind::environment;
};

}  // namespace tesela::detail
