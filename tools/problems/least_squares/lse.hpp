#pragma once

#include "tools/checks/lse_error.hpp"
#include "tools/problems/least_squares/ols.hpp"
#include <tesela/algorithms/least_squares/constrained_least_squares.hpp>

namespace tesela::cli {

/// min ||A X - B|| with C X = D.
template <class T>
struct LseProblem : OlsProblem<T> {
  HostMatrix<T> c = {}, d = {};
  double x_norm = -1, residual_norm = -1;  ///< of the first peer that was checked; negative before

  /// Generates uniform matrices for a benchmark, with p constraints; C and D stay in host memory.
  void generate_uniform(index_t p, bool on_workers);
  /// Generates A and C of these kinds, a uniform B, and D = C X of a uniform X, or a uniform D.
  void generate_constrained(index_t p, const std::string& random, const std::string& random_c, bool inconsistent);
  /// R of [A | B]; of C^T; R times the Q of C^T; and R of its last columns.
  double flops() const;
  /// The row that decides ranks and multipliers for a library's solution.
  static constexpr const char* judge() { return "auto"; }
  bool full_rank(const ConstrainedLeastSquares<T>& answer) const { return answer.constraint_rank == c.rows(); }
};

/// The table of methods: Tesela's, LAPACK's gglse, and for real numbers cuSOLVER. A library's solution has X and a
/// status only.
template <class T>
std::vector<Method<LseProblem<T>, ConstrainedLeastSquares<T>>> lse_table();

/// Measures the errors of a solution on the original matrices.
template <class T>
LseError measure_lse(const LseProblem<T>& problem, const ConstrainedLeastSquares<T>& answer);

/// Returns the larger of ||C x - d|| / (||C|| ||x|| + ||d||) relative to peer_bound(n), and the distance of
/// ||x|| and ||A x - b|| from the norms of the first peer that was checked, relative to peer_distance.
/// Throws WrongResult if it is above 1.
template <class T>
double check_peer(const std::string& peer, LseProblem<T>& problem, const ConstrainedLeastSquares<T>& answer);

}  // namespace tesela::cli
