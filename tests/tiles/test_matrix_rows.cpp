#include "tests/support/machine.hpp"
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/io/matrix_rows.hpp>

#include <memory>

using namespace tesela;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("blocks of rows of every .npy file equal the rows of the whole matrix") {
  for (const char* name : {"C_big_f4", "C_big_f8", "C_little_f4", "C_little_f8", "F_big_f4", "F_big_f8", "F_little_f4",
                           "F_little_f8", "vector", "scalar", "version_2", "version_3"}) {
    const std::string path = test::data_directory() + "/numpy/" + name + ".npy";
    const auto whole = read_matrix<double>(path);
    const MatrixRows<double> rows(path);
    CAPTURE(name);
    REQUIRE(Shape{rows.m(), rows.n()} == whole.shape());
    for (index_t first = 0; first <= rows.m(); ++first)
      for (index_t count = 0; count <= rows.m() - first; ++count) {
        const index_t ld = count + 2;
        std::vector<double> block(static_cast<std::size_t>(ld * rows.n()), -77);
        rows.read(first, {block.data(), count, rows.n(), ld});
        for (index_t j = 0; j < rows.n(); ++j)
          for (index_t i = 0; i < ld; ++i)
            REQUIRE(block[static_cast<std::size_t>(i + j * ld)] == (i < count ? whole(first + i, j) : -77));
      }
    double one = 0;
    CHECK_THROWS_AS(rows.read(rows.m(), {&one, 1, rows.n(), 1}), ArgumentError);
    CHECK_THROWS_AS(rows.read(-1, {&one, 1, rows.n(), 1}), ArgumentError);
    CHECK_THROWS_AS(rows.read(0, {&one, 0, rows.n() + 1, 1}), ArgumentError);
  }
}

TEST_CASE("rows without NaN are found and read alone, and a constant column is found") {
  const std::string path = test::data_directory() + "/numpy/bad_nan.npy";
  const auto file = std::make_shared<const MatrixRows<double>>(path, Nans::kept);
  HostMatrix<double> all(file->m(), file->n());
  file->read(0, {all.data(), all.rows(), all.cols(), all.ld()});
  std::vector<index_t> expected, clean;
  for (index_t i = 0; i < all.rows(); ++i) {
    bool good = true;
    for (index_t j = 0; j < all.cols(); ++j) good = good && !std::isnan(all(i, j));
    if (good) expected.push_back(i);
  }
  REQUIRE(std::ssize(expected) < all.rows());
  CHECK(rows_without_nan(*file, {}) == expected);
  CHECK(!rows_without_nan(*file, {-1}));
  // Reads every third row of a file and consecutive rows, in blocks of any size.
  const auto big = std::make_shared<const MatrixRows<double>>(test::data_directory() + "/numpy/C_little_f8.npy");
  const auto whole = read_matrix<double>(big->path());
  for (index_t i = 0; i < whole.rows(); ++i)
    if (i % 3 != 1) clean.push_back(i);
  const RowSource<double> some = rows_of(big, {whole.cols() - 1, -1, 0}, clean);
  REQUIRE(some.m == std::ssize(clean));
  for (index_t first = 0; first < some.m; ++first) {
    HostMatrix<double> block(some.m - first, 3);
    some.read(first, {block.data(), block.rows(), 3, block.ld()});
    for (index_t i = 0; i < block.rows(); ++i) {
      const index_t row = clean[static_cast<std::size_t>(first + i)];
      CHECK(block(i, 0) == whole(row, whole.cols() - 1));
      CHECK(block(i, 1) == 1);
      CHECK(block(i, 2) == whole(row, 0));
    }
  }
  CHECK_THROWS_WITH(MatrixRows<double>(path).read(0, {all.data(), all.rows(), all.cols(), all.ld()}),
                    ContainsSubstring("is NaN"));
  CHECK_THROWS_AS(rows_of(big, {big->n()}), ArgumentError);
}

TEST_CASE("files that cannot be read by rows are refused with the reason") {
  const std::string data = test::data_directory();
  CHECK_THROWS_WITH(MatrixRows<double>(data + "/scipy/array_general.mtx"), ContainsSubstring("only .npy"));
  CHECK_THROWS_AS(MatrixRows<double>(data + "/numpy/bad_half.npy"), FileError);
  CHECK_THROWS_AS(MatrixRows<double>(data + "/numpy/missing.npy"), FileError);
}
