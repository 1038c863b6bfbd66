#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Messages between the processes of one program. libtesela_mpi, which is loaded with several processes, implements
// them. Internal to the runtime.

namespace tesela::detail {

class Messages {
 public:
  virtual ~Messages() = default;
  Messages() = default;
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Called after StarPU has started, and before it ends.
  virtual void start() = 0;
  virtual void stop() noexcept = 0;

  using Done = void (*)(void*);
  /// A tag is a tile's number, with a count of that tile's messages in the lowest bits.
  static constexpr int count_bits = 16;
  /// send() sends a handle's contents after the tasks that write them; receive() acts as one more task that writes the
  /// handle. Both return at once, and call done(argument) at the end unless it is null. No two messages in transit may
  /// have the same tag: StarPU orders accesses to one handle only, and each receive() may use another handle.
  virtual void send(void* handle, int to, std::int64_t tag, int priority, Done done, void* argument) = 0;
  virtual void receive(void* handle, int from, std::int64_t tag, int priority, Done done, void* argument) = 0;

  /// Returns the strings of all ranks, in order. All ranks must call it; a rank that waits longer than `patience`
  /// seconds (0: no limit) gets nothing.
  virtual std::vector<std::string> gather(std::string_view mine, double patience = 0) = 0;

  /// Replaces each number by its sum over all ranks. All ranks must call it.
  virtual void add(std::span<double> numbers) = 0;

  /// Ends all ranks.
  [[noreturn]] virtual void abort(int code) noexcept = 0;
};

/// Entry point of libtesela_mpi; returns null and the reason if MPI cannot start.
using StartMessages = Messages* (*)(std::string* reason);
using DescribeMessages = const char* (*)();  ///< mpi_description() of ranks.hpp
inline constexpr const char* describe_messages_name = "tesela_describe_messages";
inline constexpr const char* start_messages_name = "tesela_start_messages";

}  // namespace tesela::detail
