#include "cli/app/standard_streams.hpp"

#include <tesela/runtime/ranks.hpp>
#include <tesela/tiles/io/atomic_file.hpp>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <iostream>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace tesela::cli {

void take_closed_standard_descriptors() {
  int descriptor = 0;
  do descriptor = open("/dev/null", O_RDONLY);
  while (0 <= descriptor && descriptor <= STDERR_FILENO);
  if (descriptor >= 0) close(descriptor);
}

std::optional<std::string> standard_output_problem() {
  errno = 0;
  std::cout.flush();
  bool good = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  // A network's file system may tell of a full disk only when a descriptor is closed.
  if (good) {
    const int copy = dup(STDOUT_FILENO);
    good = copy < 0 || close(copy) == 0;
  }
  if (good) return std::nullopt;
  return "standard output: cannot write" + (errno != 0 ? ": " + std::generic_category().message(errno) : "");
}

void be_quiet_beside_rank_0() {
  if (launched_rank() == 0) return;
  if (const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) {
    dup2(nowhere, STDOUT_FILENO);
    close(nowhere);
  }
  write_no_files();
}

void tell(const std::string& line) noexcept {
  const int rank = launched_rank();
  if (rank > 0) {
    prepare_to_end_ranks();
    std::this_thread::sleep_for(std::chrono::seconds(3));
  }
  std::fputs(line.c_str(), stderr);
  if (rank > 0 && line.find("(rank ") == std::string::npos) std::fprintf(stderr, " (rank %d)", rank);
  std::fputs("\n", stderr);
}

}  // namespace tesela::cli
