#include "tests/support/files.hpp"
#include <tesela/tiles/io/arrays.hpp>

#include <cstdint>
#include <filesystem>

using namespace tesela::test;
using Number = std::complex<double>;

namespace {

std::string header(const std::string& type, bool fortran, const std::string& shape) {
  return "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': (" + shape +
         "), }\n";
}

/// Returns a 2 x 3 x 2 array in C order: value k is k + 100 k i.
std::vector<Number> cube() {
  std::vector<Number> values;
  for (int k = 0; k < 12; ++k) values.emplace_back(k, 100 * k);
  return values;
}

}  // namespace

TEST_CASE("complex arrays are read in both precisions, byte orders and element orders, up to three dimensions") {
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

TEST_CASE("arrays read back unchanged") {
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

TEST_CASE("arrays are read by rows and written in parts") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.npy";
  std::vector<Number> fortran(12);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) fortran[std::size_t(i + 3 * j)] = Number(i, j);
  for (const bool turned : {false, true}) {
    if (turned) {
      put(path, npy(header("<c16", true, "3, 4"), bytes_of(fortran)));
    } else {
      ArrayWriter<Number> file(path, {3, 4});
      for (int i = 0; i < 3; ++i) {
        CHECK(!std::filesystem::exists(path));
        std::vector<Number> row;
        for (int j = 0; j < 4; ++j) row.emplace_back(i, j);
        file.write(row.data(), 4);
      }
      file.commit();
    }
    const ArrayRows<Number> rows(path);
    CHECK(rows.dims() == std::vector<index_t>{3, 4});
    CHECK(rows.row_size() == 4);
    std::vector<Number> out(8);
    rows.read(1, 2, out.data());
    for (int e = 0; e < 8; ++e) CHECK(out[std::size_t(e)] == Number(1 + e / 4, e % 4));
  }
  const std::int8_t small[] = {-127, 5, 127};
  write_array(path, {3}, small);
  const std::string bytes = contents(path);
  CHECK(bytes.find("'|i1'") != std::string::npos);
  CHECK(bytes.substr(bytes.size() - 3) == std::string("\x81\x05\x7f"));
  write_array<int>(path, {0, 2}, nullptr);
  CHECK(ArrayRows<int>(path).dims() == std::vector<index_t>{0, 2});
}

TEST_CASE("complex Matrix Market files of SciPy and other programs are read") {
  const auto scipy = [](const std::string& name) { return TESELA_TEST_DATA "/scipy/" + name; };
  const auto general = read_complex_array<double>(scipy("bad_complex.mtx"));  // refused if a real matrix is expected
  CHECK(general.dims == std::vector<index_t>{4, 3});
  CHECK(general.values[1] == Number(12.125, 0));
  CHECK(general.values[11] == Number(43.125, 0));
  CHECK(read_complex_array<float>(scipy("array_general.mtx")).values[3].imag() == 0);
  const TemporaryFolder folder;
  const std::string path = folder / "a.mtx";
  const auto read = [&](const std::string& text) {
    put(path, "%%MatrixMarket matrix " + text);
    return read_complex_array<double>(path).values;
  };
  const std::vector<Number> square{{1, 0}, {3, 4}, {3, -4}, {2, 0}}, symmetric{{1, 5}, {3, -4}, {3, -4}, {2, 0}},
      skew{0, {-3, 4}, {3, -4}, 0};
  CHECK(read("array complex general\n2 2\n1 0\n3 -4\n3 4\n2 0\n") == square);
  CHECK(read("array complex hermitian\n2 2\n1 0\n3 -4\n2 0\n") == square);
  CHECK(read("coordinate complex Hermitian\n2 2 4\n2 1 1 -4\n1 1 1 0\n2 2 2 0\n2 1 2 0\n") == square);
  CHECK(read("array complex symmetric\n2 2\n1 5\n3 -4\n2 0\n") == symmetric);
  CHECK(read("coordinate complex skew-symmetric\n2 2 1\n2 1 3 -4\n") == skew);
  const auto refused = [&](const std::string& why, const std::string& text) {
    check_throws<FileError>(why, [&] { read(text); });
  };
  refused("line 3: ", "array complex general\n1 1\n1       \n");
  refused("has a real diagonal", "array complex hermitian\n1 1\n1 1\n");
  refused("only a complex matrix can be hermitian", "array real hermitian\n1 1\n1\n");
  refused("zero diagonal", "coordinate complex skew-symmetric\n1 1 1\n1 1 0 1\n");
  refused("sizes ask for 4", "array complex general\n2 2\n1 1\n1 1\n");
  refused("not finite", "coordinate complex general\n1 1 2\n1 1 0 1e308\n1 1 0 1e308\n");
}

TEST_CASE("invalid arrays are refused") {
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
  refused("'<M8' is not supported", npy(header("<M8", false, "1,"), "12345678"));
  refused("is neither a NumPy (.npy) nor a Matrix Market file", "1 2 3");
  put(path, npy(header("<c16", false, "1,"), bytes_of<Number>({1e300})));
  check_throws<FileError>("for the precision", [&] { read_complex_array<float>(path); });
  check_throws<FileError>("save int32", [&] { read_whole_array(path); });
  put(path, npy(header("<i8", false, "1,"), bytes_of<std::int64_t>({std::int64_t{1} << 40})));
  check_throws<FileError>("[0] (from zero) is beyond 32 bits", [&] { read_whole_array(path); });
}
