#pragma once

#include "tools/app/arguments.hpp"
#include "tools/problems/method.hpp"
#include <tesela/algorithms/toeplitz/toeplitz_spectrum.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <string>
#include <vector>

namespace tesela::cli {

/// Settings of the spectrum search in `tesela toeplitz eig` and its benchmarks.
struct SpectrumSettings {
  std::string preset = "fast", method = "auto", tasks = "auto";
  index_t per_interval = -1, dk = -1, max_attempts = -1, window = 0, group = 0;
  double krylov_factor = -1, tolerance = 0;
  std::string shift, start, solver, counter, divided;

  void add_to(App& app);
  bool operator==(const SpectrumSettings&) const = default;
  /// Returns the preset with the options applied.
  SpectrumOptions options(std::uint64_t seed) const;
};

/// All eigenvalues of a symmetric or Hermitian Toeplitz matrix, and its eigenvectors on request.
template <class T>
struct SpectrumProblem {
  HostMatrix<T> t;  ///< n x 1
  SpectrumOptions options;
  Runtime* runtime = nullptr;
  std::vector<double> agreed = {};  ///< eigenvalues of the first method that was checked
};

/// Returns the methods: spectrum_methods(), and dense eigensolvers of LAPACK and cuSOLVER for T or, "NAME-halves", for
/// its symmetric and its skew half; for complex numbers `auto` and LAPACK for T. The result of a library has values
/// only.
template <class T>
std::vector<Method<SpectrumProblem<T>, Spectrum<T>>> spectrum_table();

/// Checks that there are n eigenvalues with the sum and the sum of squares that T has, as all other methods found them,
/// and up to 512 neighbouring eigenvectors if there are any. Returns the error relative to its bound. Throws
/// WrongResult above the bound.
template <class T>
double check_peer(const std::string& peer, SpectrumProblem<T>& problem, const Spectrum<T>& found);

}  // namespace tesela::cli
