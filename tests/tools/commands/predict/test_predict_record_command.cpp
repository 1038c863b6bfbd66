#include "tests/support/commands/command.hpp"

#include <filesystem>

using namespace tesela::test;

namespace {

/// Returns the message of `tesela predict` that fails with this code.
std::string message(const Words& words, int code) { return message_of_failure(Words{"predict"} + words, code); }

const Words qr{"--", "qr", "--n", "512"};

}  // namespace

TEST_CASE("a recording prints that the recorded command failed") {
  const TemporaryFolder folder;
  const std::string out = folder / "here";
  const auto recorded = [&](const Words& words, int code) {
    return message(Words{"record", "--out", out} + words, code);
  };
  CHECK_THAT(recorded({"--", "cholesky", "--n", "100", "--random", "zero"}, 1),
             ContainsSubstring("`cholesky --n 100 --random zero` failed with exit code 1: not positive definite"));
  CHECK_THAT(recorded({"--", "qr", "--n", "ten"}, 2), ContainsSubstring("failed with exit code 2"));
  CHECK_THAT(recorded({"--program", "--", "false"}, 1), ContainsSubstring("`false` failed with exit code 1"));
  CHECK_THAT(recorded({"--quiet", "--", "qr", "--n", "0"}, 2), ContainsSubstring("COMMAND: runs no task of a graph"));
  CHECK_FALSE(std::filesystem::exists(out));
}

TEST_CASE("a recording refuses options of a prediction") {
  const TemporaryFolder folder;
  const std::string out = folder / "here";
  for (const Words& option : {Words{"--cores", "1"}, Words{"--sched", "lws"}, Words{"--plot", folder / "x.svg"},
                              Words{"--weak"}, Words{"--machine", "nowhere"}, Words{"--gpus", "3"},
                              Words{"--hosts", "2"}, Words{"--link", "1,2"}, Words{"--json", folder / "x.json"}}) {
    CAPTURE(option);
    CHECK_THAT(message(Words{"record", "--out", out} + option + qr, 2),
               ContainsSubstring(option.front() + ": belongs to a prediction"));
  }
  CHECK_THAT(message(Words{"--machine", "nowhere", "--note", "x"} + qr, 2),
             ContainsSubstring("--note: belongs to predict rec"));
  CHECK_FALSE(std::filesystem::exists(out));
}
