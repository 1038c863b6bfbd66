// Signals that end a process leave no temporary files, and only the command handles them.

#include "tests/support/commands/process.hpp"
#include <tesela/runtime/runtime.hpp>

#include <csignal>
#include <fstream>

using namespace tesela::test;

namespace {

/// Writing this matrix as text takes seconds.
Words endless(const TemporaryFolder& folder) { return {"generate", "--n", "6000", "--out", folder / "a.mtx"}; }

/// Returns whether the only file of the folder has content.
bool writing(const TemporaryFolder& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    std::error_code gone;
    if (const auto size = entry.file_size(gone); !gone && size > 0) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("signals that end a process remove unfinished files and set the exit code") {
  const int signal = GENERATE(SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGVTALRM, SIGPROF, SIGXCPU,
                              SIGIO, SIGPWR, SIGSTKFLT);
  const TemporaryFolder folder;
  ProcessOptions options;
  options.interrupt_when = [&] { return writing(folder); };
  options.signal = signal;
  const Outcome outcome = run_tesela(endless(folder), options);
  CAPTURE(signal, outcome.err);
  CHECK(outcome.code == 128 + signal);
  CHECK(outcome.seconds < 3);
  CHECK(folder.files() == 0);
}

TEST_CASE("a signal cancels the tasks") {
  const TemporaryFolder folder;
  ProcessOptions options;
  options.interrupt_after = 1;
  options.signal = SIGHUP;
  const Outcome outcome =
      run_tesela({"gemm", "--n", "4000", "--repeat", "1000", "--tile", "200", "--out", folder / "c.npy"}, options);
  CHECK(outcome.code == 128 + SIGHUP);
  CHECK(outcome.seconds < 1);
  CHECK(folder.files() == 0);
}

TEST_CASE("a signal after the last task keeps the earlier output") {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.mtx") << "earlier";
  ProcessOptions options;
  options.interrupt_when = [&] { return folder.files() > 1; };  // the file is being written, which takes 0.3 s
  const Outcome outcome = run_tesela({"generate", "--n", "1000", "--out", folder / "a.mtx"}, options);
  CHECK(outcome.code == 130);
  CHECK(folder.files() == 1);
  CHECK(contents(folder / "a.mtx") == "earlier");
}

TEST_CASE("Ctrl-C ends eigenproblems in any stage") {
  const TemporaryFolder folder;
  ProcessOptions options;
  options.interrupt_after = GENERATE(1.0, 1.2, 1.5, 1.9);
  const Outcome outcome = run_tesela({"eig", "--n", "1200", "--method", "two-stage", "--vectors", "--no-check",
                                      "--repeat", "1000", "--out-vectors", folder / "x.npy"},
                                     options);
  CAPTURE(options.interrupt_after, outcome.err);
  CHECK(outcome.code == 130);
  CHECK(outcome.seconds < 1.5 * patience);
  CHECK(folder.files() == 0);
}

TEST_CASE("signals ignored at the start stay ignored, as nohup requires") {
  const TemporaryFolder folder;
  ProcessOptions options;
  options.interrupt_when = [&] { return writing(folder); };
  options.signal = SIGHUP;
  const Outcome outcome = run(Words{"/bin/sh", "-c", "trap '' HUP; exec \"$0\" \"$@\"", tesela::test::tesela(),
                                    "generate", "--n", "1500", "--out", folder / "a.mtx"},
                              options);
  CHECK(outcome.code == 0);
  CHECK(std::filesystem::exists(folder / "a.mtx"));
  CHECK(folder.files() == 1);
}

TEST_CASE("the library installs no signal handler") {
  const auto handlers = [] {
    std::vector<void (*)(int)> all;
    for (int signal = 1; signal < SIGRTMIN; ++signal) {
      struct sigaction action {};
      sigaction(signal, nullptr, &action);
      all.push_back(action.sa_handler);
    }
    return all;
  };
  const auto before = handlers();
  {
    const tesela::Runtime runtime;
    CHECK(handlers() == before);
  }
  CHECK(handlers() == before);
}
