#include "tests/support/process.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <fstream>

using namespace tesela;
using namespace tesela::test;

TEST_CASE("bench givens writes both tables") {
  const TemporaryFolder folder;
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"bench", "givens",      "--repeat", "2", "--ncuda", "0",
                                       "--out", folder.path(), "--name",   "t", "--json",  "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_tesela(arguments);
    CAPTURE(outcome.err);
    REQUIRE(outcome.code == 0);
    return nlohmann::json::parse(outcome.out);
  };
  const auto stages = run({"--m", "90", "--n", "20,50", "--precision", "s"});
  REQUIRE(stages["peers"].size() == 6);
  CHECK(stages["peers"][0]["peer"] == "diagonal");
  CHECK(stages["peers"][4]["peer"] == "givens, one core");
  const auto chain = run({"--table", "chain", "--n", "60", "--half-width=-1,2", "--precision", "d"});
  REQUIRE(chain["peers"].size() == 5);
  CHECK(chain["peers"][3]["peer"] == "chain, band");
  for (const auto& report : {stages, chain})
    for (const auto& [name, error] : report["checks"].items()) {
      CAPTURE(name);
      CHECK(error.get<double>() <= 1);
    }
  // 8192 x 64 is a published case for a GPU.
  const Outcome cores =
      run_tesela({"bench", "givens", "-n", "64", "--peers", "tesela", "-r", "1", "--ncuda", "0", "-o", folder.path()});
  CHECK((cores.code == 0 && cores.out.find("8192 x 64") != std::string::npos));
  CHECK(cores.out.find("published") == std::string::npos);
  const Outcome order = run_tesela({"bench", "givens", "--order", "nonsense"});
  CHECK((order.code == 2 && order.err.find("--order: 'nonsense' is none of") != std::string::npos));
  const Outcome dropped = run_tesela({"bench", "givens", "--table", "chain", "--peers", "tesela,givens"});
  CHECK((dropped.code == 2 && dropped.err.find("--peers: givens forms no Q") != std::string::npos));
}
