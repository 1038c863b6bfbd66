#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tesela {

/// A file that appears under its name only when it is complete. Bytes go to a temporary file in the same folder, which
/// commit() renames or passes to the thread's FileBatch, and which the destructor removes. A symbolic link is followed,
/// even to a target that does not exist yet; an existing file keeps its permissions. A special file (a pipe) is written
/// directly.
class AtomicFile {
 public:
  /// Creates the temporary. Throws FileError if that is impossible or the existing file is write-protected, and
  /// EnvironmentError if disk space or descriptors are exhausted.
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Appends size bytes through a buffer. Throws EnvironmentError on a full disk, a quota or the limit on file sizes.
  void write(const void* data, std::size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }

  /// Path of the temporary, into which other processes may write until commit(); empty if there is none.
  const std::string& temporary() const { return temporary_; }

  /// Writes the buffer and puts the file in its place; the object must not be used afterwards. Throws as write() does.
  void commit();

 private:
  void open_temporary();
  void flush();
  void write_fully(const char* data, std::size_t size);
  void close_descriptor() noexcept;

  std::string path_;         // as given, for messages
  std::string destination_;  // with symbolic links followed
  std::string temporary_;    // empty when writing directly to the destination
  int descriptor_ = -1;
  int slot_ = -1;  // in the registry of unfinished files
  std::vector<char> buffer_;
};

/// Writes parts of another process's temporary. Messages name `path` instead.
class TemporaryPart {
 public:
  /// Throws FileError if the temporary cannot be opened.
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

/// Disables all later AtomicFiles of this process: for all but one of several ranks with identical output.
void disable_file_output() noexcept;

/// Returns the path at which an AtomicFile of `path` puts its file, with final symbolic links followed; nothing if it
/// writes directly to `path`. Throws FileError if links form a circle.
std::optional<std::string> destination_file(const std::string& path);

/// Throws the error that creating path would cause, and leaves no trace: call it before a long computation.
void require_creatable(const std::string& path);

/// Unlinks the temporaries of every AtomicFile in progress in this process. Async-signal-safe, for the handler of
/// Ctrl-C just before it ends the process. (At most 16 are tracked at once; further ones remain.)
void remove_unfinished_files() noexcept;

}  // namespace tesela
