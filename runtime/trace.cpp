#include "runtime/trace.hpp"

#include <starpu.h>

#include <sys/stat.h>
#ifdef STARPU_USE_FXT
#include <starpu_fxt.h>
#endif

#include "runtime/errors.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace tesela {

bool can_trace() noexcept {
#ifdef STARPU_USE_FXT
  return true;
#else
  return false;
#endif
}

void convert_trace(const std::string& directory) {
#ifdef STARPU_USE_FXT
  const char* user = std::getenv("USER");
  std::string events = directory + "/prof_file_" + (user != nullptr ? user : "") + "_0";
  struct stat status {};
  if (stat(events.c_str(), &status) != 0)
    throw EnvironmentError(events + ": StarPU left no trace here (is the directory writable, the disk full?)");
  std::string folder = directory;
  starpu_fxt_options options;
  starpu_fxt_options_init(&options);
  options.ninputfiles = 1;
  options.filenames[0] = events.data();  // StarPU reads both and frees neither
  options.dir = folder.data();
  options.use_task_color = 1;
  starpu_fxt_generate_trace(&options);
  starpu_fxt_options_shutdown(&options);
#else
  throw EnvironmentError(directory +
                         ": this StarPU was built without FxT, so it records no traces (see scripts/setup)");
#endif
}

std::vector<TracedTask> read_tasks(const std::string& directory) {
  const std::string path = directory + "/tasks.rec";
  std::ifstream file(path);
  if (!file) throw FileError(path, "cannot be read");
  std::vector<TracedTask> tasks;
  TracedTask task;
  const auto finish = [&] {
    if (!task.kernel.empty() && task.end > task.start) tasks.push_back(task);
    task = {};
  };
  // Records of "Key: value" lines, one record a task, an empty line between two; times in milliseconds.
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) {
      finish();
      continue;
    }
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string key = line.substr(0, colon), value = line.substr(colon + 2);
    if (key == "Name") task.kernel = value;
    if (key == "WorkerId") task.worker = std::atoi(value.c_str());
    if (key == "StartTime") task.start = std::atof(value.c_str()) * 1e-3;
    if (key == "EndTime") task.end = std::atof(value.c_str()) * 1e-3;
  }
  finish();
  std::sort(tasks.begin(), tasks.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  const double origin = tasks.empty() ? 0 : tasks.front().start;
  for (TracedTask& t : tasks) {
    t.start -= origin;
    t.end -= origin;
  }
  return tasks;
}

}  // namespace tesela
