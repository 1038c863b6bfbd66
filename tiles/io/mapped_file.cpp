#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/machine/memory.hpp>
#include <tesela/runtime/out_of_memory.hpp>
#include <tesela/runtime/ranks.hpp>
#include <tesela/tiles/io/compressed.hpp>
#include <tesela/tiles/io/mapped_file.hpp>
#include <tesela/tiles/io/reading.hpp>
#include <tesela/tiles/io/streams.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tesela {
namespace {

std::atomic<bool> keeps_streams{false};

struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) close(value);
  }
};

[[noreturn]] void fail(const std::string& path, int error) {
  const std::string problem = "cannot read: " + std::generic_category().message(error);
  if (error == EMFILE || error == ENFILE) throw EnvironmentError(path + ": " + problem + " (see `ulimit -n`)");
  if (error == ENOMEM) throw OutOfMemory(path + ": " + problem);
  throw FileError(path, problem);
}

int open_for_reading(const std::string& path) {
  if (path == "/dev/stdin" || path == "/dev/fd/0" || path == "/proc/self/fd/0")
    return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);  // keeps the offset, and a socket cannot be opened by name
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

/// Mapped memory of a file or a pipe's contents.
struct Memory {
  void* address = nullptr;
  std::size_t size = 0;
};

/// Memory that grows without copying its contents.
class Growing {
 public:
  explicit Growing(const std::string& path) : path_(path) {}
  ~Growing() {
    if (capacity_ > 0) munmap(address_, capacity_);
  }
  Growing(const Growing&) = delete;
  Growing& operator=(const Growing&) = delete;

  /// Reads into the free part, after growing if there is none. Returns false at the end of the pipe.
  bool read_from(int descriptor) {
    if (size_ == capacity_) grow();
    const ssize_t got = read(descriptor, static_cast<char*>(address_) + size_, capacity_ - size_);
    if (got < 0 && errno != EINTR) fail(path_, errno);
    if (got > 0) size_ += static_cast<std::size_t>(got);
    Reading::store_read(size_);
    return got != 0;
  }
  /// Appends decompressed bytes.
  void append(const char* data, std::size_t size) {
    while (capacity_ - size_ < size) grow();
    std::copy_n(data, size, static_cast<char*>(address_) + size_);
    size_ += size;
    Reading::store_read(size_);
  }
  std::size_t size() const { return size_; }
  /// Returns the bytes; the caller unmaps their pages.
  Memory release() {
    void* const shrunk = mremap(address_, capacity_, size_, 0);
    if (shrunk == MAP_FAILED) fail(path_, errno);
    capacity_ = 0;
    return {shrunk, size_};
  }

 private:
  void grow() {
    constexpr std::size_t first = std::size_t{1} << 20;
    const std::size_t larger = capacity_ > 0 ? 2 * capacity_ : first;
    void* const grown = capacity_ > 0
                            ? mremap(address_, capacity_, larger, MREMAP_MAYMOVE)
                            : mmap(nullptr, larger, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (grown == MAP_FAILED) fail(path_, errno);
    address_ = grown;
    capacity_ = larger;
  }

  const std::string& path_;
  void* address_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

/// Returns the bytes that read(bytes) appends; false ends it.
template <class Read>
Memory read_to_end(const std::string& path, const char* what, const Read& read) {
  const double most = usable_host_bytes();
  const Reading reading(path, 0);
  Growing bytes(path);
  while (read(bytes))
    if (most > 0 && static_cast<double>(bytes.size()) > most)
      throw FileError(path, std::string("cannot read: ") + what + " holds more than the memory of this machine");
  if (bytes.size() == 0) throw FileError(path, "is empty");
  return bytes.release();
}

/// A pipe that was read, or a decompressed file.
struct Kept {
  Memory memory;
  std::span<const char> bytes;
};

std::mutex streams_mutex;
/// Kept bytes by path. Never destroyed, as threads may read at the end of the process.
std::map<std::string, Kept>& kept_streams() {
  static auto& streams = *new std::map<std::string, Kept>;
  return streams;
}

Kept kept_stream(const std::string& path) {
  const std::lock_guard lock(streams_mutex);
  const auto kept = kept_streams().find(path);
  return kept != kept_streams().end() ? kept->second : Kept{};
}

bool is_kept(const void* address) {
  const std::lock_guard lock(streams_mutex);
  for (const auto& [path, kept] : kept_streams())
    if (kept.memory.address == address) return true;
  return false;
}

Memory read_stream(const std::string& path, int descriptor) {
  if (launched_with_others())
    throw FileError(path,
                    "cannot read: is not a regular file, and several ranks would read it: copy it into one first");
  return read_to_end(path, "the pipe", [&](Growing& bytes) { return bytes.read_from(descriptor); });
}

/// Decompresses; `inflate` calls its argument with each part.
Memory decompressed(const std::string& path, const std::function<void(const Inflated&)>& inflate) {
  const double most = usable_host_bytes();
  return read_to_end(path, "the file", [&](Growing& bytes) {
    inflate([&](const char* data, std::size_t size) {
      bytes.append(data, size);
      if (most > 0 && static_cast<double>(bytes.size()) > most)
        throw FileError(path, "cannot read: decompressed it is larger than the memory of this machine");
    });
    return false;
  });
}

/// Returns the archive and the member of "FILE.npz:MEMBER", unless there is a file of this name; otherwise no member.
std::pair<std::string, std::string> split_member(const std::string& path) {
  constexpr std::string_view extension = ".npz:";
  const std::size_t at = path.rfind(extension);
  if (at == std::string::npos || access(path.c_str(), F_OK) == 0) return {path, ""};
  return {path.substr(0, at + extension.size() - 1), path.substr(at + extension.size())};
}

const ZipMember& find_member(const std::vector<ZipMember>& all, const std::string& archive, const std::string& name) {
  const auto named = std::find_if(all.begin(), all.end(), [&](const ZipMember& member) {
    return member.name == name || member.name == name + ".npy";
  });
  if (named != all.end()) return *named;
  if (name.empty() && all.size() == 1) return all.front();
  std::string names;
  for (const ZipMember& member : all)
    names += (names.empty() ? "" : ", ") +
             member.name.substr(0, member.name.ends_with(".npy") ? member.name.size() - 4 : std::string::npos);
  if (all.empty()) throw FileError(archive, "the archive is empty");
  if (!name.empty()) throw FileError(archive, "has no member " + name + "; it holds " + names);
  throw FileError(archive, "holds " + names + ": name one, as in " + archive + ":" + names.substr(0, names.find(',')));
}

}  // namespace

void keep_streams() noexcept { keeps_streams = true; }

MappedFile::MappedFile(const std::string& path) : MappedFile() {
  // Checked first, because open() of a pipe waits for a writer.
  if (const Kept kept = kept_stream(path); kept.memory.size > 0) {
    address_ = kept.memory.address, size_ = kept.memory.size, bytes_ = kept.bytes;
    return;
  }
  const auto [file, member] = split_member(path);
  const bool mapped = open(file);
  bytes_ = {static_cast<const char*>(address_), size_};
  const void* const packed = address_;
  unpack(path, member);
  if (mapped && address_ == packed) return;
  const std::lock_guard lock(streams_mutex);
  if (keeps_streams) kept_streams()[path] = {{address_, size_}, bytes_};
}

/// Replaces packed bytes by the decompressed ones.
void MappedFile::unpack(const std::string& path, const std::string& member) {
  const auto replace = [this](Memory memory) {
    munmap(std::exchange(address_, memory.address), std::exchange(size_, memory.size));
    bytes_ = {static_cast<const char*>(address_), size_};
  };
  if (is_gzip(bytes_)) {
    replace(decompressed(path, [&](const Inflated& sink) { gunzip(bytes_, path, sink); }));
  } else if (is_zip(bytes_)) {
    const std::vector<ZipMember> all = zip_members(bytes_, path);
    const ZipMember& found = find_member(all, split_member(path).first, member);
    if (found.deflated) return replace(decompressed(path, [&](const Inflated& sink) { unzip(found, path, sink); }));
    if (found.size == 0) throw FileError(path, "is empty");
    require_checksum(found, path);
    bytes_ = found.bytes;
  } else if (!member.empty()) {
    throw FileError(path, "is not in a .npz archive");
  }
}

/// Maps a regular file, or reads a pipe. Returns whether it is mapped.
bool MappedFile::open(const std::string& path) {
  const auto take = [this](Memory stream) { address_ = stream.address, size_ = stream.size; };
  const Descriptor file{open_for_reading(path)};
  if (file.value < 0) fail(path, errno);
  struct stat status {};
  if (fstat(file.value, &status) != 0) fail(path, errno);
  if (S_ISDIR(status.st_mode)) throw FileError(path, "cannot read: is a directory");
  const bool regular = S_ISREG(status.st_mode);
  if (!regular && !S_ISFIFO(status.st_mode) && !S_ISSOCK(status.st_mode) && isatty(file.value) == 0)
    throw FileError(path, "cannot read: is not a regular file or a pipe");
  // At an offset above 0, the beginning of standard input was already read, so the rest is read like a pipe.
  if (!regular || lseek(file.value, 0, SEEK_CUR) > 0) {
    take(read_stream(path, file.value));
    return false;
  }
  if (status.st_size == 0) throw FileError(path, "is empty");
  if (static_cast<std::uint64_t>(status.st_size) > std::numeric_limits<std::size_t>::max()) fail(path, EFBIG);

  size_ = static_cast<std::size_t>(status.st_size);
  void* const address = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.value, 0);
  if (address == MAP_FAILED) fail(path, errno);
  address_ = address;
  madvise(address_, size_, MADV_SEQUENTIAL);  // a failure only costs speed
  return true;
}

MappedFile::~MappedFile() {
  if (address_ != nullptr && !is_kept(address_)) munmap(address_, size_);
}

}  // namespace tesela
