#pragma once

#include <tesela/runtime/access.hpp>
#include <tesela/tiles/io/atomic_file.hpp>
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/io/npy_header.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

// The NumPy part of file_formats.hpp, which documents formats and errors.

namespace tesela::npy {

/// Returns whether the bytes begin like a .npy file.
bool recognise(std::span<const char> bytes);

/// Returns the description of the file without reading its numbers. Throws FileError if it is malformed.
MatrixFileInfo probe(std::span<const char> bytes, const std::string& name);

/// Reads the whole file, of at most max_bytes as a matrix of T. Throws FileError.
template <class T>
HostMatrix<T> read(std::span<const char> bytes, const std::string& name, std::uint64_t max_bytes,
                   const Counted& counts = {});

/// Reads, as real numbers or as std::complex, rows first … first + out.rows - 1 of a file with this header: all
/// columns, or the given ones, in this order. Rows and columns must exist. NaN is an error unless `nans`. `counts`
/// refers to the file's rows and columns.
template <class T>
void read_rows(std::span<const char> bytes, const Header& header, const std::string& name, index_t first,
               const Block<T>& out, std::span<const index_t> columns = {}, bool nans = false,
               const Counted& counts = {});

/// Returns the header for values in Fortran order, or by rows in C order.
template <class T>
std::string header_text(Shape shape, bool by_rows = false);

/// Appends the whole file, in Fortran order.
template <class T>
void write(AtomicFile& file, const T* data, Shape shape, index_t ld);

/// A .npy file in C order that is written in blocks of rows, so that it may be larger than memory. It appears after
/// commit(), as in AtomicFile. T is float, double or a std::complex of them.
template <class T>
class RowFile {
 public:
  /// Writes the header. Throws as AtomicFile.
  RowFile(const std::string& path, Shape shape);
  /// Appends rows. Throws as AtomicFile::write().
  void append(const Block<T>& rows);
  /// Completes the file. Throws as AtomicFile::commit().
  void commit() { file_.commit(); }

 private:
  AtomicFile file_;
  std::vector<T> row_;
};

}  // namespace tesela::npy
