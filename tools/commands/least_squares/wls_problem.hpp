#pragma once

#include "tools/app/command.hpp"
#include "tools/commands/least_squares/uncertainty.hpp"
#include "tools/problems/qr/qr_method.hpp"
#include <tesela/algorithms/least_squares/generalized_least_squares.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/io/matrix_rows.hpp>

#include <memory>
#include <string>
#include <vector>

namespace tesela::cli {

struct WlsOptions {
  CommonOptions common;
  index_t m = -1, n = -1, rhs = 1;
  std::string a, b, weights, factor, sigma, out;
  std::string random = "uniform", random_b = "uniform", by = "weights";
  double spread = 1;
  std::string tile;
  double rcond = 0;
  bool inconsistent = false;
  QrMethod method;
  UncertaintyOptions uncertainty;
  bool streamed = false;  ///< A stays in its file

  bool by_weights() const { return by == "weights"; }
  bool by_sigma() const { return by == "sigma"; }
};

/// Checks the options, takes sizes from files, and defaults.
void resolve(WlsOptions& options);

/// A, or the file that it stays in, B, and weights, or F or sigma, m x m.
template <class T>
struct WlsProblem {
  HostMatrix<T> a, b, covariance;
  std::vector<T> weights;
  std::unique_ptr<MatrixRows<T>> rows;
};

template <class T>
WlsProblem<T> load_wls(const WlsOptions& options);

/// Multiplies the rows from `first` on by the roots of their weights over `unit`; zero for a weight of zero.
template <class T>
void scale_rows(const std::vector<T>& weights, T unit, index_t first, const Block<T>& rows);
/// Returns a power of four near the largest weight: scaled rows do not overflow.
template <class T>
T weight_unit(const std::vector<T>& weights);

/// Checks `answer` on the given data. Returns whether residuals were measured and are rounding errors.
template <class T>
bool measure_wls(const WlsOptions& options, const WlsProblem<T>& problem, const GeneralizedLeastSquares<T>& answer,
                 Report& report);

}  // namespace tesela::cli
