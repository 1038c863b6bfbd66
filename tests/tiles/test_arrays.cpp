#include "tests/support/files.hpp"
#include <tesela/tiles/io/arrays.hpp>

using namespace tesela;
using namespace tesela::test;
using Number = std::complex<double>;

namespace {

std::string header(const std::string& type, bool fortran, const std::string& shape) {
  return "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': (" + shape +
         "), }\n";
}

/// 2 x 3 x 2, in C order: value k is k + 100 k i.
std::vector<Number> cube() {
  std::vector<Number> values;
  for (int k = 0; k < 12; ++k) values.emplace_back(k, 100 * k);
  return values;
}

}  // namespace

TEST_CASE("complex arrays: both precisions, byte orders and orders of elements, up to three dimensions") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.npy";
  std::vector<Number> fortran(12);
  std::vector<std::complex<float>> single;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 2; ++k)
        fortran[static_cast<std::size_t>(i + 2 * j + 6 * k)] = cube()[static_cast<std::size_t>(6 * i + 2 * j + k)];
  for (const Number& x : cube()) single.emplace_back(x);
  std::string swapped = bytes_of(cube());
  for (std::size_t b = 0; b < swapped.size(); b += 8)
    std::reverse(swapped.begin() + long(b), swapped.begin() + long(b) + 8);
  for (const auto& [head, data] : {std::pair{header("<c16", false, "2, 3, 2"), bytes_of(cube())},
                                   {header("<c16", true, "2, 3, 2"), bytes_of(fortran)},
                                   {header("<c8", false, "2, 3, 2"), bytes_of(single)},
                                   {header(">c16", false, "2, 3, 2"), swapped}}) {
    put(path, npy(head, data));
    const auto read = read_complex_array<double>(path);
    CHECK(read.dims == std::vector<index_t>{2, 3, 2});
    CHECK(read.values == cube());
    CHECK(read_complex_array<float>(path).values == single);
  }
  put(path, npy(header("<f8", false, "2,"), bytes_of<double>({1, -2})));
  CHECK(read_complex_array<double>(path).values == std::vector<Number>{1, -2});
  put(path, npy(header("<c16", false, "0, 3"), ""));
  CHECK(read_complex_array<double>(path).values.empty());
}

TEST_CASE("arrays are read as they are written") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.npy";
  write_array(path, {2, 3, 2}, cube().data());
  CHECK(read_complex_array<double>(path).values == cube());
  const int whole[] = {3, -1, 2147483647, 0};
  write_array(path, {2, 2}, whole);
  const Array<int> read = read_whole_array(path);
  CHECK(read.dims == std::vector<index_t>{2, 2});
  CHECK(std::equal(read.values.begin(), read.values.end(), whole));
  write_array(path, {3}, whole);
  CHECK(read_whole_array(path).dims == std::vector<index_t>{3});
  put(path, npy(header("<i8", true, "2, 2"), bytes_of<std::int64_t>({1, 2, 3, 4})));
  CHECK(read_whole_array(path).values == std::vector<int>{1, 3, 2, 4});
  check_throws<FileError>("written as .npy", [&] { write_array(folder / "a.mtx", {4}, whole); });
}

TEST_CASE("arrays: what is refused") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.npy";
  const auto refused = [&](const std::string& why, const std::string& bytes) {
    put(path, bytes);
    check_throws<FileError>(why, [&] { read_complex_array<double>(path); });
  };
  std::vector<Number> bad = cube();
  bad[9] = {0, std::numeric_limits<double>::quiet_NaN()};
  refused("the value at [1, 1, 1] (from zero) is NaN", npy(header("<c16", false, "2, 3, 2"), bytes_of(bad)));
  refused("2 x 3 x 3 values of 16 bytes", npy(header("<c16", false, "2, 3, 3"), bytes_of(cube())));
  refused("'<i4' is not supported; save complex128", npy(header("<i4", false, "1,"), "1234"));
  refused("is no NumPy", "1 2 3");
  put(path, npy(header("<c16", false, "1,"), bytes_of<Number>({1e300})));
  check_throws<FileError>("too large for the precision", [&] { read_complex_array<float>(path); });
  check_throws<FileError>("save int32", [&] { read_whole_array(path); });
  put(path, npy(header("<i8", false, "1,"), bytes_of<std::int64_t>({std::int64_t{1} << 40})));
  check_throws<FileError>("[0] (from zero) is beyond 32 bits", [&] { read_whole_array(path); });
}
