// Two outputs with one name, also through links, are refused before the computation.

#include "tests/support/commands/process.hpp"
#include <tesela/runtime/trace.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <nlohmann/json.hpp>

using namespace tesela::test;
namespace fs = std::filesystem;

namespace {

/// Each of these runs would take minutes.
const Words qr{"qr", "--n", "20000"};
const Words eig{"toeplitz", "eig", "--n", "30000", "--vectors"};

void check_refused(const Words& arguments, const std::string& option, const std::string& other) {
  const Outcome outcome = run_tesela(arguments, {.limit = 60});
  CAPTURE(arguments, outcome.err);
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, ContainsSubstring(option + ": ") && ContainsSubstring("would be lost") &&
                              ContainsSubstring("of " + other + " are"));
  CHECK(outcome.seconds < 10);
}

}  // namespace

TEST_CASE("two outputs of one name are refused by every command") {
  const TemporaryFolder folder;
  const std::string x = folder / "x.npy";
  check_refused(qr + Words{"--out-q", x, "--out-r", x}, "qr: --out-q", "--out-r");
  check_refused(qr + Words{"--out-q", x, "--json", x}, "qr: --json", "--out-q");
  check_refused({"gemm", "--n", "20000", "--out", x, "--json", x}, "gemm: --json", "--out");
  check_refused({"ols", "--n", "9000", "--out", x, "--json", x}, "ols: --json", "--out");
  check_refused({"tridiag", "--n", "100000000", "--out", x, "--json", x}, "tridiag: --json", "--out");
  check_refused(eig + Words{"--out", x, "--out-vectors", x}, "toeplitz eig: --out-vectors", "--out");
  for (const char* command : {"solve", "count", "slice"})
    check_refused({"toeplitz", command, "--n", "1000000", "--out", x, "--json", x},
                  std::string("toeplitz ") + command + ": --json", "--out");
  const std::string picture = folder / "x.svg";
  check_refused({"schedule", "--svg", picture, "--json", picture}, "schedule: --json", "--svg");
  for (const char* const name : {"x.png", "svg.jpg"}) {
    const Outcome refused = run_tesela({"schedule", "--svg", folder / name});
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err, ContainsSubstring(std::string(folder / name) + ": the picture is SVG"));
  }
  for (const char* end : {".csv", ".svg"})
    check_refused(
        {"bench", "overhead", "--out", folder.path(), "--name", "g", "--json", folder / (std::string("g") + end)},
        "bench overhead: --name", "--json");
  std::ofstream(folder / "a.csv") << "case\n";
  check_refused({"bench", "plot", folder / "a.csv", folder / "a.txt"}, "bench plot: CSV", "CSV");
  std::ofstream(folder / "a.svg") << "case\n";
  CHECK(run_tesela({"bench", "plot", folder / "a.svg"}).code == 2);
  CHECK(contents(folder / "a.svg") == "case\n");
  CHECK(folder.files() == 2);
}

TEST_CASE("a result that overflows is a numerical failure and leaves all existing files unchanged") {
  const TemporaryFolder folder;
  const std::string x = folder / "x.npy", y = folder / "y.npy";
  const auto check = [&](const Words& arguments, const std::string& status) {
    for (const std::string& old : {x, y}) std::ofstream(old) << "old";
    const Outcome outcome = run_tesela(arguments + Words{"--json", "-"});
    CAPTURE(arguments, outcome.out, outcome.err);
    CHECK(outcome.code == 1);
    CHECK_THAT(nlohmann::json::parse(outcome.out)["status"].get<std::string>(), ContainsSubstring(status));
    CHECK((contents(x) == "old" && contents(y) == "old"));
  };
  const auto file = [&](const std::string& name, index_t rows, index_t columns, const auto& element) {
    HostMatrix<double> matrix(rows, columns);
    for (index_t j = 0; j < columns; ++j)
      for (index_t i = 0; i < rows; ++i) matrix(i, j) = element(i, j);
    write_matrix(folder / name, matrix);
    return folder / name;
  };
  const Words problem{"--a",
                      file("a.npy", 4, 1, [](index_t i, index_t) { return static_cast<double>(i + 1) * 1e-170; }),
                      "--b",
                      file("b.npy", 4, 1, [](index_t i, index_t) { return static_cast<double>(i * i + 1); }),
                      "--out",
                      x,
                      "--out-covariance",
                      y};
  const Words by_factor{"--factor", file("f.npy", 4, 4, [](index_t i, index_t j) { return i == j ? 1.0 : 0.0; })};
  check(Words{"ols"} + problem, "not finite: covariance is infinite in row 1, column 1");
  check(Words{"wls"} + problem + by_factor, "not finite: covariance is infinite");
  check(Words{"glm"} + problem + by_factor, "not finite: covariance is infinite");
  check({"toeplitz", "slice", "--t", file("t.npy", 2, 1, [](index_t, index_t) { return 1.7e308; }), "--most", "1",
         "--out", x},
        "overflow: an eigenvalue is larger");
  check(
      {"gemm", "--a", file("l.npy", 2, 2, [](index_t, index_t) { return 1e200; }), "--b", folder / "l.npy", "--out", x},
      "not finite");
}

TEST_CASE("one file with two names is detected") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "real");
  fs::create_directory_symlink("real", folder / "alias");
  fs::create_symlink("real/x.npy", folder / "link.npy");  // a dangling link
  const std::string x = folder / "real/x.npy";
  const auto check = [&](const std::string& other) {
    check_refused(qr + Words{"--out-q", x, "--out-r", other}, "qr: --out-q", "--out-r");
    check_refused(qr + Words{"--out-q", other, "--out-r", x}, "qr: --out-q", "--out-r");
  };
  for (int round = 0; round < 2; ++round) {
    check(folder / "real/../real/./x.npy");
    check(folder / "alias/x.npy");
    check(folder / "link.npy");
    check(fs::relative(x).string());
    std::ofstream(x) << "old";  // repeat with an existing file
  }
  CHECK(contents(x) == "old");
  fs::create_hard_link(x, folder / "hard.npy");
  check(folder / "hard.npy");
  const Outcome here =
      run(Words{"/bin/sh", "-c", "cd " + (folder / "real") + " && \"$0\" \"$@\"", tesela::test::tesela()} + qr +
          Words{"--out-q", "x.npy", "--out-r", "./x.npy"});
  CHECK(here.code == 2);
  CHECK_THAT(here.err, ContainsSubstring("would be lost"));
}

TEST_CASE("the folder of a trace and its files count as outputs") {
  const TemporaryFolder folder;
  const std::string t = folder / "t";
  for (const std::string json :
       {"t", "t/", "t/tasks.rec", "t/paje.trace", "t/dag.dot", "t/trace.svg", "t/prof_file_0"}) {
    fs::remove_all(t);
    if (json.size() > 2) fs::create_directory(t);
    const Outcome outcome = run_tesela({"gemm", "--n", "20000", "--trace", t, "--json", folder / json}, {.limit = 60});
    CAPTURE(json, outcome.err);
    CHECK(outcome.code == 2);
  }
  fs::remove_all(t);
  check_refused({"gemm", "--n", "20000", "--trace", t + "/u/v", "--json", t}, "gemm: --trace", "--json");
  CHECK(folder.files() == 0);
  if (!tesela::can_trace()) return;
  fs::create_directory(t);
  CHECK(run_tesela({"gemm", "--n", "100", "--trace", t, "--json", t + "/report.json"}).code == 0);
  CHECK(nlohmann::json::parse(contents(t + "/report.json"))["status"] == "ok");
}

TEST_CASE("a file that receives standard output is not accepted as another output") {
  const TemporaryFolder folder;
  const std::string x = folder / "x.mtx";
  const Outcome outcome = run(
      Words{"/bin/sh", "-c", "\"$0\" \"$@\" >" + x, tesela::test::tesela()} + qr + Words{"--out-r", x}, {.limit = 60});
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, ContainsSubstring("--out-r: ") && ContainsSubstring("standard output"));
}

TEST_CASE("special files and a replaced input are allowed") {
  const TemporaryFolder folder;
  CHECK(run_tesela({"qr", "--n", "20", "--out-q", "/dev/null", "--out-r", "/dev/null", "--json", "/dev/null"}).code ==
        0);
  const std::string q = folder / "q.npy", r = folder / "r.npy", a = folder / "a.npy";
  REQUIRE(run_tesela({"qr", "--m", "20", "--n", "10", "--out-q", q, "--out-r", r}).code == 0);
  CHECK(tesela::read_matrix<double>(q).shape() == tesela::Shape{20, 10});
  CHECK(tesela::read_matrix<double>(r).shape() == tesela::Shape{10, 10});

  REQUIRE(run_tesela({"generate", "--m", "30", "--n", "10", "--seed", "4", "--out", a}).code == 0);
  REQUIRE(run_tesela({"qr", "--a", a, "--out-r", r}).code == 0);
  REQUIRE(run_tesela({"qr", "--a", a, "--out-r", a}).code == 0);
  CHECK(contents(a) == contents(r));
  CHECK(folder.files() == 3);
}

TEST_CASE("the name of an array file is checked before the computation") {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_tesela({"mimo", "detect", "--signals", "100000000", "--out-s", folder / "s.mtx"}, {.limit = 60});
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, ContainsSubstring("s.mtx: arrays are written as .npy"));
  CHECK(outcome.seconds < 10);
}

TEST_CASE("a failed run leaves all existing files unchanged, whichever output came first") {
  const TemporaryFolder folder;
  const auto put_old = [&](const Words& names) {
    for (const std::string& name : names) std::ofstream(folder / name) << "old";
  };
  const auto check_old = [&](const Words& names) {
    CHECK(folder.files() == names.size());
    for (const std::string& name : names) CHECK(contents(folder / name) == "old");
  };
  const Words generated{"sem",
                        "--samples",
                        "100",
                        "--endogenous",
                        "3",
                        "--exogenous",
                        "6",
                        "--included",
                        "2",
                        "--noise",
                        "0",
                        "--out",
                        folder / "s.csv",
                        "--out-data",
                        folder / "d.csv",
                        "--out-model",
                        folder / "m.txt"};
  SECTION("a numerical failure visible only in the report") {
    put_old({"s.csv", "d.csv", "m.txt"});
    REQUIRE(run_tesela(generated).code == 1);
    check_old({"s.csv", "d.csv", "m.txt"});
    REQUIRE(run_tesela(generated + Words{"--json", folder / "r.json"}).code == 1);
    CHECK(nlohmann::json::parse(contents(folder / "r.json"))["status"] != "ok");
    fs::remove(folder / "r.json");
    check_old({"s.csv", "d.csv", "m.txt"});
  }
  SECTION("a result above its error bound") {
    put_old({"q.npy", "r.npy"});
    REQUIRE(run_tesela({"qr", "--m", "200", "--n", "40", "--random", "kappa:1e8", "--method", "gram-schmidt", "--out-q",
                        folder / "q.npy", "--out-r", folder / "r.npy"})
                .code == 1);
    check_old({"q.npy", "r.npy"});
  }
  SECTION("a full disk at a later output") {
    if (!fs::exists("/dev/full")) SKIP("there is no /dev/full");
    put_old({"r.npy", "l.mtx"});
    CHECK(run_tesela({"qr", "--n", "20", "--out-r", folder / "r.npy", "--out-q", "/dev/full"}).code == 3);
    CHECK(run_tesela({"lu", "--n", "20", "--out-l", folder / "l.mtx", "--json", "/dev/full"}).code == 3);
    check_old({"r.npy", "l.mtx"});
  }
  SECTION("Ctrl-C after the first output") {
    put_old({"s.csv", "d.csv", "m.txt"});
    ProcessOptions options;
    options.interrupt_when = [&] { return folder.files() >= 5; };  // data and model are complete
    const Outcome outcome = run_tesela(
        {"sem", "--samples", "3000", "--endogenous", "100", "--exogenous", "120", "--included", "40", "--repeat",
         "1000", "--out", folder / "s.csv", "--out-data", folder / "d.csv", "--out-model", folder / "m.txt"},
        options);
    CHECK(outcome.code == 130);
    check_old({"s.csv", "d.csv", "m.txt"});
  }
}

TEST_CASE("outputs of solved jobs are kept if another job fails") {
  const TemporaryFolder folder;
  REQUIRE(run_tesela({"generate", "--n", "5", "--random", "index", "--out", folder / "skew.npy"}).code == 0);
  std::ofstream(folder / "good.mtx") << "%%MatrixMarket matrix array real symmetric\n2 2\n2\n1\n2\n";
  std::ofstream(folder / "list") << folder / "good.mtx"
                                 << "\n"
                                 << folder / "skew.npy"
                                 << "\n";
  const Outcome outcome = run_tesela({"eig", "--jobs", folder / "list", "--out", folder / "{}-w.mtx"});
  CHECK(outcome.code == 1);
  CHECK_THAT(contents(folder / "good-w.mtx"), ContainsSubstring("%%MatrixMarket"));
  CHECK(folder.files() == 4);
}

TEST_CASE("a removed working directory does not affect absolute paths") {
  const TemporaryFolder folder;
  const auto run_there = [&](const Words& arguments) {
    return run(Words{"/bin/sh", "-c",
                     "mkdir " + (folder / "gone") + " && cd " + (folder / "gone") + " && rmdir " + (folder / "gone") +
                         " && exec \"$0\" \"$@\"",
                     tesela::test::tesela()} +
               arguments);
  };
  const Outcome absolute = run_there({"lu", "--n", "20", "--out-l", folder / "l.npy", "--json", folder / "r.json"});
  CAPTURE(absolute.err);
  CHECK(absolute.code == 0);
  CHECK(tesela::read_matrix<double>(folder / "l.npy").rows() == 20);
  CHECK(folder.files() == 2);
  const Outcome relative = run_there({"lu", "--n", "20", "--out-l", "l.npy"});
  CHECK(relative.code == 2);
  CHECK_THAT(relative.err, ContainsSubstring("l.npy: cannot create: No such file or directory"));
}
