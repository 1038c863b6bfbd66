#include "tools/app/standard_streams.hpp"

#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/ranks.hpp>
#include <tesela/tiles/io/atomic_file.hpp>
#include <tesela/tiles/io/streams.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <iostream>
#include <string_view>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace tesela::cli {
namespace {

bool output_is_a_file = false;

}  // namespace

void open_closed_standard_streams() {
  int descriptor = 0;
  do descriptor = open("/dev/null", O_RDONLY);
  while (0 <= descriptor && descriptor <= STDERR_FILENO);
  if (descriptor >= 0) close(descriptor);
}

void redirect_reports_to_stderr() {
  if (launched_rank() > 0) return;  // prints nothing
  const int copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (copy < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    throw EnvironmentError("standard output: " + std::generic_category().message(errno) + " (see `ulimit -n`)");
  write_standard_output_to(copy);
  output_is_a_file = true;
}

std::optional<std::string> standard_output_problem() {
  if (output_is_a_file) return std::nullopt;
  errno = 0;
  std::cout.flush();
  bool good = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  // A network file system may report a full disk only when a descriptor is closed.
  if (good) {
    const int copy = dup(STDOUT_FILENO);
    good = copy < 0 || close(copy) == 0;
  }
  if (good) return std::nullopt;
  return "standard output: cannot write" + (errno != 0 ? ": " + std::generic_category().message(errno) : "");
}

void silence_other_ranks() {
  if (launched_rank() == 0) return;
  if (const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) {
    dup2(nowhere, STDOUT_FILENO);
    close(nowhere);
  }
  disable_file_output();
}

void print_error(const std::string& line) noexcept {
  const int rank = launched_rank();
  if (rank > 0) {
    prepare_to_end_ranks();
    std::this_thread::sleep_for(std::chrono::seconds(3));
  }
  std::fputs(line.c_str(), stderr);
  if (rank > 0 && line.find("(rank ") == std::string::npos) std::fprintf(stderr, " (rank %d)", rank);
  std::fputs("\n", stderr);
}

namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string coloured(const std::string& text, Colour colour, int descriptor) {
  const bool shown = isatty(descriptor) != 0 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  return shown ? fmt::format("\x1b[{}m{}\x1b[0m", static_cast<int>(colour), text) : text;
}

}  // namespace tesela::cli
