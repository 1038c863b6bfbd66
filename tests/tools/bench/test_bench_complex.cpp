#include "tests/support/commands/process.hpp"
#include "tests/support/machine.hpp"

#include <catch2/catch_approx.hpp>
#include <nlohmann/json.hpp>

#include <cmath>

using namespace tesela;
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

}  // namespace

TEST_CASE("benchmarks of complex numbers count four operations for one, on cores") {
  check({"gemm", "--ncuda", "0"}, 8 * cube, 2);
  check({"cholesky", "--ncuda", "0"}, 4 * cube / 3, 2);
  check({"lu", "--ncuda", "0", "--pivot", "tournament"}, 8 * cube / 3, 2);
  check({"qr", "--ncuda", "0"}, 16 * cube / 3, 2);
  check({"eig", "--ncuda", "0", "--jobs", "values"}, 16 * cube / 3, 2);
  CHECK(run_tesela({"bench", "qr", "--ncuda", "0", "--precision", "z", "--methods", "givens-chain"}).code == 2);
  CHECK(run_tesela({"bench", "gemm", "--ncuda", "0", "--precision", "z", "--kernel", "int8"}).code == 2);
}

TEST_CASE("benchmarks of complex numbers compare with cuBLAS and cuSOLVER", "[gpu]") {
  require_gpu();
  for (const char* data : {"host", "device"}) {
    check({"gemm", "--data", data, "--peers", "tesela,cublas"}, 8 * cube, 2);
    check({"cholesky", "--data", data}, 4 * cube / 3, 2);
    check({"lu", "--data", data, "--pivot", "tournament"}, 8 * cube / 3, 2);
    check({"qr", "--data", data}, 16 * cube / 3, 2);
  }
  check({"gemm", "--peers", "tesela,cublasxt"}, 8 * cube, 2);
  check({"eig", "--jobs", "vectors"}, 56 * cube / 3, 2);
}
