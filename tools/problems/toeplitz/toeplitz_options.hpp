#pragma once

#include <tesela/algorithms/toeplitz/toeplitz_matrices.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tesela::cli {

/// The matrix that `tesela toeplitz` commands work on, as their options say it.
struct ToeplitzInput {
  index_t n = -1;
  std::string t;                ///< file
  std::string kind = "random";  ///< as --random names it

  void add_to(CLI::App& app);
  /// Checks the kind and takes n from the file or `default_n`. Throws ArgumentError, FileError.
  void settle(index_t default_n);
  /// t, n x 1. Throws ArgumentError where the file holds no vector.
  template <class T>
  HostMatrix<T> load(std::uint64_t seed) const;
  /// n, input and seed.
  nlohmann::json describe(std::uint64_t seed) const;
};

/// Adds --random KIND, and the name --kind that it once had.
std::vector<CLI::Option*> add_toeplitz_kind(CLI::App& app, std::string& kind);

/// Returns the right-hand sides, n x k uniform random numbers from a stream of this seed different from t's.
template <class T>
HostMatrix<T> random_columns(index_t n, index_t k, std::uint64_t seed);

}  // namespace tesela::cli
