#pragma once

#include "tests/support/commands/process.hpp"
#include "tests/support/variable.hpp"

// Programs on several ranks, started by mpirun.

namespace tesela::test {

/// Runs a program on several ranks with unchanged arguments (apart from quotes), and kills it after `seconds`.
inline Outcome run_on_ranks(int ranks, const Words& program, ProcessOptions options = {}, double seconds = 30) {
  std::string line = "exec env --ignore-signal=PIPE mpirun --oversubscribe -np " + std::to_string(ranks);
  for (const std::string& word : program) line += " '" + word + "'";
  options.environment.insert({{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}});
#if defined(__SANITIZE_ADDRESS__)  // MPI's modules leak and are unloaded, so their leaks have no names
  options.environment.insert({"ASAN_OPTIONS", "allocator_may_return_null=1:detect_leaks=0"});
#endif
  options.limit = seconds * patience;
  return run({"/bin/sh", "-c", line}, options);
}

/// Returns the number of processes with this word in their command line, after waiting up to three seconds for their
/// end.
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

/// Skips if mpirun cannot start processes or there is no MPI library.
inline void require_ranks() {
  const auto library = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "../lib/libtesela_mpi.so";
  if (!std::filesystem::exists(library)) SKIP("built without MPI");
  if (run_on_ranks(2, {"true"}).code != 0) SKIP("no mpirun that starts two processes here");
}

}  // namespace tesela::test
