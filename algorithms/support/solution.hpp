#pragma once

#include <tesela/runtime/types.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <cstdint>

namespace tesela {

/// The status of a least-squares problem of any kind.
enum class SolveStatus : std::uint8_t {
  ok,              ///< the rank is full, and the measured errors are within their bounds
  rank_deficient,  ///< the rank is deficient: X is the solution of least norm
  inconsistent,    ///< no x satisfies the constraints or the model: X does not exist
  not_finite,      ///< NaN or an infinity in the data, or an overflow: X does not exist
  inaccurate,      ///< a measured error exceeds its bound
};

/// Returns "ok", "rank deficient", "inconsistent", "not finite" or "inaccurate", as reports call the status.
constexpr const char* description(SolveStatus status) {
  constexpr const char* texts[] = {"ok", "rank deficient", "inconsistent", "not finite", "inaccurate"};
  return texts[static_cast<int>(status)];
}

/// Returns true if X is a solution, unique or of least norm.
constexpr bool is_solved(SolveStatus status) { return status <= SolveStatus::rank_deficient; }

/// The part of the answer that all least-squares problems have.
template <class T>
struct Solution {
  HostMatrix<T> X;  ///< n x r; 0 x 0 if there is no solution
  SolveStatus status = SolveStatus::ok;
  index_t rank = 0;            ///< numerical rank of A; in lse of A on the null space of C
  double condition = 1;        ///< condition number that decided the rank; NaN if not finite
  bool original_units = true;  ///< false if X has the least norm in units that give the columns of A one size
};

}  // namespace tesela
