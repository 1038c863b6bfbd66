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

/// Whether a file may hold NaN, as where a value is missing.
enum class Nans : std::uint8_t { refused, kept };

/// A matrix in a .npy file, read a block of rows at a time: the file is mapped, so no more of it stands in memory than
/// the blocks that the caller holds and what the system keeps of the file while memory is free. What files there may be
/// is documented in file_formats.hpp; rows are read fastest from C order, and as well from Fortran order when a block
/// has some thousand rows. Nobody may shorten the file meanwhile. T is float or double.
template <class T>
class MatrixRows {
 public:
  /// Throws FileError where the file is not regular, readable and well formed, and for other formats than .npy, whose
  /// rows are not at places that can be computed.
  /// Elements that do not count are read as in read_matrix().
  explicit MatrixRows(const std::string& path, Nans nans = Nans::refused, Counted counts = {});

  index_t m() const { return header_.shape.rows; }
  index_t n() const { return header_.shape.cols; }
  const std::string& path() const { return path_; }

  /// Reads rows first … first + out.rows - 1 into out, which has n() columns, or as many as `columns` names: those, in
  /// this order. Throws ArgumentError when the shapes do not fit, FileError for a value that is NaN, unless these are
  /// kept, infinite or not finite in T.
  void read(index_t first, const Block<T>& out, std::span<const index_t> columns = {}) const;

 private:
  std::string path_;
  MappedFile file_;
  npy::Header header_;
  Nans nans_;
  Counted counts_;
};

/// A file's rows, or of these columns alone, on all cores, a negative one standing for ones. With `rows` these alone,
/// which ascend. Throws ArgumentError for columns that do not exist.
template <class T>
RowSource<T> rows_of(std::shared_ptr<const MatrixRows<T>> file, std::vector<index_t> columns = {},
                     std::optional<std::vector<index_t>> rows = std::nullopt);

/// The rows without NaN in these columns, negative ones left out, in one pass on all cores; nothing where all are.
template <class T>
std::optional<std::vector<index_t>> rows_without_nan(const MatrixRows<T>& file, const std::vector<index_t>& columns);

}  // namespace tesela
