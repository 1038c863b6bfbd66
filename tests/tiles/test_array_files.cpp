#include "tests/support/files.hpp"
#include "tests/support/machine.hpp"
#include "tests/support/test.hpp"
#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/io/arrays.hpp>

#include <filesystem>

using namespace tesela::test;
using namespace std::string_literals;

namespace {

const std::string data_folder = data_directory();

// Elements of the files written by make_reference_files.py.
double general(index_t i, index_t j) { return static_cast<double>((i + 1) * 10 + (j + 1)) + 0.125; }
double integral(index_t i, index_t j) { return std::trunc(general(i, j)); }
double large(index_t i, index_t j) { return general(i, j) > 20 ? 1 : 0; }
double sparse(index_t i, index_t j) { return (i + j) % 2 == 0 ? general(i, j) : 0; }

std::string numbers(const std::string& type, const std::string& data) {
  return npy("{'descr': '" + type + "', 'fortran_order': False, 'shape': (1,), }", data);
}

}  // namespace

TEMPLATE_TEST_CASE("integers, bool and half precision written by NumPy are read", "[files]", float, double) {
  for (const std::string kind : {"integer", "unsigned"})
    for (const std::string bytes : {"1", "2", "4", "8"}) {
      const std::string path = data_folder + "/numpy/" + kind + bytes + ".npy";
      CAPTURE(path);
      check_values(read_matrix<TestType>(path), {4, 3}, integral);
      CHECK(probe_matrix(path).precision == FilePrecision::double_precision);
      CHECK(!probe_matrix(path).vector);
    }
  check_values(read_matrix<TestType>(data_folder + "/numpy/bool.npy"), {4, 3}, large);
  check_values(read_matrix<TestType>(data_folder + "/numpy/half.npy"), {4, 3}, general);
  CHECK(probe_matrix(data_folder + "/numpy/half.npy").precision == FilePrecision::single_precision);
  CHECK(probe_matrix(data_folder + "/numpy/vector.npy").vector);
}

TEST_CASE("each value of half precision is exact", "[files]") {
  const auto half = [](std::uint16_t bits) { return parse(numbers("<f2", bytes_of<std::uint16_t>({bits})))(0, 0); };
  CHECK(half(0) == 0);
  CHECK(std::signbit(half(0x8000)));
  CHECK(half(1) == std::ldexp(1, -24));
  CHECK(half(0x03ff) == std::ldexp(1023, -24));
  CHECK(half(0x0400) == std::ldexp(1, -14));
  CHECK(half(0x3c00) == 1);
  CHECK(half(0xc100) == -2.5);
  CHECK(half(0x7bff) == 65504);
  check_throws<FileError>("is infinite", [&] { half(0x7c00); });
  check_throws<FileError>("is NaN", [&] { half(0x7e00); });
  CHECK(parse(numbers("|b1", "\5"))(0, 0) == 1);
}

TEST_CASE("an integer keeps its value or is refused", "[files]") {
  const auto whole = [](std::int64_t x) { return parse(numbers("<i8", bytes_of<std::int64_t>({x})))(0, 0); };
  const auto natural = [](std::uint64_t x) { return parse(numbers("<u8", bytes_of<std::uint64_t>({x})))(0, 0); };
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  CHECK(whole(least) == -0x1p63);
  CHECK(whole(-(std::int64_t{1} << 53)) == -0x1p53);
  CHECK(natural(std::uint64_t{1} << 63) == 0x1p63);
  CHECK(natural(0xfffffffffffff800) == 0x1p64 - 2048);
  check_throws<FileError>("the value at [0, 0] (from zero) is 9007199254740993, an integer that double precision does",
                          [&] { whole(9007199254740993); });
  check_throws<FileError>("is -9223372036854775807, an integer", [&] { whole(least + 1); });
  check_throws<FileError>("is 18446744073709551615, an integer", [&] { natural(~std::uint64_t{0}); });
  CHECK(parse<float>(numbers("<i4", bytes_of<std::int32_t>({16777217})))(0, 0) == 16777216.0F);  // as from float64
  const TemporaryFolder folder;
  put(folder / "a.npy", numbers(">i2", "\xff\xfe"));
  CHECK(read_whole_array(folder / "a.npy").values == std::vector<int>{-2});
  CHECK(read_complex_array<double>(folder / "a.npy").values == std::vector<std::complex<double>>{-2});
  put(folder / "b.npy", numbers("<u8", bytes_of<std::uint64_t>({std::uint64_t{1} << 31})));
  check_throws<FileError>("is beyond 32 bits", [&] { read_whole_array(folder / "b.npy"); });
}

TEMPLATE_TEST_CASE("compressed files and archives are read", "[files]", float, double) {
  check_values(read_matrix<TestType>(data_folder + "/scipy/array_general.mtx.gz"), {4, 3}, general);
  check_values(read_matrix<TestType>(data_folder + "/scipy/coordinate_general.mtx.gz"), {4, 3}, sparse);
  CHECK(probe_matrix(data_folder + "/scipy/coordinate_general.mtx.gz").entries == 6);
  const std::string one = data_folder + "/numpy/one.npz", two = data_folder + "/numpy/two.npz";
  check_values(read_matrix<TestType>(one), {4, 3}, general);
  check_values(read_matrix<TestType>(one + ":arr_0"), {4, 3}, general);
  check_values(read_matrix<TestType>(two + ":a"), {4, 3}, general);
  check_values(read_matrix<TestType>(two + ":b.npy"), {4, 3}, integral);
}

TEST_CASE("damaged archives and missing members are refused", "[files]") {
  const std::string two = data_folder + "/numpy/two.npz";
  check_throws<FileError>(two + ": holds a, b: name one, as in " + two + ":a", [&] { read_matrix<double>(two); });
  check_throws<FileError>(two + ": has no member c; it holds a, b", [&] { read_matrix<double>(two + ":c"); });
  check_throws<FileError>("none.npz: cannot read: No such file", [] { read_matrix<double>("none.npz:a"); });
  const TemporaryFolder folder;
  put(folder / "text.npz", "1 2\n");
  check_throws<FileError>("is not in a .npz archive", [&] { read_matrix<double>(folder / "text.npz:a"); });
  for (const std::string name : {"/numpy/one.npz", "/numpy/two.npz", "/scipy/array_general.mtx.gz"}) {
    const std::string good = contents(data_folder + name);
    const std::string path = folder / std::filesystem::path(name).filename().string();
    for (std::size_t size = 3; size < good.size(); ++size) {
      put(path, good.substr(0, size));
      CAPTURE(name, size);
      CHECK_THROWS_AS(read_matrix<double>(path + (name == "/numpy/two.npz" ? ":a" : "")), FileError);
    }
    // A changed byte is an error, or does not matter: then the numbers are right.
    for (std::size_t at = 0; at < good.size(); ++at) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 0x10);
      put(path, bad);
      CAPTURE(name, at);
      try {
        check_values(read_matrix<double>(path + (name == "/numpy/two.npz" ? ":a" : "")), {4, 3}, general);
      } catch (const FileError&) {
        continue;
      }
    }
  }
}

TEST_CASE("plain text is read as by numpy.loadtxt", "[files]") {
  for (const char* name : {"table", "commas"})
    check_values(read_matrix<double>(data_folder + "/numpy/" + name + ".txt"), {4, 3}, general);
  struct Case {
    std::string text;
    Shape shape;
    std::vector<double> values;  // by columns
    bool vector = false;
  };
  for (const Case& c : {Case{"1 2\n3 4\n", {2, 2}, {1, 3, 2, 4}},
                        {"1,2\n3 ,\t4", {2, 2}, {1, 3, 2, 4}},
                        {"\n  # c 1\n\n+1e2 # end\r\n-2.5D-01\n3d1", {3, 1}, {100, -0.25, 30}, true},
                        {"\xEF\xBB\xBF"
                         "7",
                         {1, 1},
                         {7},
                         true},
                        {"1;2\n3; 4\n", {2, 2}, {1, 3, 2, 4}},
                        {"1 2 3", {1, 3}, {1, 2, 3}},
                        {"# 0 x 3\n", {0, 3}, {}},
                        {"# 3 x 0\n", {3, 0}, {}}}) {
    CAPTURE(c.text);
    const auto matrix = parse(c.text);
    REQUIRE(matrix.shape() == c.shape);
    for (std::size_t k = 0; k < c.values.size(); ++k) CHECK(matrix.data()[k] == c.values[k]);
    const MatrixFileInfo info = probe_matrix_bytes(c.text, "name");
    CHECK((info.shape == c.shape && info.format == MatrixFileFormat::plain_text && info.vector == c.vector));
  }
  for (const auto& [text, message] :
       {std::pair{"1 2\n3\n"s, "name: line 2: the row has 1 numbers, and the first row has 2"s},
        {"1 2\n\n3 4 5\n", "line 3: the row has more numbers than the first row, which has 2"},
        {"1,,2\n", "line 1: the value of column 2 is missing"},
        {"1,2,\n", "line 1: the value of column 3 is missing"},
        {"1,\n3,4", "line 1: the value of column 2 is missing"},
        {"1,2\n3,\n", "line 2: the value of column 2 is missing"},
        {"1 x\n", "line 1: the value is not a number: 'x'"},
        {"1 0x2\n", "the value is not a number: '0x2'"},
        {"1 nan\n", "line 1: the value is not finite: 'nan'"},
        {"1e400\n", "does not fit double precision: '1e400'"},
        {"# only a comment\n", "name: is neither a Matrix Market"},
        {"x y\n1 2\n", "nor a table of numbers"},
        {"1;;2\n", "line 1: the value of column 2 is missing"},
        {"1,5;2\n", "line 1: has commas and semicolons between numbers"}}) {
    CAPTURE(text);
    check_throws<FileError>(message, [&text = text] { parse(text); });
  }
  check_throws<FileError>("does not fit single precision: '1e-50'", [] { parse<float>("1e-50"); });
  const std::string unused = "nan 2\n";
  CHECK(read_matrix_bytes<double>(unused, "name", 1000, [](index_t, index_t j) { return j == 1; })(0, 1) == 2);
  check_throws<FileError>("is more than the 0 MiB", [] { parse("1 2 3\n", 16); });
}

TEST_CASE("exponents of Fortran are read from Matrix Market files", "[files]") {
  const std::string array = "%%MatrixMarket matrix array real general\n";
  const auto a = parse(array + "3 1\n0.125D+01\n-2.5d-02\n1D0\n");
  CHECK((a(0, 0) == 1.25 && a(1, 0) == -0.025 && a(2, 0) == 1));
  check_throws<FileError>("line 3: the value does not fit double precision: '1D-400'",
                          [&] { parse(array + "1 1\n1D-400\n"); });
  check_throws<FileError>("line 3: the value is not a number: '1D'", [&] { parse(array + "1 1\n1D\n"); });
}
