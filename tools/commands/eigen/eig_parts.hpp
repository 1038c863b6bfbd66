#pragma once

#include "tools/app/plan_report.hpp"
#include "tools/problems/eigen/eig.hpp"
#include <tesela/algorithms/eigen/symmetric_eig_plan.hpp>
#include <tesela/algorithms/eigen/symmetric_inertia.hpp>

#include <optional>
#include <string>
#include <vector>

// The parts of `tesela eig`: its memory plan, its proof by inertias, --batch and --jobs.
namespace tesela::cli {

struct EigOptions {
  CommonOptions common;
  EigInput input;
  EigSelection selection;
  PlanOptions plan;
  std::string method = "auto", jobs, out, vectors_out;
  IterationChoice iteration;
  index_t band = 0, block = 0, certify = 0, batch = -1;
  bool vectors = false, check = true;

  /// Returns the options of symmetric_eig without positions, which depend on the order.
  SymmetricEigOptions eig() const;
};

/// Returns the memory that `tesela eig` needs for one dense matrix: the library's plan, A itself for the checks, and
/// the eigenvectors in host memory.
MemoryPlan eig_command_plan(const WorkerCounts& workers, index_t n, std::size_t element,
                            const SymmetricEigOptions& options);

/// `tesela eig --plan`.
int run_eig_plan(const EigOptions& o, const SymmetricEigOptions& options);

/// A proof of the number of eigenvalues by the inertia of A.
struct EigProof {
  Certificate certificate;
  std::optional<index_t> expected;  ///< number in the selected range
  index_t doubtful = 0;             ///< largest error of this number
  bool counted = true;              ///< whether an inertia near each end of the range is certain
};

/// Compares with inertias at `shifts` random places, and at the ends of the selected range. Returns an empty proof
/// without both, and without a full A.
template <class T>
EigProof prove(Runtime& runtime, const EigProblem<T>& problem, const EigSelection& selection, index_t shifts,
               const SymmetricEig<T>& eig);

/// `tesela eig --batch K`: matrices of seeds seed … seed + K - 1, or side by side in the file of --a.
int run_eig_batch(EigOptions o);

/// `tesela eig --jobs FILE`: the matrices of a list, several at a time on one Runtime.
int run_eig_jobs(const EigOptions& o);

/// Returns the result files of the jobs. The pattern is a folder, or a name in which {} becomes the name of the job's
/// file without folder and extension; an empty pattern gives no files. Throws ArgumentError if all results would go
/// into one file, and FileError if the list cannot be read.
std::vector<std::string> job_outputs(const std::string& option, const std::string& list, const std::string& pattern);

/// Returns the files that a list names. Throws FileError if it cannot be read.
std::vector<std::string> job_inputs(const std::string& list);

}  // namespace tesela::cli
