// A report that cannot be written gives exit code 3 and one line on standard error.

#include "tests/support/commands/process.hpp"
#include "tests/support/test.hpp"
#include <tesela/runtime/trace.hpp>

#include <tuple>

using namespace tesela::test;
namespace fs = std::filesystem;

namespace {

/// Runs the command in a shell with this redirection.
Outcome redirected(const std::string& redirection, const Words& arguments) {
  return run(Words{"/bin/sh", "-c", "\"$0\" \"$@\" " + redirection, tesela::test::tesela()} + arguments);
}

void check_reported(const Outcome& outcome, int code = 3) {
  CAPTURE(outcome.err);
  CHECK(outcome.code == code);
  CHECK_THAT(outcome.err, ContainsSubstring("standard output: cannot write"));
  // (A benchmark with a chart also prints a line if gnuplot is missing.)
  const bool no_plot = outcome.err.find("gnuplot is not installed") != std::string::npos;
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == (no_plot ? 2 : 1));
}

/// Writes a system of one equation, 0 x = 1, and returns the command.
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

TEST_CASE("a full standard output is reported by every command that prints") {
  if (!std::filesystem::exists("/dev/full")) SKIP("there is no /dev/full");
  const Words arguments = GENERATE(
      Words{"toeplitz", "count", "--n", "50"}, Words{"toeplitz", "slice", "--n", "50"}, Words{"schedule"},
      Words{"schedule", "--json", "-"}, Words{"schedule", "--m", "200", "--n", "60"}, Words{"info"},
      Words{"info", "--json", "-"}, Words{"gemm", "--n", "20"}, Words{"gemm", "--n", "20", "--json", "-"},
      Words{"--help"}, Words{"qr", "--help"}, Words{"--version"},
      Words{"bench", "overhead", "--tasks", "10", "--repeat", "1", "--out", "/tmp", "--name", "tesela-full-output"});
  CAPTURE(arguments);
  check_reported(redirected(">/dev/full", arguments));
  for (const char* left : {"/tmp/tesela-full-output.csv", "/tmp/tesela-full-output.svg"}) std::filesystem::remove(left);
}

TEST_CASE("a numerical failure that cannot be printed gives exit code 3, and wrong use keeps exit code 2") {
  const TemporaryFolder folder;
  REQUIRE(run_tesela(singular(folder)).code == 1);
  check_reported(redirected(">/dev/full", singular(folder)));
  CHECK(redirected(">/dev/full", {"gemm", "--n", "-3"}).code == 2);
  CHECK(redirected(">/dev/full", {"gemm", "--a", folder / "missing"}).code == 2);
}

TEST_CASE("a pipe without a reader is reported") {
  const TemporaryFolder folder;
  const Words arguments = GENERATE(Words{"info"}, Words{"schedule", "--m", "300", "--n", "64"}, Words{"--help"});
  const Outcome outcome =
      run(Words{"/bin/sh", "-c",
                "{ sleep 0.2; \"$0\" \"$@\"; echo $? >" + (folder / "code") + "; } | :", tesela::test::tesela()} +
          arguments);
  check_reported(outcome, 0);
  CHECK(contents(folder / "code") == "3\n");
}

TEST_CASE("closed descriptors are not reused for files") {
  const TemporaryFolder folder;
  const Words generate{"generate", "--n", "3", "--pattern", "index", "--out", folder / "a.mtx"};
  const std::string wanted = "%%MatrixMarket matrix array real general\n3 3\n0\n3\n6\n1\n4\n7\n2\n5\n8\n";
  for (const std::string closed : {">&-", "<&- >&-"}) {
    check_reported(redirected(closed, generate));
    CHECK(contents(folder / "a.mtx") == wanted);
  }
  CHECK(redirected("<&- 2>&-", generate).code == 0);
  CHECK(contents(folder / "a.mtx") == wanted);
  CHECK(redirected("<&- >&- 2>&-", generate).code == 3);
  CHECK(contents(folder / "a.mtx") == wanted);
  check_reported(redirected(">&-", {"--version"}));
  CHECK(folder.files() == 1);
}

TEST_CASE("a full standard error ends no run") {
  if (!std::filesystem::exists("/dev/full")) SKIP("there is no /dev/full");
  const TemporaryFolder folder;
  CHECK(redirected("2>/dev/full", {"gemm", "--n", "-3"}).code == 2);
  if (!tesela::can_trace()) return;
  CHECK(redirected("2>/dev/full", {"gemm", "--n", "50", "--trace", folder / "t", "--out", folder / "c.npy"}).code == 0);
  CHECK(std::filesystem::exists(folder / "c.npy"));
}

TEST_CASE("output without a reader is not an error for /dev/null or a file") {
  const TemporaryFolder folder;
  CHECK(redirected(">/dev/null", {"info"}).code == 0);
  const Outcome count =
      redirected("> " + (folder / "text"), {"toeplitz", "count", "--n", "50", "--out", folder / "c.npy"});
  CHECK(count.code == 0);
  CHECK_THAT(contents(folder / "text"), ContainsSubstring("status  ok"));
}

namespace {

/// Runs a shell line with $T set to the command and $D to the folder.
Outcome shell(const TemporaryFolder& folder, const std::string& line) {
  return run({"/bin/bash", "-c", line}, {.environment = {{"T", tesela::test::tesela()}, {"D", folder.path()}}});
}

void make_inputs(const TemporaryFolder& folder) {
  REQUIRE(run_tesela({"generate", "--n", "30", "--out", folder / "a.npy"}).code == 0);
  REQUIRE(run_tesela({"generate", "--n", "30", "--out", folder / "a.mtx"}).code == 0);
}

}  // namespace

TEST_CASE("--out - writes only the matrix to standard output") {
  const TemporaryFolder folder;
  make_inputs(folder);
  for (const auto& [command, option, further] :
       {std::tuple{"qr --a $D/a.npy", "--out-r", ""}, std::tuple{"lu --a $D/a.npy", "--out-l", "--out-u $D/u.npy"},
        std::tuple{"gemm --n 8 --random index", "--out", ""}, std::tuple{"generate --n 9", "--out", ""},
        std::tuple{"schedule", "--svg", ""}, std::tuple{"toeplitz slice --n 40", "--out", ""},
        std::tuple{"sem --samples 50 --endogenous 2 --exogenous 5 --included 2", "-o", "--out-data $D/data.csv"}}) {
    CAPTURE(command);
    const std::string line = std::string("$T ") + command + " " + option;
    const Outcome to_file = shell(folder, line + " $D/file " + further);
    REQUIRE(to_file.code == 0);
    const Outcome printed = shell(folder, line + " - " + further);
    CHECK(printed.code == 0);
    CHECK(printed.out == contents(folder / "file"));
    CHECK_FALSE(printed.err.empty());  // the report goes to standard error
    CHECK_FALSE(fs::exists("-"));
    const Outcome appended = shell(folder, "cp $D/file $D/twice && " + line + " /dev/stdout >> $D/twice " + further);
    CHECK(appended.code == 0);
    CHECK(contents(folder / "twice") == contents(folder / "file") + contents(folder / "file"));
  }
  const std::string detect = "$T mimo detect --signals 50 --out-s ";
  REQUIRE(shell(folder, detect + "$D/s.npy").code == 0);
  CHECK(shell(folder, detect + "-").out == contents(folder / "s.npy"));
  CHECK(shell(folder, "$T qr --n 20 --out-r - 2>&-").code == 0);
  CHECK(shell(folder, "$T qr --n 20 --out-r - 2>/dev/full").code == 0);
  const Outcome full = shell(folder, "$T qr --n 20 --out-r - >/dev/full");
  CHECK(full.code == 3);
  CHECK_THAT(full.err, ContainsSubstring("/dev/stdout: cannot write: No space left"));
  const Outcome failed = shell(folder, "$T qr --m 20 --n 4 --method mgs --random zero --out-r -");
  CHECK(failed.code == 1);
  CHECK(failed.out.empty());
  CHECK_THAT(failed.err, ContainsSubstring("dependent column"));
}

TEST_CASE("only one output and one input may be a standard stream") {
  const TemporaryFolder folder;
  for (const std::string line :
       {"qr --n 20000 --out-r - --out-q -", "qr --n 20000 --out-r - --json -",
        "qr --n 20000 --out-r /dev/stdout --json -", "lu --n 20000 --out-l - --out-u /dev/fd/1",
        "schedule --svg - --dot -", "gemm --a - --b - </dev/null"}) {
    const Outcome outcome = shell(folder, "$T " + line);
    CAPTURE(line, outcome.err);
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err,
               ContainsSubstring(line.find("gemm") == 0 ? "are both standard input" : "are both standard output"));
    CHECK(outcome.out.empty());
  }
}

TEST_CASE("inputs from pipes give the results of files") {
  const TemporaryFolder folder;
  make_inputs(folder);
  std::ofstream(folder / "model.txt") << "y ~ x\ninstruments: ~ x\n";
  std::ofstream(folder / "data.csv") << "y,x\n1,2\n3,5\n4,4\n8,9\n";
  std::ofstream(folder / "names") << "y\nx\n";
  std::ofstream(folder / "points") << "1 0 0\n-1 0 1\n";
  REQUIRE(run_tesela({"generate", "--m", "20", "--n", "2", "--out", folder / "data.npy"}).code == 0);
  REQUIRE(run_tesela({"generate", "--m", "30", "--n", "1", "--out", folder / "b.npy"}).code == 0);
  for (const auto& [line, piped] : {
           std::pair<std::string, std::string>{"ols --a $D/a.npy --b $D/b.npy --out $D/x.npy",
                                               "ols --a - --b $D/b.npy --out $D/x.npy < $D/a.npy"},
           {"ols --a $D/a.npy --b $D/b.npy --out $D/x.npy", "ols --a $D/a.npy --b <(cat $D/b.npy) --out $D/x.npy"},
           {"ols --a $D/a.npy --b $D/b.npy --out $D/x.npy",
            "ols --a <(cat $D/a.mtx) --b <(cat $D/b.npy) --out $D/x.npy"},
           {"qr --a $D/a.mtx --out-r $D/x.npy", "qr --a /dev/stdin --out-r $D/x.npy < <(cat $D/a.mtx)"},
           {"gemm --a $D/a.npy --b $D/a.npy --out $D/x.npy",
            "gemm --a <(cat $D/a.npy) --b <(cat $D/a.npy) --out $D/x.npy"},
           {"toeplitz solve --t $D/b.npy --b $D/b.npy --out $D/x.npy",
            "toeplitz solve --t <(cat $D/b.npy) --b - --out $D/x.npy < $D/b.npy"},
           {"sem --data $D/data.csv --model $D/model.txt --method ols --out $D/x.csv",
            "sem --data - --model <(cat $D/model.txt) --method ols --out $D/x.csv < $D/data.csv"},
           {"sem --data $D/data.npy --names $D/names --model $D/model.txt --method ols --out $D/x.csv",
            "sem --data <(cat $D/data.npy) --names <(cat $D/names) --model - --method ols --out $D/x.csv < "
            "$D/model.txt"},
           {"mimo detect --signals 20 --constellation $D/points --out-s $D/x.npy",
            "mimo detect --signals 20 --constellation - --out-s $D/x.npy < $D/points"},
       }) {
    CAPTURE(line, piped);
    const Outcome from_files = shell(folder, "$T " + line);
    CAPTURE(from_files.err);
    REQUIRE(from_files.code == 0);
    const std::string gone = folder / (line.find("$D/x.csv") == std::string::npos ? "x.npy" : "x.csv");
    const std::string wanted = contents(gone);
    fs::remove(gone);
    const Outcome from_pipes = shell(folder, "$T " + piped);
    CAPTURE(from_pipes.err);
    CHECK(from_pipes.code == 0);
    CHECK(contents(gone) == wanted);
  }
  const Outcome chain = shell(folder, "$T generate --n 30 --out - 2>/dev/null | $T qr --a - --out-r - 2>/dev/null");
  REQUIRE(run_tesela({"qr", "--a", folder / "a.mtx", "--out-r", folder / "r.mtx"}).code == 0);
  CHECK(chain.out == contents(folder / "r.mtx"));
  const Outcome rest = shell(folder, "{ read line; $T qr --a - --out-r $D/x.mtx; } < <(echo skipped; cat $D/a.mtx)");
  CHECK(rest.code == 0);
  const Outcome offset =
      shell(folder, "(echo skipped; cat $D/a.mtx) > $D/c && { read line; $T qr --a - --out-r $D/x.mtx; } < $D/c");
  CHECK(offset.code == 0);
  CHECK(contents(folder / "x.mtx") == contents(folder / "r.mtx"));
}

TEST_CASE("a truncated or empty input from a pipe is refused") {
  const TemporaryFolder folder;
  make_inputs(folder);
  for (const auto& [line, why] : {std::pair{"qr --a - < <(head -c 1000 $D/a.npy)", "/dev/stdin: "},
                                  {"qr --a - < <(head -c 1000 $D/a.mtx)", "/dev/stdin: line "},
                                  {"qr --a - < <(:)", "/dev/stdin: is empty"},
                                  {"qr --a - < /dev/null", "/dev/stdin: cannot read: is not a regular file or a pipe"},
                                  {"qr --a - <&-", "/dev/stdin: cannot read"},
                                  {"qr --a - < <(echo text)", "/dev/stdin: is neither"}}) {
    const Outcome outcome = shell(folder, std::string("$T ") + line);
    CAPTURE(line, outcome.err);
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, ContainsSubstring(why));
  }
}
