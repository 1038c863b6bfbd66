#include "tests/support/commands/process.hpp"
#include "tests/support/shared_runtime.hpp"
#include "tools/problems/econometrics/sem.hpp"

using namespace tesela::test;

TEST_CASE("bench sem separates right coefficients from wrong ones") {
  cli::SemProblem problem = cli::generate_sem({300, 5, 12, 6, 0.1}, 3);
  problem.runtime = &runtime();
  const auto solver = find_method(cli::sem_table(), "lapack").solver(problem);
  solver.prepare(), solver.run(nullptr);
  SimultaneousEquations answer = solver.result();
  const auto check = [&] { return check_peer("lapack", problem, answer); };
  double& b = answer.equations[3].coefficients[2];
  CHECK(check() <= 0.1);
  b *= 1 + 1e-15;
  CHECK(check() <= 1);
  b *= 1 + 1e-9;
  CHECK_THROWS_AS(check(), bench::WrongResult);
  b = std::nan("");
  CHECK_THROWS_AS(check(), bench::WrongResult);
  answer.equations[3].coefficients.pop_back();
  CHECK_THROWS_AS(check(), bench::WrongResult);
  answer.equations.clear();
  CHECK_THROWS_AS(check(), bench::WrongResult);
}

TEST_CASE("all peers of bench sem agree") {
  const TemporaryFolder folder;
  const Outcome run = run_tesela({"bench", "sem", "--samples", "300", "--endogenous", "20", "--exogenous", "30",
                                  "--peers", "tesela,staircase,batched,lapack,lapack-single", "--repeat", "1", "--out",
                                  folder.path(), "--json", "-"});
  CAPTURE(run.out, run.err);
  REQUIRE(run.code == 0);
  CHECK(nlohmann::json::parse(run.out)["peers"].size() == 5);
}

TEST_CASE("bench sem and bench glm report cases without room") {
  const TemporaryFolder folder;
  for (const Words& words : {Words{"bench", "sem", "--samples", "3000000", "--endogenous", "300000", "--exogenous",
                                   "300000", "--peers", "tesela,lapack"},
                             Words{"bench", "glm", "-m", "3000000", "-n", "64", "--peers", "tesela,lapack"}}) {
    const Outcome run = run_tesela(words + Words{"--out", folder.path(), "--json", "-"});
    CAPTURE(run.out, run.err);
    REQUIRE(run.code == 0);
    const auto peers = nlohmann::json::parse(run.out)["peers"];
    REQUIRE(peers.size() == 2);
    for (const auto& peer : peers) CHECK(peer["remark"] == "no room");
  }
}

TEST_CASE("bench sem needs a model of the table up to --largest") {
  const Outcome none = run_tesela({"bench", "sem", "--table", "published", "--largest", "399", "--json", "-"});
  CAPTURE(none.out, none.err);
  CHECK(none.code == 2);
  CHECK_THAT(none.err, Catch::Matchers::ContainsSubstring("no model of the table has 399 equations"));
  CHECK(run_tesela({"bench", "sem", "--largest", "800"}).code == 2);
}

TEST_CASE("bench sem --table reuse shows rotations saved by a minimum-cost tree") {
  const TemporaryFolder folder;
  const Outcome run = run_tesela(
      {"bench", "sem", "--table", "reuse", "--largest", "50", "--repeat", "1", "--out", folder.path(), "--json", "-"});
  CAPTURE(run.out, run.err);
  REQUIRE(run.code == 0);
  CHECK(nlohmann::json::parse(run.out)["peers"].size() == 9);
  std::istringstream csv(contents(folder / "sem.csv"));
  std::string line;
  REQUIRE(std::getline(csv, line));
  CHECK(line.ends_with(",rotation_gflop,along_tree_gflop"));
  int grouped = 0;
  while (std::getline(csv, line)) {
    const std::size_t last = line.rfind(','), first = line.rfind(',', last - 1);
    const double alone = std::stod(line.substr(first + 1)), along = std::stod(line.substr(last + 1));
    CAPTURE(line);
    CHECK(along <= alone);
    if (line.find("groups of 10") == std::string::npos) continue;
    CHECK(along < 0.8 * alone);
    ++grouped;
  }
  CHECK(grouped == 3);
}
