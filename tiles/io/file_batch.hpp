#pragma once

#include <string>
#include <vector>

namespace tesela {

/// Files that get their names together. While a batch lives, AtomicFile::commit() of the same thread leaves the
/// complete temporary beside its destination, and publish() renames all of them; the destructor removes the files that
/// were not published. A batch within another one has the files that are committed while it lives. Special files, as a
/// pipe, are written at once.
class FileBatch {
 public:
  FileBatch() noexcept;
  ~FileBatch();
  FileBatch(const FileBatch&) = delete;
  FileBatch& operator=(const FileBatch&) = delete;

  /// Renames the files in the order of their commits. Throws as AtomicFile::commit() does; the files before the one
  /// that could not be renamed are in place then.
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
