#pragma once

#include "tools/app/plan_report.hpp"
#include "tools/problems/eigen/eig_problem.hpp"
#include <tesela/algorithms/eigen/symmetric_eig.hpp>

#include <string>
#include <vector>

namespace tesela::cli {

/// `tesela eig --jobs FILE`: the matrices of a list, several at a time on one Runtime.
struct EigJobs {
  CommonOptions common;
  EigInput input;          ///< what to make of triangles that differ
  EigSelection selection;  ///< of each spectrum
  PlanOptions plan;
  SymmetricEigOptions options;  ///< of each problem, but for what is selected
  std::string file, out, vectors_out;
  bool check = true;
};

/// Where the results of each job go: a folder, or a name in which {} stands for that of the job's file, without its
/// folder and extension. None for an empty pattern. Throws ArgumentError where all would go into one file, and
/// FileError where the list cannot be read.
std::vector<std::string> job_outputs(const std::string& option, const std::string& list, const std::string& pattern);

/// The files that a list names. Throws FileError where it cannot be read.
std::vector<std::string> job_inputs(const std::string& list);

int run_eig_jobs(const EigJobs& jobs);

}  // namespace tesela::cli
