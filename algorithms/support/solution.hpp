#pragma once

#include <tesela/runtime/types.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <cstdint>

namespace tesela {

/// The status of a least-squares problem of any kind.
enum class SolveStatus : std::uint8_t {
  ok,              ///< The solution is unique and its measured errors are within their bounds.
  rank_deficient,  ///< The solution is not unique; X is the solution of least norm.
  inconsistent,    ///< No x fulfils the constraints or the model: there is no X.
  not_finite,      ///< NaN or an infinity in the data, or an overflow: there is no X.
  inaccurate,      ///< A measured error is above its bound: X may be wrong.
};

/// Returns "ok", "rank deficient", "inconsistent", "not finite" or "inaccurate", as reports call the status.
constexpr const char* description(SolveStatus status) {
  constexpr const char* texts[] = {"ok", "rank deficient", "inconsistent", "not finite", "inaccurate"};
  return texts[static_cast<int>(status)];
}

/// True if X is the solution: unique, or of least norm.
constexpr bool is_solved(SolveStatus status) { return status <= SolveStatus::rank_deficient; }

/// The part of the answer that all least-squares problems have.
template <class T>
struct Solution {
  HostMatrix<T> X;  ///< n x r; 0 x 0 if there is no solution
  SolveStatus status = SolveStatus::ok;
  index_t rank = 0;            ///< Numerical rank of A; of A on the null space of C for lse.
  double condition = 1;        ///< Condition number that decided the rank; NaN if not finite.
  bool original_units = true;  ///< False if X has the least ||D x||_2, D the norms of A's columns, instead of ||x||_2.
};

}  // namespace tesela
