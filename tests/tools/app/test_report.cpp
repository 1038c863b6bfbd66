#include "tests/support/command.hpp"
#include "tests/support/files.hpp"
#include "tests/support/machine.hpp"
#include "tools/app/answer.hpp"
#include "tools/app/standard_streams.hpp"

#include <cstdlib>
#include <sstream>

// The report for a person, and its lines about files.

using namespace tesela;
using namespace tesela::test;
using Catch::Matchers::ContainsSubstring;

namespace {

const Words cores{"--ncuda", "0"};

/// A file with this text in a temporary folder.
struct Texts {
  TemporaryFolder folder;
  std::string operator()(const std::string& name, const std::string& text) const {
    put(folder / name, text);
    return folder / name;
  }
};

std::string doubles(const std::string& shape, const std::vector<double>& values) {
  return npy("{'descr': '<f8', 'fortran_order': False, 'shape': (" + shape + "), }", bytes_of(values));
}

Outcome succeeds(const Words& words, const ProcessOptions& options = {}) {
  const Outcome run = run_tesela(words + cores, options);
  CAPTURE(words, run.out, run.err);
  REQUIRE(run.code == 0);
  return run;
}

std::size_t at(const Outcome& run, const std::string& text) {
  CAPTURE(run.out, text);
  REQUIRE(run.out.find(text) != std::string::npos);
  return run.out.find(text);
}

}  // namespace

TEST_CASE("the report shows the answer, the status, bounds, times, the scheduler and files, in this order") {
  const Texts file;
  const std::string a = file("a.txt", "2 0\n0 4\n0 0\n"), b = file("b.txt", "2\n8\n0\n"), x = file.folder / "x.npy";
  const Words command{"ols", "--a", a, "--b", b};
  const Outcome run = succeeds(command + Words{"--out", x, "--sched", "eager"});
  const std::size_t answer = at(run, "\nX\n  1                 1\n  2                 2\n"),
                    status = at(run, "\nstatus  ok\n"), error = at(run, "\nbackward_error "),
                    bound = at(run, " (at most "), time = at(run, "\ntime    "),
                    scheduler = at(run, "scheduler eager\n"),
                    wrote = at(run, "\nwrote   " + x + ": vector of 2, float64\n");
  CHECK((answer < status && status < error && error < bound && bound < time && time < scheduler && scheduler < wrote));
  CHECK_THAT(run.out, ContainsSubstring("s in all, with input, checks and output"));
  for (const char* detail : {"worker ", "bound   ", "busy s"}) {
    CHECK_THAT(run.out, !ContainsSubstring(detail));
    CHECK_THAT(succeeds(command + Words{"--verbose"}).out, ContainsSubstring(detail));
  }
  const Outcome quiet = succeeds(command + Words{"--quiet"});
  CHECK((quiet.out.empty() && quiet.err.empty()));
  const nlohmann::json report = Command{command}(Words{"--out", x} + cores);
  CHECK(report["answer"]["X"] == nlohmann::json({1.0, 2.0}));
  CHECK(report["written"][0]["contents"] == "vector of 2, float64");
}

TEST_CASE("a failure is one line on standard error with --quiet") {
  const Texts file;
  const std::string zero = file("z.txt", "0 0\n0 0\n");
  const Outcome quiet = run_tesela(Words{"lu", "--a", zero, "--quiet"} + cores);
  CHECK((quiet.code == 1 && quiet.out.empty()));
  CHECK(quiet.err == "tesela: lu: the pivot of column 1 is zero or not finite\n");
}

TEST_CASE("a long answer shows its first and last numbers, and the JSON has at most 1000") {
  HostMatrix<double> long_one(100, 1), wide(2, 9);
  for (index_t i = 0; i < 100; ++i) long_one(i, 0) = static_cast<double>(i + 1) / 8;
  for (index_t k = 0; k < 18; ++k) wide.data()[k] = static_cast<double>(k);
  const std::string text = cli::answer_table("x", long_one);
  CHECK_THAT(text, ContainsSubstring("x, 100 x 1\n") && ContainsSubstring("    5             0.625\n  ...\n   96 ") &&
                       ContainsSubstring("  100              12.5\n") && !ContainsSubstring("   50 "));
  CHECK_THAT(cli::answer_table("w", wide), ContainsSubstring("                 4   ...                12"));
  CHECK(cli::answer_json(long_one).size() == 100);
  CHECK(cli::answer_json(wide)[1][8] == 17);
  CHECK(cli::answer_json(HostMatrix<double>::zeros(1001, 1)).is_null());
  CHECK(cli::answer_table("e", HostMatrix<float>(0, 1)) == "e\n");
}

TEST_CASE("--no-check leaves out measured errors, and the status notes it") {
  for (const Words& command : {Words{"ols", "--n", "8"},
                               {"wls", "--n", "8"},
                               {"lse", "--n", "8"},
                               {"glm", "--n", "8"},
                               {"nnls", "--n", "8"},
                               {"lu", "--n", "8", "--rhs", "1"},
                               {"cholesky", "--n", "8", "--rhs", "1"},
                               {"qr", "--n", "8"},
                               {"gqr", "--n", "8"},
                               {"gemm", "--n", "8"},
                               {"tridiag", "--n", "8"},
                               {"toeplitz", "solve", "--n", "8"}}) {
    CAPTURE(command);
    const Outcome run = run_tesela(command + cores + Words{"--no-check", "--json", "-"});
    REQUIRE(run.code == 0);
    const auto report = nlohmann::json::parse(run.out);
    CHECK(report["status"] == "ok (not checked)");
    CHECK(report["limits"].empty());
  }
}

TEST_CASE("every command shows its memory with --plan, without a run") {
  for (const Words& command : {Words{"ols"},
                               {"wls"},
                               {"lse"},
                               {"glm"},
                               {"nnls"},
                               {"lu"},
                               {"cholesky"},
                               {"gqr"},
                               {"gemm"},
                               {"tridiag"},
                               {"toeplitz", "solve"},
                               {"toeplitz", "eig"}}) {
    CAPTURE(command);
    const Outcome run = run_tesela(command + Words{"--n", "2000", "--plan", "--json", "-"} + cores);
    CAPTURE(run.out, run.err);
    REQUIRE(run.code == 0);
    CHECK(nlohmann::json::parse(run.out)["plan"]["host"]["peak_bytes"] > 2000 * 8);
    CHECK(nlohmann::json::parse(run.out)["plan"]["fits"] == true);
  }
  const Outcome large = run_tesela(Words{"lu", "--n", "1e6", "--plan"} + cores);
  CHECK(large.code == 3);
  CHECK_THAT(large.out, ContainsSubstring("status  does not fit: "));
}

TEST_CASE("a coordinate file that becomes a large dense matrix is announced before it is read") {
  const Texts file;
  const std::string sparse =
      file("sp.mtx", "%%MatrixMarket matrix coordinate real general\n30000 30000 2\n1 1 1\n2 2 1\n");
  const Outcome plan = run_tesela(Words{"lu", "--a", sparse, "--plan"} + cores);
  CHECK_THAT(plan.err, ContainsSubstring("note: " + sparse + " lists 2 entries, and is read as a dense matrix of " +
                                         "30000 x 30000: 6.71 GiB"));
  CHECK_THAT(plan.out, ContainsSubstring("memory  "));
}

TEST_CASE("a command without files and without a size is refused") {
  for (const Words& command : {Words{"ols"},
                               {"lu"},
                               {"cholesky"},
                               {"qr"},
                               {"eig"},
                               {"gemm"},
                               {"tridiag"},
                               {"toeplitz", "solve"},
                               {"ols", "--seed", "3"},
                               {"lse", "--out", "x.npy"}}) {
    CAPTURE(command);
    const Outcome run = run_tesela(command);
    CHECK(run.code == 2);
    CHECK_THAT(run.err, ContainsSubstring("no input: name a file, or generate a problem by --n or --random"));
  }
  CHECK(run_tesela(Words{"ols", "--random", "uniform", "--n", "9"} + cores).code == 0);
}

TEST_CASE("vectors keep the shape of the input") {
  const Texts file;
  const std::string a = file("a.npy", doubles("2, 2", {2, 0, 0, 4})), x = file.folder / "x.npy";
  const auto shape_from = [&](const std::string& b) {
    succeeds({"lu", "--a", a, "--b", b, "--out", x});
    const std::string header = contents(x);
    return header.substr(header.find("'shape'"), 17);
  };
  CHECK(shape_from(file("v.npy", doubles("2,", {2, 4}))) == "'shape': (2, ), }");
  CHECK(shape_from(file("m.npy", doubles("2, 1", {2, 4}))) == "'shape': (2, 1), ");
  CHECK(shape_from(file("v.txt", "2\n4\n")) == "'shape': (2, ), }");
  CHECK(shape_from(file("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n2\n4\n")) == "'shape': (2, 1), ");
  succeeds({"lu", "--a", a, "--b", file.folder / "v.npy", "--out", file.folder / "x.txt"});
  CHECK(contents(file.folder / "x.txt") == "1\n1\n");
}

TEST_CASE("arrays of integers, archives and compressed text are inputs of a command") {
  const Texts file;
  const std::string data = data_directory(), c = file.folder / "c.txt";
  const std::string one = file("i.txt", "1 0 0\n0 1 0\n0 0 1\n");
  for (const std::string a : {"/numpy/integer8.npy", "/numpy/two.npz:b"}) {
    succeeds({"gemm", "--a", data + a, "--b", one, "--out", c});
    CHECK(contents(c) == "11 12 13\n21 22 23\n31 32 33\n41 42 43\n");
  }
  for (const std::string a : {"/numpy/half.npy", "/scipy/array_general.mtx.gz", "/numpy/one.npz", "/numpy/table.txt"}) {
    succeeds({"gemm", "--a", data + a, "--b", one, "--out", c});
    CHECK(contents(c).starts_with("11.125 12.125 13.125\n"));
  }
}

TEST_CASE("a wrong word is answered with what exists") {
  const auto says = [](const Words& words, const std::string& text) {
    const Outcome run = run_tesela(words);
    CAPTURE(words, run.err);
    CHECK(run.code == 2);
    CHECK_THAT(run.err, ContainsSubstring(text));
  };
  says({"solve"}, "'solve' is not a command: lu (any square matrix), cholesky");
  says({"svd"}, "there are no singular values; ols solves problems of any rank");
  says({"dgesv"}, "lu (any square matrix)");
  says({"chlesky"}, "did you mean 'cholesky'?");
  says({"qr", "--mm", "10"}, "qr: '--mm' is not an option (did you mean --m?); see tesela qr --help");
  says({"ols", "--methd=x", "--xyzxyz"}, "'--methd' is not an option (did you mean --method?), '--xyzxyz' is not an");
  says({"toeplitz", "eig", "--smallets", "3"}, "(did you mean --smallest?)");
  says({"qr", "--n", "4", "five"}, "qr: unexpected 'five'");
}

TEST_CASE("help lists commands by purpose and fits the terminal") {
  const std::string all = run_tesela({"--help"}).out;
  std::size_t last = 0;
  for (const char* purpose : {"Systems of equations:", "  lu ", "Least squares and regression:", "  ols ",
                              "Eigenvalues:", "  eig ", "Factorizations and products:", "Radio:", "Study and tools:"}) {
    CAPTURE(purpose);
    REQUIRE(all.find(purpose) != std::string::npos);
    CHECK(all.find(purpose) > last);
    last = all.find(purpose);
  }
  for (const char* columns : {"60", "100"}) {
    std::istringstream lines(run_tesela({"help", "ols"}, {.environment = {{"COLUMNS", columns}}}).out);
    std::size_t widest = 0;
    for (std::string line; std::getline(lines, line);)
      if (!line.starts_with("  tesela ")) widest = std::max(widest, line.size());
    CHECK(widest <= static_cast<std::size_t>(std::atoi(columns)) + 4);
    CHECK(widest > static_cast<std::size_t>(std::atoi(columns)) - 12);
  }
  for (const char* group : {"\nInput:\n", "\nMethod:\n", "\nRun:\n", "\nOutput:\n"})
    CHECK_THAT(run_tesela({"help", "ols"}).out, ContainsSubstring(group));
}

TEST_CASE("colour is only for terminals, and NO_COLOR turns it off") {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  setenv("TERM", "xterm", 1);
  unsetenv("NO_COLOR");
  CHECK(cli::coloured("ok", cli::Colour::green, terminal) == "\x1b[32mok\x1b[0m");
  CHECK(cli::coloured("ok", cli::Colour::green, -1) == "ok");
  setenv("NO_COLOR", "1", 1);
  CHECK(cli::coloured("ok", cli::Colour::green, terminal) == "ok");
  unsetenv("NO_COLOR");
  close(terminal);
}
