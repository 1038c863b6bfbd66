#pragma once

#include "tools/app/report.hpp"
#include <tesela/algorithms/support/memory_plan.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <string>

namespace tesela::cli {

/// --plan and --memory.
struct PlanOptions {
  bool only = false;  ///< tell the plan and do nothing
  double memory = 0;  ///< GiB of the host; 0: what the machine has

  void add_to(CLI::App& app);
  MemoryRoom room(const Runtime& runtime) const;
};

/// A plan and what it must fit into, as the JSON's `plan` has them.
nlohmann::json plan_json(const MemoryPlan& plan, const MemoryRoom& room);

/// Tells a plan alone, and answers done, or environment where the problem does not fit. `more` goes into the JSON's
/// plan.
int finish_plan(const CommonOptions& options, const Runtime& runtime, nlohmann::json problem, const MemoryPlan& plan,
                const MemoryRoom& room, const nlohmann::json& more);

/// Throws EnvironmentError where the plan does not fit.
void require_fit(const std::string& command, const MemoryPlan& plan, const MemoryRoom& room);

/// Measures what a run holds beside its plan: made when the Runtime is there and nothing else.
class MemoryMeter {
 public:
  MemoryMeter();
  /// While the Runtime is still there: the most so far, into the report.
  void measure(const MemoryPlan& plan, const Runtime& runtime, Report& report) const;

 private:
  double host_before_;
};

}  // namespace tesela::cli
