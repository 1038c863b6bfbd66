#pragma once

#include "tests/support/commands/process.hpp"

#include <nlohmann/json.hpp>

namespace tesela::test {

/// Runs a command. If it has no input, runs it again with a generated problem of this size.
inline Outcome run_with_problem(const Words& command, const Words& options, const Words& size = {"--n", "8"}) {
  const Outcome run = run_tesela(command + options);
  return run.err.find("no input: name a file") == std::string::npos ? run : run_tesela(command + size + options);
}

/// Returns the message of `tesela WORDS`, and requires that it fails with this code and prints no result.
inline std::string message_of_failure(const Words& words, int code) {
  const Outcome run = run_tesela(words);
  CAPTURE(words, run.out, run.err);
  CHECK(run.code == code);
  CHECK(run.out.empty());
  return run.err;
}

/// The command `tesela WORDS`; a test adds options.
struct Command {
  Words words;

  /// Runs the command, requires this exit code, or if negative the one implied by the status in the report, and returns
  /// the report.
  nlohmann::json operator()(const Words& options, int code = 0, const ProcessOptions& process = {}) const {
    const Outcome run = run_tesela(words + Words{"--json", "-"} + options, process);
    CAPTURE(words, options, run.out, run.err);
    if (code < 0) code = nlohmann::json::parse(run.out)["status"] == "ok" ? 0 : 1;
    REQUIRE(run.code == code);
    return nlohmann::json::parse(run.out);
  }

  /// Requires that these options are refused as wrong use with this reason, also if the command has a problem to solve.
  void refuses(const Words& options, const std::string& why) const {
    const bool detects = words.back() == "detect";
    const Outcome run = run_with_problem(words, options, detects ? Words{"--nt", "2"} : Words{"--n", "8"});
    CAPTURE(words, options, run.out, run.err);
    CHECK(run.code == 2);
    CHECK_THAT(run.err, Catch::Matchers::ContainsSubstring(why));
  }
};

/// Returns a measured error from a report.
inline double check(const nlohmann::json& report, const char* name) {
  CAPTURE(name);
  REQUIRE(report["checks"].contains(name));
  REQUIRE(report["checks"][name].is_number());
  return report["checks"][name].get<double>();
}

}  // namespace tesela::test
