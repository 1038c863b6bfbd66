#include <tesela/runtime/trace.hpp>

#include <starpu.h>

#include <sys/stat.h>
#ifdef STARPU_USE_FXT
#include <starpu_fxt.h>
#endif

#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/internal/environment.hpp>
#include <tesela/runtime/ranks.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tesela {
namespace {

std::mutex claims_mutex;
/// Descriptors of locked folders by absolute name. Never destroyed, since a Runtime may end in an exit handler.
std::map<std::string, int>& claims() {
  static auto& folders = *new std::map<std::string, int>;
  return folders;
}

#ifdef STARPU_USE_FXT
/// Runs in a child process, because StarPU's converter exits on a malformed file.
void run_converter(starpu_fxt_options& options, const std::string& events) {
  const pid_t child = fork();
  if (child < 0) throw EnvironmentError(events + ": no process to convert it: " + std::strerror(errno));
  if (child == 0) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
    starpu_fxt_generate_trace(&options);
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (status != 0)
    throw EnvironmentError(events + ": StarPU could not convert this trace (is it complete, the disk full?)");
}

/// StarPU does not check its writes. A full disk leaves a file that ends within a line, or no room for another file.
void require_whole(const std::string& directory) {
  bool whole = true;
  for (const char* name : {"/paje.trace", "/tasks.rec"}) {
    std::ifstream file(directory + name, std::ios::binary | std::ios::ate);
    if (!file || file.tellg() == 0) continue;
    file.seekg(-1, std::ios::end);
    whole = whole && file.get() == '\n';
  }
  const std::string probe = directory + "/room";
  std::ofstream file(probe, std::ios::binary);
  file << std::string(8192, '.');
  file.close();
  whole = whole && file.good();
  std::remove(probe.c_str());
  if (!whole) throw EnvironmentError(directory + ": the trace is incomplete: no space left for it");
}

/// Removes the files of StarPU's converter that no tool of ours reads; trace.html loads scripts from other hosts.
void remove_unused(const std::string& directory) {
  std::error_code ignored;
  for (const char* name : {"activity.data", "comms.rec", "data.rec", "distrib.data", "number_events.data", "papi.rec",
                           "sched_tasks.rec", "trace.html", "trace.rec"})
    std::filesystem::remove(std::filesystem::path(directory) / name, ignored);
}
#endif

std::string events_of(const std::string& directory, int rank) {
  const char* user = std::getenv("USER");
  return directory + "/prof_file_" + (user != nullptr ? user : "") + "_" + std::to_string(rank);
}

}  // namespace

void detail::claim_trace_folder(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  std::error_code absent;
  const std::string path = std::filesystem::canonical(directory, absent).string();
  if (!absent) error.assign(access(path.c_str(), W_OK) != 0 ? errno : 0, std::generic_category());
  if (absent || error)
    throw FileError(directory, "no trace can be written here: " + (error ? error : absent).message());
  const std::lock_guard lock(claims_mutex);
  if (claims().contains(path)) return;
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) throw FileError(directory, std::strerror(errno));
  // Some network file systems have no locks; the trace is then recorded without one.
  if (flock(folder, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(folder);
    throw EnvironmentError(directory + ": another process records a trace here: use another directory");
  }
  claims().emplace(path, folder);
}

std::set<std::string>& detail::unconverted_traces() {
  static auto& folders = *new std::set<std::string>;
  return folders;
}

void detail::release_trace_folder(const std::string& directory) {
  std::error_code error;
  const std::lock_guard lock(claims_mutex);
  const auto claim = claims().find(std::filesystem::canonical(directory, error).string());
  if (claim == claims().end()) return;
  close(claim->second);
  claims().erase(claim);
}

void detail::remove_events_beyond(const std::string& directory, int ranks) {
  std::error_code error;
  while (std::filesystem::remove(events_of(directory, ranks), error)) ++ranks;
}

bool can_trace() noexcept {
#ifdef STARPU_USE_FXT
  return true;
#else
  return false;
#endif
}

void convert_trace(const std::string& directory) {
#ifdef STARPU_USE_FXT
  if (launched_rank() > 0) return;
  std::vector<std::string> all{events_of(directory, 0)};
  while (std::filesystem::exists(events_of(directory, static_cast<int>(all.size()))))
    all.push_back(events_of(directory, static_cast<int>(all.size())));
  const std::string& events = all.front();
  struct stat status {};
  if (stat(events.c_str(), &status) != 0)
    throw EnvironmentError(events + ": StarPU left no trace here (is the directory writable, the disk full?)");
  detail::claim_trace_folder(directory);
  detail::unconverted_traces().erase(directory);
  std::string folder = directory;
  starpu_fxt_options options;
  starpu_fxt_options_init(&options);
  options.ninputfiles = static_cast<unsigned>(all.size());
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    options.filenames[rank] = all[rank].data();  // StarPU reads both and frees neither
  options.dir = folder.data();
  options.use_task_color = 1;
  try {
    run_converter(options, events);
    require_whole(directory);
    remove_unused(directory);
  } catch (...) {
    starpu_fxt_options_shutdown(&options);
    // Incomplete files would look like a converted trace.
    std::error_code error;
    for (const char* name : {"paje.trace", "tasks.rec"})
      std::filesystem::remove(std::filesystem::path(directory) / name, error);
    detail::release_trace_folder(directory);
    throw;
  }
  starpu_fxt_options_shutdown(&options);
  detail::release_trace_folder(directory);
#else
  throw EnvironmentError(directory +
                         ": this StarPU was built without FxT, so it records no traces (see scripts/setup)");
#endif
}

namespace {

/// Returns "256x256x8" for "M256x256x8", for every tile.
std::string without_type(std::string parameters) {
  std::erase_if(parameters, [](char c) { return c >= 'A' && c <= 'Z'; });
  return parameters;
}

/// A worker's number is its rank times this plus its number on the rank.
constexpr int workers_of_a_rank = 4096;

/// Returns the number in "12", or a combined number for rank 3's "3_12".
std::uint64_t number_of_job(const std::string& job) {
  char* end = nullptr;
  const std::uint64_t first = std::strtoull(job.c_str(), &end, 10);
  return *end == '_' ? first << 40 | std::strtoull(end + 1, nullptr, 10) : first;
}

/// Reads records of "Key: value" lines, one record per task, separated by empty lines; times in ms.
class TaskReader {
 public:
  explicit TaskReader(const std::string& path) : path_(path), file_(path) {
    if (!file_) throw FileError(path, "cannot be read");
  }

  void read(Trace& trace) {
    bool ended = true;
    for (; std::getline(file_, line_); ended = line_.empty()) {
      ++number_;
      if (line_.empty())
        finish(trace);
      else
        take_line();
    }
    if (!ended) fail("the record of the last task is cut short (was the disk full, or the run killed?)");
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw EnvironmentError(path_ + ": line " + std::to_string(number_) + ": " + problem);
  }

  double real_number(const std::string& key, const std::string& value) const {
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (value.empty() || *end != 0 || !std::isfinite(number)) fail(key + " is '" + value + "', not a finite number");
    return number;
  }
  int worker(const std::string& value) const {
    const double number = real_number("WorkerId", value);
    if (number < 0 || number >= workers_of_a_rank || number != std::floor(number))
      fail("WorkerId is " + value + ", not a whole number from 0 to " + std::to_string(workers_of_a_rank - 1));
    return static_cast<int>(number);
  }

  void take_line() {
    const std::size_t colon = line_.find(": ");
    if (colon == std::string::npos) return;
    const std::string key = line_.substr(0, colon), value = line_.substr(colon + 2);
    if (key == "Name") task_.kernel = value;
    if (key == "WorkerId") worker_ = worker(value);
    if (key == "MPIRank") rank_ = std::max(0, std::atoi(value.c_str()));
    if (key == "StartTime") start_ = real_number(key, value);
    if (key == "EndTime") end_ = real_number(key, value);
    if (key == "SubmitTime") submitted_ = real_number(key, value);
    if (key == "JobId") task_.id = number_of_job(value);
    if (key == "Priority") task_.priority = std::atoi(value.c_str());
    if (key == "GFlop") task_.gflop = std::atof(value.c_str());
    if (key == "Parameters") task_.tiles = without_type(value);
    if (key == "DependsOn") {
      std::istringstream numbers(value);
      for (std::string job; numbers >> job;) task_.depends_on.push_back(number_of_job(job));
    }
  }

  void finish(Trace& trace) {
    if (start_ && end_) {
      const std::string task = "task " + std::to_string(task_.id);
      if (*end_ < *start_) fail(task + " ends at " + std::to_string(*end_) + " ms, before it starts");
      if (!worker_) fail(task + " has no WorkerId");
    }
    const bool named = !task_.kernel.empty();
    if (named && start_ && end_ && *start_ < *end_) {
      task_.worker = *worker_ + rank_ * workers_of_a_rank;
      task_.start = *start_ * 1e-3;
      task_.end = *end_ * 1e-3;
      task_.submitted = submitted_.value_or(*start_) * 1e-3;
      trace.tasks.push_back(task_);
    } else if (named && (start_ || end_)) {
      ++trace.incomplete;
    }
    task_ = {};
    start_ = end_ = submitted_ = std::nullopt;
    worker_ = std::nullopt;
    rank_ = 0;
  }

  std::string path_, line_;
  std::ifstream file_;
  index_t number_ = 0;  // line number
  TracedTask task_;
  std::optional<double> start_, end_, submitted_;
  std::optional<int> worker_;
  int rank_ = 0;
};

/// Reads a moment of Runtime::mark_trace, "9 MILLISECONDS prog_event p "mark NAME"", separated by tabs.
void read_mark(const std::array<std::string, 6>& field, Trace& trace) {
  const std::string begin = std::string("\"") + detail::trace_mark, &text = field[4];
  if (field[2] == "prog_event" && text.starts_with(begin) && text.ends_with('"'))
    trace.marks.push_back(
        {std::atof(field[1].c_str()) * 1e-3, text.substr(begin.size(), text.size() - begin.size() - 1)});
}

/// Reads marks, the workers' names and the kernels' colours from a Paje trace. A worker is "7 TIME w3 W THREAD
/// CUDA0_1", or "7 TIME 2_w3 W THREAD 2_CUDA0_1" on rank 2; a kernel's state is "6 NAME WS NAME "R G B"", separated by
/// tabs. (StarPU's own states have blanks there.)
void read_names(const std::string& path, Trace& trace, std::map<int, std::string>& ranks) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.size() < 2 || line[1] != '\t' || (line[0] != '6' && line[0] != '7' && line[0] != '9')) continue;
    std::array<std::string, 6> field;
    std::istringstream fields(line);
    for (std::string& f : field) std::getline(fields, f, '\t');
    if (line[0] == '9') {
      read_mark(field, trace);
      continue;
    }
    const std::size_t w = field[2].find('w');
    if (line[0] == '7' && field[3] == "W" && w != std::string::npos) {
      const int rank = w > 0 ? std::atoi(field[2].c_str()) : 0;
      const int worker = rank * workers_of_a_rank + std::atoi(field[2].c_str() + w + 1);
      if (w > 0) ranks[worker] = "rank " + std::to_string(rank) + ' ';
      trace.workers[worker] = field[5].starts_with(field[2].substr(0, w)) ? field[5].substr(w) : field[5];
    }
    double red = 0, green = 0, blue = 0;
    if (line[0] == '6' && field[2] == "WS" && std::sscanf(field[4].c_str(), "\"%lf %lf %lf", &red, &green, &blue) == 3)
      trace.colors[field[3]] = static_cast<std::uint32_t>(red) << 16 | static_cast<std::uint32_t>(green) << 8 |
                               static_cast<std::uint32_t>(blue);
  }
}

/// Inserts blanks: "CPU 3", and "CUDA 1" or, if that GPU has several workers, "CUDA 1.0"; with several ranks after
/// "rank 2".
void make_readable(std::map<int, std::string>& workers, std::map<int, std::string>& ranks) {
  std::map<std::string, int> streams;
  const auto device_of = [&](int id, const std::string& name) { return ranks[id] + name.substr(0, name.find('_')); };
  for (const auto& [id, name] : workers) ++streams[device_of(id, name)];
  for (auto& [id, name] : workers) {
    const std::size_t stream = name.find('_');
    if (stream != std::string::npos && streams[device_of(id, name)] > 1)
      name[stream] = '.';
    else
      name.resize(std::min(stream, name.size()));
    if (const std::size_t number = name.find_first_of("0123456789"); number != std::string::npos && number > 0)
      name.insert(number, 1, ' ');
    name.insert(0, ranks[id]);
  }
}

}  // namespace

Trace read_trace(const std::string& directory) {
  Trace trace;
  TaskReader(directory + "/tasks.rec").read(trace);
  std::map<int, std::string> ranks;  // with several ranks, the prefix of each worker
  read_names(directory + "/paje.trace", trace, ranks);
  make_readable(trace.workers, ranks);
  const bool named = !trace.workers.empty();
  for (const TracedTask& task : trace.tasks) {
    if (named && !trace.workers.contains(task.worker))
      throw EnvironmentError(directory + "/tasks.rec: task " + std::to_string(task.id) + " ran on worker " +
                             std::to_string(task.worker) + ", which paje.trace does not name: are both of one run?");
    trace.workers.try_emplace(task.worker, "worker " + std::to_string(task.worker));
    trace.colors.try_emplace(task.kernel, 0x8c8c8c);
  }
  std::sort(trace.tasks.begin(), trace.tasks.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  const double origin = trace.tasks.empty() ? 0 : trace.tasks.front().start;
  for (TracedTask& task : trace.tasks)
    for (double* time : {&task.start, &task.end, &task.submitted}) *time -= origin;
  for (TraceMark& mark : trace.marks) mark.seconds -= origin;
  std::sort(trace.marks.begin(), trace.marks.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return trace;
}

}  // namespace tesela
