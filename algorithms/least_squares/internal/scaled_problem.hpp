#pragma once

#include <tesela/algorithms/least_squares/extended_qr.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela::detail {

/// The problem min ||A x - b|| with C x = d in sizes near 1, columns in `order`. R | b is the reduced A | b:
///     R_ij = 2^units_j M_ij, C_ij = 2^(of_rows_i + units_j) C~_ij, d_ik = 2^(of_rows_i + of_x_k) d~_ik,
///     b_ik = 2^of_x_k b~_ik, x_jk = 2^(of_x_k - units_j) x~_jk.
template <class T>
struct ScaledProblem {
  HostMatrix<T> M, C, b, d;
  std::vector<int> units = {}, of_rows = {}, of_x = {};
  /// Column j is the original column order[j]; columns that are large in C come first.
  std::vector<index_t> order = {};
};
template <class T>
ScaledProblem<T> scaled_problem(const ExtendedQr<T>& e, const HostMatrix<T>& C, const HostMatrix<T>& D,
                                std::vector<int> units);

/// Returns units in which A's columns have size 1; units of zero columns suit C.
template <class T>
std::vector<int> unknown_units(const HostMatrix<T>& R, const HostMatrix<T>& C);

/// Returns C with rows and columns scaled to one size.
template <class T>
HostMatrix<T> equilibrated(const HostMatrix<T>& C);

}  // namespace tesela::detail
