#pragma once

#include "tests/support/commands/forks.hpp"
#include "tests/support/commands/temporary_folder.hpp"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <map>
#include <signal.h>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace tesela::test {

/// Factor for the time limits of programs: sanitizers slow them down.
#ifdef __SANITIZE_ADDRESS__
inline constexpr double patience = 5;
#elif defined(__SANITIZE_THREAD__)
inline constexpr double patience = 20;
#else
inline constexpr double patience = 1;
#endif

/// A command line or part of one.
using Words = std::vector<std::string>;

template <class W>
std::vector<W> operator+(std::vector<W> a, const std::vector<W>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

struct Outcome {
  int code = -1;  ///< exit code, or 1000 + signal
  std::string out, err;
  double seconds = 0;
  double peak_bytes = 0;  ///< of its memory
};

struct ProcessOptions {
  std::map<std::string, std::string> environment = {};
  double interrupt_after = 0;                 ///< seconds until the signal; 0: never
  std::function<bool()> interrupt_when = {};  ///< the same on a condition seen from outside
  int signal = SIGINT;
  std::size_t largest_file = 0;  ///< bytes (RLIMIT_FSIZE); 0: unlimited
  double limit = 120;            ///< seconds until SIGKILL
};

/// A running program, and how it ended.
struct Process {
  pid_t pid = -1;
  std::function<bool(int& status, rusage& usage)> ended;
};

/// Starts a program by `begin` and waits for its end, with its output in files of a separate folder.
inline Outcome watch(const std::function<Process(int out, int err)>& begin, const ProcessOptions& options) {
  const TemporaryFolder folder;
  const auto caught = [&](const char* name) {
    return open((folder / name).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  };
  const int out = caught("out"), err = caught("err");
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  const Process process = begin(out, err);
  close(out);
  close(err);
  int status = 0;
  rusage usage{};
  double interrupted_at = 0;
  while (!process.ended(status, usage)) {
    if (interrupted_at == 0 && ((options.interrupt_after > 0 && elapsed() > options.interrupt_after) ||
                                (options.interrupt_when && options.interrupt_when()))) {
      kill(process.pid, options.signal);
      interrupted_at = elapsed();
    }
    if (elapsed() > options.limit) kill(process.pid, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  Outcome outcome;
  outcome.seconds = elapsed() - interrupted_at;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  outcome.peak_bytes = 1024.0 * static_cast<double>(usage.ru_maxrss);
  outcome.out = contents(folder / "out");
  outcome.err = contents(folder / "err");
  return outcome;
}

inline Outcome run(const std::vector<std::string>& command, const ProcessOptions& options = {}) {
  const auto begin = [&](int out, int err) {
    const pid_t child = fork();
    if (child == 0) {
      // Jobs of a shell ignore some signals.
      for (int signal = 1; signal < SIGRTMIN; ++signal) std::signal(signal, SIG_DFL);
      dup2(out, 1);
      dup2(err, 2);
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
    return Process{child, [child](int& status, rusage& usage) { return wait4(child, &status, WNOHANG, &usage) != 0; }};
  };
  return watch(begin, options);
}

inline bool installed(const std::string& program) { return run({"/bin/sh", "-c", "command -v " + program}).code == 0; }

/// Returns the path of the tesela command built with this test, in the same folder.
inline std::string tesela() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "tesela").string();
}

/// The program tesela-forks in the folder of this test. There is no socket if the program is missing, or if sanitizers
/// need separate programs.
class Forks {
 public:
  Forks() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const std::string program = tesela() + "-forks";
    int ends[2];
    if (access(program.c_str(), X_OK) != 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      ends[1] == fork_socket ? fcntl(fork_socket, F_SETFD, 0) : dup2(ends[1], fork_socket);
      execl(program.c_str(), program.c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
    socket_ = ends[0];
#endif
  }
  ~Forks() {
    if (socket_ < 0) return;
    close(socket_);
    waitpid(pid_, nullptr, 0);
  }
  Forks(const Forks&) = delete;
  Forks& operator=(const Forks&) = delete;
  int socket() const { return socket_; }

 private:
  int socket_ = -1;
  pid_t pid_ = -1;
};

/// Runs `tesela ARGUMENTS` in a separate process.
inline Outcome run_tesela(std::vector<std::string> arguments, const ProcessOptions& options = {}) {
  arguments.insert(arguments.begin(), tesela());
  static const Forks forks;
  const int socket = forks.socket();
  if (socket < 0) return run(arguments, options);
  const auto begin = [&](int out, int err) {
    ForkRequest request{out, err, options.largest_file, std::filesystem::current_path().string(), {}, arguments};
    for (char** pair = environ; *pair != nullptr; ++pair) {
      const std::string word = *pair;
      if (!options.environment.contains(word.substr(0, word.find('=')))) request.environment.push_back(word);
    }
    for (const auto& [name, value] : options.environment) request.environment.push_back(name + "=" + value);
    ForkReply answer;
    if (!send_request(socket, request) || !read_all(socket, &answer, sizeof answer))
      throw std::runtime_error("tesela-forks has ended");
    return Process{answer.pid, [socket](int& status, rusage& usage) {
                     ForkReply end;
                     if (recv(socket, &end, sizeof end, MSG_PEEK | MSG_DONTWAIT) < 0) return false;
                     if (!read_all(socket, &end, sizeof end)) throw std::runtime_error("tesela-forks has ended");
                     status = end.status;
                     usage = end.usage;
                     return true;
                   }};
  };
  return watch(begin, options);
}

}  // namespace tesela::test
