#include "tests/support/commands/forks.hpp"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

// The program tesela, linked so that its main() runs in a fork for each request of a test, since loading CUDA's
// libraries takes longer than most commands.

extern "C" {
int __real_main(int, char**);  // NOLINT(bugprone-reserved-identifier): the linker's names (--wrap=main)
int __wrap_main(int, char**);  // NOLINT(bugprone-reserved-identifier)
}

namespace {

using namespace tesela::test;

[[noreturn]] void become(const ForkRequest& request) {
  for (int signal = 1; signal < SIGRTMIN; ++signal) std::signal(signal, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, 0);
  dup2(request.out, 1);
  dup2(request.err, 2);
  for (const int other : {request.out, request.err, fork_socket}) close(other);
  clearenv();
  for (const std::string& pair : request.environment) putenv(const_cast<char*>(pair.c_str()));
  if (request.largest_file > 0) {
    const rlimit limit{request.largest_file, request.largest_file};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (chdir(request.folder.c_str()) != 0) _exit(127);
  std::vector<char*> argv;
  for (const std::string& word : request.words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  std::exit(__real_main(static_cast<int>(request.words.size()), argv.data()));
}

}  // namespace

extern "C" int __wrap_main(int, char**) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  for (ForkRequest request; receive(fork_socket, request);) {
    ForkReply answer;
    answer.pid = fork();
    if (answer.pid == 0) become(request);
    close(request.out);
    close(request.err);
    if (!write_all(fork_socket, &answer, sizeof answer)) break;
    while (wait4(answer.pid, &answer.status, 0, &answer.usage) < 0) continue;
    if (!write_all(fork_socket, &answer, sizeof answer)) break;
  }
  return 0;
}
