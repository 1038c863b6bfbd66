#include "tests/support/commands/process.hpp"
#include "tests/support/machine.hpp"
#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/codelets/dense/product_form.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <catch2/catch_approx.hpp>

using namespace tesela;
using namespace tesela::kernels;
using Catch::Approx;

namespace {

template <class T>
std::vector<T> filled(Runtime& runtime, index_t m, index_t n, TileShape tile, Generator<T> generator) {
  const TileMatrix<T> A(runtime, m, n, tile);
  Graph g(runtime);
  fill(g, A, generator);
  REQUIRE(g.wait().ok());
  std::vector<T> a(static_cast<std::size_t>(m * n), T(-77));
  A.copy_to(a.data(), std::max<index_t>(m, 1));
  return a;
}

template <class T>
std::vector<double> singular_values_of(const ProductForm<T>& form, index_t m, index_t n) {
  std::vector<double> a;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) a.push_back(static_cast<double>(form(i, j)));
  return lapack::gesvd(m, n, a.data(), m);
}

}  // namespace

TEMPLATE_TEST_CASE("an elementwise matrix is the same for every tiling", "", float, double) {
  Runtime runtime({.gpus = 0});
  for (const Pattern pattern : {Pattern::uniform, Pattern::normal, Pattern::graded, Pattern::band}) {
    const Generator<TestType> generator{pattern, 0, 0, 9, 0, 3};
    const auto whole = filled<TestType>(runtime, 23, 17, {23, 17}, generator);
    CHECK(filled<TestType>(runtime, 23, 17, {4, 5}, generator) == whole);
    CHECK(filled<TestType>(runtime, 23, 17, {64, 1}, generator) == whole);
    auto other = generator;
    other.seed = 10;
    CHECK(filled<TestType>(runtime, 23, 17, {4, 5}, other) != whole);
  }
  CHECK(filled<TestType>(runtime, 0, 3, {4, 4}, {Pattern::graded}).empty());
}

TEMPLATE_TEST_CASE("an elementwise matrix is the same on a GPU", "[gpu]", float, double) {
  test::require_gpu();
  const auto on = [](RuntimeOptions options, Pattern pattern) {
    Runtime runtime(options);
    return filled<TestType>(runtime, 123, 57, {32, 40}, {pattern, 0, 0, 9, 0, 3});
  };
  for (const Pattern pattern : {Pattern::uniform, Pattern::normal, Pattern::graded, Pattern::band}) {
    const auto cpu = on({.gpus = 0}, pattern), gpu = on({.cpus = 0}, pattern);
    for (std::size_t e = 0; e < cpu.size(); ++e)
      REQUIRE(std::abs(cpu[e] - gpu[e]) <= (pattern == Pattern::normal ? 1e-6 : 0.0));
  }
}

TEMPLATE_TEST_CASE("normal numbers have the moments and tails of the normal distribution", "", float, double) {
  const Generator<TestType> generator{Pattern::normal, 0, 0, 3};
  constexpr int count = 400;
  double moments[5] = {}, beyond_two = 0, neighbours = 0;
  for (index_t j = 0; j < count; ++j)
    for (index_t i = 0; i < count; ++i) {
      const double x = static_cast<double>(generator(i, j));
      for (int p = 0; p < 5; ++p) moments[p] += std::pow(x, p) / (count * count);
      beyond_two += std::abs(x) > 2 ? 1.0 / (count * count) : 0;
      neighbours += x * static_cast<double>(generator(i + 1, j)) / (count * count);
    }
  // The bounds are five standard deviations of each mean of 160000 numbers.
  CHECK(std::abs(moments[1]) <= 5 * 1.0 / count);
  CHECK(std::abs(moments[2] - 1) <= 5 * std::sqrt(2.0) / count);
  CHECK(std::abs(moments[3]) <= 5 * std::sqrt(15.0) / count);
  CHECK(std::abs(moments[4] - 3) <= 5 * std::sqrt(96.0) / count);
  CHECK(std::abs(beyond_two - 0.0455) <= 5 * std::sqrt(0.0455) / count);
  CHECK(std::abs(neighbours) <= 5 * 1.0 / count);
}

TEMPLATE_TEST_CASE("graded entries are uniform numbers times powers of two over 24 orders of magnitude", "", float,
                   double) {
  const index_t m = 80, n = 40;
  const Generator<TestType> graded{Pattern::graded, 0, n, 3, m}, uniform{Pattern::uniform, 0, n, 3, m};
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i)
      REQUIRE(static_cast<double>(graded(i, j)) ==
              static_cast<double>(uniform(i, j)) * std::pow(2.0, -static_cast<double>(i / 2 + j)));
}

TEMPLATE_TEST_CASE("a band matrix is zero outside its band and nonzero inside", "", float, double) {
  for (const index_t half_width : {0, 1, 3, 100}) {
    const Generator<TestType> band{Pattern::band, 0, 20, 3, 30, half_width};
    for (index_t j = 0; j < 20; ++j)
      for (index_t i = 0; i < 30; ++i) REQUIRE((band(i, j) != 0) == (std::abs(i - j) <= half_width));
  }
}

TEMPLATE_TEST_CASE("a product form has the requested singular values", "", float, double) {
  const double eps = std::numeric_limits<TestType>::epsilon();
  for (const auto& [m, n] : {std::pair<index_t, index_t>{60, 40}, {40, 60}, {33, 33}, {7, 1}, {1, 5}, {1, 1}})
    for (const double condition : {1.0, 1e3, 1e15}) {
      CAPTURE(m, n, condition);
      const auto asked = spectrum(std::min(m, n), condition);
      const auto got = singular_values_of(ProductForm<TestType>(m, n, asked, 5), m, n);
      REQUIRE(got.size() == asked.size());
      for (std::size_t l = 0; l < asked.size(); ++l) CHECK(std::abs(got[l] - asked[l]) <= 10 * eps);
      if (got.size() > 1) CHECK(asked.front() / asked.back() == Approx(condition));
    }
}

TEST_CASE("a product form reaches a condition number of 1e15") {
  const auto s = singular_values_of(ProductForm<double>(200, 120, spectrum(120, 1e15), 1), 200, 120);
  CHECK(s.front() / s.back() > 2e14);
  CHECK(s.front() / s.back() < 5e15);
}

TEMPLATE_TEST_CASE("a product form with fewer singular values than columns has that rank and is dense", "", float,
                   double) {
  const ProductForm<TestType> form(90, 70, spectrum(20, 1), 2);
  const auto s = singular_values_of(form, 90, 70);
  CHECK(s[19] == Approx(1));
  CHECK(s[20] <= 2 * std::numeric_limits<TestType>::epsilon());
  for (index_t j = 0; j < 70; ++j)
    for (index_t i = 0; i < 90; ++i) REQUIRE(form(i, j) != 0);
}

TEST_CASE("generate --random writes each kind of matrix and refuses unknown kinds") {
  const test::TemporaryFolder folder;
  const std::string file = folder / "a.npy";
  const auto generated = [&](const std::string& kind, const std::string& precision) {
    const auto run = test::run_tesela(
        {"generate", "--m", "30", "--n", "20", "--random", kind, "--precision", precision, "--out", file});
    CAPTURE(kind, run.err);
    REQUIRE(run.code == 0);
    return read_matrix<double>(file);
  };
  for (const char* precision : {"s", "d"}) {
    CHECK(generated("uniform", precision)(29, 19) != 0);
    CHECK(std::abs(generated("graded", precision)(29, 19)) < 1e-22);
    const auto band = generated("band:2", precision);
    CHECK((band(2, 0) != 0 && band(3, 0) == 0 && band(0, 2) != 0 && band(0, 3) == 0));
    const auto zero = generated("zero", precision);
    CHECK(std::all_of(zero.data(), zero.data() + zero.size(), [](double x) { return x == 0; }));
    auto normal = generated("normal", precision);
    CHECK(std::any_of(normal.data(), normal.data() + normal.size(), [](double x) { return std::abs(x) > 1.5; }));
    auto kappa = generated("kappa:1e4", precision);
    const auto s = lapack::gesvd(30, 20, kappa.data(), kappa.ld());
    CHECK(s.front() / s.back() == Approx(1e4).epsilon(1e-2));
    auto rank = generated("rank:7", precision);
    CHECK(lapack::gesvd(30, 20, rank.data(), rank.ld())[7] <= 1e-6);
  }
  for (const char* wrong : {"", "gaussian", "band", "band:", "band:-1", "band:2x", "kappa:0.5", "kappa:inf",
                            "kappa:nan", "rank:-1", "rank:1.5", "rank:99999999999999999999"}) {
    const auto run = test::run_tesela({"generate", "--random", wrong, "--out", folder / "b.npy"});
    CAPTURE(wrong, run.err);
    CHECK(run.code == 2);
    CHECK_THAT(run.err, Catch::Matchers::ContainsSubstring("--random"));
  }
  CHECK(folder.files() == 1);
}
