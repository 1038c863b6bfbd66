#include "tools/commands/predict/child.hpp"

#include <tesela/runtime/errors.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace tesela::cli {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

/// Returns this process's variables with the changes.
std::vector<std::string> changed(const Environment& variables) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('='));
    bool kept = true;
    for (const auto& [other, value] : variables) kept = kept && name != other;
    if (kept) all.emplace_back(text);
  }
  for (const auto& [name, value] : variables)
    if (!value.empty()) all.push_back(name + '=' + value);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

/// Reads until the other side is closed.
std::string read_all(int file) {
  std::string text;
  char part[65536];
  for (;;) {
    const ssize_t got = read(file, part, sizeof part);
    if (got > 0) text.append(part, static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) return text;
  }
}

}  // namespace

ScratchFolder::ScratchFolder() {
  const char* const above = std::getenv("TMPDIR");
  path_ = std::string(above != nullptr && *above != 0 ? above : "/tmp") + "/tesela-predict-XXXXXX";
  if (mkdtemp(path_.data()) == nullptr) throw FileError(path_, reason(errno));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string program_beside_this(const std::string& name) {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path() / name;
}

std::string output_of(const std::string& program, const std::vector<std::string>& words, const Environment& variables) {
  std::vector<std::string> arguments{program};
  arguments.insert(arguments.end(), words.begin(), words.end());
  std::vector<std::string> environment_texts = changed(variables);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw EnvironmentError("cannot make a pipe: " + reason(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t child = -1;
  const int error = posix_spawnp(&child, program.c_str(), &actions, nullptr, pointers(arguments).data(),
                                 pointers(environment_texts).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  if (error == 0) text = read_all(ends[0]);
  close(ends[0]);
  if (error != 0) throw EnvironmentError(fmt::format("cannot run {}: {}", program, reason(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) throw ChildFailed{128 + WTERMSIG(status), text};
  if (WEXITSTATUS(status) != 0) throw ChildFailed{WEXITSTATUS(status), text};
  return text;
}

int run_or_help(const std::vector<std::string>& command, const std::function<int()>& action) {
  try {
    if (std::none_of(command.begin(), command.end(),
                     [](const std::string& word) { return word == "-h" || word == "--help" || word == "--help-all"; }))
      return action();
    fmt::print("{}", output_of(program_beside_this("tesela"), command, {}));
    return 0;
  } catch (const ChildFailed& failed) {
    return failed.code;  // the reason is printed
  }
}

}  // namespace tesela::cli
