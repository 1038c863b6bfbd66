#include "tests/support/commands/command.hpp"
#include "tests/support/machine.hpp"
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>

using namespace tesela::test;

namespace {

const Command lu{{"lu"}}, cholesky{{"cholesky"}};

HostMatrix<double> of(index_t n, const std::vector<double>& by_rows) {
  HostMatrix<double> a(n, static_cast<index_t>(by_rows.size()) / n);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < a.cols(); ++j) a(i, j) = by_rows[static_cast<std::size_t>(i * a.cols() + j)];
  return a;
}

double apart(const HostMatrix<double>& a, const HostMatrix<double>& b) {
  REQUIRE(a.shape() == b.shape());
  double most = 0;
  for (index_t e = 0; e < a.size(); ++e) most = std::max(most, std::abs(a.data()[e] - b.data()[e]));
  return most;
}

/// Requires P A = L U, 3 x 3, of the factors that were written.
void check_factors(const TemporaryFolder& folder, const HostMatrix<double>& a, double tolerance) {
  const auto l = read_matrix<double>(folder / "l.npy"), u = read_matrix<double>(folder / "u.npy"),
             rows = read_matrix<double>(folder / "rows.npy");
  for (index_t i = 0; i < 3; ++i)
    for (index_t j = 0; j < 3; ++j) {
      double sum = -a(static_cast<index_t>(rows(i, 0)) - 1, j);
      for (index_t k = 0; k < 3; ++k) sum += l(i, k) * u(k, j);
      CHECK(std::abs(sum) <= tolerance);
    }
}

}  // namespace

TEST_CASE("lu solves the systems in its files and writes L, U and the row order") {
  const TemporaryFolder folder;
  const HostMatrix<double> a = of(3, {1, 2, 4, 4, 2, 1, 2, 3, 3}), x = of(3, {1, -2, 0, 3, 5, 1});
  HostMatrix<double> b = HostMatrix<double>::zeros(3, 2);
  for (index_t j = 0; j < 2; ++j)
    for (index_t i = 0; i < 3; ++i)
      for (index_t k = 0; k < 3; ++k) b(i, j) += a(i, k) * x(k, j);
  write_matrix(folder / "a.mtx", a);
  write_matrix(folder / "b.npy", b);
  for (const Words& way : {Words{}, {"--tile", "2"}, {"--pivot", "none"}, {"--by", "stages"}, {"--repeat", "2"}}) {
    CAPTURE(way);
    const auto report =
        lu(way + Words{"--a", folder / "a.mtx", "--b", folder / "b.npy", "--out", folder / "x.mtx", "--out-l",
                       folder / "l.npy", "--out-u", folder / "u.npy", "--out-rows", folder / "rows.npy"});
    CHECK(report["status"] == "ok");
    CHECK(check(report, "backward_error") <= 1e-15);
    CHECK(check(report, "solution_error") <= 1e-15);
    CHECK(check(report, "growth") <= 4);
    CHECK(apart(read_matrix<double>(folder / "x.mtx"), x) <= 1e-13);
    check_factors(folder, a, 1e-14);
  }
  const auto single = lu({"--a", folder / "a.mtx", "--b", folder / "b.npy", "--precision", "s"});
  CHECK(single["status"] == "ok");
}

TEST_CASE("lu and cholesky accept all sizes and precisions and report their sections") {
  for (const char* n : {"0", "1", "333"})
    for (const std::string by : {"tiles", "stages"}) {
      CAPTURE(n, by);
      const Words common{"--n", n, "--precision", by == "tiles" ? "s" : "d", "--by", by, "--rhs", "2"};
      const auto l = lu(common, by == "tiles" ? 0 : -1);
      CHECK(l["problem"]["pivot"] == (by == "tiles" ? "tournament" : "none"));
      const auto c = cholesky(common);
      CHECK(c["status"] == "ok");
      CHECK(c["problem"]["n"] == std::stoi(n));
      CHECK(c["limits"].contains("backward_error"));
      CHECK(c["limits"].contains("solution_error"));
    }
  CHECK(lu({"--n", "300", "--tile", "32", "--random", "graded"})["status"] == "ok");
  CHECK(cholesky({"--n", "300", "--tile", "32x96"})["status"] == "ok");
  CHECK(cholesky({"--n", "300", "--tile", "64", "--random", "second-difference"}, -1)["problem"]["mb"] == 64);
}

TEST_CASE("lu and cholesky measure errors of X even if ||A|| ||X|| overflows") {
  const TemporaryFolder folder;
  const double size = 1.2e154;
  const HostMatrix<double> ones = of(3, {1, 1, 1});
  HostMatrix<double> a = of(3, {1, 2, 3, 2, -1, 1, 1, 1, -2}), definite = of(3, {4, 1, 1, 1, 5, 2, 1, 2, 6});
  for (index_t j = 0; j < 3; ++j)
    for (index_t i = 0; i < 3; ++i) {
      a(i, j) *= i == 0 ? size : i == 1 ? 1 : 1 / size;
      definite(i, j) *= std::pow(10, 100 * (2 - static_cast<double>(i + j)));
    }
  write_matrix(folder / "a.npy", a);
  write_matrix(folder / "definite.npy", definite);
  write_matrix(folder / "b.npy", ones);
  const auto report = lu({"--a", folder / "a.npy", "--b", folder / "b.npy", "--out", folder / "x.npy"});
  CHECK(check(report, "solution_error") <= 1e-15);
  const HostMatrix<double> x = read_matrix<double>(folder / "x.npy");
  // Up to rounding, R x = (0, 0, size), and R^-1 e_3 = (5, 5, -5) / 20.
  for (index_t i = 0; i < 3; ++i) CHECK(std::abs(x(i, 0) / (i < 2 ? size / 4 : -size / 4) - 1) <= 1e-12);
  CHECK(cholesky({"--a", folder / "definite.npy", "--b", folder / "b.npy"})["status"] == "ok");
}

TEST_CASE("lu solves systems whose products overflow and writes L and U of A itself") {
  const TemporaryFolder folder;
  HostMatrix<double> a = of(3, {1, 2, 3, 2, -1, 1, 1, 1, -2});
  for (index_t j = 0; j < 3; ++j) a(0, j) *= 1e200, a(2, j) *= 1e-200;
  write_matrix(folder / "a.npy", a);
  write_matrix(folder / "b.npy", of(3, {1, 1, 1}));
  write_matrix(folder / "large.npy", of(3, {1e300, 1, 1e160}));
  const Words files{"--a", folder / "a.npy", "--b", folder / "b.npy", "--out", folder / "x.npy"},
      factors{"--out-l", folder / "l.npy", "--out-u", folder / "u.npy", "--out-rows", folder / "rows.npy"};
  for (const Words& way : {Words{}, {"--pivot", "none"}, {"--by", "stages"}, factors}) {
    CAPTURE(way);
    const auto report = lu(files + way);
    CHECK(report["status"] == "ok");
    CHECK(check(report, "componentwise_error") <= 1e-15);
    CHECK(check(report, "backward_error") <= 1e-15);
    CHECK(check(report, "condition") < 10);
    CHECK(report["notes"].size() == 1);
    // A^-1 e_3 = (5, 5, -5) / 20 in units of 1e200; the terms with e_1 and e_2 are below rounding.
    const HostMatrix<double> x = read_matrix<double>(folder / "x.npy");
    for (index_t i = 0; i < 3; ++i) CHECK(std::abs(x(i, 0) / (i < 2 ? 2.5e199 : -2.5e199) - 1) <= 1e-14);
  }
  check_factors(folder, a, 1e185);
  // An X that overflows is a status; its errors are neither measured nor reported.
  const auto over = lu({"--a", folder / "a.npy", "--b", folder / "large.npy"}, 1);
  CHECK_THAT(over["status"].get<std::string>(), Catch::Matchers::StartsWith("overflow: an element of X"));
  CHECK(!over["checks"].contains("solution_error"));
  CHECK(!over["checks"].contains("componentwise_error"));
  CHECK(!lu({"--n", "50", "--rhs", "2"}).contains("notes"));
}

TEST_CASE("a zero pivot and an indefinite matrix are reported with their place") {
  const TemporaryFolder folder;
  write_matrix(folder / "swap.mtx", of(3, {1, 2, 0, 0, 0, 1, 0, 1, 0}));
  write_matrix(folder / "singular.mtx", of(3, {1, 2, 3, 2, 4, 7, 4, 8, 1}));
  write_matrix(folder / "indefinite.mtx", of(3, {4, 2, 0, 2, 1, 1, 0, 1, 9}));
  for (const Words& way : {Words{"--pivot", "none"}, {"--by", "stages"}, {"--pivot", "none", "--tile", "1"}})
    CHECK(lu(way + Words{"--a", folder / "swap.mtx"}, 1)["status"] == "the pivot of column 2 is zero or not finite");
  CHECK(lu({"--a", folder / "swap.mtx"})["status"] == "ok");
  CHECK(lu({"--a", folder / "singular.mtx", "--rhs", "1"}, 1)["status"] ==
        "the pivot of column 2 is zero or not finite");
  for (const Words& way : {Words{}, {"--by", "stages"}, {"--tile", "1"}, {"--rhs", "1"}})
    CHECK(cholesky(way + Words{"--a", folder / "indefinite.mtx"}, 1)["status"] ==
          "not positive definite: the leading minor of order 2 is not positive");
  // Growth without pivoting is reported; the examples in help have none.
  CHECK(lu({"--n", "300", "--by", "stages", "--random", "kappa:1e3"})["status"] == "ok");
  CHECK(lu({"--n", "1000", "--pivot", "none", "--random", "kappa:1e3"})["status"] == "ok");
  CHECK_THAT(run_tesela({"help", "lu", "--all"}).out,
             Catch::Matchers::ContainsSubstring("lu --n 300 --by stages --random kappa:1e3") &&
                 Catch::Matchers::ContainsSubstring("--pivot none --random kappa:1e3"));
  CHECK(lu({"--n", "400", "--pivot", "none", "--seed", "3"}, -1)["checks"]["growth"].get<double>() > 20);
}

TEST_CASE("lu and cholesky report matrices that are singular to working precision and write no X") {
  const TemporaryFolder folder;
  constexpr index_t n = 60;
  HostMatrix<double> sums = generate<double>({n, n}, Generator<double>{Pattern::uniform, 0, n, 3}),
                     twins = sums.clone(), scaled = sums.clone();
  for (index_t j = 0; j < n; ++j) {
    sums(n - 1, j) = 0;
    for (index_t i = 0; i + 1 < n; ++i) sums(n - 1, j) += sums(i, j);
    twins(j, 40) = twins(j, 7);
    for (index_t i = 0; i < n; ++i) scaled(i, j) = std::ldexp(scaled(i, j), static_cast<int>(j * 16) - 480);
  }
  write_matrix(folder / "sums.npy", sums);
  write_matrix(folder / "twins.npy", twins);
  write_matrix(folder / "scaled.npy", scaled);
  const auto singular = [&](const Command& command, const Words& options) {
    const auto report = command(options + Words{"--rhs", "1", "--out", folder / "x.npy"}, 1);
    CAPTURE(options, report.dump());
    CHECK(report["status"] == "singular to working precision");
    CHECK(report["checks"].contains("condition"));
    CHECK(!std::filesystem::exists(folder / "x.npy"));
  };
  for (const char* const precision : {"d", "s"}) singular(lu, {"--random", "rank:5", "--n", "300", "-p", precision});
  for (const char* const file : {"sums.npy", "twins.npy"}) singular(lu, {"--a", folder / file});
  CHECK(lu({"--a", folder / "sums.npy"}, 1)["status"] == "singular to working precision");
  // On GPUs rounding differs, and the pivots may not stay positive.
  singular(cholesky, {"--n", "200", "--random", "geometric:1e9", "--precision", "s", "--ncuda", "0"});
  const auto known = lu({"--n", "200", "--random", "kappa:1e6"});
  CHECK(check(known, "condition") > 1e5);
  CHECK(check(known, "condition") < 1e9);
  CHECK(check(lu({"--n", "1"}), "condition") == 1);
  CHECK(check(cholesky({"--n", "200", "--random", "second-difference"}), "condition") > 5e3);
  // Scaling of columns changes neither the pivots nor the condition.
  CHECK(check(lu({"--a", folder / "scaled.npy"}), "condition") < 1e6);
}

TEST_CASE("an X with a small normwise but large componentwise error is inaccurate") {
  const TemporaryFolder folder;
  constexpr index_t n = 12;
  HostMatrix<double> a = HostMatrix<double>::zeros(n, n);
  for (index_t i = 0; i < n; ++i) a(i, i) = 1e20;
  a(n - 2, n - 2) = 1e-217;
  a(n - 2, n - 1) = a(n - 1, n - 2) = a(n - 1, n - 1) = 1e-200;
  HostMatrix<double> b(n, 1);
  for (index_t i = 0; i < n; ++i) b(i, 0) = i < n - 2 ? 1e20 : i == n - 2 ? 1e-200 : 3e-200;
  write_matrix(folder / "a.npy", a);
  write_matrix(folder / "b.npy", b);
  const auto report = lu({"--a", folder / "a.npy", "--b", folder / "b.npy", "--pivot", "none"}, 1);
  CHECK(check(report, "solution_error") <= 1e-15);
  CHECK(check(report, "componentwise_error") > 0.1);
  CHECK_THAT(report["status"].get<std::string>(), Catch::Matchers::StartsWith("inaccurate: componentwise_error"));
  const auto good = lu({"--a", folder / "a.npy", "--b", folder / "b.npy"});
  CHECK(check(good, "componentwise_error") <= 1e-15);
  for (const char* const scale : {"1e-300", "1e300"}) {  // products of two such numbers overflow or underflow
    write_matrix(folder / "s.npy", of(2, {std::stod(scale), 0, 0, 1}));
    write_matrix(folder / "t.npy", of(2, {std::stod(scale), 1}));
    CHECK(check(lu({"--a", folder / "s.npy", "--b", folder / "t.npy"}), "componentwise_error") <= 1e-15);
  }
  CHECK(check(cholesky({"--n", "70", "--rhs", "2"}), "componentwise_error") <= 1e-13);
}

TEST_CASE("lu scales rows that would decide the pivots, and reports neither singular nor useless results") {
  const TemporaryFolder folder;
  const HostMatrix<double> a = of(2, {1, 2, 3, 1e100});  // pivot 3 first: 2 - 1e100 / 3 loses the 2
  write_matrix(folder / "a.npy", a);
  write_matrix(folder / "b.npy", of(2, {5, 2e100}));  // x = (1, 2)
  const Words factors{"--out-l", folder / "l.npy", "--out-u", folder / "u.npy"};
  for (const Words& way : {Words{}, factors}) {
    const auto factored = lu(way + Words{"--a", folder / "a.npy"});
    CHECK(check(factored, "condition") < 10);
    CHECK(factored["notes"].size() == 1);
    const auto solved = lu(way + Words{"--a", folder / "a.npy", "--b", folder / "b.npy", "--out", folder / "x.npy"});
    CHECK(check(solved, "componentwise_error") <= 1e-15);
    const HostMatrix<double> x = read_matrix<double>(folder / "x.npy");
    CHECK((std::abs(x(0, 0) - 1) <= 1e-15 && std::abs(x(1, 0) - 2) <= 1e-15));
  }
  // Without pivots the order of the rows is given, and elements grow.
  write_matrix(folder / "swapped.npy", of(2, {3, 1e100, 1, 2}));
  for (const Words& way : {Words{"--pivot", "none"}, {"--by", "stages"}}) {
    const auto grown = lu(way + Words{"--a", folder / "swapped.npy"}, 1);
    CHECK_THAT(grown["status"].get<std::string>(), Catch::Matchers::StartsWith("inaccurate: elements grew"));
  }
  write_matrix(folder / "singular.npy", of(2, {1, 2, 1e100, 2e100}));
  CHECK(lu({"--a", folder / "singular.npy"}, 1)["status"] == "the pivot of column 2 is zero or not finite");
}

TEST_CASE("a failed run of lu or cholesky leaves existing files unchanged") {
  const TemporaryFolder folder;
  const Words names{"l.npy", "u.npy", "rows.npy", "r.npy"};
  for (const std::string& name : names) write_matrix(folder / name, of(1, {7}));
  write_matrix(folder / "grows.npy", of(2, {1e-17, 1, 1, 1}));
  lu({"--a", folder / "grows.npy", "--pivot", "none", "--out-l", folder / "l.npy", "--out-u", folder / "u.npy",
      "--out-rows", folder / "rows.npy"},
     1);
  cholesky({"--n", "200", "--random", "geometric:1e9", "--precision", "s", "--out-r", folder / "r.npy"}, 1);
  for (const std::string& name : names) CHECK(read_matrix<double>(folder / name).shape() == Shape{1, 1});
}

TEST_CASE("right-hand sides without columns give an X without columns") {
  const TemporaryFolder folder;
  write_matrix(folder / "b.npy", HostMatrix<double>(20, 0));
  for (const Command& command : {lu, cholesky}) {
    command({"--n", "20", "--b", folder / "b.npy", "--out", folder / "x.npy"});
    CHECK(read_matrix<double>(folder / "x.npy").shape() == Shape{20, 0});
    std::filesystem::remove(folder / "x.npy");
  }
}

TEST_CASE("lu and cholesky refuse invalid options") {
  const TemporaryFolder folder;
  write_matrix(folder / "wide.mtx", of(2, {1, 2, 3, 4, 5, 6}));
  write_matrix(folder / "square.mtx", of(2, {1, 2, 3, 4}));
  lu.refuses({"--a", folder / "wide.mtx"}, "not square");
  lu.refuses({"--a", folder / "square.mtx", "--b", folder / "none.mtx"}, "none.mtx");
  lu.refuses({"--n", "3", "--b", folder / "square.mtx"}, "has 2 rows; A has 3");
  lu.refuses({"--n", "5", "--out", folder / "x.mtx"}, "needs --b or --rhs");
  lu.refuses({"--n", "5", "--by", "stages", "--pivot", "tournament"}, "belongs to --by tiles");
  lu.refuses({"--n", "5", "--by", "stages", "--tile", "4"}, "belongs to --by tiles");
  {
    const TemporaryFolder values;
    write_matrix(values / "three.npy", HostMatrix<double>::zeros(3, 1));
    const std::string spectrum = "spectrum:" + (values / "three.npy");
    cholesky.refuses({"--n", "5", "--random", spectrum}, "three.npy holds 3 values, and the order is 5");
  }
  for (const std::string tile : {"5x9", "32x32", "abc"})
    lu.refuses({"--n", "50", "--tile", tile}, "--tile: '" + tile + "' is not NB, columns, with positive integers");
  lu.refuses({"--n", "5", "--random", "foo"}, "'foo' is none of");
  lu.refuses({"--n", "5", "--pivot", "partial"}, "partial");
  cholesky.refuses({"--a", folder / "square.mtx"}, "not symmetric: A(2, 1) = 3 and A(1, 2) = 2");
  cholesky.refuses({"--n", "50", "--tile", "16x40"}, "wider by a whole number");
  CHECK(cholesky({"--a", folder / "square.mtx", "--uplo", "lower"}, 1)["status"] ==
        "not positive definite: the leading minor of order 2 is not positive");
}
