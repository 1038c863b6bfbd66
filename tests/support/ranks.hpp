#pragma once

#include "tests/support/process.hpp"
#include "tests/support/variable.hpp"

#include <catch2/catch_test_macros.hpp>

// Programs on several ranks, started by mpirun.

namespace tesela::test {

/// Arguments reach the program as they are, but for quotes. What hangs is killed after so many seconds.
inline Outcome run_on_ranks(int ranks, const Words& program, ProcessOptions options = {}, double seconds = 30) {
  std::string line = "exec env --ignore-signal=PIPE mpirun --oversubscribe -np " + std::to_string(ranks);
  for (const std::string& word : program) line += " '" + word + "'";
  options.environment.insert({{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}});
#if defined(__SANITIZE_ADDRESS__)  // MPI's modules leak and are unloaded: leaks without a name
  options.environment.insert({"ASAN_OPTIONS", "allocator_may_return_null=1:detect_leaks=0"});
#endif
  options.limit = seconds * patience;
  return run({"/bin/sh", "-c", line}, options);
}

/// Processes whose command line has this word in it, once those that are about to end have ended: at most three seconds
/// later.
inline int processes_with(const std::string& word) {
  int count = 0;
  for (int attempt = 0; attempt < 30; ++attempt) {
    count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc"))
      if (const std::string pid = entry.path().filename(); pid.find_first_not_of("0123456789") == std::string::npos)
        count += contents("/proc/" + pid + "/cmdline").find(word) != std::string::npos ? 1 : 0;
    if (count == 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return count;
}

/// Skips where there is no mpirun that can start processes, or no library to join them by.
inline void require_ranks() {
  const auto library = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "../lib/libtesela_mpi.so";
  if (!std::filesystem::exists(library)) SKIP("built without MPI");
  if (run_on_ranks(2, {"true"}).code != 0) SKIP("no mpirun that starts two processes here");
}

}  // namespace tesela::test
