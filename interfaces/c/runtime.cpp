#include "interfaces/c/arguments.hpp"
#include "interfaces/c/process.hpp"

#include <limits>

namespace tesela::c {
namespace {

/// 0 is the default; TESELA_NONE is 0 workers.
std::optional<int> number(const char* member, std::int64_t value) {
  if (value == 0) return std::nullopt;
  if (value == TESELA_NONE) return 0;
  if (value < 0 || value > std::numeric_limits<int>::max())
    throw WrongArgument("options", std::string(member) + " is " + std::to_string(value));
  return static_cast<int>(value);
}

}  // namespace

/// Starts the workers; otherwise the first call that needs them does. NULL selects the settings of StarPU's variables
/// and the machine. Returns TESELA_LIFETIME if they already run.
Code start(const tesela_options* options) {
  const tesela_options given = read_versioned_struct("options", options);
  RuntimeOptions wanted;
  wanted.cpus = number("cpus", given.cpus);
  wanted.gpus = number("gpus", given.gpus);
  wanted.streams_per_gpu = number("streams_per_gpu", given.streams_per_gpu);
  wanted.gpu_megabytes = number("gpu_megabytes", given.gpu_megabytes);
  if (given.scheduler != nullptr) wanted.scheduler = given.scheduler;
  try {
    start_workers(wanted);
  } catch (const ArgumentError& e) {
    throw WrongArgument("options", e.what());
  }
  return 0;
}

/// Waits for all tasks, frees every handle and stops the workers; the next call starts them again. It also runs at the
/// end of the process.
Code stop(void) {
  stop_workers();
  return 0;
}

/// Stores the numbers of workers. Starts them.
Code workers(int64_t* cpus, int64_t* gpus) {
  require_pointer("cpus", cpus);
  require_pointer("gpus", gpus);
  const Session session;
  *cpus = session.runtime().cpus();
  *gpus = session.runtime().gpus();
  return 0;
}

}  // namespace tesela::c
