#include "tests/support/commands/tridiag_command.hpp"
#include "tests/support/test.hpp"

#include <fstream>

using namespace tesela::test;

// Failures of `tesela tridiag` and their messages.

TEST_CASE("a singular matrix gives exit code 1 with its row and no file") {
  for (const Words& method : methods)
    for (const index_t row : {0, 40, 99}) {
      CAPTURE(method, row);
      const Files files;
      Problem p = problem(100, 3, 1, false);
      p.dl(row, 1) = p.d(row, 1) = p.du(row, 1) = 0;
      if (row > 0) p.du(row - 1, 1) = 0;
      if (row < 99) p.dl(row + 1, 1) = 0;
      files.write(p);
      const auto report = tridiag(method + files.options(), 1);
      const std::string status = report["status"];
      CHECK_THAT(status, ContainsSubstring("singular"));
      CHECK_THAT(status, ContainsSubstring("matrix 1"));
      CHECK(check(report, "matrix") == 1);
      CHECK((check(report, "row") >= 0 && check(report, "row") < 100));
      // Elimination from top to bottom stops at the row itself.
      if (method.back() == "thomas" || method.back() == "lapack") {
        CHECK_THAT(status, ContainsSubstring("row " + std::to_string(row)));
        CHECK(check(report, "row") == static_cast<double>(row));
      }
      CHECK(files.folder.files() == 4);
    }
  const Files several{.folder = {}, .interleaved = true};
  Problem p = problem(100, 3, 2, false);
  p.dl(30, 2) = p.d(30, 2) = p.du(30, 2) = p.du(29, 2) = p.dl(31, 2) = 0;
  several.write(p);
  const auto report = tridiag(several.options(), 1);
  CHECK(check(report, "matrix") == 2);
}

TEST_CASE("a solution that overflows is a failure and is not written") {
  const Files files;
  Problem p = problem(3, 1, 1, false);
  for (index_t i = 0; i < 3; ++i) p.dl(i, 0) = p.du(i, 0) = 0, p.d(i, 0) = 1e-300, p.b(i, 0) = 1e300;
  files.write(p);
  for (const Words& method : methods) {
    CAPTURE(method);
    CHECK(tridiag(method + files.options(), 1)["status"] != "ok");
    CHECK(files.folder.files() == 4);
  }
}

TEST_CASE("an inaccurate X is never ok, and the status names the matrix") {
  const Files files;
  Problem p = problem(40, 3, 1, false);
  for (index_t i = 0; i < 40; ++i)
    p.d(i, 1) = std::ldexp(1.0, -60), p.dl(i, 1) = p.du(i, 1) = 1 + static_cast<double>(i % 7) / 8;
  files.write(p);
  for (const Words& method : methods) {
    CAPTURE(method);
    const auto report = tridiag(method + files.options(), pivots(method) ? 0 : 1);
    CHECK(report["limits"]["residual"] == 64 * std::ldexp(1.0, -52));
    CHECK(report["limits"]["residual_equilibrated"] == 1000 * std::ldexp(1.0, -52));
    if (pivots(method)) continue;
    CHECK_THAT(std::string(report["status"]), ContainsSubstring("inaccurate") && ContainsSubstring("of matrix 1"));
    CHECK(check(report, "matrix") == 1);
  }
  // A times 2^900 and B times 2^-900: X underflows.
  p = problem(40, 1, 1, false);
  for (index_t i = 0; i < 40; ++i) {
    for (HostMatrix<double>* a : {&p.dl, &p.d, &p.du}) (*a)(i, 0) *= std::ldexp(1.0, 900);
    p.b(i, 0) *= std::ldexp(1.0, -900);
  }
  files.write(p);
  for (const Words& method : methods) {
    CAPTURE(method);
    CHECK_THAT(std::string(tridiag(method + files.options(), 1)["status"]), ContainsSubstring("inaccurate"));
  }
}

TEST_CASE("a matrix that is singular up to rounding is not ok with any method") {
  const Files files;
  Problem p = problem(60, 3, 1, false);
  // Matrix 1 is the second difference minus its seventh eigenvalue.
  for (index_t i = 0; i < 60; ++i) p.dl(i, 1) = p.du(i, 1) = -1, p.d(i, 1) = 2 * std::cos(std::acos(-1.0) * 7 / 61);
  files.write(p);
  for (const Words& method : methods) {
    if (!pivots(method)) continue;
    CAPTURE(method);
    const auto report = tridiag(method + files.options(), 1);
    CHECK(report["status"] == "singular to working precision: matrix 1");
    CHECK(check(report, "condition") > 1 / std::ldexp(1.0, -52));
    CHECK(check(report, "residual") <= 64 * std::ldexp(1.0, -52));
    CHECK(files.folder.files() == 4);
  }
  CHECK(check(tridiag({"--n", "1000"}), "condition") < 100);
}

TEST_CASE("recursive doubling solves dominant systems of any order") {
  for (const Words& method : {Words{"--method", "rd"}, Words{"--method", "cr-rd", "--cut", "16"}})
    for (const char* const n : {"1", "2", "8", "512", "1000"})
      for (int seed = 1; seed <= (n == std::string("8") ? 20 : 3); ++seed) {
        CAPTURE(method, n, seed);
        const auto report = tridiag(method + Words{"--n", n, "--known", "--seed", std::to_string(seed)});
        CHECK(report["status"] == "ok");
        CHECK(check(report, "forward_error") < 1e-14);
      }
  const Words rd{"--method", "rd"};
  CHECK(tridiag(rd + Words{"--n", "200", "--batch", "3", "--rhs", "2", "--precision", "s"})["status"] == "ok");
  for (const char* const kind : {"uniform", "toeplitz"}) {
    CAPTURE(kind);
    CHECK(tridiag(rd + Words{"--n", "512", "--random", kind})["status"] == "ok");
  }
}

TEST_CASE("recursive doubling names the row of a breakdown") {
  const Words rd{"--method", "rd"};
  const std::string why = "inaccurate: breakdown without pivoting, or not finite at row ";
  CHECK(tridiag(rd + Words{"--n", "10", "--random", "zero-diagonal"}, 1)["status"] == why + "0");
  CHECK_THAT(std::string(tridiag(rd + Words{"--n", "512", "--random", "near-singular"}, 1)["status"]),
             ContainsSubstring("inaccurate: residual"));
  const Files files;
  Problem p = problem(5, 3, 1, false);
  for (index_t i = 0; i < 5; ++i) p.dl(i, 1) = p.d(i, 1) = p.du(i, 1) = 1;  // its second leading minor is 0
  files.write(p);
  CHECK(tridiag(rd + files.options(), 1)["status"] == why + "1 of matrix 1");
}

TEST_CASE("a singular matrix is reported with and without --refine for any B") {
  const Files files;
  Problem p = problem(1, 1, 1, false);
  for (const double b : {0.0, 1.0}) {
    p.d(0, 0) = 0, p.b(0, 0) = b;
    files.write(p);
    for (const Words& refine : {Words{}, Words{"--refine", "3"}, Words{"--precision", "mixed"}}) {
      CAPTURE(b, refine);
      CHECK(tridiag(refine + files.options(), 1)["status"] == "singular or not finite at row 0");
    }
  }
}

TEST_CASE("wrong use of tridiag gives exit code 2 and a message") {
  const Files files;
  files.write(problem(5, 2, 1, false));
  const std::string five = files.folder / "d.npy", three = files.folder / "three.npy", nan = files.folder / "nan.mtx",
                    four = files.folder / "four.npy", broken = files.folder / "broken.npy";
  write_matrix(three, HostMatrix<double>::zeros(3, 2));
  write_matrix(four, HostMatrix<double>::zeros(4, 2));
  std::ofstream(nan) << "%%MatrixMarket matrix array real general\n2 1\n1\nnan\n";
  std::ofstream(broken) << "this is no matrix";
  const auto bands = [](const std::string& dl, const std::string& d, const std::string& du) {
    return Words{"--dl", dl, "--d", d, "--du", du};
  };
  const std::pair<Words, std::string> cases[] = {
      {{"--n", "-3"}, "--n"},
      {{"--n", "many"}, "--n"},
      {{"--batch", "-1"}, "--batch"},
      {{"--rhs", "-1"}, "--rhs"},
      {{"--sizes", "3,,4"}, "3,,4"},
      {{"--sizes", "3,-4"}, "3,-4"},
      {{"--sizes", "3,4,"}, "3,4,"},
      {{"--sizes", "99999999999999999999"}, "--sizes"},
      {{"--sizes", "3,4", "--n", "4"}, "--sizes"},
      {{"--sizes", "3,4", "--interleaved"}, "--sizes"},
      {{"--method", "gauss"}, "gauss"},
      {{"--random", "gaussian"}, "gaussian"},
      {{"--cut", "0", "--method", "cr-hybrid"}, "--cut"},
      {{"--cut", "8", "--method", "cr"}, "--cut"},
      {{"--tile", "0"}, "--tile"},
      {{"--tile", "8x8x8"}, "--tile"},
      {{"--method", "thomas", "--periodic"}, "--periodic"},
      {{"--method", "lapack", "--interleaved"}, "--interleaved"},
      {{"--method", "lapack", "--equilibrate"}, "--equilibrate"},
      {{"--precision", "mixed", "--equilibrate"}, "--equilibrate"},
      {{"--precision", "q"}, "--precision"},
      {{"--d", five, "--rhs", "1"}, "--dl"},
      {{"--b", five}, "--b"},
      {bands(five, five, five) + Words{"--n", "5"}, "--n"},
      {bands(five, five, five) + Words{"--random", "uniform"}, "--random"},
      {bands(five, five, five) + Words{"--b", five, "--known"}, "--known"},
      {bands(five, five, five) + Words{"--b", five, "--rhs", "2"}, "--rhs"},
      {bands(three, five, five) + Words{"--rhs", "1"}, "three.npy holds 2 vectors of 3"},
      {bands(five, five, three) + Words{"--rhs", "1"}, "three.npy holds 2 vectors of 3"},
      {bands(four, five, five) + Words{"--rhs", "1"} + Words{"--periodic"}, "periodic"},
      {bands(five, five, five) + Words{"--b", three}, "three.npy holds 2 vectors of 3"},
      {bands(nan, nan, nan) + Words{"--rhs", "1"}, "nan.mtx"},
      {bands(five, broken, five) + Words{"--rhs", "1"}, "broken.npy"},
      {bands(five, files.folder / "missing.npy", five) + Words{"--rhs", "1"}, "missing.npy"},
      {{"--out", files.folder / "none/x.npy"}, "none"},
      {{"--out", files.folder / "x.xyz"}, "x.xyz"},
  };
  for (const auto& [options, message] : cases) {
    const Outcome run = run_with_problem({"tridiag"}, options);
    CAPTURE(options, run.err);
    CHECK(run.code == 2);
    CHECK_THAT(run.err, ContainsSubstring(message));
    CHECK(files.folder.files() == 8);
  }
}

TEST_CASE("a limit of the machine gives exit code 3 in tridiag") {
  const Outcome memory = run_tesela({"tridiag", "--n", "1000000000", "--batch", "100000"});
  CHECK(memory.code == 3);
  CHECK_THAT(memory.err, ContainsSubstring("GiB"));
}

TEST_CASE("a missing or short off-diagonal is refused with the lengths and the symmetric case") {
  const TemporaryFolder folder;
  const auto file = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return folder / name;
  };
  const std::string d = file("d.txt", "4\n4\n4\n"), e = file("e.txt", "1\n1\n"), one = file("one.txt", "1\n");
  tridiag.refuses({"--d", d, "--dl", e, "--b", d},
                  "--du: is missing: a symmetric matrix has one file for both, as in --dl " + e + " --du " + e);
  tridiag.refuses({"--d", d, "--b", d}, "--dl: is missing: a symmetric matrix has one file for both");
  tridiag.refuses({"--d", d, "--dl", e, "--du", one, "--b", d}, "off-diagonals have 2 or 3");
  CHECK(tridiag({"--d", d, "--dl", e, "--du", e, "--b", d})["status"] == "ok");
}
