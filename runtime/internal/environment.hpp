#pragma once

// What StarPU finds when it starts: not installed, the runtime's own.

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tesela::detail {

/// Environment variables as StarPU reads them at start, put back afterwards.
class ScopedEnvironment {
 public:
  ScopedEnvironment() = default;
  ~ScopedEnvironment();
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;
  void set(const char* name, const std::string& value);
  void unset(const char* name);

 private:
  void save(const char* name);
  std::vector<std::pair<const char*, std::optional<std::string>>> saved_;
};

/// Returns "NAME=value" or "NAME unset".
std::string describe_variable(const char* name);

/// Throws EnvironmentError, with name and value, for a number or a list of numbers that StarPU aborts on.
void check_numbers();

/// Throws EnvironmentError for limits on this process (ulimit) under which StarPU or a kernel would crash: sizes of
/// files, stacks and the address space, open files (a trace needs more), and fewer than `threads` threads.
void check_limits(int threads, bool traced);

/// Provides a place for StarPU's performance models. Throws EnvironmentError if STARPU_HOME or STARPU_PERF_MODEL_DIR
/// names a place that cannot be written. If the home directory cannot be written, StarPU receives a temporary place,
/// and standard error a warning.
void provide_home(ScopedEnvironment&);

/// Throws EnvironmentError if the user sets STARPU_FXT_TRACE=1 and its directory cannot be made.
void check_trace_prefix();

/// Returns the variable that limits StarPU's host memory without a disk to move it to; null if none does.
const char* host_memory_limit();

/// Makes a folder for traces and keeps other processes out of it, until it is released or the process ends: StarPU's
/// files have fixed names. Throws FileError if the folder cannot be written, EnvironmentError if another process
/// records or converts there.
void claim_trace_folder(const std::string& directory);
/// Removes the events of earlier runs with more than `ranks` ranks.
void remove_events_beyond(const std::string& directory, int ranks);
void release_trace_folder(const std::string& directory);

}  // namespace tesela::detail
