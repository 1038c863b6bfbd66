// Process limits under which StarPU or a kernel would crash give exit code 3 and one line that names the limit.

#include "tests/support/commands/process.hpp"
#include "tests/support/test.hpp"

#include <unistd.h>

using namespace tesela::test;

namespace {

/// Runs the command in a shell with these limits, with an empty home or the test's own. Its messages go through a pipe,
/// to which no limit on files applies.
Outcome limited(const std::string& limits, const Words& arguments, bool fresh = false) {
  const TemporaryFolder home;
  ProcessOptions options;
  if (fresh) options.environment = {{"STARPU_HOME", home.path()}};
  const std::string line = "(exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; " + limits +
                           " && exec \"$0\" \"$@\") 2>&1 | cat >&2; exit ${PIPESTATUS[0]}";
  return run(Words{"/bin/bash", "-c", line, tesela::test::tesela()} + arguments, options);
}

void check_refused(const std::string& limits, const Words& arguments, const std::string& named) {
  const Outcome outcome = limited(limits, arguments, true);
  CAPTURE(limits, arguments, outcome.err);
  CHECK(outcome.code == 3);
  CHECK_THAT(outcome.err, ContainsSubstring("tesela: ") && ContainsSubstring("`" + named));
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
}

}  // namespace

#ifndef __SANITIZE_ADDRESS__  // the sanitizer opens files and reserves memory itself

TEST_CASE("too few open files are refused with exit code 3") {
  check_refused("ulimit -n 4", {"lu", "--n", "20"}, "ulimit -n");
  check_refused("ulimit -n 5", {"lu", "--n", "20"}, "ulimit -n");
  for (int files = 6; files < 10; ++files) {
    const Outcome outcome = limited("ulimit -n " + std::to_string(files), {"lu", "--n", "20", "--out-l", "/dev/null"});
    CAPTURE(files, outcome.err);
    CHECK((outcome.code == 0 || (outcome.code == 3 && outcome.err.find("ulimit -n") != std::string::npos)));
  }
  const TemporaryFolder folder;
  check_refused("ulimit -n 6", {"lu", "--n", "20", "--trace", folder / "t"}, "ulimit -n");
  check_refused("exec 3</dev/null 4</dev/null 5</dev/null 6</dev/null && ulimit -n 9", {"lu", "--n", "20"},
                "ulimit -n");
}

TEST_CASE("too small a file size is refused with exit code 3") {
  for (const char* limit : {"0", "1", "2", "15"})
    check_refused(std::string("ulimit -f ") + limit, {"lu", "--n", "20"}, "ulimit -f");
  CHECK(limited("ulimit -f 64", {"lu", "--n", "20"}).code == 0);
  const TemporaryFolder folder;
  check_refused("ulimit -f 64", {"generate", "--n", "200", "--out", folder / "a.npy"}, "ulimit -f");
  CHECK(folder.files() == 0);
}

TEST_CASE("too small a stack is refused with exit code 3") {
  const TemporaryFolder folder;
  REQUIRE(run_tesela({"generate", "--n", "300", "--out", folder / "a.npy"}).code == 0);
  for (const char* limit : {"64", "128", "384", "1023"}) {
    check_refused(std::string("ulimit -s ") + limit, {"lu", "--a", folder / "a.npy"}, "ulimit -s");
    check_refused(std::string("ulimit -s ") + limit, {"tridiag", "--n", "1000000"}, "ulimit -s");
  }
  for (const Words& words : {Words{"lu", "--a", folder / "a.npy"}, Words{"tridiag", "--n", "1000000"},
                             Words{"eig", "--n", "300", "--vectors"}})
    CHECK(limited("ulimit -s 1024", words).code == 0);
}

TEST_CASE("too little address space ends without a crash") {
  int refused = 0;
  for (int kib = 1'400'000; kib <= 3'000'000; kib += 200'000) {
    const Outcome outcome = limited("ulimit -v " + std::to_string(kib), {"lu", "--n", "20"});
    CAPTURE(kib, outcome.err);
    // 127: the dynamic loader cannot map the libraries.
    CHECK((outcome.code == 0 || outcome.code == 3 || outcome.code == 127));
    if (outcome.code == 3) {
      ++refused;
      CHECK_THAT(outcome.err, ContainsSubstring("`ulimit -"));
    }
  }
  CHECK(refused > 0);
}

TEST_CASE("too few processes are refused with exit code 3") {
  if (geteuid() != 0 || !installed("setpriv")) SKIP("only root can become a user without processes");
  const TemporaryFolder home;
  std::filesystem::permissions(home.path(), std::filesystem::perms::all);
  for (const char* processes : {"1", "2"}) {
    const Outcome outcome =
        run({"/bin/bash", "-c",
             "exec setpriv --reuid=54321 --clear-groups bash -c 'ulimit -u '" + std::string(processes) +
                 "' && exec \"$0\" lu --n 20' " + tesela::test::tesela()},
            {.environment = {{"STARPU_HOME", home.path()}, {"HOME", home.path()}, {"OPENBLAS_NUM_THREADS", "1"}}});
    CAPTURE(processes, outcome.err);
    if (outcome.code == 126 || outcome.code == 127) SKIP("the program is not that user's to run");
    CHECK(outcome.code == 3);
    CHECK_THAT(outcome.err, ContainsSubstring("`ulimit -u`"));
  }
}

#endif
