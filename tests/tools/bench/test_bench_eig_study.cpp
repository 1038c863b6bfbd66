#include "tests/support/commands/process.hpp"
#include "tests/support/test.hpp"

#include <fstream>

using namespace tesela::test;

TEST_CASE("bench eig-study reports iterations, errors and the figures of Table 6.8 with two stages") {
  const TemporaryFolder folder;
  const Outcome run = run_tesela({"bench", "eig-study", "-n", "6,50", "--seeds", "2", "--kinds", "geometric:100", "-p",
                                  "d", "--peers", "two-stage,qr-iteration,lr,cholesky-lr,qr-iteration shifted",
                                  "--ncuda", "0", "--out", folder.path()});
  CAPTURE(run.out, run.err);
  REQUIRE(run.code == 0);
  CHECK_THAT(run.out, ContainsSubstring("26000: 249.859 s"));
  std::ifstream file(folder / "eig-study.csv");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  CHECK(lines.size() == 1 + 2 * 2 * 5);
  CHECK_THAT(lines.front(), ContainsSubstring("iterations,predicted,source_iterations"));
  const auto with = [&](const std::string& part) {
    return std::count_if(lines.begin(), lines.end(), [&](const auto& l) { return l.find(part) != std::string::npos; });
  };
  CHECK(with(",4946,") == 2);  // order 50, with our own QR iteration alone
  CHECK(run_tesela({"bench", "eig-study", "--peers", "nobody"}).code == 2);
}

TEST_CASE("bench qr-orthogonalize compares every method with LAPACK") {
  const TemporaryFolder folder;
  const Outcome run = run_tesela(
      {"bench", "qr-orthogonalize", "-m", "300", "-n", "40", "--repeat", "1", "--ncuda", "0", "--out", folder.path()});
  CAPTURE(run.out, run.err);
  REQUIRE(run.code == 0);
  for (const char* const peer : {"cholesky-qr2", "cgs2", "mgs", "householder", "lapack"})
    CHECK_THAT(run.out, ContainsSubstring(peer));
  CHECK(run_tesela({"bench", "qr-orthogonalize", "-m", "3", "-n", "40"}).code == 2);
}
