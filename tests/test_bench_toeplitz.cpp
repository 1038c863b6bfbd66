#include "tests/process.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace tesela::test;
using Catch::Matchers::ContainsSubstring;

namespace {

using Words = std::vector<std::string>;

nlohmann::json bench(const TemporaryFolder& folder, Words words) {
  words.insert(words.end(), {"--ncuda", "0", "--repeat", "1", "--json", "-", "--out", folder.path()});
  words.insert(words.begin(), "bench");
  const Outcome run = run_tesela(words);
  CAPTURE(words, run.out, run.err);
  REQUIRE(run.code == 0);
  return nlohmann::json::parse(run.out);
}

/// Lines after the heading.
long rows(const std::string& csv) {
  const std::string text = contents(csv);
  return std::count(text.begin(), text.end(), '\n') - 1;
}

}  // namespace

TEST_CASE("bench toeplitz times every peer, whose eigenvalues agree") {
  for (const bool vectors : {false, true})
    for (const std::string precision : {"s", "d"}) {
      const TemporaryFolder folder;
      Words words{"toeplitz", "--n", "1,64", "--peers", "tesela,lapack,lapack-halves", "--precision", precision};
      if (vectors) words.emplace_back("--vectors");
      const auto report = bench(folder, words);
      CAPTURE(report.dump());
      CHECK(rows(folder / "toeplitz.csv") == 6);
      CHECK(report["peers"].size() == 6);
      for (const auto& peer : report["peers"]) CHECK(peer["median_s"] > 0);
      CHECK(report["checks"].size() == 6);
      for (const auto& [name, error] : report["checks"].items()) CHECK((error >= 0 && error <= 1));
    }
}

TEST_CASE("bench toeplitz-study: percentages found, by published choices and by ours") {
  const TemporaryFolder folder;
  const auto report = bench(folder, {"toeplitz-study", "--n", "60", "--per-interval", "5,10"});
  CAPTURE(report.dump());
  CHECK(rows(folder / "toeplitz-study.csv") == 8);  // two interval sizes, two ways, two precisions
  CHECK(report["peers"].size() == 8);
  for (const auto& peer : report["peers"]) {
    CHECK(peer["rate"] > 0);
    CHECK(peer["rate"] <= 100);
    if (peer["peer"].get<std::string>().find("ours") != std::string::npos) CHECK(peer["rate"] == 100);
  }
}

TEST_CASE("bench toeplitz refuses what it cannot measure") {
  const auto refused = [](const Words& words, int code, const std::string& why) {
    const Outcome run = run_tesela(words, {.environment = {{"CUDA_VISIBLE_DEVICES", ""}}});
    CAPTURE(words, run.err);
    CHECK(run.code == code);
    CHECK_THAT(run.err, ContainsSubstring(why));
  };
  refused({"bench", "toeplitz", "--n", "0"}, 2, "--n");
  refused({"bench", "toeplitz", "--peers", "mkl"}, 2, "mkl");
  refused({"bench", "toeplitz", "--n", "8", "--peers", "cusolver"}, 3, "CUDA device");
  refused({"bench", "toeplitz-study", "--per-interval", "0"}, 2, "--per-interval");
}
