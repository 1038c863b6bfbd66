#pragma once

#include "tools/app/arguments.hpp"
#include "tools/app/report.hpp"
#include <tesela/algorithms/support/memory_plan.hpp>

#include <nlohmann/json.hpp>

#include <string>

namespace tesela::cli {

/// --plan and --memory.
struct PlanOptions {
  bool only = false;  ///< print the plan and do nothing else
  double memory = 0;  ///< GiB of host memory; 0: the machine's memory

  void add_to(App& app);
  MemoryRoom room(const Runtime& runtime) const;
};

/// Returns a plan and the available memory as the JSON's `plan`.
nlohmann::json plan_json(const MemoryPlan& plan, const MemoryRoom& room);

/// Throws ArgumentError for an option of a run together with --plan, before an output's folder is made.
void require_plan_alone(const App& app);

/// Reports a plan without a run. Returns done, or environment if the problem does not fit. `more` has tables, arrays of
/// objects with the same keys in the order of the columns; they are added to the JSON's plan.
int finish_plan(const CommonOptions& options, const Runtime& runtime, nlohmann::json problem, const MemoryPlan& plan,
                const MemoryRoom& room, const nlohmann::ordered_json& more);

/// Throws EnvironmentError if the plan does not fit.
void require_fit(const std::string& command, const MemoryPlan& plan, const MemoryRoom& room);

/// Compares the memory of a run with its plan. Must be constructed when only the Runtime exists.
class MemoryMeter {
 public:
  MemoryMeter();
  /// Adds the peak so far to the report; the Runtime must still exist.
  void measure(const MemoryPlan& plan, const Runtime& runtime, Report& report) const;

 private:
  double host_before_;
};

}  // namespace tesela::cli
