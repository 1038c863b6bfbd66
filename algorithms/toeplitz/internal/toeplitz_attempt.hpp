#pragma once

#include <tesela/algorithms/toeplitz/toeplitz_solve.hpp>
#include <tesela/codelets/toeplitz/toeplitz_error.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tesela::detail {

/// An attempt, with the condition of its inverse on request.
struct ToeplitzAttempted {
  ToeplitzAttempt attempt;
  std::function<double()> condition;
  double perturbed = 0;  ///< perturbation of the inverted matrix, relative to A
};

/// Returns the value with two digits.
std::string short_form(double value);

/// Stores the largest residual of a solve in the attempt.
inline void read_outcome(const TileMatrix<double>& outcome, ToeplitzAttempt& attempt) {
  const auto said = outcome(0, 0).read();
  attempt.residual.error = 0;
  for (index_t j = 0; j < said.rows; ++j)
    if (!(said(j, 0) <= attempt.residual.error)) attempt.residual.error = said(j, 0);
}

/// Returns the residual of X for the right-hand sides B and the matrix with first column c and first row r (null: the
/// matrix is symmetric, or Hermitian).
template <class T>
double measured_residual(index_t n, const T* c, const T* r, double sigma, const TileMatrix<T>& X,
                         const TileMatrix<T>& B) {
  const auto x = X(0, 0).read(), b = B(0, 0).read();
  std::vector<T> columns(static_cast<std::size_t>(2 * n * x.cols));
  for (index_t j = 0; j < x.cols; ++j) {
    std::copy_n(&x(0, j), n, columns.data() + j * n);
    std::copy_n(&b(0, j), n, columns.data() + (x.cols + j) * n);
  }
  return kernels::toeplitz_residual(n, c, r, sigma, x.cols, columns.data(), columns.data() + x.cols * n);
}

/// Largest order that the calling thread solves, without tasks: starting them takes longer.
inline constexpr index_t largest_small_toeplitz = 128;

/// Solves B = (T - sigma I)^-1 B on the calling thread by LU of the dense matrix in double precision, with one step of
/// refinement; T has the first column c and the first row r (null: conj(c)).
///
/// B        n x k; becomes X, or stays unchanged if nothing is returned.
/// Returns  the solution with residual and condition; nothing if toeplitz_solve's methods should decide, because the
///          order is larger, options are set, B is on a device, a number is not finite, T is nearly singular, or the
///          residual is above a few roundings.
template <class T>
std::optional<ToeplitzSolution> toeplitz_solve_here(const Runtime& runtime, const HostMatrix<T>& c,
                                                    const HostMatrix<T>* r, T sigma, const MatrixView<T>& b,
                                                    const ToeplitzSolveOptions& options);

}  // namespace tesela::detail
