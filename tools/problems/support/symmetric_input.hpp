#pragma once

#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/runtime/types.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <string>
#include <vector>

namespace tesela::cli {

/// A file that an option names, and the shape in its header.
struct InputFile {
  const char* option;
  const std::string& path;
  Shape shape = {};
};

/// Reads the shapes where all are given, answers whether they are. Throws ArgumentError where only some are.
bool probe_all(const char* command, std::vector<InputFile>& files);

/// Throw ArgumentError, with both numbers, unless the second file has as many rows or columns as the first has.
void require_rows_of(const char* command, const InputFile& first, const InputFile& second);
void require_columns_of(const char* command, const InputFile& first, const InputFile& second);

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

/// Returns the matrix of a symmetric --random, with the values of its file if it has one.
SymmetricMatrix generated(const char* command, const std::string& option, const std::string& text, index_t n,
                          std::uint64_t seed);

}  // namespace tesela::cli
