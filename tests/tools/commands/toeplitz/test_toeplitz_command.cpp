#include "tests/support/commands/command.hpp"
#include "tests/support/machine.hpp"
#include "tests/support/toeplitz.hpp"
#include <tesela/tiles/io/file_formats.hpp>

#include <nlohmann/json.hpp>

#include <fstream>
#include <thread>

using namespace tesela::test;

namespace {

const Command solve{{"toeplitz", "solve"}};

const Words recursions{"levinson", "gohberg-semencul", "schur"}, eliminations{"cauchy-inverse", "cauchy"};
const Words methods = recursions + eliminations;

}  // namespace

TEST_CASE("toeplitz solve solves definite matrices of any size to rounding") {
  for (const std::string& method :
       methods + Words{"gradients", "superfast", "superfast-again", "lapack-cholesky", "cauchy-again"})
    for (const std::string kind : {"spd", "kms:0.5", "kms:-0.9"})
      for (const std::string n : {"0", "1", "2", "3", "64", "501", "1000"}) {
        if (method == "gradients" && kind != "spd") continue;  // test_toeplitz_gradients covers these
        CAPTURE(method, kind, n);
        const auto report =
            solve({"--method", method, "--random", kind, "--n", n, "--known", "--rhs", "3", "--seed", "5"});
        CHECK(report["status"] == "ok");
        CHECK(report["problem"]["method"] == method);
        CHECK(check(report, "residual") <= 2e-15);
        CHECK(check(report, "forward_error") <= 1e-13);
        const bool counts = std::find(methods.begin(), methods.end(), method) != methods.end();
        if (n != "0" && counts) CHECK(check(report, "negative_pivots") == 0);
        if (n != "501") continue;
        const auto single = solve({"--method", method, "--random", kind, "--n", n, "--known", "--precision", "s"});
        CHECK(check(single, "residual") <= 1e-6);
        CHECK(check(single, "residual") > 1e-10);  // computed in single precision
      }
}

TEST_CASE("toeplitz solve refines indefinite shifts to rounding and reports their inertia") {
  const auto t = toeplitz_column<double>({ToeplitzKind::random, 0, 5}, 501);
  double below = 0;
  for (const double value : dense_eigenvalues(t)) below += value < 0.3 ? 1 : 0;
  for (const std::string& method : methods) {
    const bool plain = method == "levinson";  // not refined; the status reports it
    const auto report =
        solve({"--method", method, "--n", "501", "--seed", "5", "--sigma", "0.3", "--known"}, plain ? 1 : 0);
    CAPTURE(method, report.dump());
    CHECK(check(report, "negative_pivots") == below);
    CHECK(check(report, "residual") <= (plain ? 1e-9 : 7e-15));
    CHECK((check(report, "residual") <= report["limits"]["residual"].get<double>()) == !plain);
    CHECK_THAT(report["status"].get<std::string>(), ContainsSubstring(plain ? "inaccurate: residual" : "ok"));
  }
}

TEST_CASE("toeplitz solve: gradients solve positive definite matrices of any order and reject others") {
  // Without GPUs: with them `auto` uses gradients only for larger orders.
  const auto large = solve({"--n", "40001", "--random", "spd", "--known", "--sigma=-0.5", "--ncuda", "0"});
  CHECK(large["status"] == "ok");
  CHECK(large["problem"]["method"] == "gradients");
  CHECK(check(large, "residual") <= 2e-15);
  CHECK(check(large, "forward_error") <= 1e-13);
  const auto indefinite = solve({"--n", "300", "--random", "random", "--method", "gradients"}, 1);
  CHECK_THAT(indefinite["status"].get<std::string>(), ContainsSubstring("not positive definite"));
  const auto others =
      // Inside the range of the symbol.
      solve({"--n", "33000", "--random", "kms:0.5", "--sigma", "0.9", "--ncuda", "0"});
  CHECK(others["status"] == "ok");
  CHECK(others["problem"]["tried"].front() == "gradients");
  CHECK(others["problem"]["method"] != "gradients");
}

TEST_CASE("toeplitz solve reports a zero leading minor with its order") {
  TemporaryFolder folder;
  for (const std::string& method : recursions)
    for (const std::string sigma : {"2", "1"}) {
      const auto report = solve({"--method", method, "--random", "second-difference", "--n", "40", "--sigma", sigma,
                                 "--out", folder / "x.npy"},
                                1);
      CHECK(check(report, "order") == (sigma == std::string("2") ? 1 : 2));
      CHECK_THAT(report["status"].get<std::string>(), ContainsSubstring("breakdown"));
      CHECK(std::isfinite(check(report, "residual")));
      CHECK_FALSE(std::filesystem::exists(folder / "x.npy"));
    }
}

TEST_CASE("toeplitz solve: eliminations survive zero leading minors and end at eigenvalues") {
  TemporaryFolder folder;
  for (const std::string& method : eliminations) {
    CAPTURE(method);
    for (const std::string n : {"2", "3", "64", "501", "1000"})
      for (const std::string kind : {"singular-minors", "random"}) {
        std::ostringstream t0;
        t0.precision(17);
        t0 << toeplitz_column<double>(
            {kind == std::string("random") ? ToeplitzKind::random : ToeplitzKind::singular_minors, 0, 5}, std::stol(n))(
            0, 0);
        CAPTURE(n, kind);
        const auto report = solve({"--method", method, "--random", kind, "--n", n, "--seed", "5", "--sigma", t0.str(),
                                   "--known", "--rhs", "2"});
        CHECK(check(report, "residual") <= 7e-15);
        CHECK(report["checks"].contains("forward_error"));
      }
    // For 2 k = n + 1 the eigenvalue 2 - 2 cos(k pi / (n + 1)) is 2.
    for (const std::string n : {"1", "39"}) {
      const auto report = solve(
          {"--method", method, "--random", "second-difference", "--n", n, "--sigma", "2", "--out", folder / "x.npy"},
          1);
      CHECK(check(report, "order") >= 1);
      CHECK(check(report, "order") <= std::stod(n));
      CHECK_THAT(report["status"].get<std::string>(), ContainsSubstring("eigenvalue"));
      CHECK(std::isfinite(check(report, "residual")));
      CHECK_FALSE(std::filesystem::exists(folder / "x.npy"));
    }
  }
}

TEST_CASE("toeplitz solve automatically selects a method that solves the system and reports it") {
  const auto taken = [](const Words& options) {
    const auto report = solve(options + Words{"--known"});
    CAPTURE(options, report.dump());
    CHECK(check(report, "residual") <= 2e-15);
    const double condition = check(report, "condition"), bound = check(report, "forward_bound");
    CHECK(condition >= 1);
    const double rounding = std::numeric_limits<double>::epsilon() / 2;
    CHECK(bound == 2 * condition * std::max(check(report, "residual"), rounding));
    CHECK(check(report, "forward_error") <= 10 * bound);
    CHECK(report["problem"]["tried"].back() == report["problem"]["method"]);
    return report["problem"]["method"].get<std::string>();
  };
  CHECK(taken({"--n", "501", "--seed", "5", "--sigma", "0.3"}) == "gohberg-semencul");
  CHECK(taken({"--n", "500", "--random", "spd"}) == "gohberg-semencul");
  CHECK(taken({"--n", "9000", "--random", "spd", "--ncuda", "0"}) == "schur");
  CHECK(taken({"--n", "500", "--random", "singular-minors"}) == "cauchy-inverse");
  CHECK(taken({"--n", "40", "--random", "second-difference", "--sigma", "2"}) == "cauchy-inverse");
  CHECK(taken({"--n", "300", "--nonsymmetric"}) == "lookahead");
}

TEST_CASE("toeplitz solve: look-ahead passes zero leading minors and counts") {
  for (const std::string& method : Words{"lookahead", "lookahead-again", "dense"})
    for (const std::string precision : {"d", "s"})
      for (const std::string n : {"0", "1", "2", "64", "300"}) {
        const auto report = solve({"--method", method, "--random", "singular-minors", "--n", n, "--known", "--rhs", "3",
                                   "--precision", precision});
        CAPTURE(method, precision, n);
        CHECK(report["status"] == "ok");
        CHECK(check(report, "residual") <= (precision == "d" ? 1e-15 : 3e-7));
        CHECK(check(report, "forward_error") <= (precision == "d" ? 1e-13 : 1e-4));
        if (method != "lookahead" || n == "0" || n == "1") continue;
        CHECK(check(report, "largest_step") == 2);
        CHECK(check(report, "negative_pivots") == std::stod(n) / 2);
      }
}

TEST_CASE("toeplitz solve solves matrices that are not symmetric") {
  TemporaryFolder folder;
  for (const std::string& method : Words{"auto", "lookahead", "lookahead-again", "dense", "lapack-lu"})
    for (const std::string kind : {"random", "spd"})
      for (const std::string n : {"0", "1", "2", "65", "400"}) {
        CAPTURE(method, kind, n);
        const auto report = solve({"--method", method, "--nonsymmetric", "--random", kind, "--n", n, "--known", "--rhs",
                                   "2", "--seed", "5", "--sigma", "0.25"});
        CHECK(report["status"] == "ok");
        CHECK(check(report, "residual") <= 7e-15);
        CHECK(check(report, "forward_error") <= 1e-10);
        CHECK(report["problem"]["row"] == kind);
      }
  // 0 1 2 / 3 0 1 / 4 3 0: the first leading minor is zero; r(0) is not used.
  HostMatrix<double> c(3, 1), r(1, 3), x(3, 1);
  for (index_t i = 0; i < 3; ++i) {
    c(i, 0) = i == 0 ? 0 : static_cast<double>(i + 2);
    r(0, i) = i == 0 ? 7 : static_cast<double>(i);
  }
  HostMatrix<double> b(3, 1);
  b(0, 0) = 8, b(1, 0) = 6, b(2, 0) = 10;  // x = 1, 2, 3
  write_matrix(folder / "c.npy", c);
  write_matrix(folder / "r.mtx", r);
  write_matrix(folder / "b.npy", b);
  const auto report =
      solve({"--t", folder / "c.npy", "--row", folder / "r.mtx", "--b", folder / "b.npy", "--out", folder / "x.npy"});
  CHECK(report["problem"]["method"] == "lookahead");
  for (index_t i = 0; i < 3; ++i) x(i, 0) = static_cast<double>(i + 1);
  CHECK(difference(read_matrix<double>(folder / "x.npy"), x) <= 1e-14);
  solve.refuses({"--t", folder / "c.npy", "--row", folder / "r.mtx", "--rhs", "1", "--method", "cauchy"},
                "needs a symmetric matrix");
  solve.refuses({"--nonsymmetric", "--random", "kms:0.5"}, "random and spd");
  solve.refuses({"--row", folder / "r.mtx"}, "--t");
  solve.refuses({"--t", folder / "c.npy", "--nonsymmetric"}, "contradict each other");
  write_matrix(folder / "long.npy", HostMatrix<double>::zeros(4, 1));
  solve.refuses({"--t", folder / "c.npy", "--row", folder / "long.npy", "--rhs", "1"}, "4 numbers");
}

TEST_CASE("toeplitz solve: superfast solves an indefinite matrix and fails for an eigenvalue") {
  const auto solved =
      solve({"--n", "3001", "--seed", "5", "--sigma", "0.3", "--method", "superfast", "--known", "--rhs", "2"});
  CHECK(solved["status"] == "ok");
  CHECK(solved["problem"]["method"] == "superfast");
  CHECK(check(solved, "residual") <= 7e-15);
  CHECK(check(solved, "forward_error") <= 10 * check(solved, "forward_bound"));
  for (const std::string n : {"1", "39", "999"}) {
    const auto report = solve({"--method", "superfast", "--random", "second-difference", "--n", n, "--sigma", "2"}, 1);
    CHECK_THAT(report["status"].get<std::string>(), ContainsSubstring("eigenvalue"));
  }
}

TEST_CASE("toeplitz solve runs one large system as tasks on all cores") {
  for (const Words& workers : {Words{"--ncpu", "2"}, {"--ncpu", "1"}, {"--ncpu", "2", "--sched", "eager"}}) {
    const auto report = solve(workers + Words{"--ncuda", "0", "--n", "20000", "--known", "--rhs", "2"});
    CAPTURE(report.dump());
    CHECK(report["problem"]["method"] == "schur");
    int triangles = 0, steps = 0;
    for (const auto& worker : report["workers"]) {
      const int here = worker["tasks"].value("schur_apply", 0);
      CHECK((here > 0 || std::thread::hardware_concurrency() < 2));
      steps += here;
      triangles += worker["tasks"].value("schur_triangle", 0);
    }
    CHECK(triangles > 4);
    CHECK(steps == triangles * (triangles - 1) / 2);
  }
}

TEST_CASE("toeplitz solve reports a matrix that is singular to rounding") {
  TemporaryFolder folder;
  // 2 - 2 cos(k pi / 40) is 2 for k = 20; a prolate matrix of this order has eigenvalues of 1e-30.
  for (const Words& options : {Words{"--random", "second-difference", "--n", "39", "--sigma", "2"},
                               Words{"--random", "prolate:0.1", "--n", "100"}}) {
    const auto report = solve(options + Words{"--out", folder / "x.npy"}, 1);
    CAPTURE(report.dump());
    CHECK_THAT(report["status"].get<std::string>(), ContainsSubstring("singular to working precision"));
    CHECK((report["checks"]["condition"].is_null() || check(report, "condition") >= 2e14));
    CHECK_FALSE(std::filesystem::exists(folder / "x.npy"));
  }
  write_matrix(folder / "zeros.npy", HostMatrix<double>::zeros(3, 1));
  const auto zero = solve({"--t", folder / "zeros.npy", "--rhs", "1"}, 1);
  CHECK_THAT(zero["status"].get<std::string>(), ContainsSubstring("the condition is infinite"));
}

TEST_CASE("toeplitz solve refuses a file that is not finite and names it") {
  // (toeplitz_solve names the element: see test_toeplitz_solve.)
  TemporaryFolder folder;
  std::ofstream(folder / "good.mtx") << "%%MatrixMarket matrix array real general\n3 1\n2\n1\n0.5\n";
  std::ofstream(folder / "nan.mtx") << "%%MatrixMarket matrix array real general\n3 1\n2\nnan\n0.5\n";
  std::ofstream(folder / "inf.mtx") << "%%MatrixMarket matrix array real general\n3 1\n2\n1\ninf\n";
  for (const char* bad : {"nan.mtx", "inf.mtx"})
    for (const Words& options :
         {Words{"--t", folder / bad, "--rhs", "1"}, Words{"--t", folder / "good.mtx", "--b", folder / bad}}) {
      const Outcome run = run_tesela(Words{"toeplitz", "solve"} + options);
      CAPTURE(options, run.err);
      CHECK(run.code == 2);
      CHECK_THAT(run.err, ContainsSubstring(bad));
    }
}

TEST_CASE("toeplitz solve is equally accurate for matrices of any size") {
  TemporaryFolder folder;
  const auto t = toeplitz_column<double>({ToeplitzKind::random, 0, 5}, 40);
  for (const double size : {1e10, 1e15, 1e-10, 1e20, 1e100, 1e-100, 1e250, 1e-250}) {
    auto scaled = t.clone();
    for (index_t i = 0; i < 40; ++i) scaled(i, 0) *= size;
    write_matrix(folder / "t.npy", scaled);
    for (const std::string& method : Words{"auto", "gohberg-semencul"} + eliminations) {
      CAPTURE(size, method);
      CHECK(check(solve({"--t", folder / "t.npy", "--rhs", "1", "--method", method}), "residual") <= 1e-15);
    }
  }
}

TEST_CASE("toeplitz solve reads and writes files") {
  TemporaryFolder folder;
  const auto t = toeplitz_column<double>({ToeplitzKind::kms, 0.5}, 50);
  const auto b = random_columns<double>(50, 3, 2);
  HostMatrix<double> row(1, 50);
  std::copy_n(t.data(), 50, row.data());
  write_matrix(folder / "t.npy", t);
  write_matrix(folder / "row.mtx", row);
  write_matrix(folder / "b.npy", b);
  for (const std::string& method : methods)
    for (const std::string name : {"t.npy", "row.mtx"}) {
      const auto report = solve({"--t", folder / name, "--b", folder / "b.npy", "--sigma", "-0.5", "--method", method,
                                 "--out", folder / "x.npy"});
      CHECK(report["problem"]["n"] == 50);
      CHECK(report["problem"]["rhs"] == 3);
      CHECK(difference(read_matrix<double>(folder / "x.npy"), dense_solve(t, -0.5, b)) <= 1e-13);
    }
  solve.refuses({"--t", folder / "b.npy", "--rhs", "1"}, "not one row or column");
  solve.refuses({"--t", folder / "t.npy", "--n", "5"}, "contradict each other");
  solve.refuses({"--n", "7", "--b", folder / "b.npy"}, "rows");
  solve.refuses({"--random", "odd"}, "is none of");
  solve.refuses({"--random", "prolate:0.7"}, "prolate:W");
  solve.refuses({"--random", "kms"}, "kms:R");
  solve.refuses({"--n", "5", "--sigma", "nan"}, "finite");
  solve.refuses({"--method", "odd"}, "--method");
}

TEST_CASE("toeplitz solve works on a GPU", "[gpu]") {
  require_gpu();
  for (const std::string& method : methods)
    for (const std::string n : {"1", "3", "501", "5000"}) {
      const auto report =
          solve({"--method", method, "--random", "spd", "--n", n, "--known", "--ncpu", "0", "--rhs", "2"});
      CHECK(check(report, "residual") <= 1e-14);
      CHECK(check(report, "forward_error") <= 1e-13);
    }
  for (const std::string& method : recursions)
    CHECK(check(solve({"--method", method, "--random", "second-difference", "--n", "40", "--sigma", "1", "--ncpu", "0"},
                      1),
                "order") == 2);
  for (const std::string& method : eliminations) {
    CHECK(check(solve({"--method", method, "--random", "singular-minors", "--n", "40", "--ncpu", "0"}), "residual") <=
          7e-15);
    solve({"--method", method, "--random", "second-difference", "--n", "39", "--sigma", "2", "--ncpu", "0"}, 1);
  }
}
