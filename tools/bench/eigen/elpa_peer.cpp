#include "tools/bench/eigen/eig_peers.hpp"
#include <tesela/host/blas.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <unistd.h>

namespace tesela::bench {
namespace {

struct Timed {
  double seconds = 0, error = 0;
};

Timed run_elpa(const std::string& program, index_t n, bool vectors, std::uint64_t seed, bool check) {
  const PausedWorkers paused;
  wait_for_idle_threads();
  const std::string command = fmt::format("OPENBLAS_NUM_THREADS=1 mpirun {}-n {} '{}' {} {} {} {} 2>&1",
                                          geteuid() == 0 ? "--allow-run-as-root " : "", blas::all_cores(), program, n,
                                          vectors ? "vectors" : "values", seed, check ? 1 : 0);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string output;
  Timed timed;
  bool found = false;
  for (char line[1024]; pipe && std::fgets(line, sizeof line, pipe.get()) != nullptr;) {
    found = found || std::sscanf(line, "seconds %lf error %lf", &timed.seconds, &timed.error) == 2;
    output += line;
  }
  if (!found) throw EnvironmentError(fmt::format("'{}' failed:\n{}", command, output));
  return timed;
}

}  // namespace

Peer elpa_eig(index_t n, bool vectors, std::uint64_t seed) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").replace_filename("tesela-elpa-eig");
  if (!std::filesystem::exists(program))
    throw EnvironmentError("bench eig: elpa needs the program " + program +
                           ": docs/eigen.md describes how to build it");
  return {"elpa", [=] { return run_elpa(program, n, vectors, seed, false).seconds; },
          [=] {
            const Timed timed = run_elpa(program, n, vectors, seed, true);
            if (timed.error <= 1) return timed.error;
            throw WrongResult(fmt::format("elpa: n = {}: an error is {:.3g} times its bound", n, timed.error));
          }};
}

}  // namespace tesela::bench
