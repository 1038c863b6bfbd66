#pragma once

// StarPU's environment at its start: internal to the runtime.

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tesela::detail {

/// Sets environment variables that StarPU reads at start, and restores them afterwards.
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

/// Throws EnvironmentError if a limit on this process (ulimit) would make StarPU or a kernel crash: on file sizes,
/// stacks, address space, open files (a trace needs more), or on fewer than `threads` threads.
void check_limits(int threads, bool traced);

/// Returns whether a Runtime with this number of GPUs, if it is given, or else STARPU_NCUDA allows GPUs.
bool wants_gpus(std::optional<int> gpus);
/// Keeps hwloc from reading the PCI bus and loading its plugins for devices, a fifth of the time of a small command.
void ignore_devices(ScopedEnvironment&);

/// Provides a directory for StarPU's performance models. Throws EnvironmentError if STARPU_HOME or
/// STARPU_PERF_MODEL_DIR names a directory that cannot be written. If the home directory cannot be written, selects a
/// temporary directory and prints a warning on standard error.
void provide_home(ScopedEnvironment&);

/// Throws ArgumentError for too many workers, or EnvironmentError if STARPU_NCPU decides and has too many. Workers poll
/// for work. Many of them on one core make no progress; even StarPU's start takes minutes.
void require_cores_for(std::optional<int> workers);

/// Reserves a core for the thread that inserts tasks. On GPU machines it would otherwise share a core with a GPU's
/// driver thread, which never sleeps, and each would wait for the other's time slice (4 ms): a loop that reads results
/// took up to four times as long on 16 cores. Reserves one more for StarPU-MPI's polling thread. Call it after the
/// options are in the environment.
void reserve_inserting_core(ScopedEnvironment& env, bool several);
/// Gives each stream of a GPU a thread. StarPU's default is one thread for all, which starts no task on one stream
/// while it launches the kernels of another (0.3 ms for a panel of 512 columns), or while a task waits for the GPU.
void give_streams_threads(ScopedEnvironment& env);
/// Turns off StarPU's blocks of 32 MiB for small tiles if GPUs may use less than 1024 MB: they would hold most of it.
void spare_small_memory(ScopedEnvironment& env);

/// Returns the folder of a trace that the user asks for by STARPU_FXT_TRACE=1; empty without it.
std::string environments_trace_folder();

/// Throws EnvironmentError if the user sets STARPU_FXT_TRACE=1 and its directory cannot be made.
void check_trace_prefix();

/// Returns the variable that limits StarPU's host memory without a disk to move it to; null if none does.
const char* host_memory_limit();

/// Makes a folder for traces and locks it against other processes until it is released or the process ends, because
/// StarPU's files have fixed names. Throws FileError if the folder cannot be written, and EnvironmentError if another
/// process records or converts there.
void claim_trace_folder(const std::string& directory);
/// Removes the events of earlier runs with more than `ranks` ranks.
void remove_events_beyond(const std::string& directory, int ranks);
void release_trace_folder(const std::string& directory);
/// Begins the event of Runtime::mark_trace.
constexpr const char* trace_mark = "mark ";
/// Folders, as the program names them, with a trace of this process that convert_trace has not converted.
std::set<std::string>& unconverted_traces();

// StarPU's files of performance models: not installed, the runtime's own.

/// Returns whether StarPU would abort on this model file's text, in every later run. A process killed while it writes a
/// model, or a full disk, leaves a truncated file. `version`: the format's version, 45 for StarPU 1.4; for other
/// versions only the end of the last line is checked.
bool is_unreadable(const std::string& model, const std::string& version);

/// Removes the file in that case, so that StarPU learns the model again. The file's folder names the version.
void remove_if_unreadable(const std::string& path);

}  // namespace tesela::detail
