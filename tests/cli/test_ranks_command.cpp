#include "tests/support/ranks.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

// Commands under mpirun: the numbers and files of one process, told and written once.

using namespace tesela::test;
using Catch::Matchers::ContainsSubstring;

namespace {

Outcome on_ranks(int ranks, const Words& words) { return run_on_ranks(ranks, Words{tesela::test::tesela()} + words); }

}  // namespace

TEST_CASE("R is the same, byte for byte, on any number of ranks and in any order of elimination") {
  require_ranks();
  const TemporaryFolder folder;
  const Words problem{"qr", "--m", "500", "--n", "217", "--tile", "96x64", "--tree"};
  for (const char* tree : {"greedy", "column"}) {
    const std::string alone = folder / "alone.npy";
    REQUIRE(run_tesela(problem + Words{tree, "--out-r", alone}).code == 0);
    for (const int ranks : {2, 5}) {
      const std::string together = folder / ("r" + std::to_string(ranks) + ".npy");
      const Outcome all = on_ranks(ranks, problem + Words{tree, "--out-r", together, "--json", "-"});
      INFO(all.err);
      REQUIRE(all.code == 0);
      CHECK(nlohmann::json::parse(all.out)["status"] == "ok");  // one report, and nothing else
      CHECK(contents(together) == contents(alone));
    }
  }
}

TEST_CASE("other commands on several ranks end well") {
  require_ranks();
  const std::vector<Words> commands{{"gemm", "--m", "117", "--n", "89", "--k", "61", "--tile", "64x48", "--op-a", "t"},
                                    {"ols", "--m", "3000", "--n", "12"},
                                    {"tridiag", "--n", "5000", "--random", "uniform", "--periodic"},
                                    {"toeplitz", "eig", "--n", "200"},
                                    {"eig", "--n", "90", "--vectors"}};
  for (const Words& words : commands) {
    const Outcome all = on_ranks(3, words + Words{"--json", "-"});
    INFO(words[0] << all.err);
    REQUIRE(all.code == 0);
    CHECK(nlohmann::json::parse(all.out)["status"] == "ok");
  }
}

TEST_CASE("what is wrong on all ranks is told, and nothing is left behind") {
  require_ranks();
  const TemporaryFolder folder;
  const Outcome all = on_ranks(3, {"qr", "--a", folder / "nothing.npy", "--out-r", folder / "r.npy"});
  CHECK(all.code == 2);
  CHECK_THAT(all.err, ContainsSubstring("nothing.npy: cannot read"));
  CHECK(all.seconds < 10 * patience);
  CHECK(folder.files() == 0);
  const Outcome traced = on_ranks(2, {"qr", "--n", "50", "--trace", folder / "trace"});
  CHECK(traced.code == 2);
  CHECK_THAT(traced.err, ContainsSubstring("no trace yet"));
}
