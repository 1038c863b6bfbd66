#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/io/mapped_file.hpp>

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <limits>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace tesela {
namespace {

struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) close(value);
  }
};

[[noreturn]] void fail(const std::string& path, int error) {
  throw FileError(path, "cannot read: " + std::generic_category().message(error));
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  if (file.value < 0) fail(path, errno);
  struct stat status {};
  if (fstat(file.value, &status) != 0) fail(path, errno);
  if (S_ISDIR(status.st_mode)) throw FileError(path, "cannot read: is a directory");
  if (!S_ISREG(status.st_mode)) throw FileError(path, "cannot read: is not a regular file (copy it into one first)");
  if (status.st_size == 0) throw FileError(path, "is empty");
  if (static_cast<std::uint64_t>(status.st_size) > std::numeric_limits<std::size_t>::max()) fail(path, EFBIG);

  size_ = static_cast<std::size_t>(status.st_size);
  void* const address = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.value, 0);
  if (address == MAP_FAILED) fail(path, errno);
  address_ = address;
  madvise(address_, size_, MADV_SEQUENTIAL);  // advice only: failure costs speed, no more
}

MappedFile::~MappedFile() { munmap(address_, size_); }

}  // namespace tesela
