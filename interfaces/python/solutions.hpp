#pragma once

#include "interfaces/python/results.hpp"

#include <string>

namespace tesela::python {

/// Completes a result by the members that it shares with the solution `found`. Raises LinAlgError, with the result,
/// unless the problem was solved.
template <class Result, class Found>
Result finished(const char* routine, Result result, const Found& found, bool solved) {
  if constexpr (requires { result.rank; }) result.rank = found.rank;
  if constexpr (requires { result.condition; }) result.condition = found.condition;
  if constexpr (requires { result.original_units; }) result.original_units = found.original_units;
  if constexpr (requires { result.backward_error; }) {
    result.backward_error = found.backward_error.error;
    result.backward_bound = found.backward_error.limit();
  }
  result.status = description(found.status);
  if (!solved) raise_lin_alg_error(std::string(routine) + ": " + result.status, result.status, nb::cast(result));
  return result;
}

}  // namespace tesela::python
