#include "cli/interrupt.hpp"

#include "cli/command.hpp"
#include "runtime/errors.hpp"
#include "runtime/runtime.hpp"
#include "tiles/atomic_file.hpp"

#include <array>
#include <chrono>
#include <signal.h>
#include <thread>
#include <unistd.h>

namespace tesela::cli {
namespace {

std::array<int, 2> wake_up{-1, -1};

/// A handler, not a blocked signal that one thread waits for: libraries start threads before main, which block nothing.
void on_signal(int) {
  const char byte = 0;
  [[maybe_unused]] const auto ignored = write(wake_up[1], &byte, 1);
}

}  // namespace

void stop_on_interrupt() {
  if (pipe(wake_up.data()) != 0) throw EnvironmentError("no file descriptors left to start with");
  std::thread([] {
    char byte = 0;
    while (read(wake_up[0], &byte, 1) != 1) {
    }
    Runtime::cancel();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    remove_unfinished_files();
    _exit(interrupted);
  }).detach();
  struct sigaction action {};
  action.sa_handler = &on_signal;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

}  // namespace tesela::cli
