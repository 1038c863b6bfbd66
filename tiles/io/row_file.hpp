#pragma once

#include <tesela/runtime/access.hpp>
#include <tesela/tiles/io/atomic_file.hpp>

#include <string>
#include <vector>

namespace tesela {

/// A .npy file in C order that is written in blocks of rows, so that it may be larger than memory. It appears after
/// commit(), as in AtomicFile. T is float or double.
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

}  // namespace tesela
