// A report that did not reach its reader is a failure: exit code 3 and one line on standard error.

#include "tests/support/process.hpp"
#include <tesela/runtime/trace.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>

using namespace tesela::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Runs the command in a shell that redirects as said.
Outcome redirected(const std::string& redirection, const Words& arguments) {
  return run(Words{"/bin/sh", "-c", "\"$0\" \"$@\" " + redirection, tesela::test::tesela()} + arguments);
}

void check_told(const Outcome& outcome, int code = 3) {
  CAPTURE(outcome.err);
  CHECK(outcome.code == code);
  CHECK_THAT(outcome.err, ContainsSubstring("standard output: cannot write"));
  // (A bench that draws says so as well where gnuplot is missing.)
  const bool no_plot = outcome.err.find("gnuplot is not installed") != std::string::npos;
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == (no_plot ? 2 : 1));
}

/// A system of one equation, 0 x = 1.
Words singular(const TemporaryFolder& folder) {
  Words words{"tridiag"};
  for (const char* part : {"d", "dl", "du", "b"}) {
    const std::string path = folder / part;
    std::ofstream(path) << "%%MatrixMarket matrix array real general\n1 1\n" << (*part == 'b' ? 1 : 0) << "\n";
    words = words + Words{std::string("--") + part, path};
  }
  return words;
}

}  // namespace

TEST_CASE("a full standard output is told, whatever is printed there") {
  if (!std::filesystem::exists("/dev/full")) SKIP("there is no /dev/full");
  const Words arguments = GENERATE(
      Words{"toeplitz", "count", "--n", "50"}, Words{"toeplitz", "slice", "--n", "50"}, Words{"schedule"},
      Words{"schedule", "--json", "-"}, Words{"schedule", "--m", "200", "--n", "60"}, Words{"info"},
      Words{"info", "--json", "-"}, Words{"gemm", "--n", "20"}, Words{"gemm", "--n", "20", "--json", "-"},
      Words{"--help"}, Words{"qr", "--help"}, Words{"--version"},
      Words{"bench", "overhead", "--tasks", "10", "--repeat", "1", "--out", "/tmp", "--name", "tesela-full-output"});
  CAPTURE(arguments);
  check_told(redirected(">/dev/full", arguments));
  for (const char* left : {"/tmp/tesela-full-output.csv", "/tmp/tesela-full-output.svg"}) std::filesystem::remove(left);
}

TEST_CASE("a numerical failure that could not be reported is the environment's, wrong use stays wrong use") {
  const TemporaryFolder folder;
  REQUIRE(run_tesela(singular(folder)).code == 1);
  check_told(redirected(">/dev/full", singular(folder)));
  CHECK(redirected(">/dev/full", {"gemm", "--n", "-3"}).code == 2);
  CHECK(redirected(">/dev/full", {"gemm", "--a", folder / "missing"}).code == 2);
}

TEST_CASE("a pipe that nobody reads is told as well") {
  const TemporaryFolder folder;
  const Words arguments = GENERATE(Words{"info"}, Words{"schedule", "--m", "300", "--n", "64"}, Words{"--help"});
  const Outcome outcome =
      run(Words{"/bin/sh", "-c",
                "{ sleep 0.2; \"$0\" \"$@\"; echo $? >" + (folder / "code") + "; } | :", tesela::test::tesela()} +
          arguments);
  check_told(outcome, 0);
  CHECK(contents(folder / "code") == "3\n");
}

TEST_CASE("closed descriptors are not taken for files") {
  const TemporaryFolder folder;
  const Words generate{"generate", "--n", "3", "--pattern", "index", "--out", folder / "a.mtx"};
  const std::string wanted = "%%MatrixMarket matrix array real general\n3 3\n0\n3\n6\n1\n4\n7\n2\n5\n8\n";
  for (const std::string closed : {">&-", "<&- >&-"}) {
    check_told(redirected(closed, generate));
    CHECK(contents(folder / "a.mtx") == wanted);
  }
  CHECK(redirected("<&- 2>&-", generate).code == 0);
  CHECK(contents(folder / "a.mtx") == wanted);
  CHECK(redirected("<&- >&- 2>&-", generate).code == 3);
  CHECK(contents(folder / "a.mtx") == wanted);
  check_told(redirected(">&-", {"--version"}));
  CHECK(folder.files() == 1);
}

TEST_CASE("a full standard error ends nothing") {
  if (!std::filesystem::exists("/dev/full")) SKIP("there is no /dev/full");
  const TemporaryFolder folder;
  CHECK(redirected("2>/dev/full", {"gemm", "--n", "-3"}).code == 2);
  if (!tesela::can_trace()) return;
  CHECK(redirected("2>/dev/full", {"gemm", "--n", "50", "--trace", folder / "t", "--out", folder / "c.npy"}).code == 0);
  CHECK(std::filesystem::exists(folder / "c.npy"));
}

TEST_CASE("nothing printed is nothing lost") {
  const TemporaryFolder folder;
  CHECK(redirected(">/dev/null", {"info"}).code == 0);
  const Outcome count =
      redirected("> " + (folder / "text"), {"toeplitz", "count", "--n", "50", "--out", folder / "c.npy"});
  CHECK(count.code == 0);
  CHECK_THAT(contents(folder / "text"), ContainsSubstring("status  ok"));
}
