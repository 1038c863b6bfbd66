#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tesela::cli {

/// A folder that ends with this object.
class ScratchFolder {
 public:
  /// Throws FileError if it cannot be made.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Returns the path of a program in the folder of this one.
std::string program_beside_this(const std::string& name);

/// Variables of an environment; one with an empty value is unset.
using Environment = std::vector<std::pair<std::string, std::string>>;

/// Runs a program with these words and variables and returns its standard output. Its messages go to standard error.
///
/// Throws   ChildFailed if the program fails, which has then printed the reason, and EnvironmentError if it cannot
///          start.
std::string output_of(const std::string& program, const std::vector<std::string>& words, const Environment& variables);

/// The end of a program with this exit code, 128 + s after signal s, and its standard output.
struct ChildFailed {
  int code;
  std::string output = {};
};

/// Returns action(), or the exit code of the program that fails in it. If the words of the command that it runs ask for
/// help, prints that help and returns 0.
int run_or_help(const std::vector<std::string>& command, const std::function<int()>& action);

}  // namespace tesela::cli
