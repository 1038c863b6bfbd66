#include "tests/support/commands/command.hpp"

using namespace tesela::test;

namespace {

const Command orderings{{"mimo", "orderings"}};

}  // namespace

TEST_CASE("mimo orderings finds the nearest symbols for every build, strategy and buffer size") {
  for (const char* const n : {"1", "4", "7"})
    for (const char* const build : {"full", "prefix"}) {
      const auto report = orderings({"--n", n, "--build", build, "--signals", "300", "--strategy", "lazy"});
      CHECK(check(report, "ml_mismatches") == 0);
      CHECK(check(report, "qr_error") <= 1e-13);
    }
  for (const char* const strategy : {"per-signal", "copy-all", "owner"}) {
    const auto report = orderings({"--n", "5", "--strategy", strategy, "--buffer", "64", "--signals", "200"});
    CHECK(check(report, "ml_mismatches") == 0);
    CHECK(check(report, "factorizations") > 0);
  }
  CHECK(orderings({"--n", "6"})["problem"]["table_bytes"] == 720 * 36 * 8);
  CHECK(orderings({"--n", "3", "--signals", "0"})["status"] == "ok");
}

TEST_CASE("mimo orderings refuses invalid options") {
  const Outcome run = run_tesela({"mimo", "orderings", "--n", "12"});
  CHECK(run.code == 3);
  CHECK_THAT(run.err, Catch::Matchers::ContainsSubstring("551809843200 bytes"));
  orderings.refuses({"--n", "12", "--strategy", "per-signal"}, "at most 11");
  orderings.refuses({"--n", "21"}, "at most 20");
  orderings.refuses({"--build", "half"}, "--build");
  orderings.refuses({"--strategy", "none"}, "--strategy");
  orderings.refuses({"--buffer", "0"}, "--buffer");
  orderings.refuses({"--constellation", "8psk"}, "square QAM");
}
