#include "tests/support/machine.hpp"
#include "tests/support/process.hpp"
#include <tesela/tiles/io/file_formats.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

using namespace tesela;
using namespace tesela::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Runs `tesela tridiag` to this exit code, or to one that its report's status implies, and answers the report.
nlohmann::json tridiag(const Words& options, int code = 0) {
  const Outcome run = run_tesela(Words{"tridiag", "--json", "-"} + options);
  CAPTURE(options, run.out, run.err);
  if (code < 0) code = nlohmann::json::parse(run.out)["status"] == "ok" ? 0 : 1;
  REQUIRE(run.code == code);
  return nlohmann::json::parse(run.out);
}

double check(const nlohmann::json& report, const char* name) { return report["checks"][name].get<double>(); }

/// Every method, with the options that choose it, those that pivot first; some take systems apart into tiles.
const std::vector<Words> pivoting{{"--method", "auto"}, {"--method", "lapack"}, {"--tile", "64"}, {"--tile", "20x1"}};
const std::vector<Words> methods =
    pivoting +
    std::vector<Words>{{"--method", "thomas"},       {"--method", "cr"},
                       {"--method", "cr-hybrid"},    {"--method", "cr-shared"},
                       {"--method", "cr-coalesced"}, {"--method", "cr-hybrid", "--cut", "10", "--tile", "16"}};
bool pivots(const Words& method) { return std::find(pivoting.begin(), pivoting.end(), method) != pivoting.end(); }
/// Whether it takes interleaved and periodic systems.
bool general(const Words& method) { return pivots(method) && method.back() != "lapack"; }
/// What needs a task for every few rows is not asked to solve large systems.
bool too_many_tasks(const Words& method, const std::string& n) {
  return n == "1000000" && (method.back() == "20x1" || method.back() == "16" || method.back() == "64");
}

/// `batch` matrices of n equations with `rhs` right-hand sides of each, in arrays with a system in each column.
struct Problem {
  HostMatrix<double> dl, d, du, x, b;
};

/// Entries and solutions are small integers, so that B is exact. Without periodic, what is outside the matrices is
/// 1000, which would show.
Problem problem(index_t n, index_t batch, index_t rhs, bool periodic) {
  Problem p{HostMatrix<double>(n, batch), HostMatrix<double>(n, batch), HostMatrix<double>(n, batch),
            HostMatrix<double>(n, batch * rhs), HostMatrix<double>(n, batch * rhs)};
  for (index_t s = 0; s < batch; ++s)
    for (index_t i = 0; i < n; ++i) {
      const bool inside_left = i > 0 || periodic, inside_right = i < n - 1 || periodic;
      p.dl(i, s) = inside_left ? static_cast<double>((3 * i + s) % 5 - 2) : 1000;
      p.du(i, s) = inside_right ? static_cast<double>((i + 2 * s) % 7 - 3) : 1000;
      p.d(i, s) = static_cast<double>(6 + (i + s) % 3);
    }
  for (index_t c = 0; c < batch * rhs; ++c)
    for (index_t i = 0; i < n; ++i) p.x(i, c) = static_cast<double>((5 * i + 3 * c) % 11 - 4);
  for (index_t c = 0; c < batch * rhs; ++c)
    for (index_t i = 0; i < n; ++i) {
      const index_t s = c / rhs;
      p.b(i, c) = p.d(i, s) * p.x(i, c);
      if (i > 0 || periodic) p.b(i, c) += p.dl(i, s) * p.x(i > 0 ? i - 1 : n - 1, c);
      if (i < n - 1 || periodic) p.b(i, c) += p.du(i, s) * p.x(i < n - 1 ? i + 1 : 0, c);
    }
  return p;
}

HostMatrix<double> transposed(const HostMatrix<double>& a) {
  HostMatrix<double> t(a.cols(), a.rows());
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < a.rows(); ++i) t(j, i) = a(i, j);
  return t;
}

HostMatrix<double> rows(const HostMatrix<double>& a, index_t first, index_t count) {
  HostMatrix<double> part(count, a.cols());
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < count; ++i) part(i, j) = a(first + i, j);
  return part;
}

/// Files of a problem and the options that name them.
struct Files {
  TemporaryFolder folder;
  std::string format = ".npy";
  bool interleaved = false;

  void write(const std::string& name, const HostMatrix<double>& a) const {
    write_matrix(folder / (name + format), interleaved ? transposed(a) : a.clone());
  }
  void write(const Problem& p) const {
    write("dl", p.dl);
    write("d", p.d);
    write("du", p.du);
    write("b", p.b);
  }
  Words options() const {
    Words words;
    for (const char* name : {"dl", "d", "du", "b"})
      words = words + Words{std::string("--") + name, folder / (name + format)};
    words = words + Words{"--out", folder / ("x" + format)};
    return interleaved ? words + Words{"--interleaved"} : words;
  }
  HostMatrix<double> solution() const {
    auto x = read_matrix<double>(folder / ("x" + format));
    return interleaved ? transposed(x) : std::move(x);
  }
};

double difference(const HostMatrix<double>& a, const HostMatrix<double>& b) {
  REQUIRE(a.shape() == b.shape());
  double most = 0;
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < a.rows(); ++i) most = std::max(most, std::abs(a(i, j) - b(i, j)));
  return most;
}

}  // namespace

TEST_CASE("every method solves dominant systems of any size to rounding") {
  for (const std::string n : {"1", "2", "3", "255", "256", "257", "1000", "65537", "1000000"})
    for (const Words& method : methods) {
      if (too_many_tasks(method, n)) continue;
      CAPTURE(n, method);
      const auto report = tridiag(method + Words{"--n", n, "--known", "--seed", "7"});
      CHECK(report["status"] == "ok");
      CHECK(report["problem"]["input"] == "dominant");
      CHECK(check(report, "residual") <= 1e-14);
      CHECK(check(report, "residual_componentwise") <= 1e-14);
      CHECK(check(report, "forward_error") <= 1e-14);
      CHECK(check(report, "levels") >= 0);
      if (n != "257" && n != "65537") continue;
      const auto single = tridiag(method + Words{"--n", n, "--known", "--seed", "7", "--precision", "s"});
      CHECK(check(single, "residual") <= 1e-6);
      CHECK(check(single, "forward_error") <= 1e-5);
      CHECK(check(single, "residual") > 1e-11);  // it was in single precision
    }
}

TEST_CASE("what pivots solves the other kinds as well; what does not solves them or says that it did not") {
  for (const std::string kind : {"uniform", "zero-diagonal"})
    for (const std::string n : {"1", "2", "3", "255", "256", "257", "1000", "65537", "1000000"})
      for (const Words& method : methods) {
        const bool expected = pivots(method);
        // Each of them meets every size on dominant systems.
        const bool few = method.front() == "--tile" || !expected;
        if (too_many_tasks(method, n) || (few && n != "2" && n != "257" && n != "65537")) continue;
        CAPTURE(kind, n, method);
        const auto report =
            tridiag(method + Words{"--n", n, "--known", "--seed", "7", "--random", kind}, expected ? 0 : -1);
        if (report["status"] != "ok") continue;
        CHECK(check(report, "residual") <= (expected ? 1e-13 : 1.5e-8));
        if (expected && kind == "zero-diagonal") CHECK(check(report, "forward_error") <= 1e-10);
      }
  for (const std::string kind : {"toeplitz", "near-singular"})
    for (const std::string n : {"1", "3", "1000", "65537"})
      for (const Words& method : pivoting) {
        CAPTURE(kind, n, method);
        const auto report = tridiag(method + Words{"--n", n, "--known", "--seed", "7", "--random", kind});
        CHECK(check(report, "residual") <= 1e-13);
        CHECK(check(report, "forward_error") <= (kind == "toeplitz" ? 1e-14 : 0.1));
      }
}

TEST_CASE("files are solved, whatever their format, with n or n - 1 entries off the diagonal") {
  for (const auto& [format, rhs] : {std::pair<const char*, index_t>{".npy", 1}, {".mtx", 3}})
    for (const index_t n : {1, 2, 3, 1000})
      for (const Words& method : methods) {
        CAPTURE(format, n, rhs, method);
        const Files files{.folder = {}, .format = format};
        const Problem p = problem(n, 1, rhs, false);
        files.write(p);
        if (rhs == 3) {
          files.write("dl", rows(p.dl, 1, n - 1));
          files.write("du", rows(p.du, 0, n - 1));
        }
        const auto report = tridiag(method + files.options());
        CHECK((report["problem"]["n"] == n && report["problem"]["rhs"] == rhs));
        CHECK(check(report, "residual") <= 1e-15);
        CHECK_FALSE(report["checks"].contains("forward_error"));
        CHECK(difference(files.solution(), p.x) <= 1e-12);
      }
}

TEST_CASE("batches of either layout, periodic or not, with one or more right-hand sides of each matrix") {
  for (const bool interleaved : {false, true})
    for (const bool periodic : {false, true})
      for (const auto& [n, batch, rhs] : {std::tuple<index_t, index_t, index_t>{3, 1, 1},
                                          {1, 5, 1},
                                          {1, 5, 2},
                                          {2, 4, 1},
                                          {2, 3, 2},
                                          {100, 7, 1},
                                          {97, 3, 2},
                                          {300, 1, 4}})
        for (const Words& method : methods) {
          if ((interleaved || periodic) && !general(method)) continue;
          CAPTURE(interleaved, periodic, n, batch, rhs, method);
          const Files files{.folder = {}, .interleaved = interleaved};
          const Problem p = problem(n, batch, rhs, periodic);
          files.write(p);
          const auto report = tridiag(method + files.options() + (periodic ? Words{"--periodic"} : Words{}));
          CHECK((report["problem"]["batch"] == batch && report["problem"]["rhs"] == rhs));
          CHECK(check(report, "residual") <= 1e-15);
          CHECK(difference(files.solution(), p.x) <= 1e-12);
        }
}

TEST_CASE("a generated batch is the same problem for every method and tile, and each of its systems counts") {
  const TemporaryFolder folder;
  const Words batch{"--n", "50", "--batch", "6", "--rhs", "2", "--seed", "3", "--out", folder / "x.npy"};
  for (const Words& kind : {Words{"--random", "dominant", "--known"}, Words{"--random", "uniform"}}) {
    std::vector<HostMatrix<double>> solutions;
    for (const Words& method : methods) {
      const auto report = tridiag(method + batch + kind);
      if (pivots(method)) CHECK(check(report, "residual") <= 1e-14);
      solutions.push_back(read_matrix<double>(folder / "x.npy"));
    }
    for (const auto& x : solutions) CHECK(difference(x, solutions.front()) <= 1e-9);
    CHECK(solutions.front()(0, 0) != solutions.front()(0, 1));
  }
  for (const Words& layout : {Words{"--interleaved"}, Words{}})
    for (const Words& periodic : {Words{"--periodic"}, Words{}})
      for (const std::string kind : {"dominant", "uniform", "zero-diagonal"})
        for (const char* n : {"1", "99", "100"}) {
          const auto report = tridiag(layout + periodic + Words{"--n", n, "--batch", "7", "--known", "--random", kind});
          CAPTURE(layout, periodic, kind, n);
          CHECK(check(report, "residual") <= 1e-13);
          if (kind != "uniform") CHECK(check(report, "forward_error") <= 1e-12);
        }
}

TEST_CASE("matrices of different sizes in one call are what each would be alone") {
  const TemporaryFolder folder;
  const std::string file = folder / "x.npy", other = folder / "alone.npy";
  for (const Words& method : methods) {
    CAPTURE(method);
    const auto report =
        tridiag(method + Words{"--sizes", "5,1000,0,1", "--rhs", "2", "--seed", "3", "--known", "--out", file});
    CHECK(report["problem"]["sizes"] == std::vector{5, 1000, 0, 1});
    CHECK(check(report, "residual") <= 1e-14);
    CHECK(check(report, "forward_error") <= 1e-14);
  }
  const auto all = read_matrix<double>(file);
  REQUIRE(all.shape() == Shape{1006, 2});
  for (const auto& [n, seed, first] : {std::tuple{"5", "3", 0}, {"1000", "4", 5}, {"1", "6", 1005}}) {
    tridiag(Words{"--n", n, "--rhs", "2", "--seed", seed, "--known", "--out", other});
    const auto alone = read_matrix<double>(other);
    CHECK(difference(rows(all, first, alone.rows()), alone) <= 1e-14);
  }
}

TEST_CASE("a singular matrix is exit code 1 with its row, and no file") {
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
      // Elimination from top to bottom meets the row itself.
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

TEST_CASE("a solution that overflows is a failure, never a file of what is left") {
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

TEST_CASE("huge and tiny entries are solved where they are no trouble to each other") {
  const Files files;
  Problem p = problem(200, 1, 1, false);
  for (index_t i = 0; i < 200; ++i) {
    const double scale = i % 2 == 0 ? std::ldexp(1.0, 400) : std::ldexp(1.0, -400);
    for (HostMatrix<double>* a : {&p.dl, &p.d, &p.du, &p.b}) (*a)(i, 0) *= scale;
  }
  files.write(p);
  for (const Words& method : methods) {
    const auto report = tridiag(method + files.options());
    CAPTURE(method);
    CHECK(check(report, "residual_componentwise") <= 1e-14);
    CHECK(difference(files.solution(), p.x) <= 1e-12);
  }
}

TEST_CASE("columns of units that differ by far are solved, with --equilibrate and without") {
  Files files;
  for (const bool interleaved : {false, true}) {
    files.interleaved = interleaved;
    Problem p = problem(200, 2, 1, false);
    const auto column = [](index_t j) { return std::ldexp(1.0, static_cast<int>((j * 7919) % 901) - 450); };
    for (index_t s = 0; s < 2; ++s)
      for (index_t i = 0; i < 200; ++i) {
        p.d(i, s) = (i + s) % 3 == 0 ? 0.125 : 1;
        p.dl(i, s) = i > 0 ? column(i - 1) * static_cast<double>(i % 5 + 1) : 1000;
        p.du(i, s) = i < 199 ? column(i + 1) * static_cast<double>(i % 3 + 1) : 1000;
        p.d(i, s) *= column(i);
      }
    files.write(p);
    for (const Words& tile : {Words{}, Words{"--tile", "64"}}) {
      const auto report = tridiag(tile + files.options() + Words{"--equilibrate"});
      CAPTURE(interleaved, tile);
      CHECK(report["problem"]["equilibrate"] == true);
      CHECK(check(report, "residual_componentwise") <= 1e-13);
      const auto by_itself = tridiag(tile + files.options());
      CHECK(by_itself["problem"]["equilibrate"] == "auto: yes");
      CHECK(by_itself["counts"]["systems_equilibrated"] >= 1);
      CHECK(check(by_itself, "residual_equilibrated") <= 2.3e-13);
      CHECK(check(by_itself, "residual_componentwise") <= 1e-12);
    }
  }
}

TEST_CASE("an X that is not accurate is never ok, and of several matrices the status says whose") {
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
  // A times 2^900 and B times 2^-900: X is too small for a number.
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

TEST_CASE("a singular matrix is singular with --refine as without, whatever B is") {
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

TEST_CASE("empty problems are legal") {
  for (const Words& method : {Words{}, Words{"--method", "lapack"}, Words{"--method", "cr"}})
    for (const Words& sizes : {Words{"--n", "0"}, Words{"--n", "5", "--batch", "0"}, Words{"--n", "5", "--rhs", "0"},
                               Words{"--n", "5", "--batch", "3", "--rhs", "0"}, Words{"--sizes", "0,0"},
                               Words{"--n", "0", "--batch", "3", "--rhs", "2"}}) {
      CAPTURE(method, sizes);
      CHECK(tridiag(method + sizes + Words{"--known"})["status"] == "ok");
    }
  const Files none;
  none.write(problem(0, 1, 1, false));
  CHECK(tridiag(none.options())["problem"]["n"] == 0);
}

TEST_CASE("the JSON report of tridiag keeps its contract") {
  const auto report = tridiag({"--n", "500", "--batch", "3", "--repeat", "3", "--seed", "5", "--tile", "64x2"});
  for (const char* key : {"command", "version", "problem", "machine", "workers", "counts", "seconds", "gflops",
                          "bounds", "checks", "status"})
    CHECK(report.contains(key));
  const auto& problem = report["problem"];
  CHECK((problem["n"] == 500 && problem["batch"] == 3 && problem["rhs"] == 1 && problem["mb"] == 64));
  CHECK((problem["nb"] == 2 && problem["method"] == "auto" && problem["seed"] == 5));
  CHECK((problem["layout"] == "contiguous" && problem["periodic"] == false && problem["precision"] == "d"));
  CHECK(report["seconds"]["runs"] == 3);
  CHECK(check(report, "levels") == 2);
  CHECK(check(tridiag({"--n", "500"}), "levels") == 1);
}

TEST_CASE("wrong use of tridiag is exit code 2 with a message") {
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
      {{"--d", five}, "--dl"},
      {{"--b", five}, "--b"},
      {bands(five, five, five) + Words{"--n", "5"}, "--n"},
      {bands(five, five, five) + Words{"--random", "uniform"}, "--random"},
      {bands(five, five, five) + Words{"--b", five, "--known"}, "--known"},
      {bands(five, five, five) + Words{"--b", five, "--rhs", "2"}, "--rhs"},
      {bands(three, five, five), "three.npy holds 2 vectors of 3"},
      {bands(five, five, three), "three.npy holds 2 vectors of 3"},
      {bands(four, five, five) + Words{"--periodic"}, "periodic"},
      {bands(five, five, five) + Words{"--b", three}, "three.npy holds 2 vectors of 3"},
      {bands(nan, nan, nan), "nan.mtx"},
      {bands(five, broken, five), "broken.npy"},
      {bands(five, files.folder / "missing.npy", five), "missing.npy"},
      {{"--out", files.folder / "none/x.npy"}, "none"},
      {{"--out", files.folder / "x.xyz"}, "x.xyz"},
  };
  for (const auto& [options, message] : cases) {
    const Outcome run = run_tesela(Words{"tridiag"} + options);
    CAPTURE(options, run.err);
    CHECK(run.code == 2);
    CHECK_THAT(run.err, ContainsSubstring(message));
    CHECK(files.folder.files() == 8);
  }
}

TEST_CASE("what the machine cannot do for tridiag is exit code 3") {
  const Outcome memory = run_tesela({"tridiag", "--n", "1000000000", "--batch", "100000"});
  CHECK(memory.code == 3);
  CHECK_THAT(memory.err, ContainsSubstring("GiB"));
}

TEST_CASE("tridiag on the GPU alone and beside the cores", "[gpu]") {
  require_gpu();
  for (const Words& workers : {Words{"--ncpu", "0"}, Words{}})
    for (const Words& problem :
         {Words{"--n", "1"}, Words{"--n", "257"}, Words{"--n", "1000000"}, Words{"--n", "1000000", "--tile", "100000"},
          Words{"--n", "512", "--batch", "1000"}, Words{"--n", "512", "--batch", "1000", "--interleaved"},
          Words{"--n", "1000", "--batch", "9", "--rhs", "3"}, Words{"--n", "100000", "--periodic"},
          Words{"--sizes", "5,1000,70000"}})
      for (const char* kind : {"dominant", "uniform", "zero-diagonal"})
        for (const char* precision : {"d", "s"}) {
          const auto report = tridiag(problem + workers + Words{"--known", "--random", kind, "--precision", precision});
          CAPTURE(problem, workers, kind, precision);
          CHECK(check(report, "residual") <= (precision[0] == 'd' ? 1e-13 : 1e-5));
        }
}
