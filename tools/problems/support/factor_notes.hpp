#pragma once

#include "tools/app/report.hpp"
#include <tesela/algorithms/econometrics/model_data.hpp>

#include <vector>

namespace tesela::cli {

/// Adds the factors of a model to a report: a note with the base of each, and `factors` with the levels.
void note_factors(const std::vector<FactorBase>& factors, Report& report);

}  // namespace tesela::cli
