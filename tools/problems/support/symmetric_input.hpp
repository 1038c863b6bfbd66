#pragma once

#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tesela::cli {

/// Reads a file with one row or one column. Throws ArgumentError, of this command and option, for other shapes.
template <class T>
std::vector<T> read_vector(const char* command, const std::string& option, const std::string& path);

/// A file of symmetric matrices of one order, side by side, and the triangle that counts.
struct SymmetricFile {
  const char* command;
  std::string option, path;
  const char* name;         ///< of the matrix in messages: "A"
  std::string uplo;         ///< "lower" or "upper": that triangle alone; "": both
  bool symmetrize = false;  ///< the triangles' mean
};

/// Reads the matrices, n x n each, and makes them whole. If one triangle counts, the other may hold anything. Triangles
/// that differ by rounding alone (at most 10 sqrt(n) eps max(|a_ij|, |a_ji|, sqrt(|a_ii a_jj|)), as in a computed
/// X^T X) become their mean, and `notes` gets a line. Throws ArgumentError with the worst element if they differ by
/// more and no option selects one.
template <class T>
HostMatrix<T> read_symmetric(const SymmetricFile& file, std::vector<std::string>& notes);

/// The diagonal and the off-diagonal of a symmetric tridiagonal matrix.
template <class T>
struct SymmetricBands {
  std::vector<T> d, e;
};

/// Reads a Matrix Market coordinate file of a symmetric tridiagonal matrix. Returns nothing for other files.
template <class T>
std::optional<SymmetricBands<T>> read_tridiagonal(const std::string& path);

/// Returns the matrix of a symmetric --random, with the values of its file if it has one.
SymmetricMatrix generated(const char* command, const std::string& option, const std::string& text, index_t n,
                          std::uint64_t seed);

}  // namespace tesela::cli
