#pragma once

#include <string>
#include <vector>

namespace tesela {

/// Files that receive their names together. While a batch lives, AtomicFile::commit() of the same thread keeps the
/// complete temporary file in the destination's folder, and publish() renames all of them; the destructor removes
/// unpublished files. A nested batch takes the files committed during its life. Special files, as a pipe, are written
/// at once.
class FileBatch {
 public:
  FileBatch() noexcept;
  ~FileBatch();
  FileBatch(const FileBatch&) = delete;
  FileBatch& operator=(const FileBatch&) = delete;

  /// Renames the files in the order of their commits. Throws as AtomicFile::commit() does; files before the failed one
  /// keep their new names.
  void publish();
  /// Removes the files.
  void discard() noexcept;

  /// The innermost batch of this thread; null if there is none.
  static FileBatch* current() noexcept;

 private:
  friend class AtomicFile;
  struct File {
    std::string path;  ///< as given, for messages
    std::string temporary, destination;
    int slot;  ///< in the registry of unfinished files
  };
  std::vector<File> files_;
  FileBatch* outer_;
};

}  // namespace tesela
