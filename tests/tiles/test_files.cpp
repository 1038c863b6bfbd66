#include "tests/support/files.hpp"
#include "tests/support/machine.hpp"
#include <tesela/runtime/errors.hpp>

#include <cstring>
#include <random>
#include <utility>

using namespace tesela::test;

namespace {

const std::string data_folder = data_directory();

// Elements of the files written by make_reference_files.py.
double general(index_t i, index_t j) { return static_cast<double>((i + 1) * 10 + (j + 1)) + 0.125; }
double symmetric(index_t i, index_t j) { return static_cast<double>(std::min(i, j) * 10 + std::max(i, j)) + 0.125; }
double skew(index_t i, index_t j) { return static_cast<double>(i - j) * (static_cast<double>(i + j) + 0.125); }
double sparse(index_t i, index_t j) { return (i + j) % 2 == 0 ? general(i, j) : 0; }
double integral(index_t i, index_t j) { return std::trunc(general(i, j)); }
double sparse_integral(index_t i, index_t j) { return std::trunc(sparse(i, j)); }
double sparse_pattern(index_t i, index_t j) { return sparse(i, j) != 0 ? 1 : 0; }

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
  CHECK(a.shape() == Shape{0, 0});  // NOLINT(bugprone-use-after-move): the state after a move is tested
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

TEMPLATE_TEST_CASE("files written by SciPy are read", "[files]", float, double) {
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

TEMPLATE_TEST_CASE("files written by NumPy are read", "[files]", float, double) {
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
  for (const auto& [name, message] : {std::pair{"bad_complex", "type '<c16' is not supported"},
                                      {"bad_structured", "structured types are not supported"},
                                      {"bad_3d", "the array has 3 dimensions"},
                                      {"bad_nan", "the value at [2, 1] (from zero) is NaN"}}) {
    const auto path = data_folder + "/numpy/" + name + ".npy";
    check_throws<FileError>(path + ": ", [&] { read_matrix<TestType>(path); });
    check_throws<FileError>(message, [&] { read_matrix<TestType>(path); });
  }
}

TEST_CASE("a C-ordered .npy file is transposed across blocks", "[files]") {
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

TEMPLATE_TEST_CASE("written matrices read back bit by bit", "[files]", float, double) {
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
      // NaN in the padding, which the writer must not read.
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
        CHECK((info.format == MatrixFileFormat::plain_text) == (name == "a.txt"));
        CHECK(info.shape == shape);
      }
    }
  }
  CHECK(folder.listing() == "a a.MM a.mtx a.npy a.txt again.npy ");
}

TEST_CASE("written files have the expected bytes", "[files]") {
  const TemporaryFolder folder;
  const std::vector<double> values = {1, -0.5, 0.1, 1e300};
  write_matrix(folder / "a.mtx", values.data(), {2, 2}, 2);
  CHECK(contents(folder / "a.mtx") == "%%MatrixMarket matrix array real general\n2 2\n1\n-0.5\n0.1\n1e+300\n");
  write_matrix(folder / "a.txt", values.data(), {2, 2}, 2);
  CHECK(contents(folder / "a.txt") == "1 0.1\n-0.5 1e+300\n");
  write_vector(folder / "v.npy", values.data(), 4);
  CHECK_THAT(contents(folder / "v.npy"), Catch::Matchers::ContainsSubstring("(4, )"));
  CHECK(probe_matrix(folder / "v.npy").vector);
  CHECK(read_matrix<double>(folder / "v.npy").shape() == Shape{4, 1});
  write_vector(folder / "v.mtx", values.data(), 4);
  CHECK(read_matrix<double>(folder / "v.mtx").shape() == Shape{4, 1});
  const double nan = std::nan("");
  check_throws<ArgumentError>("is NaN", [&] { write_vector(folder / "n.npy", &nan, 1); });
  write_matrix(folder / "a.npy", values.data(), {2, 2}, 2);
  const auto bytes = contents(folder / "a.npy");
  CHECK(bytes == npy("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2), }" + std::string(59, ' ') + '\n',
                     bytes_of(values)));
  CHECK(bytes.size() == 128 + 32);
}
