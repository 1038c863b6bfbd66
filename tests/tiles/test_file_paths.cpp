#include "tests/support/files.hpp"
#include "tests/support/test.hpp"
#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/io/file_batch.hpp>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace fs = std::filesystem;
using namespace tesela::test;

namespace {

const double nan_value = std::numeric_limits<double>::quiet_NaN();
const double inf_value = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("paths that cannot be read are refused with the reason", "[files]") {
  const TemporaryFolder folder;
  const auto check = [](const std::string& path, const std::string& message) {
    CAPTURE(path);
    check_throws<FileError>(path + ": " + message, [&] { read_matrix<double>(path); });
    check_throws<FileError>(path + ": " + message, [&] { probe_matrix(path); });
  };
  check("", "cannot read: No such file or directory");
  check(folder / "missing", "cannot read: No such file or directory");
  check(folder.path(), "cannot read: is a directory");
  check("/dev/null", "cannot read: is not a regular file or a pipe");
  check("/dev/zero", "cannot read: is not a regular file or a pipe");
  put(folder / "empty", "");
  check(folder / "empty", "is empty");
  put(folder / "text.npy", "words\n");
  check(folder / "text.npy", "is neither a Matrix Market (%%MatrixMarket) nor a NumPy (.npy) file");
  put(folder / "named_wrongly.npy", "%%MatrixMarket matrix array real general\n1 1\n7\n");
  CHECK(read_matrix<double>(folder / "named_wrongly.npy")(0, 0) == 7);
}

TEST_CASE("a pipe is read to its end at any pace of the writer", "[files]") {
  const TemporaryFolder folder;
  const std::string fifo = folder / "fifo";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  auto matrix = HostMatrix<double>::zeros(300, 1000);  // more than a pipe's capacity
  for (index_t k = 0; k < matrix.size(); ++k) matrix.data()[k] = static_cast<double>(k);
  for (const char* name : {"a.npy", "a.mtx"}) {
    write_matrix(folder / name, matrix);
    const std::string bytes = contents(folder / name);
    const auto feed = [&](const std::string& path) {
      const int out = open(path.c_str(), O_WRONLY);
      for (std::size_t at = 0; at < bytes.size();) {
        const ssize_t written = write(out, bytes.data() + at, std::min<std::size_t>(bytes.size() - at, 100000));
        if (written > 0) at += static_cast<std::size_t>(written);
      }
      close(out);
    };
    for (int round = 0; round < 2; ++round) {  // read_matrix does not cache the contents of a pipe
      std::thread writer(feed, fifo);
      const auto read = read_matrix<double>(fifo);
      writer.join();
      CHECK(read.shape() == matrix.shape());
      CHECK(std::memcmp(read.data(), matrix.data(), static_cast<std::size_t>(matrix.size()) * sizeof(double)) == 0);
    }
  }
  std::thread closing([&] { close(open(fifo.c_str(), O_WRONLY)); });
  check_throws<FileError>("is empty", [&] { read_matrix<double>(fifo); });
  closing.join();
}

TEST_CASE("files of a batch are renamed together or not at all", "[files]") {
  const TemporaryFolder folder;
  const auto one = HostMatrix<double>::zeros(1, 1);
  put(folder / "a.mtx", "old");
  {
    FileBatch batch;
    write_matrix(folder / "a.mtx", one);
    write_matrix(folder / "b.mtx", one);
    CHECK(contents(folder / "a.mtx") == "old");
    CHECK_FALSE(fs::exists(folder / "b.mtx"));
    CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 3);
  }
  CHECK(folder.listing() == "a.mtx ");
  CHECK(contents(folder / "a.mtx") == "old");
  {
    FileBatch batch;
    write_matrix(folder / "a.mtx", one);
    batch.discard();
    write_matrix(folder / "b.mtx", one);
    {
      FileBatch inner;
      write_matrix(folder / "c.mtx", one);
      inner.publish();
      CHECK(folder.listing().find("c.mtx ") != std::string::npos);
    }
    std::thread([&] { write_matrix(folder / "d.mtx", one); }).join();  // a batch applies to one thread
    CHECK(fs::exists(folder / "d.mtx"));
    batch.publish();
    CHECK(folder.listing() == "a.mtx b.mtx c.mtx d.mtx ");
  }
  CHECK(contents(folder / "a.mtx") == "old");
  CHECK(read_matrix<double>(folder / "b.mtx").shape() == Shape{1, 1});
  {
    FileBatch batch;
    write_matrix(folder / "a.mtx", one);
    remove_unfinished_files();  // as after Ctrl-C
    CHECK(folder.listing() == "a.mtx b.mtx c.mtx d.mtx ");
  }
  CHECK(contents(folder / "a.mtx") == "old");
}

TEST_CASE("a file without read permission, and a folder and a file without write permission are refused", "[files]") {
  if (geteuid() == 0) SKIP("root may read and write everything");
  const TemporaryFolder folder;
  put(folder / "a.mtx", "%%MatrixMarket matrix array real general\n0 0\n");
  const auto none = HostMatrix<double>(0, 0);
  fs::permissions(folder / "a.mtx", fs::perms::none);
  check_throws<FileError>("cannot read: Permission denied", [&] { read_matrix<double>(folder / "a.mtx"); });
  fs::permissions(folder / "a.mtx", fs::perms::owner_read);
  check_throws<FileError>("cannot write: Permission denied", [&] { require_writable(folder / "a.mtx"); });
  check_throws<FileError>("cannot write: Permission denied", [&] { write_matrix(folder / "a.mtx", none); });
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  check_throws<FileError>("cannot create: Permission denied", [&] { require_writable(folder / "b.mtx"); });
  check_throws<FileError>("cannot create: Permission denied", [&] { write_matrix(folder / "b.mtx", none); });
}

TEST_CASE("paths that cannot be written are refused before and during the write", "[files]") {
  const TemporaryFolder folder;
  const auto one = HostMatrix<double>::zeros(1, 1);
  put(folder / "file", "");
  for (const auto& [path, message] : std::vector<std::pair<std::string, std::string>>{
           {"", ": cannot write: names no file"},
           {folder / "missing/a.mtx", "cannot create: No such file or directory"},
           {folder / "missing/", "cannot write: names no file"},
           {folder / "file/a.mtx", "cannot write: Not a directory"},
           {folder.path(), "cannot write: is a directory"},
           {folder / "a.xls", "cannot write: '.xls' is not a format to write; use .mtx, .npy, .csv or .txt"},
           {folder / "a.npz", "cannot write: '.npz' is not a format"},
           {folder / (std::string(250, 'a') + ".mtx"), "cannot create: File name too long"},
           {folder / (std::string(300, 'a') + ".mtx"), "cannot write: File name too long"}}) {
    CAPTURE(path);
    check_throws<FileError>(path + ": " + (path.empty() ? "cannot" : message),
                            [&path = path] { require_writable(path); });
    check_throws<FileError>(message, [&path = path, &one] { write_matrix(path, one); });
  }
  CHECK(folder.listing() == "file ");
  put(folder / "kept.mtx", "old");
  require_writable(folder / "kept.mtx");
  require_writable(folder / "new.npy");
  CHECK(contents(folder / "kept.mtx") == "old");
  CHECK(folder.listing() == "file kept.mtx ");
  require_writable("/dev/null");
  REQUIRE(mkfifo((folder / "fifo").c_str(), 0600) == 0);
  require_writable(folder / "fifo");  // does not wait for a reader
}

TEST_CASE("wrong arguments of write_matrix leave the old file unchanged", "[files]") {
  const TemporaryFolder folder;
  const auto path = folder / "a.mtx";
  put(path, "old");
  std::vector<double> values(6, 1);
  const auto write = [&](Shape shape, index_t ld) { write_matrix(path, values.data(), shape, ld); };
  check_throws<ArgumentError>("write_matrix: shape: -1 x 2 is negative", [&] { write({-1, 2}, 3); });
  check_throws<ArgumentError>("write_matrix: shape: 2 x -1 is negative", [&] { write({2, -1}, 3); });
  check_throws<ArgumentError>("write_matrix: ld: 2 is less than", [&] { write({3, 2}, 2); });
  check_throws<ArgumentError>("write_matrix: ld: 0 is less than", [&] { write({0, 2}, 0); });
  check_throws<ArgumentError>("write_matrix: data: is null", [&] { write_matrix<double>(path, nullptr, {1, 1}, 1); });
  values[4] = nan_value;
  check_throws<ArgumentError>("write_matrix: data: the value at [1, 1] (from zero) is NaN", [&] { write({3, 2}, 3); });
  values[4] = -inf_value;
  check_throws<ArgumentError>("the value at [1, 1] (from zero) is infinite", [&] { write({3, 2}, 3); });
  CHECK(contents(path) == "old");
  CHECK(folder.listing() == "a.mtx ");
}

TEST_CASE("a full disk is an EnvironmentError and leaves no file", "[files]") {
  const auto big = HostMatrix<double>::zeros(1 << 10, 300);  // 2.4 MB as .npy, 0.6 MB as text
  if (fs::exists("/dev/full")) {
    check_throws<EnvironmentError>("/dev/full: cannot write: No space left on device",
                                   [&] { write_matrix("/dev/full", big); });
    CHECK(fs::is_character_file("/dev/full"));
  }
  const TemporaryFolder folder;
  put(folder / "a.npy", "old");
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{4096, before.rlim_max};
  for (const std::string name : {"a.npy", "a.mtx"}) {
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    const auto message = thrown_by<EnvironmentError>([&] { write_matrix(folder / name, big); });
    REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(message.find((folder / name) + ": cannot write: File too large") == 0);
  }
  CHECK(folder.listing() == "a.npy ");
  CHECK(contents(folder / "a.npy") == "old");
}

TEST_CASE("writing follows symbolic links, keeps permissions and writes to special files", "[files]") {
  const TemporaryFolder folder;
  const auto one = HostMatrix<double>::zeros(1, 1);
  put(folder / "target.mtx", "old");
  fs::permissions(folder / "target.mtx", fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  fs::create_symlink("target.mtx", folder / "link.mtx");
  write_matrix(folder / "link.mtx", one);
  CHECK(fs::is_symlink(folder / "link.mtx"));
  CHECK(read_matrix<double>(folder / "target.mtx").shape() == Shape{1, 1});
  CHECK(fs::status(folder / "target.mtx").permissions() ==
        (fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read));
  CHECK(folder.listing() == "link.mtx target.mtx ");

  REQUIRE(mkfifo((folder / "fifo").c_str(), 0600) == 0);
  const int reader = open((folder / "fifo").c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  write_matrix(folder / "fifo", one);
  char text[200];
  const auto length = read(reader, text, sizeof text);
  close(reader);
  REQUIRE(length > 0);
  CHECK(std::string(text, static_cast<std::size_t>(length)) == "%%MatrixMarket matrix array real general\n1 1\n0\n");
  CHECK(fs::is_fifo(folder / "fifo"));
}

TEST_CASE("a symbolic link is followed to a file that does not exist yet", "[files]") {
  const TemporaryFolder folder;
  const auto one = HostMatrix<double>::zeros(1, 1);
  fs::create_directories(folder / "a/b");
  fs::create_directory_symlink("a/b", folder / "into");
  fs::create_symlink("../x.npy", folder / "a/b/first.npy");         // a/x.npy
  fs::create_symlink("into/first.npy", folder / "second.npy");      // through a linked folder
  fs::create_symlink(folder / "second.npy", folder / "third.npy");  // an absolute target
  for (int round = 0; round < 2; ++round) {                         // dangling first, then valid
    require_writable(folder / "third.npy");
    CHECK(fs::exists(folder / "a/x.npy") == (round == 1));
    write_matrix(folder / "third.npy", one);
    CHECK(fs::is_regular_file(fs::symlink_status(folder / "a/x.npy")));
    for (const char* link : {"third.npy", "second.npy", "a/b/first.npy"}) CHECK(fs::is_symlink(folder / link));
    CHECK(folder.listing() == "a into second.npy third.npy ");
    CHECK(std::distance(fs::directory_iterator(folder / "a"), {}) == 2);
  }
  CHECK(destination_file(folder / "third.npy") == (folder / "into/../x.npy"));
  CHECK(destination_file("/dev/null") == std::nullopt);
  CHECK(destination_file("/dev/stdout") == std::nullopt);
  fs::create_symlink("/dev/null", folder / "null.npy");
  write_matrix(folder / "null.npy", one);
  CHECK(fs::is_symlink(folder / "null.npy"));
  CHECK(fs::is_character_file("/dev/null"));

  fs::create_symlink("missing/x.npy", folder / "nowhere.npy");
  check_throws<FileError>("nowhere.npy: cannot create: No such file or directory",
                          [&] { require_writable(folder / "nowhere.npy"); });
  fs::create_symlink("missing/", folder / "folder.npy");
  check_throws<FileError>("folder.npy: cannot write: names no file", [&] { require_writable(folder / "folder.npy"); });
  fs::create_symlink("circle.npy", folder / "circle.npy");
  check_throws<FileError>("circle.npy: cannot write: Too many levels",
                          [&] { require_writable(folder / "circle.npy"); });
}

TEST_CASE("an AtomicFile gets its name only when it is complete", "[files]") {
  const TemporaryFolder folder;
  {
    AtomicFile file(folder / "report.json");
    file.write("half");
    CHECK(folder.listing().find("report.json.tmp." + std::to_string(getpid())) == 0);
  }
  CHECK(folder.listing().empty());
  AtomicFile file(folder / "report.json");
  file.write("{}");
  file.commit();
  CHECK(folder.listing() == "report.json ");
  CHECK(contents(folder / "report.json") == "{}");

  const std::string large(3 << 20, 'x');
  AtomicFile mixed(folder / "mixed");
  mixed.write("a");
  mixed.write(large);
  mixed.write("b");
  mixed.commit();
  CHECK(contents(folder / "mixed") == "a" + large + "b");
}

TEST_CASE("remove_unfinished_files removes the unfinished files of this process only", "[files]") {
  const TemporaryFolder folder;
  put(folder / "a.mtx", "old");
  {
    AtomicFile first(folder / "a.mtx");
    AtomicFile second(folder / "b.mtx");
    const pid_t child = fork();
    if (child == 0) {
      remove_unfinished_files();  // a child must not remove files of its parent
      _exit(0);
    }
    REQUIRE(waitpid(child, nullptr, 0) == child);
    CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 3);
    remove_unfinished_files();
    CHECK(folder.listing() == "a.mtx ");
    first.write("new");
    check_throws<FileError>("cannot rename", [&] { first.commit(); });
  }
  CHECK(contents(folder / "a.mtx") == "old");
  for (int round = 0; round < 3; ++round) {  // more than the registry holds; its slots are reused
    std::vector<std::unique_ptr<AtomicFile>> files;
    files.reserve(20);
    for (int i = 0; i < 20; ++i) files.push_back(std::make_unique<AtomicFile>(folder / std::to_string(i)));
    remove_unfinished_files();
    CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1 + 20 - 16);
  }
  CHECK(folder.listing() == "a.mtx ");
}

TEST_CASE("Ctrl-C during a write leaves the folder unchanged", "[files]") {
  const TemporaryFolder folder;
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGINT, [](int) {
      remove_unfinished_files();
      _exit(9);
    });
    AtomicFile file(folder / "a.npy");
    file.write(std::string(2 << 20, 'x'));
    if (write(ready[1], "x", 1) != 1) _exit(1);
    for (;;) pause();
  }
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  CHECK_FALSE(folder.listing().empty());
  REQUIRE(kill(child, SIGINT) == 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 9);
  CHECK(folder.listing().empty());
  close(ready[0]);
  close(ready[1]);
}
