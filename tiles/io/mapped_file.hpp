#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tesela {

/// The bytes of a non-empty file. A regular file is mapped, so that a matrix larger than the free memory is read at
/// disk speed; it must not be shortened while it is mapped (SIGBUS). A pipe or a terminal is read to its end.
class MappedFile {
 public:
  /// Throws FileError if path is missing, unreadable, empty, a folder or a device, or a pipe that several ranks read.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const char> bytes() const { return {static_cast<const char*>(address_), size_}; }

 private:
  void* address_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tesela
