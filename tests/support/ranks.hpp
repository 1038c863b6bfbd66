#pragma once

#include "tests/support/process.hpp"

#include <catch2/catch_test_macros.hpp>

// Programs on several ranks, started by mpirun.

namespace tesela::test {

/// Arguments reach the program as they are, but for quotes.
inline Outcome run_on_ranks(int ranks, const Words& program, ProcessOptions options = {}) {
  std::string line = "exec mpirun --oversubscribe -np " + std::to_string(ranks);
  for (const std::string& word : program) line += " '" + word + "'";
  options.environment.insert({{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}});
#if defined(__SANITIZE_ADDRESS__)  // MPI's modules leak and are unloaded: leaks without a name
  options.environment.insert({"ASAN_OPTIONS", "allocator_may_return_null=1:detect_leaks=0"});
#endif
  options.limit = 60 * patience;
  return run({"/bin/sh", "-c", line}, options);
}

/// Skips where there is no mpirun that can start processes, or no library to join them by.
inline void require_ranks() {
  const auto library = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "../lib/libtesela_mpi.so";
  if (!std::filesystem::exists(library)) SKIP("built without MPI");
  if (run_on_ranks(2, {"true"}).code != 0) SKIP("no mpirun that starts two processes here");
}

}  // namespace tesela::test
