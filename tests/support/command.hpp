#pragma once

#include "tests/support/process.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

namespace tesela::test {

/// `tesela WORDS`, to which a test adds options.
struct Command {
  Words words;

  /// Runs it to this exit code, or if negative to the one that its report's status implies, and answers the report.
  nlohmann::json operator()(const Words& options, int code = 0, const ProcessOptions& process = {}) const {
    const Outcome run = run_tesela(words + Words{"--json", "-"} + options, process);
    CAPTURE(words, options, run.out, run.err);
    if (code < 0) code = nlohmann::json::parse(run.out)["status"] == "ok" ? 0 : 1;
    REQUIRE(run.code == code);
    return nlohmann::json::parse(run.out);
  }

  /// These options are wrong use, for this reason.
  void refuses(const Words& options, const std::string& why) const {
    const Outcome run = run_tesela(words + options);
    CAPTURE(words, options, run.out, run.err);
    CHECK(run.code == 2);
    CHECK_THAT(run.err, Catch::Matchers::ContainsSubstring(why));
  }
};

/// A measured error of a report.
inline double check(const nlohmann::json& report, const char* name) {
  CAPTURE(name);
  REQUIRE(report["checks"].contains(name));
  REQUIRE(report["checks"][name].is_number());
  return report["checks"][name].get<double>();
}

}  // namespace tesela::test
