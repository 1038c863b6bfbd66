#pragma once

#include "tools/app/plan_report.hpp"
#include <tesela/algorithms/eigen/symmetric_eig_plan.hpp>

namespace tesela::cli {

/// Returns the memory that `tesela eig` needs for one dense matrix: the library's plan, A itself for the checks, and
/// the eigenvectors in host memory.
MemoryPlan eig_command_plan(const WorkerCounts& workers, index_t n, std::size_t element,
                            const SymmetricEigOptions& options);

/// `tesela eig --plan`.
int run_eig_plan(const CommonOptions& common, const PlanOptions& plan, index_t n, const SymmetricEigOptions& options);

}  // namespace tesela::cli
