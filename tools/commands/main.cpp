#include "tools/app/command.hpp"
#include "tools/app/program.hpp"
#include "tools/app/standard_streams.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <unistd.h>

using namespace tesela::cli;

namespace {

/// Replaces this process by the program tesela-bench of the same folder, with the same arguments. Returns an exit code
/// if that fails.
int run_benchmarks(char** argv) {
  std::error_code unknown;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
  const std::string program = here / "tesela-bench";
  execv(program.c_str(), argv);
  print_error(fmt::format("tesela: bench: cannot run {}: {}; cmake --build build --target tesela_bench builds it",
                          program, std::generic_category().message(errno)));
  return environment;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words = words_of(argc, argv);
  if (const auto command = command_in(words); command != words.end() && *command == "bench")
    return run_benchmarks(argv);
  end_program(run_program(std::move(words)));
}
