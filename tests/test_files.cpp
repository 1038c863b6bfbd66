#include "runtime/errors.hpp"
#include "tests/machine.hpp"
#include "tiles/file_formats.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

// A sanitizer's allocator must fail as the system's does, not end the test.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

namespace fs = std::filesystem;
using namespace tesela;
using namespace std::string_literals;

namespace {

const std::string data_folder = tesela::test::data_directory();
const double nan_value = std::numeric_limits<double>::quiet_NaN();
const double inf_value = std::numeric_limits<double>::infinity();

/// A new folder that goes away with all it holds.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "tesela-files-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::permissions(path_, fs::perms::owner_all, ignored);
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }
  /// The names in it, sorted, each followed by a blank.
  std::string listing() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path_)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    std::string all;
    for (const auto& name : names) all += name + ' ';
    return all;
  }

 private:
  fs::path path_;
};

void put(const std::string& path, const std::string& contents) { std::ofstream(path, std::ios::binary) << contents; }

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class T = double>
HostMatrix<T> parse(const std::string& bytes, std::uint64_t max_bytes = physical_memory()) {
  return read_matrix_bytes<T>(bytes, "name", max_bytes);
}

/// The message of the Exception that f must throw.
template <class Exception>
std::string thrown_by(const std::function<void()>& f) {
  try {
    f();
  } catch (const Exception& error) {
    return error.what();
  } catch (const std::exception& error) {
    return "thrown, but of another type: "s + error.what();
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

/// .npy bytes of any version, with any header and data.
std::string npy(const std::string& header, const std::string& data = "", char version = 1) {
  std::string length;
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) length += static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return "\x93NUMPY"s + version + '\0' + length + header + data;
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// What make_reference_files.py writes.
double general(index_t i, index_t j) { return static_cast<double>((i + 1) * 10 + (j + 1)) + 0.125; }
double symmetric(index_t i, index_t j) { return static_cast<double>(std::min(i, j) * 10 + std::max(i, j)) + 0.125; }
double skew(index_t i, index_t j) { return static_cast<double>(i - j) * (static_cast<double>(i + j) + 0.125); }
double sparse(index_t i, index_t j) { return (i + j) % 2 == 0 ? general(i, j) : 0; }
double integral(index_t i, index_t j) { return std::trunc(general(i, j)); }
double sparse_integral(index_t i, index_t j) { return std::trunc(sparse(i, j)); }
double sparse_pattern(index_t i, index_t j) { return sparse(i, j) != 0 ? 1 : 0; }

template <class T>
void check_values(const HostMatrix<T>& matrix, Shape shape, double (*value)(index_t, index_t)) {
  REQUIRE(matrix.shape() == shape);
  for (index_t j = 0; j < shape.cols; ++j)
    for (index_t i = 0; i < shape.rows; ++i) {
      CAPTURE(i, j);
      CHECK(matrix(i, j) == static_cast<T>(value(i, j)));
    }
}

}  // namespace

TEST_CASE("HostMatrix owns a column-major matrix", "[files]") {
  HostMatrix<double> a(3, 2);
  for (index_t j = 0; j < 2; ++j)
    for (index_t i = 0; i < 3; ++i) a(i, j) = general(i, j);
  CHECK(a.ld() == 3);
  CHECK(a.size() == 6);
  CHECK(a.data()[4] == general(1, 1));

  auto copy = a.clone();
  copy(0, 0) = -1;
  check_values(a, {3, 2}, general);

  HostMatrix<double> b(std::move(a));
  check_values(b, {3, 2}, general);
  CHECK(a.shape() == Shape{0, 0});  // NOLINT(bugprone-use-after-move): that is what is tested
  a = std::move(b);
  check_values(a, {3, 2}, general);
  CHECK(b.size() == 0);  // NOLINT(bugprone-use-after-move)

  check_values(HostMatrix<float>::zeros(5, 7), {5, 7}, [](index_t, index_t) { return 0.0; });
  for (const Shape shape : {Shape{0, 0}, Shape{0, 3}, Shape{3, 0}, Shape{0, 1'000'000'000'000'000'000}}) {
    const HostMatrix<float> empty(shape.rows, shape.cols);
    CHECK(empty.shape() == shape);
    CHECK(empty.ld() == std::max<index_t>(shape.rows, 1));
    CHECK(empty.clone().shape() == shape);
  }

  const index_t huge = 1'000'000'000'000'000'000;
  check_throws<ArgumentError>("HostMatrix: shape: -1 x 3 is negative", [] { HostMatrix<float>(-1, 3); });
  check_throws<ArgumentError>("HostMatrix: shape: 3 x -1 is negative", [] { HostMatrix<float>(3, -1); });
  check_throws<ArgumentError>("does not fit the address space", [=] { HostMatrix<float>(huge, huge); });
  check_throws<ArgumentError>("does not fit the address space", [=] { HostMatrix<double>(huge, 2); });
  check_throws<ArgumentError>("does not fit the address space",
                              [] { HostMatrix<float>::zeros(index_t{1} << 32, index_t{1} << 32); });
  check_throws<EnvironmentError>("no memory for 100000000 x 1000000000",
                                 [] { HostMatrix<double>(100'000'000, 1'000'000'000); });
}

TEMPLATE_TEST_CASE("files that SciPy wrote", "[files]", float, double) {
  struct Case {
    const char* name;
    MatrixFileFormat format;
    Shape shape;
    double (*value)(index_t, index_t);
  };
  const auto array = MatrixFileFormat::matrix_market_array;
  const auto coordinate = MatrixFileFormat::matrix_market_coordinate;
  for (const Case& c : {Case{"array_general", array, {4, 3}, general},
                        {"array_symmetric", array, {4, 4}, symmetric},
                        {"array_skew", array, {4, 4}, skew},
                        {"array_integer", array, {4, 3}, integral},
                        {"array_unsigned", array, {4, 3}, integral},
                        {"coordinate_general", coordinate, {4, 3}, sparse},
                        {"coordinate_symmetric", coordinate, {4, 4}, symmetric},
                        {"coordinate_skew", coordinate, {4, 4}, skew},
                        {"coordinate_integer", coordinate, {4, 3}, sparse_integral},
                        {"coordinate_pattern", coordinate, {4, 3}, sparse_pattern}}) {
    CAPTURE(c.name);
    const auto path = data_folder + "/scipy/" + c.name + ".mtx";
    check_values(read_matrix<TestType>(path), c.shape, c.value);
    const auto info = probe_matrix(path);
    CHECK(info.format == c.format);
    CHECK(info.shape == c.shape);
    CHECK(info.precision == FilePrecision::text);
  }
  for (const auto& [name, message] : {std::pair{"bad_complex", "line 1: complex matrices are not supported"},
                                      {"bad_hermitian", "line 1: complex matrices are not supported"}}) {
    const auto path = data_folder + "/scipy/" + name + ".mtx";
    check_throws<FileError>(path + ": " + message, [&] { read_matrix<TestType>(path); });
  }
}

TEMPLATE_TEST_CASE("files that NumPy wrote", "[files]", float, double) {
  struct Case {
    std::string name;
    Shape shape;
    FilePrecision precision;
  };
  const auto one = FilePrecision::single_precision;
  const auto two = FilePrecision::double_precision;
  std::vector<Case> cases = {{"version_2", {4, 3}, two},
                             {"version_3", {4, 3}, two},
                             {"vector", {4, 1}, two},
                             {"scalar", {1, 1}, two},
                             {"empty", {0, 3}, two}};
  for (const std::string order : {"C", "F"})
    for (const std::string where : {"little", "big"}) {
      const auto name = std::string(order).append("_").append(where);
      cases.push_back({name + "_f4", {4, 3}, one});
      cases.push_back({name + "_f8", {4, 3}, two});
    }
  for (const auto& c : cases) {
    CAPTURE(c.name);
    const auto path = data_folder + "/numpy/" + c.name + ".npy";
    check_values(read_matrix<TestType>(path), c.shape, general);
    const auto info = probe_matrix(path);
    CHECK(info.format == MatrixFileFormat::npy);
    CHECK(info.shape == c.shape);
    CHECK(info.precision == c.precision);
  }
  for (const auto& [name, message] : {std::pair{"bad_int64", "type '<i8' is not supported"},
                                      {"bad_bool", "type '|b1' is not supported"},
                                      {"bad_complex", "type '<c16' is not supported"},
                                      {"bad_half", "type '<f2' is not supported"},
                                      {"bad_structured", "structured types are not supported"},
                                      {"bad_3d", "the array has 3 dimensions"},
                                      {"bad_nan", "the value at [2, 1] (from zero) is NaN"}}) {
    const auto path = data_folder + "/numpy/" + name + ".npy";
    check_throws<FileError>(path + ": ", [&] { read_matrix<TestType>(path); });
    check_throws<FileError>(message, [&] { read_matrix<TestType>(path); });
  }
}

TEST_CASE("Matrix Market text as people write it", "[files]") {
  struct Case {
    std::string text;
    Shape shape;
    std::vector<double> values;  // column by column
  };
  const std::string array = "%%MatrixMarket matrix array real general\n";
  const std::string coordinate = "%%MatrixMarket matrix coordinate real general\n";
  const std::vector<Case> cases = {
      {"%%matrixmarket MATRIX Array REAL General\n2 1\n1\n2\n", {2, 1}, {1, 2}},
      {"%%MatrixMarket  matrix\tarray double general  \r\n%c\r\n\r\n2 1\r\n1\r\n2\r\n", {2, 1}, {1, 2}},
      {array + "%\n% comment 1 2 3\n\n  %indented\n 2\t2 \n\n1 \n  2\n% in between\n3\t\n\n4\n\n% after\n\n",
       {2, 2},
       {1, 2, 3, 4}},
      {array + "2 1\n1\n2", {2, 1}, {1, 2}},
      {array + "+2 +1\n+1.5e+1\n-.5\n", {2, 1}, {15, -0.5}},
      {array + "3 1\n1e-400\n-0.0000000001e-400\n4.9e-324\n", {3, 1}, {0, -0.0, 4.9e-324}},
      {array + "2 1\n0.1000000000000000055511151231257827021181583404541015625\n1.7976931348623157e308\n",
       {2, 1},
       {0.1, std::numeric_limits<double>::max()}},
      {array + "1 1\n0." + std::string(400, '0') + "25e401\n", {1, 1}, {2.5}},
      {array + "1 1\n0." + std::string(400, '0') + "1e50\n", {1, 1}, {0}},
      {array + "0 0\n", {0, 0}, {}},
      {array + "0 3", {0, 3}, {}},
      {array + "1000000000000000000 0\n", {1'000'000'000'000'000'000, 0}, {}},
      {array + "0 1000000000000000000\n", {0, 1'000'000'000'000'000'000}, {}},
      {"%%MatrixMarket matrix array integer general\n2 1\n-7\n123456789012345678901234567890\n",
       {2, 1},
       {-7, 123456789012345678901234567890.0}},
      {"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n", {2, 2}, {1, 2, 2, 3}},
      {"%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n", {3, 3}, {0, 1, 2, -1, 0, 3, -2, -3, 0}},
      {"%%MatrixMarket matrix array real skew-symmetric\n1 1\n", {1, 1}, {0}},
      {"%%MatrixMarket matrix array real skew-symmetric\n0 0\n", {0, 0}, {}},
      {coordinate + "2 2 0\n", {2, 2}, {0, 0, 0, 0}},
      {coordinate + "2 2 2\n2 1 5\n1 2 6", {2, 2}, {0, 5, 6, 0}},
      {coordinate + "2 1 3\n2 1 5\n1 1 1\n2 1 0.5\n", {2, 1}, {1, 5.5}},
      {"%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n2 2", {2, 2}, {1, 0, 0, 1}},
      {"%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n", {2, 2}, {0, 1, 1, 0}},
      {"%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n2 1 5\n2 2 1\n2 1 1\n", {2, 2}, {0, 6, 6, 1}},
      {"%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 2\n2 1 5\n1 1 0\n", {2, 2}, {0, 5, -5, 0}},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    const auto matrix = parse(c.text);
    REQUIRE(matrix.shape() == c.shape);
    CHECK(probe_matrix_bytes(c.text, "name").shape == c.shape);
    for (std::size_t k = 0; k < c.values.size(); ++k) {
      CAPTURE(k);
      CHECK(std::bit_cast<std::uint64_t>(matrix.data()[k]) == std::bit_cast<std::uint64_t>(c.values[k]));
    }
  }
}

TEST_CASE("malformed Matrix Market text is refused with its line", "[files]") {
  const std::string array = "%%MatrixMarket matrix array real general\n";
  const std::string coordinate = "%%MatrixMarket matrix coordinate real general\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "name: is neither a Matrix Market"},
      {"%%MatrixMarke", "name: is neither a Matrix Market"},
      {"1 2\n3 4\n", "name: is neither a Matrix Market"},
      {"%%MatrixMarket", "name: line 1: expected 'matrix' after %%MatrixMarket, found ''"},
      {"%%MatrixMarkets matrix array real general\n0 0\n", "line 1: expected %%MatrixMarket, found '%%MatrixMarkets'"},
      {"%%MatrixMarket vector array real general\n", "line 1: expected 'matrix' after %%MatrixMarket, found 'vector'"},
      {"%%MatrixMarket matrix dense real general\n",
       "line 1: expected the format 'array' or 'coordinate', found 'dense'"},
      {"%%MatrixMarket matrix array float general\n",
       "line 1: expected the field 'real', 'integer' or 'pattern', found 'float'"},
      {"%%MatrixMarket matrix array complex general\n1 1\n1 0\n", "line 1: complex matrices are not supported"},
      {"%%MatrixMarket matrix array real hermitian\n1 1\n1\n", "line 1: hermitian matrices are not supported"},
      {"%%MatrixMarket matrix array real diagonal\n", "found 'diagonal'"},
      {"%%MatrixMarket matrix array real " + std::string(100, 'x') + "\n", "found '" + std::string(32, 'x') + "'"},
      {"%%MatrixMarket matrix array real\n1 1\n1\n", "line 1: expected the symmetry"},
      {"%%MatrixMarket matrix array real general extra\n1 1\n1\n", "line 1: unexpected 'extra' after the symmetry"},
      {"%%MatrixMarket matrix array pattern general\n1 1\n", "line 1: an array cannot be a pattern"},
      {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n",
       "line 1: a pattern cannot be skew-symmetric"},
      {"%%MatrixMarket matrix array real general\r1 1\r1\r", "line 1: unexpected '1' after the symmetry"},
      {array, "line 2: the file ends before the line with the sizes"},
      {array + "% comment\n\n", "line 4: the file ends before the line with the sizes"},
      {array + "3\n", "line 2: the number of columns is missing"},
      {array + "3 x\n", "line 2: the number of columns is not a whole number: 'x'"},
      {array + "3.0 1\n", "line 2: the number of rows is not a whole number: '3.0'"},
      {array + "1 1 1\n1\n", "line 2: unexpected '1' after the sizes"},
      {array + "-1 2\n", "line 2: a size is negative"},
      {array + "2 -2\n", "line 2: a size is negative"},
      {array + "99999999999999999999 1\n", "line 2: the number of rows is too large: '99999999999999999999'"},
      {array + "1000000000000000000 1000000000000000000\n1\n",
       "line 2: the sizes ask for 18446744073709551615 entries, but only 3 bytes follow"},
      {array + "1000000 1000000\n1\n2\n", "line 2: the sizes ask for 1000000000000 entries, but only 5 bytes follow"},
      {array + "2 2\n1\n2\n3\n", "line 2: the sizes ask for 4 entries, but only 7 bytes follow"},
      {array + "2 2\n10\n20\n30\n", "line 6: the file ends after 3 of 4 entries"},
      {array + "2 1\n1\n2\n3\n", "line 5: the file goes on after all 2 entries"},
      {array + "0 5\n\n7\n", "line 4: the file goes on after all 0 entries"},
      {array + "2 1\n1 2\n3\n", "line 3: unexpected '2' after the entry"},
      {array + "2 1\n1\n2.5abc\n", "line 4: the value is not a number: '2.5abc'"},
      {array + "2 1\n1\n1,5\n", "line 4: the value is not a number: '1,5'"},
      {array + "2 1\n1\n0x1p3\n", "line 4: the value is not a number: '0x1p3'"},
      {array + "2 1\n1\n1.0D+00\n", "line 4: the value is not a number: '1.0D+00'"},
      {array + "2 1\n1\n+-1\n", "line 4: the value is not a number: '+-1'"},
      {array + "2 1\n1\nq\x01\xff\n", "line 4: the value is not a number: 'q\?\?'"},
      {array + "2 1\n1\n" + std::string(99, 'z') + "\n", "not a number: '" + std::string(40, 'z') + "...'"},
      {array + "% one\n\n2 1\nnan\n2\n", "line 5: the value is not finite: 'nan'"},
      {array + "2 1\n1\n-Infinity\n", "line 4: the value is not finite: '-Infinity'"},
      {array + "2 1\n1\n1e309\n", "line 4: the value does not fit double precision: '1e309'"},
      {array + "2 1\n1\n-1e99999999999999999999\n", "line 4: the value does not fit double precision"},
      {array + "1 1\n1" + std::string(400, '0') + "e-50\n", "line 3: the value does not fit double precision"},
      {array + "2 1\r\n1\r\nnan\r\n", "line 4: the value is not finite: 'nan'"},
      {"%%MatrixMarket matrix array integer general\n1 1\n1.0\n", "line 3: the value is not an integer: '1.0'"},
      {"%%MatrixMarket matrix array integer general\n1 1\n1e3\n", "line 3: the value is not an integer: '1e3'"},
      {"%%MatrixMarket matrix array real symmetric\n2 3\n1\n2\n3\n",
       "line 2: a symmetric matrix must be square, not 2 x 3"},
      {"%%MatrixMarket matrix array real skew-symmetric\n2 3\n1\n2\n3\n", "must be square, not 2 x 3"},
      {"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n4\n", "line 6: the file goes on after all 3 entries"},
      {"%%MatrixMarket matrix array real symmetric\n4000000000 4000000000\n1\n",
       "line 2: the sizes ask for 8000000002000000000 entries"},
      {"%%MatrixMarket matrix array real symmetric\n9223372036854775807 9223372036854775807\n1\n",
       "line 2: the sizes ask for"},
      {"%%MatrixMarket matrix array real skew-symmetric\n2 2\n0\n1\n0\n",
       "line 4: the file goes on after all 1 entries"},
      {coordinate + "2 2\n", "line 2: the number of entries is missing"},
      {coordinate + "2 2 -1\n", "line 2: a size is negative"},
      {coordinate + "2 2 1000000000000\n1 1 1\n",
       "line 2: the sizes ask for 1000000000000 entries, but only 7 bytes follow"},
      {coordinate + "2 2 9223372036854775807\n1 1 1\n", "line 2: the sizes ask for 9223372036854775807 entries"},
      {coordinate + "2 2 1\n3 1 5\n", "line 3: the row is 3, outside 1 to 2"},
      {coordinate + "2 2 1\n0 1 5\n", "line 3: the row is 0, outside 1 to 2"},
      {coordinate + "2 2 1\n1 -1 5\n", "line 3: the column is -1, outside 1 to 2"},
      {coordinate + "2 2 1\n1 3 5\n", "line 3: the column is 3, outside 1 to 2"},
      {coordinate + "2 2 1\n99999999999999999999 1 5\n", "line 3: the row is too large"},
      {coordinate + "0 0 1\n1 1 1\n", "line 3: the row is 1, outside 1 to 0"},
      {coordinate + "2 2 1\n1 1     \n", "line 3: the value is missing"},
      {coordinate + "2 2 1\n1       \n", "line 3: the column is missing"},
      {coordinate + "2 2 1\n1 1 1 7\n", "line 3: unexpected '7' after the entry"},
      {coordinate + "2 2 1\n1.0 1 1\n", "line 3: the row is not a whole number: '1.0'"},
      {coordinate + "2 2 2\n1 1 1000000\n", "line 4: the file ends after 1 of 2 entries"},
      {coordinate + "2 2 1\n1 1 1\n1 2 1\n", "line 4: the file goes on after all 1 entries"},
      {coordinate + "2 2 2\n1 1 1e308\n1 1 1e308\n",
       "line 4: the sum of the values given for this place is not finite"},
      {coordinate + "2 2 1\n1 1 inf\n", "line 3: the value is not finite: 'inf'"},
      {"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 1\n", "line 3: unexpected '1' after the entry"},
      {"%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n", "line 3: an entry above the diagonal"},
      {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 1\n",
       "line 3: a skew-symmetric matrix has a zero diagonal"},
      {"%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n",
       "line 2: a symmetric matrix must be square, not 2 x 3"},
  };
  for (const auto& [text, message] : cases) {
    CAPTURE(text);
    check_throws<FileError>(message, [&text = text] { parse(text); });
  }
  check_throws<FileError>("name: line 4: the value does not fit single precision: '1e39'",
                          [&] { parse<float>(array + "2 1\n1e-50\n1e39\n"); });
  check_throws<FileError>("line 5: the sum", [&] { parse<float>(coordinate + "1 1 3\n1 1 3e38\n1 1 1\n1 1 3e38\n"); });
}

TEST_CASE("headers that a .npy file may have", "[files]") {
  const auto values = bytes_of<double>({1, 2, 3, 4, 5, 6});
  for (const std::string header : {"{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }",
                                   "{'shape':(2,3),'fortran_order':True,'descr':'<f8'}",
                                   " { \"fortran_order\" : True ,\n\"descr\" :\"<f8\" , \"shape\" : ( 2 , 3 , ) , } \n",
                                   "{'descr': '<f8', 'fortran_order': True, 'shape': (2L, 3L)}   \n"}) {
    CAPTURE(header);
    for (const char version : {'\1', '\2', '\3'}) {
      const auto matrix = parse(npy(header, values, version));
      check_values(matrix, {2, 3}, [](index_t i, index_t j) { return static_cast<double>(1 + i + 2 * j); });
    }
  }
  check_values(parse(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}", values)), {2, 3},
               [](index_t i, index_t j) { return static_cast<double>(1 + 3 * i + j); });
  CHECK(parse(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (6,)}", values)).shape() == Shape{6, 1});
  CHECK(parse(npy("{'descr': '<f8', 'fortran_order': False, 'shape': ()}", values.substr(0, 8)))(0, 0) == 1);
  for (const std::string order : {"True", "False"}) {
    const auto head = "{'descr': '<f4', 'fortran_order': " + order + ", 'shape': (";
    CHECK(parse(npy(head + "0, 1000000000000000000)}")).cols() == 1'000'000'000'000'000'000);
    CHECK(parse(npy(head + "1000000000000000000, 0)}")).rows() == 1'000'000'000'000'000'000);
  }
}

TEST_CASE("malformed .npy files are refused", "[files]") {
  const auto header_of = [](const std::string& shape) {
    return "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }";
  };
  const auto good = npy(header_of("(2, 1)"), bytes_of<double>({1, 2}));
  const std::vector<std::pair<std::string, std::string>> cases = {
      {good.substr(0, 5), "name: is neither a Matrix Market"},
      {good.substr(0, 6), "name: the file ends inside the .npy header"},
      {good.substr(0, 7), "the file ends inside the .npy header"},
      {good.substr(0, 9), "the file ends inside the .npy header"},
      {good.substr(0, 10), "the file ends inside the .npy header"},
      {good.substr(0, 30), "the file ends inside the .npy header"},
      {"\x93NUMPY\x02\0\xff\xff\xff\xff"s, "the file ends inside the .npy header"},
      {npy(header_of("()"), "", 4), "version 4.0 of the .npy format is not known"},
      {npy(header_of("()"), "", 0), "version 0.0 of the .npy format is not known"},
      {"\x93NUMPY\x01\x01\0\0"s, "version 1.1 of the .npy format is not known"},
      {good.substr(0, good.size() - 1), "name: the header promises 2 x 1 values of 8 bytes, but 15 bytes follow it"},
      {good + "x", "the header promises 2 x 1 values of 8 bytes, but 17 bytes follow it"},
      {npy(header_of("(1000000000000000000, 1000000000000000000)"), "12345678"),
       "promises 1000000000000000000 x 1000000000000000000"},
      {npy(header_of("(4294967296, 4294967296)")), "but 0 bytes follow it"},  // 2^64 values wrap to none
      {npy(header_of("(2305843009213693952,)")), "but 0 bytes follow it"},    // 2^61 values of 2^3 bytes as well
      {npy(header_of("(99999999999999999999,)")), "a size is too large"},
      {npy(header_of("(-1, 2)")), "in the .npy header: a size is negative"},
      {npy(header_of("(2, x)")), "expected a size at 'x)"},
      {npy(header_of("(2 2)")), "expected ',' at '2)"},
      {npy(header_of("(,)")), "expected a size at ',)"},
      {npy(header_of("2")), "expected '(' at '2"},
      {npy(header_of("(1, 2, 3)")), "the array has 3 dimensions"},
      {npy(header_of("(1, 2")), "expected a size at '}'"},
      {npy(""), "expected '{' at its end"},
      {npy("{"), "expected a quoted string at its end"},
      {npy("{}"), "needs the keys 'descr', 'fortran_order' and 'shape'"},
      {npy("{'descr': '<f8', 'shape': ()}"), "needs the keys"},
      {npy("{'descr': '<f8', 'descr': '<f8'}"), "'descr' occurs twice"},
      {npy("{'descr': '<f8', 'order': 1}"), "unknown key 'order'"},
      {npy("{'descr': '<f8'"), "expected ',' at its end"},
      {npy("{'descr: <f8"), "a string has no end"},
      {npy("{'descr' '<f8'}"), "expected ':' at"},
      {npy("{'descr': <f8}"), "expected a quoted string at '<f8}'"},
      {npy("{'fortran_order': false}"), "expected True or False at 'false}'"},
      {npy("{'descr': '=f8'}"), "type '=f8' is not supported"},
      {npy("{'descr': '|O'}"), "type '|O' is not supported"},
      {npy("{'descr': '<f16'}"), "type '<f16' is not supported"},
      {npy("{'descr': ''}"), "type '' is not supported"},
      {npy(header_of("()") + " x", "12345678"), "unexpected 'x'"},
      {npy(header_of("(3,)"), bytes_of<double>({1, 2, inf_value})),
       "name: the value at [2, 0] (from zero) is infinite"},
      {npy(header_of("(2, 2)"), bytes_of<double>({1, nan_value, 3, 4})), "the value at [0, 1] (from zero) is NaN"},
  };
  for (const auto& [bytes, message] : cases) {
    CAPTURE(bytes);
    check_throws<FileError>(message, [&bytes = bytes] { parse(bytes); });
  }
  check_throws<FileError>("the value at [1, 0] (from zero) does not fit single precision", [&] {
    parse<float>(npy(header_of("(2,)"), bytes_of<double>({1e-50, 1e39})));
  });
}

TEST_CASE("a C-ordered .npy is transposed across blocks", "[files]") {
  const index_t rows = 131;
  const index_t cols = 70;
  std::vector<float> values;
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < cols; ++j) values.push_back(static_cast<float>(general(i, j)));
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (131, 70)}";
  check_values(parse(npy(header, bytes_of(values))), {rows, cols}, general);
  values[static_cast<std::size_t>(129 * cols + 66)] = -std::numeric_limits<float>::infinity();
  check_throws<FileError>("the value at [129, 66] (from zero) is infinite",
                          [&] { parse(npy(header, bytes_of(values))); });
}

TEST_CASE("a dense result larger than the limit is refused before it is allocated", "[files]") {
  const auto text = [](const std::string& sizes) {
    return "%%MatrixMarket matrix coordinate real general\n" + sizes + " 1\n1 1 1\n";
  };
  check_throws<FileError>("name: a dense 1000000000 x 1000000000 matrix of 8-byte values is more than the ",
                          [&] { parse(text("1000000000 1000000000")); });
  check_throws<FileError>("MiB of memory", [&] { parse(text("9223372036854775807 9223372036854775807")); });
  CHECK(parse(text("1024 128"), 1 << 20)(0, 0) == 1);
  check_throws<FileError>("is more than the 1 MiB", [&] { parse(text("1024 129"), 1 << 20); });
  CHECK(parse<float>(text("1024 129"), 1 << 20)(0, 0) == 1);
  const auto ones = npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2)}", bytes_of<float>({1, 1, 1, 1}));
  CHECK(parse<float>(ones, 16).size() == 4);
  check_throws<FileError>("is more than the 0 MiB", [&] { parse<double>(ones, 16); });
  CHECK(physical_memory() > (std::uint64_t{1} << 26));
}

TEMPLATE_TEST_CASE("what is written reads back bit by bit", "[files]", float, double) {
  using Limits = std::numeric_limits<TestType>;
  const TemporaryFolder folder;
  std::mt19937_64 random(7);
  const auto any_finite = [&random] {
    for (;;) {
      TestType value;
      const auto bits = random();
      std::memcpy(&value, &bits, sizeof value);
      if (std::isfinite(value)) return value;
    }
  };
  for (const Shape shape :
       {Shape{0, 0}, Shape{0, 3}, Shape{3, 0}, Shape{1, 1}, Shape{5, 1}, Shape{1, 5}, Shape{67, 33}}) {
    for (const index_t gap : {0, 3}) {
      const index_t ld = std::max<index_t>(shape.rows, 1) + gap;
      // NaN in the gaps: the writer must not look at them.
      std::vector<TestType> values(static_cast<std::size_t>(ld * shape.cols + 1), Limits::quiet_NaN());
      for (index_t j = 0; j < shape.cols; ++j)
        for (index_t i = 0; i < shape.rows; ++i) values[static_cast<std::size_t>(i + j * ld)] = any_finite();
      if (shape.rows == 5)
        std::copy_n(std::begin({Limits::max(), Limits::lowest(), Limits::denorm_min(), TestType(-0.0), Limits::min()}),
                    5, values.begin());
      for (const std::string name : {"a.npy", "a.mtx", "a.MM", "a.txt", "a"}) {
        CAPTURE(shape.rows, shape.cols, gap, name);
        const auto path = folder / name;
        write_matrix(path, values.data(), shape, ld);
        const auto back = read_matrix<TestType>(path);
        REQUIRE(back.shape() == shape);
        bool equal = true;
        for (index_t j = 0; j < shape.cols && shape.rows != 0; ++j)
          equal &= std::memcmp(&back(0, j), &values[static_cast<std::size_t>(j * ld)],
                               static_cast<std::size_t>(shape.rows) * sizeof(TestType)) == 0;
        CHECK(equal);

        write_matrix(folder / "again.npy", back);
        CHECK(read_matrix<TestType>(folder / "again.npy").shape() == shape);
        const auto info = probe_matrix(path);
        CHECK((info.format == MatrixFileFormat::npy) == (name == "a.npy"));
        CHECK(info.shape == shape);
      }
    }
  }
  CHECK(folder.listing() == "a a.MM a.mtx a.npy a.txt again.npy ");
}

TEST_CASE("the bytes that are written", "[files]") {
  const TemporaryFolder folder;
  const std::vector<double> values = {1, -0.5, 0.1, 1e300};
  write_matrix(folder / "a.mtx", values.data(), {2, 2}, 2);
  CHECK(contents_of(folder / "a.mtx") == "%%MatrixMarket matrix array real general\n2 2\n1\n-0.5\n0.1\n1e+300\n");
  write_matrix(folder / "a.npy", values.data(), {2, 2}, 2);
  const auto bytes = contents_of(folder / "a.npy");
  CHECK(bytes == npy("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2), }" + std::string(59, ' ') + '\n',
                     bytes_of(values)));
  CHECK(bytes.size() == 128 + 32);
}

TEST_CASE("paths that cannot be read", "[files]") {
  const TemporaryFolder folder;
  const auto check = [](const std::string& path, const std::string& message) {
    CAPTURE(path);
    check_throws<FileError>(path + ": " + message, [&] { read_matrix<double>(path); });
    check_throws<FileError>(path + ": " + message, [&] { probe_matrix(path); });
  };
  check("", "cannot read: No such file or directory");
  check(folder / "missing", "cannot read: No such file or directory");
  check(folder.path(), "cannot read: is a directory");
  check("/dev/null", "cannot read: is not a regular file");
  REQUIRE(mkfifo((folder / "fifo").c_str(), 0600) == 0);
  check(folder / "fifo", "cannot read: is not a regular file");
  put(folder / "empty", "");
  check(folder / "empty", "is empty");
  put(folder / "text.npy", "1,2,3\n");
  check(folder / "text.npy", "is neither a Matrix Market (%%MatrixMarket) nor a NumPy (.npy) file");
  put(folder / "named_wrongly.npy", "%%MatrixMarket matrix array real general\n1 1\n7\n");
  CHECK(read_matrix<double>(folder / "named_wrongly.npy")(0, 0) == 7);
}

TEST_CASE("a file that may not be read, a folder and a file that may not be written", "[files]") {
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

TEST_CASE("paths that cannot be written, told before and after", "[files]") {
  const TemporaryFolder folder;
  const auto one = HostMatrix<double>::zeros(1, 1);
  put(folder / "file", "");
  for (const auto& [path, message] : std::vector<std::pair<std::string, std::string>>{
           {"", ": cannot write: names no file"},
           {folder / "missing/a.mtx", "cannot create: No such file or directory"},
           {folder / "missing/", "cannot write: names no file"},
           {folder / "file/a.mtx", "cannot write: Not a directory"},
           {folder.path(), "cannot write: is a directory"},
           {folder / "a.csv", "cannot write: '.csv' is no format to write, .mtx and .npy are"},
           {folder / "a.npz", "cannot write: '.npz' is no format"},
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
  CHECK(contents_of(folder / "kept.mtx") == "old");
  CHECK(folder.listing() == "file kept.mtx ");
  require_writable("/dev/null");
  REQUIRE(mkfifo((folder / "fifo").c_str(), 0600) == 0);
  require_writable(folder / "fifo");  // and does not wait for a reader
}

TEST_CASE("wrong arguments of write_matrix leave the old file alone", "[files]") {
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
  CHECK(contents_of(path) == "old");
  CHECK(folder.listing() == "a.mtx ");
}

TEST_CASE("a full disk is the environment's error and leaves nothing behind", "[files]") {
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
  CHECK(contents_of(folder / "a.npy") == "old");
}

TEST_CASE("writing follows symbolic links, keeps permissions and fills special files", "[files]") {
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

TEST_CASE("an AtomicFile has its name only once it is complete", "[files]") {
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
  CHECK(contents_of(folder / "report.json") == "{}");

  const std::string large(3 << 20, 'x');
  AtomicFile mixed(folder / "mixed");
  mixed.write("a");
  mixed.write(large);
  mixed.write("b");
  mixed.commit();
  CHECK(contents_of(folder / "mixed") == "a" + large + "b");
}

TEST_CASE("remove_unfinished_files removes what is in progress, and only here", "[files]") {
  const TemporaryFolder folder;
  put(folder / "a.mtx", "old");
  {
    AtomicFile first(folder / "a.mtx");
    AtomicFile second(folder / "b.mtx");
    const pid_t child = fork();
    if (child == 0) {
      remove_unfinished_files();  // the parent's files are not the child's
      _exit(0);
    }
    REQUIRE(waitpid(child, nullptr, 0) == child);
    CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 3);
    remove_unfinished_files();
    CHECK(folder.listing() == "a.mtx ");
    first.write("new");
    check_throws<FileError>("cannot rename", [&] { first.commit(); });
  }
  CHECK(contents_of(folder / "a.mtx") == "old");
  for (int round = 0; round < 3; ++round) {  // more than the registry holds, and its slots come back
    std::vector<std::unique_ptr<AtomicFile>> files;
    files.reserve(20);
    for (int i = 0; i < 20; ++i) files.push_back(std::make_unique<AtomicFile>(folder / std::to_string(i)));
    remove_unfinished_files();
    CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1 + 20 - 16);
  }
  CHECK(folder.listing() == "a.mtx ");
}

TEST_CASE("Ctrl-C while writing leaves the folder as it was", "[files]") {
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
