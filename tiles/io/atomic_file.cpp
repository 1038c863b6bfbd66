#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/io/atomic_file.hpp>
#include <tesela/tiles/io/file_batch.hpp>
#include <tesela/tiles/io/streams.hpp>

#include <climits>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace tesela {
namespace {

std::atomic<bool> writes_nothing{false};
std::atomic<int> standard_output{STDOUT_FILENO};
thread_local FileBatch* innermost_batch = nullptr;

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

[[noreturn]] void fail(const std::string& path, const std::string& action, int error) {
  const auto problem = action + ": " + std::generic_category().message(error);
  switch (error) {
    case ENOSPC:
    case EDQUOT: throw EnvironmentError(path + ": " + problem + " (free some space or write to another disk)");
    case EFBIG:
      throw EnvironmentError(path + ": " + problem + " (see `ulimit -f`, or the largest file that this disk can hold)");
    case EMFILE:
    case ENFILE: throw EnvironmentError(path + ": " + problem + " (see `ulimit -n`)");
    case EIO:
    case ENOMEM:
    case EPIPE: throw EnvironmentError(path + ": " + problem);
    default: throw FileError(path, problem);
  }
}

// A signal handler may run on another thread than the writer, so the atomic state alone hands a slot over.
enum State : int { unused, filling, ready, removing, removed };

/// A temporary file of this process.
struct Slot {
  std::atomic<int> state{unused};
  pid_t owner = 0;  // a forked child must not remove its parent's files
  char path[PATH_MAX] = {};
};
static_assert(std::atomic<int>::is_always_lock_free);

std::array<Slot, 16> slots;

/// Registers `path` as a temporary of this process, for remove_unfinished_files(). Returns a slot for
/// forget_unfinished, or -1 if all slots are in use or the path is too long.
int remember_unfinished(const std::string& path) noexcept {
  if (path.size() >= sizeof(Slot::path)) return -1;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    int expected = unused;
    if (!slots[i].state.compare_exchange_strong(expected, filling)) continue;
    slots[i].owner = getpid();
    std::memcpy(slots[i].path, path.c_str(), path.size() + 1);
    slots[i].state = ready;
    return static_cast<int>(i);
  }
  return -1;
}

/// Frees a slot; does nothing for -1. Call it after the temporary was renamed or unlinked.
void forget_unfinished(int slot) noexcept {
  if (slot < 0) return;
  auto& state = slots[static_cast<std::size_t>(slot)].state;
  int expected = ready;
  if (state.compare_exchange_strong(expected, unused)) return;
  while (state != removed) {  // the handler, on another thread, still reads the path
  }
  state = unused;
}

// Writing beyond RLIMIT_FSIZE raises SIGXFSZ, which would end the process and leave the temporary behind. In this scope
// the signal stays pending and is consumed at the end, so that write() only returns EFBIG.
class WithoutSizeSignal {
 public:
  WithoutSizeSignal() {
    sigemptyset(&size_signal_);
    sigaddset(&size_signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &size_signal_, &before_);
  }
  ~WithoutSizeSignal() {
    if (sigismember(&before_, SIGXFSZ) == 1) return;  // the caller has blocked it and will handle it
    const timespec now{};
    sigtimedwait(&size_signal_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSizeSignal(const WithoutSizeSignal&) = delete;
  WithoutSizeSignal& operator=(const WithoutSizeSignal&) = delete;

 private:
  sigset_t size_signal_{};
  sigset_t before_{};
};

bool names_standard_output(const std::string& path) {
  return path == "/dev/stdout" || path == "/dev/fd/1" || path == "/proc/self/fd/1";
}

/// Whether the path names an open file. It may be a regular file (`> x`), but a rename would detach it from its opener.
bool names_descriptor(const std::string& path) {
  return path == "/dev/stdout" || path == "/dev/stderr" || path.rfind("/dev/fd/", 0) == 0 ||
         path.rfind("/proc/", 0) == 0;
}

int open_special(const std::string& path) {
  if (names_standard_output(path))
    return fcntl(standard_output, F_DUPFD_CLOEXEC, 0);  // keeps the offset, unlike opening it
  if (path == "/dev/stderr") return fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
  return open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
}

/// Returns the target of the symbolic links at the end of the path; it need not exist.
std::string destination_of(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int most_links = 40;  // Linux's limit
  fs::path here = path;
  std::error_code none;
  for (int links = 0; !names_descriptor(here) && fs::is_symlink(here, none); ++links) {
    if (links == most_links) fail(path, "cannot write", ELOOP);
    const fs::path target = fs::read_symlink(here, none);
    if (target.empty()) break;           // just removed
    here = here.parent_path() / target;  // an absolute target replaces the folder
  }
  return here;
}

void rename_complete(const std::string& path, const std::string& temporary, const std::string& destination) {
  if (rename(temporary.c_str(), destination.c_str()) != 0) fail(path, "cannot rename " + temporary, errno);
}

bool written_into(const std::string& destination, const struct stat& status) {
  return !S_ISREG(status.st_mode) || names_descriptor(destination);
}

}  // namespace

void disable_file_output() noexcept { writes_nothing = true; }

AtomicFile::AtomicFile(const std::string& path)
    : path_(path), destination_(writes_nothing ? "/dev/null" : destination_of(path)) {
  if (writes_nothing) {
    descriptor_ = open_special(destination_);
    if (descriptor_ < 0) fail(path, "cannot write", errno);
    return;
  }
  struct stat status {};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) fail(path, "cannot write", errno);
  if (exists) {
    if (S_ISDIR(status.st_mode)) throw FileError(path, "cannot write: is a directory");
    if (access(path.c_str(), W_OK) != 0) fail(path, "cannot write", errno);
    if (written_into(destination_, status)) {
      descriptor_ = open_special(destination_);
      if (descriptor_ < 0) fail(path, "cannot write", errno);
      return;
    }
  } else if (destination_.empty() || destination_.back() == '/') {
    throw FileError(path, "cannot write: names no file");
  }
  open_temporary();
  if (exists) static_cast<void>(fchmod(descriptor_, status.st_mode & 07777));  // else the umask's permissions remain
}

void AtomicFile::open_temporary() {
  do {
    // The clock makes the name unique even among processes with equal numbers (containers with a shared folder). The
    // name can therefore be registered before the file exists, and a signal at any moment finds it.
    char suffix[64];
    const auto now = static_cast<unsigned long long>(std::chrono::system_clock::now().time_since_epoch().count());
    std::snprintf(suffix, sizeof suffix, ".tmp.%ld.%llx", static_cast<long>(getpid()), now);
    temporary_ = destination_ + suffix;
    slot_ = remember_unfinished(temporary_);
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
      const int error = errno;
      forget_unfinished(slot_);
      if (error != EEXIST) fail(path_, "cannot create", error);
    }
  } while (descriptor_ < 0);
}

AtomicFile::~AtomicFile() {
  close_descriptor();
  if (!temporary_.empty()) unlink(temporary_.c_str());
  forget_unfinished(slot_);
}

void AtomicFile::write(const void* data, std::size_t size) {
  if (size == 0) return;
  const char* bytes = static_cast<const char*>(data);
  if (size > buffer_bytes - buffer_.size()) flush();
  if (size >= buffer_bytes) return write_fully(bytes, size);
  if (buffer_.capacity() == 0) buffer_.reserve(buffer_bytes);
  buffer_.insert(buffer_.end(), bytes, bytes + size);
}

void AtomicFile::flush() {
  write_fully(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void AtomicFile::write_fully(const char* data, std::size_t size) {
  const WithoutSizeSignal quiet;
  while (size != 0) {
    const ssize_t written = ::write(descriptor_, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_, "cannot write", errno);
    data += written;
    size -= static_cast<std::size_t>(written);
  }
}

void AtomicFile::commit() {
  flush();
  const int descriptor = descriptor_;
  descriptor_ = -1;
  // A network file system may report a full disk only here. EINTR leaves the descriptor closed on Linux.
  if (close(descriptor) != 0 && errno != EINTR) fail(path_, "cannot write", errno);
  if (temporary_.empty()) return;
  if (FileBatch* const batch = FileBatch::current(); batch != nullptr)
    batch->files_.push_back({path_, temporary_, destination_, std::exchange(slot_, -1)});
  else
    rename_complete(path_, temporary_, destination_);
  temporary_.clear();
}

void AtomicFile::close_descriptor() noexcept {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

FileBatch::FileBatch() noexcept : outer_(std::exchange(innermost_batch, this)) {}

FileBatch::~FileBatch() {
  discard();
  innermost_batch = outer_;
}

FileBatch* FileBatch::current() noexcept { return innermost_batch; }

std::vector<std::string> FileBatch::paths() const {
  std::vector<std::string> all;
  for (const File& file : files_) all.push_back(file.path);
  return all;
}

void FileBatch::publish() {
  for (File& file : files_) {
    rename_complete(file.path, file.temporary, file.destination);
    forget_unfinished(std::exchange(file.slot, -1));
    file.temporary.clear();
  }
  files_.clear();
}

void FileBatch::discard() noexcept {
  for (const File& file : files_) {
    if (!file.temporary.empty()) unlink(file.temporary.c_str());
    forget_unfinished(file.slot);
  }
  files_.clear();
}

TemporaryPart::TemporaryPart(const std::string& path, const std::string& temporary)
    : path_(path), descriptor_(open(temporary.c_str(), O_WRONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) fail(path_, "cannot write (ranks share no file system there?)", errno);
}

TemporaryPart::~TemporaryPart() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void TemporaryPart::write(std::size_t offset, const void* data, std::size_t size) {
  const WithoutSizeSignal quiet;
  const char* bytes = static_cast<const char*>(data);
  while (size != 0) {
    const ssize_t written = pwrite(descriptor_, bytes, size, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_, "cannot write", errno);
    bytes += written;
    offset += static_cast<std::size_t>(written);
    size -= static_cast<std::size_t>(written);
  }
}

void TemporaryPart::close() {
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail(path_, "cannot write", errno);
}

bool is_standard_output(const std::string& path) { return names_standard_output(destination_of(path)); }

void write_standard_output_to(int descriptor) noexcept { standard_output = descriptor; }

std::optional<std::string> destination_file(const std::string& path) {
  std::string destination = destination_of(path);
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && written_into(destination, status)) return std::nullopt;
  return destination;
}

void require_creatable(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode)) {  // opening it would wait for a reader
    if (access(path.c_str(), W_OK) != 0) fail(path, "cannot write", errno);
    return;
  }
  const AtomicFile attempt(path);
}

void remove_unfinished_files() noexcept {
  const int interrupted_errno = errno;
  for (auto& slot : slots) {
    int expected = ready;
    if (!slot.state.compare_exchange_strong(expected, removing)) continue;
    if (slot.owner == getpid()) unlink(slot.path);
    slot.state = removed;
  }
  errno = interrupted_errno;
}

}  // namespace tesela
