#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What several processes of one program say to each other. Who sends is not here: libtesela_mpi, which is loaded where
// there are several. Not installed, the runtime's own.

namespace tesela::detail {

class Messages {
 public:
  virtual ~Messages() = default;
  Messages() = default;
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Once StarPU stands, and before it ends.
  virtual void start() = 0;
  virtual void stop() noexcept = 0;

  using Done = void (*)(void*);
  /// A tag is a tile's number, and a count of that tile's messages in the lowest bits.
  static constexpr int count_bits = 16;
  /// Sends a handle's contents once the tasks before have written them; receive() is one more task that writes it. Both
  /// return at once and call done(argument) in the end, where it is not null. No two on their way have the same tag:
  /// StarPU orders what one handle waits for alone, and each receive() may have a handle of its own.
  virtual void send(void* handle, int to, std::int64_t tag, int priority, Done done, void* argument) = 0;
  virtual void receive(void* handle, int from, std::int64_t tag, int priority, Done done, void* argument) = 0;

  /// What each rank says, in order. All call it alike; one that waits for longer than `patience` seconds (0: for ever)
  /// gets nothing.
  virtual std::vector<std::string> gather(std::string_view mine, double patience = 0) = 0;

  /// Each number becomes the sum of all ranks'. All call it alike.
  virtual void add(std::span<double> numbers) = 0;

  /// Ends all ranks.
  [[noreturn]] virtual void abort(int code) noexcept = 0;
};

/// What libtesela_mpi has: null where MPI cannot start, with the reason.
using StartMessages = Messages* (*)(std::string* reason);
using DescribeMessages = const char* (*)();  ///< mpi_description() of ranks.hpp
inline constexpr const char* describe_messages_name = "tesela_describe_messages";
inline constexpr const char* start_messages_name = "tesela_start_messages";

}  // namespace tesela::detail
