#pragma once

#include <tesela/runtime/access.hpp>
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/io/mapped_file.hpp>
#include <tesela/tiles/io/npy_header.hpp>
#include <tesela/tiles/row_source.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tesela {

/// Whether NaN in a file, for example as a missing value, is refused or kept.
enum class Nans : std::uint8_t { refused, kept };

/// A matrix in a .npy file (see file_formats.hpp), read in blocks of rows. The file is mapped, so memory holds only the
/// caller's blocks and the system's file cache. C order is fastest; Fortran order is as fast with blocks of some
/// thousand rows. The file must not be shortened meanwhile. T is float, double or
/// a std::complex of them.
template <class T>
class MatrixRows {
 public:
  /// Throws FileError if the file is not regular, readable and well formed, and for formats other than .npy, in which
  /// the position of a row cannot be computed. Elements that do not count are read as in read_matrix().
  explicit MatrixRows(const std::string& path, Nans nans = Nans::refused, Counted counts = {});

  /// Return the rows and the columns.
  index_t m() const { return header_.shape.rows; }
  index_t n() const { return header_.shape.cols; }
  const std::string& path() const { return path_; }  ///< name of the file

  /// Reads rows first … first + out.rows - 1 into out.
  ///
  /// columns  the columns to read, in this order; empty: all n() columns.
  /// Throws   ArgumentError if the shapes do not fit, and FileError for a value that is not finite in T, unless it is
  ///          NaN and NaNs are kept.
  void read(index_t first, const Block<T>& out, std::span<const index_t> columns = {}) const;

 private:
  std::string path_;
  MappedFile file_;
  npy::Header header_;
  Nans nans_;
  Counted counts_;
};

/// Returns a source that reads a file's rows on all cores.
///
/// columns  the columns to read; a negative number is a column of ones; empty: all columns.
/// rows     the rows to read, in ascending order; without a value all rows.
/// Throws   ArgumentError for columns that do not exist.
template <class T>
RowSource<T> rows_of(std::shared_ptr<const MatrixRows<T>> file, std::vector<index_t> columns = {},
                     std::optional<std::vector<index_t>> rows = std::nullopt);

/// Returns the rows without NaN in these columns (negative ones are ignored), in one pass on all cores; nothing if no
/// row has NaN.
template <class T>
std::optional<std::vector<index_t>> rows_without_nan(const MatrixRows<T>& file, const std::vector<index_t>& columns);

}  // namespace tesela
