#pragma once

#include <tesela/runtime/access.hpp>
#include <tesela/tiles/io/mapped_file.hpp>
#include <tesela/tiles/io/npy_header.hpp>

#include <string>

namespace tesela {

/// A matrix in a .npy file, read a block of rows at a time: the file is mapped, so no more of it stands in memory than
/// the blocks that the caller holds and what the system keeps of the file while memory is free. What files there may be
/// is documented in file_formats.hpp; rows are read fastest from C order, and as well from Fortran order when a block
/// has some thousand rows. Nobody may shorten the file meanwhile. T is float or double.
template <class T>
class MatrixRows {
 public:
  /// Throws FileError where the file is not regular, readable and well formed, and for other formats than .npy, whose
  /// rows are not at places that can be computed.
  explicit MatrixRows(const std::string& path);

  index_t m() const { return header_.shape.rows; }
  index_t n() const { return header_.shape.cols; }
  const std::string& path() const { return path_; }

  /// Reads rows first … first + out.rows - 1 into out, which has n() columns. Throws ArgumentError when the shapes do
  /// not fit, FileError for a value that is NaN, infinite or not finite in T.
  void read(index_t first, const Block<T>& out) const;

 private:
  std::string path_;
  MappedFile file_;
  npy::Header header_;
};

}  // namespace tesela
