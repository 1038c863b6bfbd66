#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tesela {

/// The bytes of a non-empty file. A regular file is mapped, so that a matrix larger than the free memory is read at
/// disk speed; it must not be shortened while it is mapped (SIGBUS). A pipe or a terminal is read to its end. A gzip
/// file is decompressed in memory. "FILE.npz:MEMBER" is a member of a zip archive, with or without its extension .npy;
/// "FILE.npz" is the only member.
class MappedFile {
 public:
  /// Throws FileError if path is missing, unreadable, damaged, empty, a folder or a device, or a pipe that several
  /// ranks read, or if the archive has no such member.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const char> bytes() const { return bytes_; }

 private:
  MappedFile() = default;
  bool open(const std::string& path);
  void unpack(const std::string& path, const std::string& member);

  void* address_ = nullptr;  // of the mapped pages
  std::size_t size_ = 0;
  std::span<const char> bytes_;  // within the pages
};

}  // namespace tesela
