#pragma once

#include "tools/app/arguments.hpp"
#include <tesela/algorithms/toeplitz/toeplitz_matrices.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tesela::cli {

/// The matrix of a `tesela toeplitz` command, from its options.
struct ToeplitzInput {
  index_t n = -1;
  std::string t;                ///< file
  std::string kind = "random";  ///< a kind of --random

  std::string row;            ///< file of the first row, for commands with add_row_to
  bool nonsymmetric = false;  ///< whether to generate the first row as well

  void add_to(App& app);
  /// Adds --row and --nonsymmetric. Call it after add_to.
  void add_row_to(App& app);
  /// Checks the kind, and sets n from the file or to `default_n`. Throws ArgumentError and FileError.
  void resolve(index_t default_n);
  /// Returns t, n x 1. Throws ArgumentError if the file does not hold a vector.
  template <class T>
  HostMatrix<T> load(std::uint64_t seed) const;
  /// Returns the first row, n x 1, whose first number is not read, or 0 x 0 for a symmetric matrix, conj(column) for a
  /// complex one. A generated row is
  /// of the kind of the column, with the seed after it; c(0) becomes the mean of both, which keeps the symmetric part
  /// of `spd` definite.
  template <class T>
  HostMatrix<T> load_row(std::uint64_t seed, HostMatrix<T>& column) const;
  bool general() const { return nonsymmetric || !row.empty(); }
  /// n, input and seed.
  nlohmann::json describe(std::uint64_t seed) const;
};

/// Adds --random KIND and its earlier name --kind.
std::vector<Option*> add_toeplitz_kind(App& app, std::string& kind);

/// Returns n x k uniform random right-hand sides, from another stream of the seed than t.
template <class T>
HostMatrix<T> random_columns(index_t n, index_t k, std::uint64_t seed);

}  // namespace tesela::cli
