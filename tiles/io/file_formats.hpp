#pragma once

#include <tesela/runtime/types.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/io/atomic_file.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>

// Reading and writing dense matrices. The templates exist for T = float, double and their std::complex, which also
// accepts real files. A real T refuses complex files.
//
// Matrix Market: array and coordinate; real, integer, complex and pattern (whose entries are ones); general, symmetric,
// skew-symmetric and hermitian. One entry per line; blank lines and lines that start with % may follow the header
// anywhere. Repeated coordinates are summed, as in SciPy (the format does not forbid them). Files that are not general
// hold the lower triangle only.
//
// NumPy .npy: floating-point numbers of 2, 4 and 8 bytes, complex64, complex128, integers and bool, of either byte
// order, C or Fortran order, versions 1 to 3, up to two dimensions: n elements are n x 1 and a scalar is 1 x 1.
//
// Plain text, as numpy.loadtxt reads it: a line per row, real numbers separated by blanks or commas, # starts a
// comment.
//
// Exponents may begin with E or D. Any file may be compressed (gzip) or a member of a .npz archive (mapped_file.hpp).
// NaN and infinities are errors in all formats, for reading and writing, so every written file can be read.

namespace tesela {

/// Format of a matrix file, which its contents decide: matrix_market_array, matrix_market_coordinate, npy or
/// plain_text.
enum class MatrixFileFormat : std::uint8_t { matrix_market_array, matrix_market_coordinate, npy, plain_text };

/// Precision that holds a file's values: single_precision, or double_precision, which integers need; decimal text has
/// none.
enum class FilePrecision : std::uint8_t { text, single_precision, double_precision };

/// Description of a matrix file, read without its numbers.
struct MatrixFileInfo {
  MatrixFileFormat format = MatrixFileFormat::npy;
  Shape shape;  ///< rows and columns
  FilePrecision precision = FilePrecision::text;
  /// Whether the file holds a vector: .npy with one dimension, or plain text with one column.
  bool vector = false;
  std::uint64_t entries = 0;  ///< of a coordinate file
  bool complex = false;       ///< whether the numbers are complex
};

/// Returns the bytes of this machine's memory, the default limit of a dense matrix read from a file. (A coordinate file
/// of a few bytes may name a matrix of any size, so the file's length is not a limit.)
std::uint64_t physical_memory();

/// Returns whether the problem uses an element of the file's matrix: gemm with beta = 0 ignores C, and a symmetric
/// matrix may be read from one triangle.
using Counted = std::function<bool(index_t i, index_t j)>;

/// Reads the matrix in the file at path. The contents decide the format, not the name.
///
/// counts   elements that do not count may have any value, including NaN and infinities; values that would be refused
///          are read as 0. Without `counts` all elements count.
/// Throws   FileError if the file is unreadable or malformed, if a value is not finite in T or is nonzero but too small
///          for T (see keeps in kept_value.hpp), or if the matrix is larger than physical_memory(). Memory is allocated
///          only after the sizes in the file are checked.
///
/// A regular file is mapped, and must not be shortened meanwhile. A pipe is read to its end.
template <class T>
HostMatrix<T> read_matrix(const std::string& path, const Counted& counts = {});

/// Returns format, shape and precision from the header and the length of a file, without its values. Consumes a pipe,
/// which read_matrix() then finds empty, except after keep_streams() (streams.hpp). Throws FileError.
MatrixFileInfo probe_matrix(const std::string& path);

/// Reads as read_matrix() from memory that holds the whole file. `name` replaces the path in messages. Throws FileError
/// for a matrix of more than max_bytes.
template <class T>
HostMatrix<T> read_matrix_bytes(std::span<const char> bytes, const std::string& name,
                                std::uint64_t max_bytes = physical_memory(), const Counted& counts = {});

/// As probe_matrix(), for memory that holds the whole file.
MatrixFileInfo probe_matrix_bytes(std::span<const char> bytes, const std::string& name);

/// Writes a shape.rows x shape.cols column-major matrix with leading dimension ld >= max(shape.rows, 1).
///
/// path     the extension decides the format: .npy is NumPy; .txt is plain text with blanks, .csv with commas and
///          without names; .mtx, .mm and no extension are a Matrix Market array. Text has the shortest decimals that
///          read back to the same bits. The file appears when it is complete (see AtomicFile).
/// Throws   ArgumentError on a wrong shape, ld or null data and on NaN or infinity (then nothing is written), FileError
///          on another extension, for complex numbers as plain text, or if the file cannot be created, EnvironmentError
///          if the disk is full.
template <class T>
void write_matrix(const std::string& path, const T* data, Shape shape, index_t ld);

/// Writes a whole HostMatrix.
template <class T>
void write_matrix(const std::string& path, const HostMatrix<T>& matrix) {
  write_matrix(path, matrix.data(), matrix.shape(), matrix.ld());
}

/// Writes n numbers as write_matrix() writes n x 1; .npy gets one dimension, (n,).
template <class T>
void write_vector(const std::string& path, const T* data, index_t n);

/// Returns write_matrix()'s format for this name. Throws FileError for an extension of no format.
MatrixFileFormat format_of_name(const std::string& path);

/// Returns what separates the numbers of a line of plain text in a file of this name: a comma in .csv, else a blank.
char separator_of_name(const std::string& path);

/// Throws the FileError or EnvironmentError that write_matrix(path, ...) would throw before its first byte: call it
/// before a long computation. An existing file is not changed.
void require_writable(const std::string& path);

}  // namespace tesela
