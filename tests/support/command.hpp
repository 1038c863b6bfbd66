#pragma once

#include "tests/support/process.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <set>
#include <string>

namespace tesela::test {

/// Returns the options, with a size in front if none of them names a problem.
inline Words with_problem(const Words& options, const Words& size = {"--n", "8"}) {
  static const std::set<std::string> names{
      "--n", "-n",   "--h",      "--nt",    "--nr",    "--detectors", "--samples",  "--signals",
      "--m", "-m",   "--random", "--seed",  "--sizes", "--jobs",      "--a",        "--t",
      "--d", "--dl", "--row",    "--known", "--batch", "--pattern",   "--diagonal", "--plan"};
  for (const std::string& option : options)  // a word without a dash in front is a table
    if (!options.front().starts_with('-') || names.contains(option.substr(0, option.find('=')))) return options;
  return size + options;
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
    const bool complete = words.front() == "sem" || (words.front() == "mimo" && !detects) || words.size() > 2;
    const Words size = detects ? Words{"--nt", "2"} : Words{"--n", "8"};
    const Outcome run = run_tesela(words + (complete ? options : with_problem(options, size)));
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
