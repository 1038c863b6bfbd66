#pragma once

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <signal.h>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace tesela::test {

/// Factor on the seconds that a program may take: sanitizers slow it down.
#ifdef __SANITIZE_ADDRESS__
inline constexpr double patience = 5;
#elif defined(__SANITIZE_THREAD__)
inline constexpr double patience = 20;
#else
inline constexpr double patience = 1;
#endif

/// A command line, or a part of one.
using Words = std::vector<std::string>;

template <class W>
std::vector<W> operator+(std::vector<W> a, const std::vector<W>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// A folder of its own for one test case, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tesela-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::string path_;
};

inline std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Outcome {
  int code = -1;  ///< exit code, or 1000 + signal
  std::string out, err;
  double seconds = 0;
  double peak_bytes = 0;  ///< of memory, its own
};

struct ProcessOptions {
  std::map<std::string, std::string> environment = {};
  double interrupt_after = 0;                 ///< seconds until the signal; 0: never
  std::function<bool()> interrupt_when = {};  ///< the same by what is seen from outside
  int signal = SIGINT;
  std::size_t largest_file = 0;  ///< bytes (RLIMIT_FSIZE); 0: unlimited
  double limit = 120;            ///< seconds until SIGKILL
};

/// Runs a program to its end, its output caught in files of a folder of its own.
inline Outcome run(const std::vector<std::string>& command, const ProcessOptions& options = {}) {
  const TemporaryFolder folder;
  const std::string out = folder / "out", err = folder / "err";
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    for (int signal = 1; signal < SIGRTMIN; ++signal) std::signal(signal, SIG_DFL);  // a shell's jobs ignore some
    for (const auto& [path, target] : {std::pair{out, 1}, std::pair{err, 2}})
      dup2(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), target);
    for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
    if (options.largest_file > 0) {
      const rlimit limit{options.largest_file, options.largest_file};
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    std::vector<char*> argv;
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  int status = 0;
  rusage usage{};
  double interrupted_at = 0;
  while (wait4(child, &status, WNOHANG, &usage) == 0) {
    if (interrupted_at == 0 && ((options.interrupt_after > 0 && elapsed() > options.interrupt_after) ||
                                (options.interrupt_when && options.interrupt_when()))) {
      kill(child, options.signal);
      interrupted_at = elapsed();
    }
    if (elapsed() > options.limit) kill(child, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  Outcome outcome;
  outcome.seconds = elapsed() - interrupted_at;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  outcome.peak_bytes = 1024.0 * static_cast<double>(usage.ru_maxrss);
  outcome.out = contents(out);
  outcome.err = contents(err);
  return outcome;
}

inline bool installed(const std::string& program) { return run({"/bin/sh", "-c", "command -v " + program}).code == 0; }

/// The tesela command that was built with this test: it lies beside it.
inline std::string tesela() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "tesela").string();
}

inline Outcome run_tesela(std::vector<std::string> arguments, const ProcessOptions& options = {}) {
  arguments.insert(arguments.begin(), tesela());
  return run(arguments, options);
}

}  // namespace tesela::test
