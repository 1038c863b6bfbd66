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

/// "NAME=value", or "NAME unset".
std::string describe_variable(const char* name);

/// Refuses by EnvironmentError, by name and value, the numbers and lists of them that StarPU aborts on.
void check_numbers();

/// Refuses by EnvironmentError limits on this process (ulimit) under which StarPU or a kernel would crash: on the size
/// of files, on stacks, on threads, of which so many can be started, and on open files, which a trace needs too.
void check_limits(int threads, bool traced);

/// Sees to it that StarPU can write its performance models. Where STARPU_HOME or STARPU_PERF_MODEL_DIR says a place
/// that cannot be written, throws EnvironmentError; where it is the home directory, StarPU gets a temporary place, and
/// standard error a warning.
void provide_home(ScopedEnvironment&);

/// The same for the directory that the user's own STARPU_FXT_TRACE=1 writes to.
void check_trace_prefix();

/// The variable that limits what StarPU allocates in host memory without a disk to move it to; null when none does.
const char* host_memory_limit();

/// Makes a folder for traces and keeps other processes out of it, until it is released or the process ends: StarPU's
/// files have fixed names. Throws FileError when nothing can be written there, EnvironmentError when another process
/// records or converts there.
void claim_trace_folder(const std::string& directory);
/// Of runs of more ranks than these, which were recorded here before.
void remove_events_beyond(const std::string& directory, int ranks);
void release_trace_folder(const std::string& directory);

}  // namespace tesela::detail
