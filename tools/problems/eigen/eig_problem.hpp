#pragma once

#include <tesela/algorithms/eigen/eigen_range.hpp>
#include <tesela/runtime/types.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tesela::cli {

/// The symmetric matrix of `tesela eig`, or the pair of them, as its options say it.
struct EigInput {
  index_t n = -1;
  std::string a, diagonal, off_diagonal;  ///< files
  std::string a_name = "--a";             ///< in messages
  std::string random = "uniform", uplo;
  std::string b, random_b, kind = "1";  ///< of a generalized problem
  double scale = 1;
  bool symmetrize = false;

  void add_to(CLI::App& app);
  bool tridiagonal() const { return !diagonal.empty(); }
  bool generalized() const { return !b.empty() || !random_b.empty(); }
  /// Takes n from the files, and `otherwise` where nobody says it. Throws ArgumentError and FileError.
  void resolve(index_t otherwise);
  nlohmann::json describe(std::uint64_t seed) const;
};

template <class T>
struct EigProblem {
  HostMatrix<T> a;                                 ///< whole; 0 x 0 for a tridiagonal input unless needed
  HostMatrix<T> b;                                 ///< whole; 0 x 0 where the problem is not a generalized one
  std::vector<T> d, e;                             ///< of a tridiagonal input
  std::optional<std::vector<double>> eigenvalues;  ///< A's, ascending, where they are known
  std::vector<std::string> notes;                  ///< on the files, for the report

  /// max of sum |A(i, j)|, which no eigenvalue exceeds (Gershgorin).
  double largest_row_sum() const;
};

/// `dense`: a tridiagonal matrix as a whole too. Throws ArgumentError as read_symmetric(), and if T does not hold
/// --scale.
template <class T>
EigProblem<T> load(const EigInput& input, std::uint64_t seed, bool dense);

/// "overflow: …" where a value is beyond the largest number of the precision; empty where none is.
std::string overflow_of(const std::vector<double>& values, double largest);

/// Which eigenvalues.
struct EigSelection {
  std::string range, index;
  index_t smallest = 0, largest = 0;

  void add_to(CLI::App& app);
  /// Positions from 0 in a spectrum of n. Throws ArgumentError for those it does not have.
  std::optional<IndexRange> positions(index_t n) const;
  std::pair<double, double> interval() const;
};

}  // namespace tesela::cli
