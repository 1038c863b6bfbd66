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
  SymmetricEigOptions options;  ///< of each problem, without its selection
  std::string file, out, vectors_out;
  bool check = true;
};

/// Returns the result files of the jobs. The pattern is a folder, or a name in which {} becomes the name of the job's
/// file without folder and extension; an empty pattern gives no files. Throws ArgumentError if all results would go
/// into one file, and FileError if the list cannot be read.
std::vector<std::string> job_outputs(const std::string& option, const std::string& list, const std::string& pattern);

/// The files that a list names. Throws FileError where it cannot be read.
std::vector<std::string> job_inputs(const std::string& list);

int run_eig_jobs(const EigJobs& jobs);

}  // namespace tesela::cli
