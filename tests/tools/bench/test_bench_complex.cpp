#include "tests/support/commands/process.hpp"
#include "tests/support/machine.hpp"

#include <catch2/catch_approx.hpp>
#include <nlohmann/json.hpp>

using namespace tesela::test;

namespace {

/// Runs a benchmark of one case, n = 150, and checks that its rates count `flops` and that every result is correct.
void check(std::vector<std::string> arguments, double flops, std::size_t peers) {
  const TemporaryFolder folder;
  const std::vector<std::string> common{"--n", "150", "--repeat", "2", "--out", folder.path(), "--json", "-"};
  arguments.insert(arguments.begin(), "bench");
  arguments.insert(arguments.end(), common.begin(), common.end());
  for (const char* precision : {"c", "z"}) {
    CAPTURE(arguments, precision);
    std::vector<std::string> words = arguments;
    words.insert(words.end(), {"--precision", precision});
    const Outcome run = run_tesela(words);
    CAPTURE(run.err);
    REQUIRE(run.code == 0);
    const auto report = nlohmann::json::parse(run.out);
    CHECK(report["checks"].size() == peers);
    for (const auto& [name, error] : report["checks"].items()) CHECK((error > 0 && error <= 1));
    REQUIRE(report["peers"].size() == peers);
    for (const auto& peer : report["peers"])
      CHECK(peer["rate"].get<double>() == Catch::Approx(flops / peer["median_s"].get<double>() * 1e-9).epsilon(1e-2));
  }
}

constexpr double cube = 150.0 * 150 * 150;
/// Operations of least squares with 300 rows and 8 right-hand sides.
constexpr double least_squares = 4 * (10 * cube / 3 + 32.0 * 300 * 150);

/// Runs a benchmark of tridiagonal systems, solved one at a time and two at once, and checks every result.
void check_tridiagonal(const Words& arguments, std::size_t peers) {
  const TemporaryFolder folder;
  for (const char* precision : {"c", "z"}) {
    CAPTURE(arguments, precision);
    const Outcome run = run_tesela(Words{"bench", "tridiag", "--solves", "2", "--repeat", "2", "--out", folder.path(),
                                         "--json", "-", "--precision", precision} +
                                   arguments);
    CAPTURE(run.err);
    REQUIRE(run.code == 0);
    const auto report = nlohmann::json::parse(run.out);
    CHECK(report["checks"].size() == 2 * peers);
    for (const auto& [name, error] : report["checks"].items()) CHECK((error > 0 && error <= 1));
  }
}

}  // namespace

TEST_CASE("benchmarks of complex numbers count four operations for one, on cores") {
  check({"gemm", "--ncuda", "0"}, 8 * cube, 2);
  check({"cholesky", "--ncuda", "0"}, 4 * cube / 3, 2);
  check({"lu", "--ncuda", "0", "--pivot", "tournament"}, 8 * cube / 3, 2);
  check({"qr", "--ncuda", "0"}, 16 * cube / 3, 2);
  check({"qr", "--ncuda", "0", "--peers", "tesela,givens-chain"}, 16 * cube / 3, 2);
  check({"eig", "--ncuda", "0", "--jobs", "values"}, 16 * cube / 3, 2);
  check({"svd", "--ncuda", "0", "--jobs", "vectors", "--peers", "tesela,two-stage,lapack"}, 32 * cube, 3);
  check({"svd", "--ncuda", "0", "--jobs", "values"}, 32 * cube / 3, 2);
  check({"ols", "--ncuda", "0", "--m", "300", "--peers", "tesela,tall-skinny,lapack"}, least_squares, 3);
  check_tridiagonal({"--ncuda", "0", "--n", "1000"}, 3);
  check_tridiagonal({"--ncuda", "0", "--n", "100", "--batch", "50", "--peers", "tesela,tesela-rows,lapack"}, 3);
  check_tridiagonal({"--ncuda", "0", "--n", "1000", "--peers", "tesela,refined"}, 2);
  const Words batch{"bench", "tridiag", "--ncuda", "0", "--precision", "z", "--n", "100", "--batch", "50"};
  CHECK(run_tesela(batch + Words{"--peers", "pcr"}).code == 2);
  CHECK(run_tesela({"bench", "gemm", "--ncuda", "0", "--precision", "z", "--kernel", "int8"}).code == 2);
  CHECK(run_tesela({"bench", "svd", "--precision", "z", "--peers", "cusolver-j"}).code == 2);
  CHECK(run_tesela({"bench", "svd-batch", "--peers", "none"}).err.find("tesela, tesela") == std::string::npos);
}

TEST_CASE("benchmarks of complex numbers compare with cuBLAS and cuSOLVER", "[gpu]") {
  require_gpu();
  for (const char* data : {"host", "device"}) {
    check({"gemm", "--data", data, "--peers", "tesela,cublas"}, 8 * cube, 2);
    check({"cholesky", "--data", data}, 4 * cube / 3, 2);
    check({"lu", "--data", data, "--pivot", "tournament"}, 8 * cube / 3, 2);
    check({"qr", "--data", data}, 16 * cube / 3, 2);
    check({"ols", "--data", data, "--m", "300", "--peers", "tesela,tall-skinny,cusolver"}, least_squares, 3);
  }
  check_tridiagonal({"--n", "100000"}, 3);
  check_tridiagonal({"--n", "100", "--batch", "600"}, 6);
  check({"gemm", "--peers", "tesela,cublasxt"}, 8 * cube, 2);
  check({"eig", "--jobs", "vectors"}, 56 * cube / 3, 2);
  for (const char* data : {"host", "device"})
    check({"svd", "--data", data, "--jobs", "vectors", "--peers", "tesela,two-stage,cusolver,cusolver-p"}, 32 * cube,
          4);
}
