#pragma once

#include "tools/problems/least_squares/glm.hpp"
#include <tesela/algorithms/least_squares/generalized_least_squares.hpp>

namespace tesela::cli {

/// min ||A X - B|| by weights, or for errors of covariance F F' or sigma; the base's `factor` is F or sigma, m x m.
template <class T>
struct WlsProblem : GlmProblem<T> {
  std::string by = "weights";  ///< or "factor" or "sigma"
  std::vector<real_t<T>> weights = {};

  bool by_weights() const { return by == "weights"; }
  bool by_sigma() const { return by == "sigma"; }
  /// Generates weights 10^e with e uniform between -spread and spread.
  void generate_weights(double spread, std::uint64_t of_weights);
  /// Generates A and F of these kinds with B as in GlmProblem, or uniform weights and B.
  void generate_weighted(const std::string& random, const std::string& random_f, bool inconsistent, double spread);
  /// Reads weights. Throws ArgumentError if a weight is negative or T cannot represent it.
  void read_weights(const std::string& path);
  /// ols, m^2 (n + r) for the division by a factor, and m^3 / 3 for the factor of sigma.
  double flops() const;
  using OlsProblem<T>::describe;
  const char* judge() const { return by_weights() ? nullptr : "auto"; }
  static constexpr bool full_rank(const GeneralizedLeastSquares<T>&) { return true; }
};

/// The table of methods: the methods of ols after rows are scaled or divided by the factor; libraries solve as ols on
/// scaled rows, or as glm. For libraries rows are scaled, and sigma is factored, outside the time.
template <class T>
std::vector<Method<WlsProblem<T>, GeneralizedLeastSquares<T>>> wls_table();

/// Measures the errors of a solution by weights or by division, on scaled or divided rows.
template <class T>
OlsErrors<T> measure_wls(const WlsProblem<T>& problem, const GeneralizedLeastSquares<T>& answer);
/// Measures the errors of a solution by the model b = A x + F u with u = F^H lambda, A^H lambda = 0; by sigma b = A x +
/// sigma lambda.
template <class T>
GlmError measure_model(const WlsProblem<T>& problem, const GeneralizedLeastSquares<T>& answer);

/// By weights returns the backward error relative to peer_bound(n). By a factor
/// returns check_model() as for glm; with a division by F for the backward error, the bound times F's condition number.
template <class T>
double check_peer(const std::string& peer, WlsProblem<T>& problem, const GeneralizedLeastSquares<T>& answer);

}  // namespace tesela::cli
