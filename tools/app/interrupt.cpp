#include "tools/app/program.hpp"
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/ranks.hpp>
#include <tesela/runtime/runtime.hpp>
#include <tesela/runtime/simulation/simulation.hpp>
#include <tesela/tiles/io/atomic_file.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <signal.h>
#include <string_view>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace tesela::cli {
namespace {

/// Signals that end a process by default, except those of faults and the real-time signals.
constexpr std::array ending{SIGHUP,    SIGINT,  SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM,  SIGTERM,
                            SIGVTALRM, SIGPROF, SIGXCPU, SIGIO,   SIGPWR,  SIGSTKFLT};

std::array<int, 2> wake_up{-1, -1};
std::atomic<int> received{0};

/// A handler instead of a thread that waits for a blocked signal: libraries start threads before main, which block
/// nothing.
void on_signal(int signal) {
  const int interrupted_errno = errno;
  const auto byte = static_cast<char>(signal);
  [[maybe_unused]] const auto ignored = write(wake_up[1], &byte, 1);
  errno = interrupted_errno;
}

}  // namespace

bool was_interrupted() { return received != 0; }
int interrupted() { return 128 + (was_interrupted() ? received.load() : SIGINT); }

void stop_on_interrupt() {
  if (pipe2(wake_up.data(), O_CLOEXEC) != 0)
    throw EnvironmentError("no file descriptors left to start with (raise the limit, see `ulimit -n`)");
  const auto wait = [] {
    char byte = 0;
    while (read(wake_up[0], &byte, 1) != 1) {
    }
    received = byte;
    if (launched_rank() <= 0 && !is_simulated()) {  // a simulation is a part of predict or tune, which reports it
      const std::string_view line =
          isatty(STDERR_FILENO) != 0 ? "\r\x1b[Ktesela: interrupted\n" : "tesela: interrupted\n";
      [[maybe_unused]] const auto ignored = write(STDERR_FILENO, line.data(), line.size());
    }
    Runtime::cancel();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    remove_unfinished_files();
    _exit(interrupted());
  };
  try {
    std::thread(wait).detach();
  } catch (const std::system_error&) {
    throw EnvironmentError("no thread can be started (raise the limit, see `ulimit -u`)");
  }
  struct sigaction action {};
  action.sa_handler = &on_signal;
  action.sa_flags = SA_RESTART;
  for (const int signal : ending) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    // nohup ignores SIGHUP, a shell ignores SIGINT for background jobs, and profilers have handlers.
    if (before.sa_handler == SIG_DFL) sigaction(signal, &action, nullptr);
  }
}

}  // namespace tesela::cli
