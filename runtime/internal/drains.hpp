#pragma once

// Why queued tasks do nothing, and who has been told: not installed, the runtime's own. (See also detail::dropped.)

#include <cstdint>
#include <string>

namespace tesela::detail {

/// Requests a drain: because a codelet failed (an empty string: with no memory to say why), or because of
/// Runtime::cancel (async-signal-safe).
void report_failure(const std::string& what) noexcept;
void report_cancellation() noexcept;
bool cancellation_pending() noexcept;

/// Throws what requested a drain after the first `seen` ones: EnvironmentError for a failure, or else Cancelled.
void throw_if_drained_since(std::uint64_t seen);

/// The same as words: empty where nothing did, `cancelled`, or what failed.
inline constexpr const char* cancelled = "cancelled";
std::string why_drained_since(std::uint64_t seen);

/// What is said of data that dropped tasks were to write.
inline constexpr const char* lost = "tasks that were to write it were dropped: their graph was cancelled, or failed";

/// Marks all drains requested so far as reported, once no task is left to drop; returns their number.
std::uint64_t report_drains() noexcept;

}  // namespace tesela::detail
