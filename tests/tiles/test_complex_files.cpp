#include "tests/support/files.hpp"
#include "tests/support/padded.hpp"
#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/io/kept_value.hpp>

using namespace tesela::test;

namespace {

template <class T>
bool same(const HostMatrix<T>& a, const HostMatrix<T>& b) {
  bool equal = a.shape() == b.shape();
  for (index_t e = 0; equal && e < a.size(); ++e) equal = a.data()[e] == b.data()[e];
  return equal;
}

}  // namespace

TEMPLATE_TEST_CASE("complex matrices are written and read with the same bits, and real files are complex ones", "",
                   std::complex<float>, std::complex<double>) {
  using Real = real_t<TestType>;
  const TemporaryFolder folder;
  for (const Shape shape : {Shape{0, 0}, {0, 3}, {1, 1}, {7, 3}, {70, 65}})
    for (const std::string name : {"a.npy", "a.mtx"}) {
      const HostMatrix<TestType> a = generate<TestType>(shape, {.pattern = Pattern::normal, .seed = 3});
      write_matrix(folder / name, a);
      CHECK(same(read_matrix<TestType>(folder / name), a));
      const MatrixFileInfo info = probe_matrix(folder / name);
      CHECK(info.shape == shape);
      CHECK(info.complex);
      check_throws<FileError>("real", [&] { read_matrix<Real>(folder / name); });

      const HostMatrix<Real> real = generate<Real>(shape, {.pattern = Pattern::normal, .seed = 3});
      write_matrix(folder / name, real);
      CHECK_FALSE(probe_matrix(folder / name).complex);
      const HostMatrix<TestType> read = read_matrix<TestType>(folder / name);
      for (index_t e = 0; e < real.size(); ++e) REQUIRE(read.data()[e] == TestType(real.data()[e]));
    }
  put(folder / "a.txt", "1 2\n3 4\n");
  CHECK(read_matrix<TestType>(folder / "a.txt")(1, 0) == TestType(3));
  check_throws<FileError>("plain text holds real numbers",
                          [&] { write_matrix(folder / "b.csv", HostMatrix<TestType>::zeros(2, 2)); });
}

TEST_CASE("NaN in an imaginary part is found with its place, and a number that single precision lacks") {
  using Z = std::complex<double>;
  const TemporaryFolder folder;
  HostMatrix<Z> a = HostMatrix<Z>::zeros(3, 4);
  a(2, 1) = Z(1, std::numeric_limits<double>::quiet_NaN());
  CHECK_THROWS_WITH(write_matrix(folder / "a.npy", a), Catch::Matchers::ContainsSubstring("[2, 1] (from zero) is NaN"));
  a(2, 1) = Z(1, 4711);
  write_matrix(folder / "a.npy", a);
  std::string bytes = contents(folder / "a.npy");
  const double was = 4711, nan = std::numeric_limits<double>::quiet_NaN();
  const std::size_t at = bytes.find(std::string(reinterpret_cast<const char*>(&was), sizeof was));
  REQUIRE(at != std::string::npos);
  bytes.replace(at, sizeof nan, std::string(reinterpret_cast<const char*>(&nan), sizeof nan));
  put(folder / "a.npy", bytes);
  check_throws<FileError>("the imaginary part of the value at [2, 1] (from zero) is NaN",
                          [&] { read_matrix<Z>(folder / "a.npy"); });
  put(folder / "a.mtx", "%%MatrixMarket matrix array complex general\n2 1\n1 2\n3 nan\n");
  check_throws<FileError>("line 4: the value is not finite", [&] { read_matrix<Z>(folder / "a.mtx"); });

  // 1e-60 vanishes beside 1, and alone it is lost.
  for (const Z x : {Z(1, 1e-60), Z(0, 1e-60)}) {
    a(2, 1) = x;
    write_matrix(folder / "a.npy", a);
    if (x.real() == 1)
      CHECK(read_matrix<std::complex<float>>(folder / "a.npy")(2, 1) == std::complex<float>(1, 0));
    else
      check_throws<PrecisionError>("[2, 1]", [&] { read_matrix<std::complex<float>>(folder / "a.npy"); });
  }
}

TEST_CASE("Hermitian, symmetric and skew-symmetric complex files are whole matrices") {
  using Z = std::complex<double>;
  const TemporaryFolder folder;
  const auto element = [&](const std::string& text, index_t i, index_t j) {
    put(folder / "a.mtx", "%%MatrixMarket matrix coordinate complex " + text);
    return read_matrix<Z>(folder / "a.mtx")(i, j);
  };
  CHECK(element("hermitian\n2 2 2\n1 1 1 0\n2 1 3 -4\n", 0, 1) == Z(3, 4));
  CHECK(element("symmetric\n2 2 2\n1 1 1 5\n2 1 3 -4\n", 0, 1) == Z(3, -4));
  CHECK(element("skew-symmetric\n2 2 1\n2 1 3 -4\n", 0, 1) == Z(-3, 4));
}
