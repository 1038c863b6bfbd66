#pragma once

#include "interfaces/c/arguments.hpp"
#include <tesela/algorithms/dense/direct_solve.hpp>

#include <string>

namespace tesela::c {

/// Returns the message for a solve of A X = B that failed before X was computed.
inline std::string why_no_solution(const DirectSolve& solve) {
  const std::string place = std::to_string(solve.place);
  if (solve.status == DirectStatus::zero_pivot) return "pivot " + place + " is zero or not finite";
  if (solve.status == DirectStatus::not_positive)
    return "the leading minor of order " + place + " is not positive, or not finite";
  return not_finite_column("X", {solve.place});
}

/// Returns the info of gesv and posv for n equations with nrhs right-hand sides.
inline Code info_of(const DirectSolve& solve, index_t n, index_t nrhs) {
  if (solve.status == DirectStatus::ok) return 0;
  if (solve.status == DirectStatus::singular) return failed(n + nrhs + 1, "A is " + description(solve));
  if (solve.has_solution()) return failed(n + nrhs + 2, "X may be wrong: " + description(solve));
  return failed(solve.status == DirectStatus::not_finite ? n + solve.place : solve.place, why_no_solution(solve));
}

}  // namespace tesela::c
