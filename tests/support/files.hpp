#pragma once

#include "tests/support/commands/temporary_folder.hpp"
#include <tesela/tiles/io/file_formats.hpp>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <unistd.h>

// A sanitizer's allocator must fail like the system's instead of ending the test.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

/// Shared by the tests of files.
namespace tesela::test {

inline void put(const std::string& path, const std::string& contents) {
  std::ofstream(path, std::ios::binary) << contents;
}

/// Writes a file and returns its path.
inline std::string file_in(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
  put(folder / name, text);
  return folder / name;
}

template <class T = double>
HostMatrix<T> parse(const std::string& bytes, std::uint64_t max_bytes = physical_memory()) {
  return read_matrix_bytes<T>(bytes, "name", max_bytes);
}

/// Returns the message of the Exception that f must throw.
template <class Exception>
std::string thrown_by(const std::function<void()>& f) {
  try {
    f();
  } catch (const Exception& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("thrown, but of another type: ") + error.what();
  }
  return "nothing was thrown";
}

template <class Exception>
void check_throws(const std::string& message, const std::function<void()>& f) {
  const std::string found = thrown_by<Exception>(f);
  CAPTURE(message, found);
  CHECK(found.find(message) != std::string::npos);
  CHECK(found.find("of another type") == std::string::npos);
}

/// Returns .npy bytes with this version, header and data.
inline std::string npy(const std::string& header, const std::string& data = "", char version = 1) {
  std::string length;
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) length += static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return std::string("\x93NUMPY") + version + '\0' + length + header + data;
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
void check_values(const HostMatrix<T>& matrix, Shape shape, double (*value)(index_t, index_t)) {
  REQUIRE(matrix.shape() == shape);
  for (index_t j = 0; j < shape.cols; ++j)
    for (index_t i = 0; i < shape.rows; ++i) {
      CAPTURE(i, j);
      CHECK(matrix(i, j) == static_cast<T>(value(i, j)));
    }
}

}  // namespace tesela::test
