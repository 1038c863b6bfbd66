#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tesela {

/// A file being written that takes its name only when it is complete: bytes go to a temporary file in the same folder,
/// which commit() renames or passes to the thread's FileBatch, and the destructor removes. A symbolic link is followed,
/// also to a target that does not exist yet; an existing file keeps its permissions. A special file (a pipe) is written
/// directly.
class AtomicFile {
 public:
  /// Creates the temporary. Throws FileError when that is impossible or the existing file is write-protected,
  /// EnvironmentError when disk or descriptors are used up.
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Appends size bytes through a buffer. Throws EnvironmentError on a full disk, a quota or the limit on file sizes.
  void write(const void* data, std::size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }

  /// What others may write into until commit(): empty where there is no temporary.
  const std::string& temporary() const { return temporary_; }

  /// Writes what is buffered and puts the file in its place; the object is of no use afterwards. Throws as write()
  /// does.
  void commit();

 private:
  void open_temporary();
  void flush();
  void write_fully(const char* data, std::size_t size);
  void close_descriptor() noexcept;

  std::string path_;         // as given, for messages
  std::string destination_;  // with symbolic links followed
  std::string temporary_;    // empty when writing straight into the destination
  int descriptor_ = -1;
  int slot_ = -1;  // in the registry of unfinished files
  std::vector<char> buffer_;
};

/// Writes into another process's temporary, at places of its own. `path` stands for it in messages.
class TemporaryPart {
 public:
  /// Throws FileError where it cannot be opened.
  TemporaryPart(const std::string& path, const std::string& temporary);
  ~TemporaryPart();
  TemporaryPart(const TemporaryPart&) = delete;
  TemporaryPart& operator=(const TemporaryPart&) = delete;
  /// Throws as AtomicFile::write() does.
  void write(std::size_t offset, const void* data, std::size_t size);
  void close();

 private:
  std::string path_;
  int descriptor_;
};

/// From here on no AtomicFile of this process writes anything: for those of several ranks that all have the same to
/// write.
void write_no_files() noexcept;

/// The path at which an AtomicFile of `path` puts its file, with symbolic links at the end followed; nothing for what
/// it writes straight into. Throws FileError where links go in a circle.
std::optional<std::string> replaced_file(const std::string& path);

/// Throws the error that creating path would meet, and leaves no trace: to be called ahead of a long computation.
void require_creatable(const std::string& path);

/// Unlinks the temporaries of every AtomicFile in progress in this process. Async-signal-safe: made for the handler of
/// Ctrl-C, just before it ends the process. (At most 16 are known at once; further ones are left behind.)
void remove_unfinished_files() noexcept;

}  // namespace tesela
