#include "tests/support/commands/tridiag_command.hpp"
#include "tests/support/machine.hpp"

using namespace tesela::test;

namespace {

/// Returns the sizes for a method: with few rows in each task, 4097 rows are already several levels of many tasks.
Words sizes(const Words& method) {
  const bool few_rows = method.back() == "20x1" || method.back() == "16" || method.back() == "64";
  const Words all{"1", "2", "3", "255", "256", "257", "1000"};
  return all + (few_rows ? Words{"4097"} : Words{"65537", "1000000"});
}

/// Returns whether every option is tested with this size.
bool with_every_option(const std::string& n) { return n == "257" || n == "4097" || n == "65537"; }

}  // namespace

TEST_CASE("every method solves dominant systems of any size to rounding") {
  for (const Words& method : methods)
    for (const std::string& n : sizes(method)) {
      CAPTURE(n, method);
      const auto report = tridiag(method + Words{"--n", n, "--known", "--seed", "7"});
      CHECK(report["status"] == "ok");
      CHECK(report["problem"]["input"] == "dominant");
      CHECK(check(report, "residual") <= 1e-14);
      CHECK(check(report, "residual_componentwise") <= 1e-14);
      CHECK(check(report, "forward_error") <= 1e-14);
      CHECK(check(report, "levels") >= 0);
      if (!with_every_option(n)) continue;
      const auto single = tridiag(method + Words{"--n", n, "--known", "--seed", "7", "--precision", "s"});
      CHECK(check(single, "residual") <= 1e-6);
      CHECK(check(single, "forward_error") <= 1e-5);
      CHECK(check(single, "residual") > 1e-11);  // computed in single precision
    }
}

TEST_CASE("methods with pivoting solve every kind, and others solve it or report that they did not") {
  for (const std::string kind : {"uniform", "zero-diagonal"})
    for (const Words& method : methods)
      for (const std::string& n : sizes(method)) {
        const bool expected = pivots(method);
        // These methods are tested with every size on dominant systems.
        const bool few = method.front() == "--tile" || !expected;
        if (few && n != "2" && !with_every_option(n)) continue;
        CAPTURE(kind, n, method);
        const auto report =
            tridiag(method + Words{"--n", n, "--known", "--seed", "7", "--random", kind}, expected ? 0 : -1);
        if (report["status"] != "ok") continue;
        CHECK(check(report, "residual") <= (expected ? 1e-13 : 1.5e-8));
        if (expected && kind == "zero-diagonal") CHECK(check(report, "forward_error") <= 1e-10);
      }
  for (const std::string kind : {"toeplitz", "near-singular"})
    for (const Words& method : pivoting)
      for (const std::string& n : sizes(method)) {
        if (n != "1" && n != "3" && n != "1000" && n != "4097" && n != "65537") continue;
        CAPTURE(kind, n, method);
        const auto report = tridiag(method + Words{"--n", n, "--known", "--seed", "7", "--random", kind});
        CHECK(check(report, "residual") <= 1e-13);
        CHECK(check(report, "forward_error") <= (kind == "toeplitz" ? 1e-14 : 0.1));
      }
}

TEST_CASE("files in any format are solved, with n or n - 1 off-diagonal entries") {
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

TEST_CASE("batches in both layouts are solved, periodic or not, with one or more right-hand sides") {
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

TEST_CASE("a generated batch is the same for every method and tile, and each of its systems is checked") {
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

TEST_CASE("matrices of different sizes in one call have the solutions of single calls") {
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

TEST_CASE("huge and tiny entries in separate rows are solved") {
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

TEST_CASE("columns with very different units are solved with and without --equilibrate") {
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

TEST_CASE("empty problems are accepted") {
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

TEST_CASE("the JSON report of tridiag has its documented fields") {
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

TEST_CASE("tridiag works on the GPU alone and together with cores", "[gpu]") {
  require_gpu();
  for (const Words& workers : {Words{"--ncpu", "0"}, Words{}})
    for (const Words& problem :
         {Words{"--n", "1"}, Words{"--n", "257"}, Words{"--n", "1000000"}, Words{"--n", "1000000", "--tile", "100000"},
          Words{"--n", "512", "--batch", "1000"}, Words{"--n", "512", "--batch", "1000", "--interleaved"},
          Words{"--n", "1000", "--batch", "9", "--rhs", "3"}, Words{"--n", "100000", "--periodic"},
          Words{"--sizes", "5,1000,70000"}})
      for (const std::string kind : {"dominant", "uniform", "zero-diagonal"}) {
        if (workers.empty() && kind != "uniform") continue;
        const std::string precision = kind == "dominant" ? "s" : "d";
        const auto report = tridiag(problem + workers + Words{"--known", "--random", kind, "--precision", precision});
        CAPTURE(problem, workers, kind, precision);
        CHECK(check(report, "residual") <= (precision == "d" ? 1e-13 : 1e-5));
      }
}
