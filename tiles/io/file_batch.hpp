#pragma once

#include <string>
#include <vector>

namespace tesela {

/// Files that are published together. While a batch lives, AtomicFile::commit() on the same thread keeps the complete
/// temporary file in the destination's folder. publish() renames all of them; the destructor removes unpublished files.
/// A nested batch receives the files committed during its life. Special files, such as a pipe, are written at once.
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

  /// Returns the paths of the unpublished files, as given.
  std::vector<std::string> paths() const;

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
