#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tesela {

/// A regular, non-empty file mapped for reading, so that a matrix larger than the free memory still reads at the speed
/// of the disk. The file must not be shortened while it is mapped: the system answers that with SIGBUS.
class MappedFile {
 public:
  /// Throws FileError when path is missing, unreadable, empty or no regular file (it never waits, as a FIFO might).
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
