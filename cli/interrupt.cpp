#include "cli/interrupt.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "cli/command.hpp"
#include "runtime/runtime.hpp"
#include "tiles/atomic_file.hpp"

namespace tesela::cli {

void stop_on_interrupt() {
  // Blocked here and so in every thread that follows; one thread waits for them and may then do what a signal handler
  // may not.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals] {
    int signal = 0;
    sigwait(&signals, &signal);
    Runtime::cancel();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    remove_unfinished_files();
    _exit(interrupted);
  }).detach();
}

}  // namespace tesela::cli
