#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/internal/environment.hpp>
#include <tesela/runtime/internal/topology_parts.hpp>
#include <tesela/runtime/machine/topology.hpp>
#include <tesela/runtime/simulation/simulation.hpp>
#include <tesela/runtime/variable.hpp>

#include <climits>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <sstream>
#include <string_view>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace tesela::detail {
namespace {

namespace fs = std::filesystem;

// Variables that StarPU 1.4 parses with functions that abort, without those of drivers that we do not build.
constexpr const char* whole_numbers =
    "AUTOHETEROPRIO_FREEZE_GATHERING AUTOHETEROPRIO_ORDERING_INTERVAL AUTOHETEROPRIO_PRINT_AFTER_ORDERING "
    "AUTOHETEROPRIO_PRINT_DATA_ON_UPDATE AUTOHETEROPRIO_PRIORITY_ORDERING_POLICY "
    "AUTOHETEROPRIO_TIME_ESTIMATION_POLICY BACKOFF_MAX BACKOFF_MIN BUS_CALIBRATE BUS_STATS CALIBRATE "
    "CALIBRATE_MINIMUM CATCH_SIGNALS CHECK_ENTIRE_PLATFORM CUDA_ONLY_FAST_ALLOC_OTHER_MEMNODES CUDA_PIPELINE "
    "CUDA_THREAD_PER_DEV CUDA_THREAD_PER_WORKER DATA_LOCALITY_ENFORCE DISABLE_ASYNCHRONOUS_COPY "
    "DISABLE_ASYNCHRONOUS_CUDA_COPY DISABLE_KERNELS DISABLE_PINNING DISK_SWAP_SIZE DISPLAY_BINDINGS "
    "ENABLE_CUDA_GPU_GPU_DIRECT ENABLE_MAP EXPECTED_TRANSFER_TIME_WRITEBACK FXT_TRACE GENERATE_TRACE "
    "GLOBAL_ARBITER HETEROPRIO_CODELET_GROUPING_STRATEGY HETEROPRIO_USE_AUTO_CALIBRATION HETEROPRIO_USE_LA "
    "HISTORY_MAX_ERROR LIMIT_BANDWIDTH LIMIT_CPU_MEM LIMIT_CPU_NUMA_MEM LIMIT_CUDA_MEM LIMIT_MAX_SUBMITTED_TASKS "
    "LIMIT_MIN_SUBMITTED_TASKS MAIN_THREAD_BIND MAIN_THREAD_COREID MAIN_THREAD_CPUID MAX_MEMORY_USE MAX_PRIO "
    "MAX_WORKERSIZE MEMORY_STATS MINIMUM_AVAILABLE_MEM MINIMUM_CLEAN_BUFFERS MIN_PRIO MIN_WORKERSIZE NCPU NCPUS "
    "NCUDA NTASKS_THRESHOLD NTHREADS_PER_CORE NWORKER_PER_CUDA PCI_FLAT PERF_MODEL_HOMOGENEOUS_CPU PREFETCH "
    "RAND_SEED RESERVE_NCPU SCHED_GRAPH_TEST_DESCENDANTS SCHED_READY SCHED_SORTED_ABOVE SCHED_SORTED_BELOW SILENT "
    "SINGLE_COMBINED_WORKER STATS SUBALLOCATOR SYNTHESIZE_ARITY_COMBINED_WORKER TARGET_AVAILABLE_MEM "
    "TARGET_CLEAN_BUFFERS TASK_BREAK_ON_EXEC TASK_BREAK_ON_POP TASK_BREAK_ON_PUSH TASK_BREAK_ON_SCHED "
    "TASK_PROGRESS TRACE_BUFFER_SIZE USE_NUMA WATCHDOG_CRASH WATCHDOG_DELAY WORKERS_GETBIND WORKERS_NOBIND "
    "WORKER_TREE";
constexpr const char* numbers = "EXP_LEN_THRESHOLD IDLE_POWER SCHED_ALPHA SCHED_BETA SCHED_GAMMA WINDOW_TIME_SIZE";
constexpr const char* lists = "WORKERS_COREID WORKERS_CPUID";

/// Bytes of the largest file that StarPU writes at its start.
constexpr std::size_t model_bytes = std::size_t{1} << 14;

/// Bytes of stack: kernels and libraries overflow 384 KiB.
constexpr std::size_t stack_bytes = std::size_t{1} << 20;
/// Bytes of address space that OpenBLAS maps for each thread that calls it.
constexpr std::size_t blas_bytes = std::size_t{1} << 27;

/// Files that StarPU opens at a time on cores; CUDA reports its own failure to start.
constexpr std::size_t free_descriptors = 1, traced_descriptors = 4;

void for_each_name(const char* names, void (*check)(const char*)) {
  std::istringstream words(names);
  for (std::string name; words >> name;) check(("STARPU_" + name).c_str());
}

void check_whole_number(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == 0) return;
  char* end = nullptr;
  errno = 0;
  const long number = std::strtol(value, &end, 10);
  if (end == value || *end != 0 || errno != 0 || number < 0 || number > INT_MAX)
    throw EnvironmentError(describe_variable(name) + " is not a whole number >= 0: set it to one, or unset it");
}

void check_number(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == 0) return;
  char* end = nullptr;
  std::strtod(value, &end);
  if (end == value || *end != 0)
    throw EnvironmentError(describe_variable(name) + " is not a number: set it to one, or unset it");
}

/// In a list of cores StarPU accepts commas and ranges; in a list of GPUs it ignores everything after one.
void check_list(const char* name, const char* between, const char* example) {
  const char* value = std::getenv(name);
  if (value == nullptr) return;
  const std::string list = value;
  const std::size_t first = list.find_first_not_of(" \t");
  if (first == std::string::npos || std::isdigit(static_cast<unsigned char>(list[first])) == 0 ||
      list.find_first_not_of(std::string("0123456789 \t") + between) != std::string::npos)
    throw EnvironmentError(describe_variable(name) + " is not a list of numbers: set it to one, such as " + example +
                           ", or unset it");
}

/// Makes a directory and its parents, with StarPU's permissions (private to the user); returns 0 or errno.
int make_directory(const fs::path& path) {
  std::error_code none;
  if (fs::is_directory(path, none)) return 0;
  const fs::path above = path.parent_path();
  if (!above.empty() && above != path)
    if (const int error = make_directory(above); error != 0) return error;
  return mkdir(path.c_str(), S_IRWXU) == 0 || (errno == EEXIST && fs::is_directory(path, none)) ? 0 : errno;
}

/// Returns the reason why StarPU could not keep its models in this directory with its present contents; empty if it
/// can.
std::string unwritable(const fs::path& models) {
  const auto why = [](const fs::path& path, int error) { return path.string() + ": " + std::strerror(error); };
  for (const char* part : {"bus", "codelets"})
    if (const int error = make_directory(models / part); error != 0) return why(models / part, error);
  const auto refused = [&](const fs::path& path, int mode) {
    return access(path.c_str(), mode) != 0 && (errno == EACCES || errno == EPERM || errno == EROFS);
  };
  if (refused(models, R_OK | W_OK | X_OK)) return why(models, errno);
  std::error_code error;  // an entry that another process removes meanwhile is no obstacle
  for (auto entry = fs::recursive_directory_iterator(models, error); !error && entry != fs::end(entry);
       entry.increment(error)) {
    std::error_code none;
    if (refused(entry->path(), entry->is_directory(none) ? R_OK | W_OK | X_OK : R_OK | W_OK))
      return why(entry->path(), errno);
    // StarPU aborts on a folder or a dangling link in the place of a model, and blocks on a pipe.
    const fs::path above = entry->path().parent_path();
    if (above == models / "codelets" && !entry->is_directory(none)) return entry->path().string() + ": not a directory";
    if (above.parent_path() != models / "codelets") continue;
    if (!entry->is_regular_file(none)) return entry->path().string() + ": not a file";
    remove_if_unreadable(entry->path());
  }
  if (error == std::errc::permission_denied) return why(models, EACCES);
  // StarPU does not check its writes, and exits when it later reads a truncated file.
  const std::string probe = models / ("room-" + std::to_string(getpid()));
  const int file = open(probe.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) return why(models, errno);
  const std::string needed(model_bytes, '.');
  const ssize_t written = write(file, needed.data(), needed.size());
  const int full = written == static_cast<ssize_t>(needed.size()) ? 0 : written < 0 ? errno : ENOSPC;
  close(file);
  unlink(probe.c_str());
  return full != 0 ? why(models, full) : std::string();
}

fs::path models_below(const fs::path& home) { return home / ".starpu" / "sampling"; }

/// One directory for all processes of this user, so that models are kept; a unique one if another user owns that name.
std::string temporary_home() {
  const char* chosen = std::getenv("TMPDIR");
  const fs::path above = chosen != nullptr && *chosen != 0 ? chosen : "/tmp";
  std::string home = above / ("tesela-" + std::to_string(geteuid()));
  struct stat status {};
  const bool made = mkdir(home.c_str(), S_IRWXU) == 0 || errno == EEXIST;
  const bool ours = made && lstat(home.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
                    status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  if (ours && unwritable(models_below(home)).empty()) return home;
  home = above / "tesela-XXXXXX";
  return mkdtemp(home.data()) != nullptr && unwritable(models_below(home)).empty() ? home : std::string();
}

void require_limit(decltype(RLIMIT_STACK) resource, std::size_t least, const char* what, const char* option) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= least) return;
  throw EnvironmentError(std::string("the limit on ") + what + " is " + std::to_string(limit.rlim_cur) +
                         " bytes, and at least " + std::to_string(least) + " are needed: raise it with `ulimit " +
                         option + ' ' + std::to_string(least / 1024) + "` or more");
}

/// StarPU aborts if it cannot open a file.
void require_descriptors(std::size_t count) {
  std::vector<int> opened;
  while (opened.size() < count) {
    const int descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) break;
    opened.push_back(descriptor);
  }
  const int error = errno;
  for (const int descriptor : opened) close(descriptor);
  if (opened.size() < count)
    throw EnvironmentError(std::string("StarPU cannot open files: ") + std::strerror(error) +
                           " (raise the limit, see `ulimit -n`)");
}

/// StarPU aborts if it cannot start a worker.
void require_threads(int count) {
  std::string problem;
  {
    std::mutex gate;
    std::vector<std::jthread> threads;
    const std::unique_lock closed(gate);  // all threads exist at the same time
    try {
      while (std::ssize(threads) < count) threads.emplace_back([&gate] { const std::lock_guard wait(gate); });
    } catch (const std::system_error& error) {
      problem = error.what();
    }
  }
  if (!problem.empty())
    throw EnvironmentError("StarPU cannot start " + std::to_string(count) + " threads: " + problem +
                           " (raise the limit, see `ulimit -u`, or ask for fewer workers)");
}

/// OpenBLAS waits for ever if it cannot map the buffer of a thread.
void require_address_space(int threads) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const std::size_t needed = static_cast<std::size_t>(threads) * blas_bytes;
  void* const free = mmap(nullptr, needed, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (free == MAP_FAILED)
    throw EnvironmentError("the limit on address space is " + std::to_string(limit.rlim_cur >> 20) +
                           " MiB, and less than the " + std::to_string(needed >> 20) +
                           " MiB that BLAS needs are left: raise it, see `ulimit -v`, or ask for fewer workers");
  munmap(free, needed);
}

}  // namespace

void ScopedEnvironment::save(const char* name) {
  const char* old = std::getenv(name);
  saved_.emplace_back(name, old != nullptr ? std::optional<std::string>(old) : std::nullopt);
}

void ScopedEnvironment::set(const char* name, const std::string& value) {
  save(name);
  setenv(name, value.c_str(), 1);
}

void ScopedEnvironment::unset(const char* name) {
  save(name);
  unsetenv(name);
}

ScopedEnvironment::~ScopedEnvironment() {
  for (auto variable = saved_.rbegin(); variable != saved_.rend(); ++variable)
    if (variable->second)
      setenv(variable->first, variable->second->c_str(), 1);
    else
      unsetenv(variable->first);
}

std::string describe_variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::string(name) + "=" + value : std::string(name) + " unset";
}

void check_numbers() {
  for_each_name(whole_numbers, &check_whole_number);
  for_each_name(numbers, &check_number);
  for_each_name(lists, [](const char* name) { check_list(name, ",-", "0 1 4-7"); });
  check_list("STARPU_WORKERS_CUDAID", "", "0 1 2");
  for (const char* ours : {"TESELA_IDLE_NAP", "TESELA_RECEIVED_MIB"}) check_whole_number(ours);
  variable_or("TESELA_BLOCK_COLUMNS", 0, 1);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    // One variable for each device or NUMA node: STARPU_LIMIT_CUDA_0_MEM, …
    const std::string name(*variable, std::strcspn(*variable, "="));
    if (name.starts_with("STARPU_LIMIT_") && name.ends_with("_MEM")) check_whole_number(name.c_str());
  }
}

void check_limits(int threads, bool traced) {
  require_limit(RLIMIT_FSIZE, model_bytes, "the size of files", "-f");
  require_limit(RLIMIT_STACK, stack_bytes, "stacks", "-s");
  require_descriptors(traced ? traced_descriptors : free_descriptors);
  require_threads(threads);
  require_address_space(threads);
}

bool wants_gpus(std::optional<int> gpus) {
  const char* ncuda = std::getenv("STARPU_NCUDA");
  return gpus.value_or(ncuda != nullptr ? std::atoi(ncuda) : 1) != 0;
}

void ignore_devices(ScopedEnvironment& env) {
  for (const auto& [name, value] : {std::pair{"HWLOC_PLUGINS_PATH", ""}, {"HWLOC_COMPONENTS", "-linuxio"}})
    if (std::getenv(name) == nullptr) env.set(name, value);
}

void provide_home(ScopedEnvironment& env) {
  const auto refuse = [](const char* name, const std::string& why) {
    throw EnvironmentError("StarPU cannot keep its performance models in the directory of " + describe_variable(name) +
                           " (" + why + "): set it to a directory that can be written");
  };
  if (const char* models = std::getenv("STARPU_PERF_MODEL_DIR"); models != nullptr) {
    if (const std::string why = unwritable(models); !why.empty()) refuse("STARPU_PERF_MODEL_DIR", why);
    return;
  }
  const char* variable = "HOME";  // the order is StarPU's
  for (const char* name : {"STARPU_HOME", "XDG_CACHE_HOME"})
    if (std::getenv(name) != nullptr) variable = name;
  const char* home = std::getenv(variable);
  const std::string why = home != nullptr ? unwritable(models_below(home)) : "there is no home directory";
  if (why.empty()) return;
  if (std::strcmp(variable, "STARPU_HOME") == 0) refuse(variable, why);
  const std::string temporary = temporary_home();
  if (temporary.empty()) refuse("STARPU_HOME", why + ", and there is no temporary directory");
  env.unset("XDG_CACHE_HOME");
  env.set("STARPU_HOME", temporary);
  static std::atomic<bool> told{false};
  if (!told.exchange(true))
    std::fprintf(stderr,
                 "tesela: %s cannot be written (%s): StarPU keeps its performance models in %s; STARPU_HOME chooses "
                 "another place\n",
                 describe_variable(variable).c_str(), why.c_str(), temporary.c_str());
}

std::string environments_trace_folder() {
  const char *wanted = std::getenv("STARPU_FXT_TRACE"), *prefix = std::getenv("STARPU_FXT_PREFIX");
  if (wanted == nullptr || std::atoi(wanted) == 0) return {};
  return prefix != nullptr ? prefix : "/tmp";
}

void check_trace_prefix() {
  const std::string folder = environments_trace_folder();
  if (folder.empty()) return;
  if (const int error = make_directory(folder); error != 0)
    throw EnvironmentError("no trace can be written to the directory of " + describe_variable("STARPU_FXT_PREFIX") +
                           " (" + std::strerror(error) + "): set it to a directory that can be written");
}

const char* host_memory_limit() {
  if (const char* disk = std::getenv("STARPU_DISK_SWAP"); disk != nullptr) return nullptr;
  for (const char* name : {"STARPU_LIMIT_CPU_NUMA_MEM", "STARPU_LIMIT_CPU_MEM"})
    if (std::getenv(name) != nullptr) return name;
  return nullptr;
}

void require_cores_for(std::optional<int> workers) {
  constexpr int anywhere = 8, on_each = 4;
  const char* const variable = workers || is_simulated() ? nullptr : std::getenv("STARPU_NCPU");
  const int wanted = workers.value_or(variable != nullptr ? std::atoi(variable) : 0),
            cores = wanted > anywhere ? usable_cores() : 0, most = std::max(anywhere, on_each * cores);
  if (cores <= 0 || wanted <= most) return;
  const std::string why = std::to_string(wanted) + " workers on " + std::to_string(cores) +
                          " cores are too many; at most " + std::to_string(most);
  if (variable != nullptr) throw EnvironmentError("STARPU_NCPU: " + why);
  throw ArgumentError("Runtime", "cpus", why);
}

void reserve_inserting_core(ScopedEnvironment& env, bool several) {
  for (const char* decided : {"STARPU_NCPU", "STARPU_NCPUS", "STARPU_RESERVE_NCPU", "STARPU_MAIN_THREAD_BIND"})
    if (std::getenv(decided) != nullptr) return;
  const char* ncuda = std::getenv("STARPU_NCUDA");
  const int found = count_cuda_devices(), gpus = ncuda != nullptr ? std::min(found, std::atoi(ncuda)) : found;
  const int wanted = several ? 2 : 1;
  if (gpus > 0 && usable_cores() > gpus + wanted) env.set("STARPU_RESERVE_NCPU", std::to_string(wanted));
}

void give_streams_threads(ScopedEnvironment& env) {
  for (const char* decided : {"STARPU_CUDA_THREAD_PER_DEV", "STARPU_CUDA_THREAD_PER_WORKER"})
    if (std::getenv(decided) != nullptr) return;
  const char* const streams = std::getenv("STARPU_NWORKER_PER_CUDA");
  if (streams != nullptr && std::atoi(streams) > 1) env.set("STARPU_CUDA_THREAD_PER_WORKER", "1");
}

void spare_small_memory(ScopedEnvironment& env) {
  const char* const megabytes = std::getenv("STARPU_LIMIT_CUDA_MEM");
  if (megabytes != nullptr && std::atoi(megabytes) < 1024 && std::getenv("STARPU_SUBALLOCATOR") == nullptr)
    env.set("STARPU_SUBALLOCATOR", "0");
}

}  // namespace tesela::detail

namespace tesela {

std::int64_t variable_or(const char* name, std::int64_t otherwise, std::int64_t least) {
  const char* const value = std::getenv(name);
  if (value == nullptr || *value == 0) return otherwise;
  const std::string_view text = value;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least)
    throw EnvironmentError(std::string(name) + '=' + value + " is not a whole number >= " + std::to_string(least) +
                           ": set it to one, or unset it");
  return number;
}

}  // namespace tesela
