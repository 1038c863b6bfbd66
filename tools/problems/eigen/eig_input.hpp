#pragma once

#include "tools/app/arguments.hpp"
#include <tesela/algorithms/eigen/eig_iteration.hpp>
#include <tesela/algorithms/eigen/generalized_eig.hpp>
#include <tesela/algorithms/eigen/symmetric_eig.hpp>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <utility>

namespace tesela::cli {

/// The symmetric matrix of `tesela eig`, or the pair, as its options describe it.
struct EigInput {
  index_t n = -1;
  std::string a = {}, diagonal = {}, off_diagonal = {};  ///< files
  std::string a_name = "--a";                            ///< in messages
  std::string random = "uniform", uplo = {};
  std::string b = {}, random_b = {}, kind = "1";  ///< of a generalized problem
  double scale = 1;
  bool symmetrize = false;
  bool bands_in_a = false;  ///< the file of A has the bands of a tridiagonal matrix

  void add_to(App& app);
  bool tridiagonal() const { return !diagonal.empty() || bands_in_a; }
  /// Sets bands_in_a from the file.
  void find_bands();
  bool generalized() const { return !b.empty() || !random_b.empty(); }
  /// Sets n from the files, or to `otherwise` if no option gives it. Throws ArgumentError and FileError.
  void resolve(index_t otherwise);
  nlohmann::json describe(std::uint64_t seed) const;
};

/// The selected eigenvalues.
struct EigSelection {
  std::string range, index;
  index_t smallest = 0, largest = 0;

  void add_to(App& app);
  /// Returns positions from 0 in a spectrum of n. Throws ArgumentError for positions outside it.
  std::optional<IndexRange> positions(index_t n) const;
  std::pair<double, double> interval() const;
};

/// The options of `tesela eig --method qr-iteration|lr|cholesky-lr`.
struct IterationChoice {
  std::string factor, stop, shift;  ///< empty: the default
  double tolerance = 0;
  index_t most = 0;
  bool deflate = false, positive = false;

  void add_to(App& app);
  /// Throws ArgumentError for options that the method does not have, and for a method that the input does not have.
  void require_valid(const std::string& method, const EigInput& input) const;
  /// Returns the options with the vectors and the selection of the other methods' options.
  EigIterationOptions options(EigIteration method, const SymmetricEigOptions& wanted) const;
  void describe(const IterationFacts& facts, nlohmann::json& problem) const;
};

}  // namespace tesela::cli
