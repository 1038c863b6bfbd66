#include "tests/support/machine.hpp"
#include "tests/support/process.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <filesystem>

using namespace tesela::test;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Refusal {
  Words words;
  int code;
  std::string told;
};

}  // namespace

TEST_CASE("what cannot be meant is refused in one short line") {
  const auto& [words, code, told] = GENERATE(values<Refusal>({
      {{"gemm", "--n", "abc"}, 2, "--n: 'abc' is not a number of 0 or more"},
      {{"gemm", "--n", "-5"}, 2, "--n: '-5' is not a number of 0 or more"},
      {{"gemm", "--repeat", "0"}, 2, "--repeat: '0' is not a positive number"},
      {{"gemm", "--n", "nan"}, 2, "--n: 'nan' is not"},
      {{"gemm", "--n", "1e999"}, 2, "--n: '1e999' is not"},
      {{"gemm", "--n", "20", "--alpha", "nan"}, 2, "--alpha: nan is not finite"},
      {{"gemm", "--n", "20", "--precision", "s", "--beta", "1e50"}, 2, "--beta: 1e+50 is not finite in this precision"},
      {{"gemm", "--n", "20", "--tile", "x"}, 2, "tesela: --tile: 'x'"},
      {{"toeplitz", "eig", "--n", "100", "--smallest", "200"},
       2,
       "--smallest: 200 eigenvalues of a matrix of order 100"},
      {{"toeplitz", "eig", "--n", "100", "--largest", "101"}, 2, "--largest: 101 eigenvalues of a matrix of order 100"},
      {{"gemm", "--n", "20", "--ncuda", "4096"}, 3, "--ncuda 4096"},
      {{"gemm", "--n", "20", "--ncuda", "0", "--kernel", "tuned"}, 3, "--kernel tuned"},
      {{"gem"}, 2, "'gem' is not a command, did you mean 'gemm'?"},
      {{"gmem", "--n", "5"}, 2, "did you mean 'gemm'?"},
      {{"toeplitz", "egi"}, 2, "'egi' is not a command, did you mean 'eig'?"},
      {{"bench", "tridag"}, 2, "did you mean 'tridiag'?"},
      {{"quaternions"}, 2, "'quaternions' is not a command; see tesela --help"},
  }));
  CAPTURE(words);
  const Outcome run = run_tesela(words);
  CAPTURE(run.err);
  CHECK(run.code == code);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring(told));
  CHECK_THAT(run.err, !ContainsSubstring("tesela: tesela:"));
  CHECK(run.err.size() < 200);
}

TEST_CASE("a whole number may have an exponent") {
  const Outcome run = run_tesela({"gemm", "--n", "1e2", "--repeat", "1", "--ncuda", "0"});
  CHECK(run.code == 0);
  CHECK_THAT(run.out, ContainsSubstring(" n=100 ") || ContainsSubstring(" n=100\n"));
  CHECK(run_tesela({"gemm", "--n", "1.5"}).code == 2);
}

TEST_CASE("help is a command too") {
  for (const Words& words : {Words{"help"}, {"help", "gemm"}, {"help", "toeplitz", "eig"}}) {
    CAPTURE(words);
    Words option(words.begin() + 1, words.end());
    option.emplace_back("--help");
    const Outcome run = run_tesela(words);
    CHECK(run.code == 0);
    CHECK_THAT(run.out, ContainsSubstring("Usage"));
    CHECK(run.out == run_tesela(option).out);
  }
}

TEST_CASE("counts are printed as whole numbers") {
  const Outcome rank = run_tesela({"ols", "--m", "1300", "--n", "1234", "--ncuda", "0"});
  CHECK(rank.code == 0);
  CHECK_THAT(rank.out, ContainsSubstring("rank            1234\n"));
  const Outcome found = run_tesela({"toeplitz", "eig", "--n", "1500", "--ncuda", "0"});
  CHECK(found.code == 0);
  CHECK_THAT(found.out, ContainsSubstring("found           1500\n"));
}

TEST_CASE("every command that runs tasks traces them and warms up") {
  for (const Words& command : {Words{"toeplitz", "count", "--n", "200"}, {"toeplitz", "slice", "--n", "200"}}) {
    CAPTURE(command);
    const TemporaryFolder folder;
    const Outcome run = run_tesela(command + Words{"--ncuda", "0", "--trace", folder.path()});
    CHECK(run.code == 0);
    CHECK_THAT(run.err, ContainsSubstring("trace.svg"));
    CHECK(std::filesystem::exists(folder.path() + "/trace.json"));
  }
}
