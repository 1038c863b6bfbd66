#pragma once

#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <string>
#include <vector>

namespace tesela::cli {

/// The numbers of a file with one row or one column. Throws ArgumentError, of this command and option, for another.
template <class T>
std::vector<T> read_vector(const char* command, const std::string& option, const std::string& path);

/// Makes A whole from the triangle that `uplo` names, or their mean. Throws ArgumentError where the triangles differ
/// and nothing says which counts; `name` is what messages call A.
template <class T>
void symmetrize(const char* command, const std::string& option, const char* name, const std::string& uplo, bool mean,
                HostMatrix<T>& a);

/// The matrix of a symmetric --random, with the values of its file if it has one.
SymmetricMatrix generated(const char* command, const std::string& option, const std::string& text, index_t n,
                          std::uint64_t seed);

}  // namespace tesela::cli
