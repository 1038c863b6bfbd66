#pragma once

#include "tools/app/command.hpp"
#include "tools/problems/eigen/eig_problem.hpp"

#include <string>

namespace tesela::cli {

/// `tesela eig --batch K`: matrices of seeds seed … seed + K - 1, or side by side in the file of --a.
struct EigBatch {
  CommonOptions common;
  EigInput input;
  index_t count = 0;
  bool vectors = false, check = true;
  std::string out, vectors_out;
};

int run_eig_batch(EigBatch o);

}  // namespace tesela::cli
