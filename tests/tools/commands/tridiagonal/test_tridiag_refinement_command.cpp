#include "tests/support/commands/command.hpp"
#include "tests/support/machine.hpp"
#include <tesela/tiles/io/file_formats.hpp>

#include <nlohmann/json.hpp>

using namespace tesela::test;

namespace {

const Command tridiag{{"tridiag", "--known", "--seed", "7"}};

void check_solved(const Words& options, int least, int most) {
  const nlohmann::json report = tridiag(options, 0), &checks = report["checks"];
  CAPTURE(options, checks.dump());
  CHECK(report["status"] == "ok");
  CHECK(checks["converged"] == 1);
  CHECK(checks["iterations"] >= least);
  CHECK(checks["iterations"] <= most);
  CHECK(checks["residual"] <= 1e-15);
  CHECK(checks["residual_componentwise"] <= 1e-14);
  CHECK(checks["forward_error"] <= 1e-14);
}

}  // namespace

TEST_CASE("tridiag in mixed precision reports corrections and is as accurate as double precision") {
  for (const char* n : {"1", "2", "257", "200001"}) check_solved({"--n", n, "--precision", "mixed"}, 0, 4);
  check_solved({"--n", "1000", "--precision", "mixed", "--repeat", "2"}, 1, 4);
  check_solved({"--n", "300", "--batch", "9", "--rhs", "2", "--precision", "mixed", "--tile", "100x4"}, 1, 4);
  check_solved({"--n", "300", "--batch", "9", "--interleaved", "--periodic", "--precision", "mixed"}, 1, 4);
  check_solved({"--sizes", "100,1,57", "--precision", "mixed"}, 1, 4);
  check_solved({"--n", "1000", "--refine", "3"}, 0, 1);
}

TEST_CASE("tridiag refines complex systems, in mixed precision and in one") {
  for (const char* n : {"1", "2", "257", "20001"}) check_solved({"--n", n, "--precision", "mixed-z"}, 0, 4);
  check_solved({"--n", "1000", "--precision", "mixed-z"}, 1, 4);
  check_solved({"--n", "300", "--batch", "9", "--interleaved", "--periodic", "--precision", "mixed-z"}, 1, 4);
  check_solved({"--n", "1000", "--refine", "3", "--precision", "z"}, 0, 1);
  CHECK(tridiag({"--n", "50", "--precision", "mixed-z"}, 0)["problem"]["precision"] == "mixed-z");
  const nlohmann::json report = tridiag({"--n", "1000", "--random", "near-singular", "--precision", "mixed-z"}, 1);
  CHECK_THAT(report["status"].get<std::string>(), ContainsSubstring("not converged after"));
}

TEST_CASE("tridiag reports that refinement did not converge") {
  const nlohmann::json report =
      tridiag({"--n", "1000", "--batch", "2", "--random", "near-singular", "--precision", "mixed"}, 1);
  CHECK_THAT(report["status"].get<std::string>(), ContainsSubstring("not converged after"));
  CHECK(report["checks"]["converged"] == 0);
  CHECK(report["checks"]["backward_error"] > 1e-15);
  CHECK(report["checks"]["row"] < 1000);
  CHECK(report["checks"]["matrix"] < 2);
  CHECK(tridiag({"--n", "1000", "--precision", "mixed", "--refine", "0"}, 1)["checks"]["iterations"] == 0);
}

TEST_CASE("tridiag in mixed precision solves near the largest number and reports an X that overflows") {
  const TemporaryFolder folder;
  const auto written = [&](const char* name, double value) {
    HostMatrix<double> column(3, 1);
    for (index_t i = 0; i < 3; ++i) column(i, 0) = value;
    write_matrix(folder / name, column);
    return folder / name;
  };
  const auto solve = [&](double diagonal, double right, int code) {
    return Command{{"tridiag"}}(
        {"--dl", written("l.npy", 0), "--d", written("d.npy", diagonal), "--du", written("u.npy", 0), "--b",
         written("b.npy", right), "--precision", "mixed", "--out", folder / "x.npy"},
        code);
  };
  CHECK(solve(1, 1.79e308, 0)["checks"]["converged"] == 1);
  CHECK(std::abs(read_matrix<double>(folder / "x.npy")(2, 0) / 1.79e308 - 1) <= 1e-15);
  CHECK(solve(3, -1.79e308, 0)["status"] == "ok");
  CHECK_THAT(solve(1e-10, 1e300, 1)["status"].get<std::string>(), ContainsSubstring("X is not finite at row 0"));
}

TEST_CASE("wrong use of refinement gives exit code 2") {
  for (const Words& options :
       {Words{"--method", "lapack", "--refine", "2"}, Words{"--method", "cr", "--precision", "mixed"},
        Words{"--refine", "-1"}, Words{"--precision", "half"}, Words{"--method", "lapack", "--precision", "mixed-z"}}) {
    Words all{"tridiag", "--n", "10"};
    all.insert(all.end(), options.begin(), options.end());
    CAPTURE(options);
    CHECK(run_tesela(all).code == 2);
  }
  CHECK(run_tesela({"gemm", "--n", "10", "--precision", "mixed"}).code == 2);
}

TEST_CASE("tridiag works in mixed precision on a GPU", "[gpu]") {
  require_gpu();
  check_solved({"--n", "200001", "--precision", "mixed", "--ncpu", "0"}, 1, 4);
  check_solved({"--n", "1000", "--batch", "300", "--interleaved", "--precision", "mixed", "--ncpu", "0"}, 1, 4);
  check_solved({"--n", "200001", "--precision", "mixed-z", "--ncpu", "0"}, 1, 4);
}
