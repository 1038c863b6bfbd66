#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace tesela {

/// A file that is being read, while the object lives. Another thread can display its progress, which readers store at
/// each line or block. If several threads read files, it is the progress of one file.
class Reading {
 public:
  struct State {
    std::string name;                             ///< of the file; empty: none is being read
    std::uint64_t bytes = 0;                      ///< read so far
    std::uint64_t size = 0;                       ///< bytes of the file; 0: unknown
    std::chrono::steady_clock::time_point since;  ///< begin of the reading
  };

  /// Begins to read a file of this size; 0: unknown.
  Reading(const std::string& name, std::uint64_t size);
  ~Reading();
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  /// Stores the number of bytes that were read, or are unread.
  static void store_read(std::uint64_t bytes) noexcept { read_.store(bytes, std::memory_order_relaxed); }
  static void store_unread(std::uint64_t bytes) noexcept {
    read_.store(size_.load(std::memory_order_relaxed) - bytes, std::memory_order_relaxed);
  }
  static State now();

 private:
  static std::atomic<std::uint64_t> read_, size_;
};

}  // namespace tesela
