#include "tests/support/commands/command.hpp"
#include "tests/support/least_squares.hpp"

// Single values in input files: numbers that the precision cannot represent, NaN in elements that are not part of the
// problem, and triangles that differ in the last bit.

using namespace tesela::test;

namespace {

constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();

const Command gemm_command{{"gemm"}}, tridiag_command{{"tridiag"}}, eig_command{{"eig"}},
    cholesky_command{{"cholesky"}}, wls_command{{"wls"}};

/// Returns a file of NumPy's format, version 1.
std::string npy(const std::string& header, const std::string& data) {
  const auto size = static_cast<unsigned>(header.size());
  return std::string("\x93NUMPY\x01") + '\0' + static_cast<char>(size & 0xff) + static_cast<char>(size >> 8) + header +
         data;
}

/// Files in a temporary folder.
struct Files {
  TemporaryFolder folder;

  std::string operator()(const std::string& name, const Matrix& matrix) const {
    write(folder / name, matrix);
    return folder / name;
  }
  Matrix read(const std::string& name) const { return read_matrix<double>(folder / name); }

 private:
  /// Used in place of write_matrix(), which refuses NaN.
  static void write(const std::string& path, const Matrix& a) {
    std::ofstream file(path, std::ios::binary);
    file << npy(
        "{'descr': '<f8', 'fortran_order': True, 'shape': (" + std::to_string(a.rows()) + ", " +
            std::to_string(a.cols()) + ")}",
        std::string(reinterpret_cast<const char*>(a.data()), static_cast<std::size_t>(a.size()) * sizeof(double)));
  }
};

Matrix full(index_t m, index_t n, double value) {
  return made(m, n, [=](index_t, index_t) { return value; });
}

/// Returns an element of a symmetric positive definite matrix.
double element(index_t i, index_t j) {
  return i == j ? 4 + static_cast<double>(i) : 1 / (1.0 + std::abs(static_cast<double>(i - j)));
}

}  // namespace

TEST_CASE("a file with a number that single precision lacks is solved in double precision, with a note") {
  const Files file;
  const std::string one = file("one.npy", made(3, 3, element)), b = file("b.npy", full(3, 1, 1)),
                    out = file.folder / "out.npy";
  for (const double value : {1e-50, -1e-50, 3e-42, 1e39}) {
    CAPTURE(value);
    Matrix a = made(3, 3, element);
    a(1, 1) = value;
    const std::string bad = file("bad.npy", a), bad_b = file("bad-b.npy", full(3, 1, value)),
                      bad_t = file("bad-t.npy", made(3, 1, [=](index_t i, index_t) { return i == 0 ? value : 0; }));
    const Words cases[] = {{"ols", "--a", bad, "--b", b},
                           {"lu", "--a", one, "--b", bad_b},
                           {"cholesky", "--a", one, "--b", bad_b},
                           {"gemm", "--a", bad, "--b", one},
                           {"eig", "--diagonal", bad_b, "--off-diagonal", file("e.npy", full(2, 1, 0))},
                           {"toeplitz", "solve", "--t", bad_t, "--b", b},
                           {"tridiag", "--d", b, "--dl", b, "--du", bad_b, "--b", b}};
    for (const Words& words : cases) {
      CAPTURE(words);
      const Command command{words};
      const auto wide = command({"--out", out});
      const Matrix expected = file.read("out.npy");
      const auto report = command({"-p", "s", "--out", out});
      CHECK(distance(file.read("out.npy"), expected) == 0);
      CHECK(report["status"] == "ok");
      CHECK(report["problem"]["precision"] == "d");
      CHECK(report["limits"] == wide["limits"]);
      const std::string note = report["notes"][0];
      CHECK_THAT(note, Catch::Matchers::StartsWith("computed in double precision: " + file.folder.path()) &&
                           Catch::Matchers::ContainsSubstring("does not fit single precision"));
      if (value != 1e39 && value != -1e-50) break;
    }
    Command{{"mimo", "detect", "--h", bad, "--y", file("y.npy", full(1, 3, 1)), "--constellation", "qpsk"}}.refuses(
        {"-p", "s"}, "too small for the precision");
  }
  // A tall file is read in blocks, by tasks.
  Matrix tall = made(40000, 2, [](index_t i, index_t j) { return std::cos(static_cast<double>(3 * i + j)); });
  tall(39000, 1) = 1e-50;
  const Words streamed{"--a", file("tall.npy", tall), "--b", file("tall-b.npy", full(40000, 1, 1)), "--out", out};
  const auto report = Command{{"ols"}}(streamed + Words{"-p", "s"});
  CHECK(report["problem"]["streamed"] == true);
  CHECK(report["problem"]["precision"] == "d");
  const Matrix x = file.read("out.npy");
  Command{{"ols"}}(streamed);
  CHECK(distance(file.read("out.npy"), x) <= 1e-15);
  gemm_command.refuses({"--n", "4", "-p", "s", "--alpha", "1e-60"}, "--alpha: 1e-60 does not fit single precision");
  eig_command.refuses({"--n", "4", "-p", "s", "--scale", "1e-60"}, "--scale: 1e-60 does not fit single precision");
  // Small numbers are valid in double precision.
  const auto tiny = Command{{"ols"}}(
      {"--a", file("tiny.npy", made(3, 3, [](index_t i, index_t j) { return 0x1p-900 * element(i, j); })), "--b",
       file("tiny-b.npy", full(3, 1, 0x1p-900))});
  CHECK(tiny["checks"]["rank"] == 3);
}

TEST_CASE("gemm does not read C if beta = 0, nor A and B if alpha = 0") {
  const Files file;
  const std::string a = file("a.npy", full(2, 3, 1)), b = file("b.npy", full(3, 2, 2)),
                    none = file("none.npy", full(2, 2, quiet_nan)), out = file.folder / "out.npy";
  gemm_command({"--a", a, "--b", b, "--c", none, "--beta", "0", "--out", out});
  CHECK(distance(file.read("out.npy"), full(2, 2, 6)) == 0);
  gemm_command({"--a", file("quiet_nan-a.npy", full(2, 3, quiet_nan)), "--b",
                file("quiet_nan-b.npy", full(3, 2, quiet_nan)), "--c", file("c.npy", full(2, 2, 5)), "--alpha", "0",
                "--beta", "2", "--out", out});
  CHECK(distance(file.read("out.npy"), full(2, 2, 10)) == 0);
  gemm_command.refuses({"--a", a, "--b", b, "--c", none, "--beta", "1"}, "none.npy: the value at [0, 0]");
  gemm_command.refuses({"--a", a, "--b", b, "--c", a, "--beta", "0"}, "the others ask for 2 x 2");
}

TEST_CASE("tridiag does not read corners outside the matrix") {
  const Files file;
  const index_t n = 5;
  const std::string d = file("d.npy", full(n, 2, 4)), b = file("b.npy", full(n, 2, 1)), out = file.folder / "x.npy";
  for (const double outside : {quiet_nan, std::numeric_limits<double>::infinity(), 1e30}) {
    const Matrix low = made(n, 2, [&](index_t i, index_t) { return i == 0 ? outside : 1; }),
                 up = made(n, 2, [&](index_t i, index_t) { return i == n - 1 ? outside : 1; });
    const Words problem{"--d", d, "--b", b, "--dl", file("dl.npy", low), "--du", file("du.npy", up)};
    tridiag_command(problem + Words{"--out", out});
    const Matrix x = file.read("x.npy");
    for (const index_t k : {0, 1}) {
      CHECK(std::abs(4 * x(0, k) + x(1, k) - 1) <= 1e-15);
      CHECK(std::abs(x(n - 2, k) + 4 * x(n - 1, k) - 1) <= 1e-15);
    }
    if (std::isfinite(outside)) continue;
    tridiag_command.refuses(problem + Words{"--periodic"}, "dl.npy: the value at [0, 0]");
    tridiag_command.refuses({"--d", d, "--b", b, "--dl", file("dl.npy", up), "--du", file("du.npy", low)},
                            "dl.npy: the value at [4, 0]");
  }
}

TEST_CASE("the triangle that --uplo does not name may hold any values") {
  const Files file;
  const index_t n = 6;
  const std::string whole = file("whole.npy", made(n, n, element)), b = file("b.npy", full(n, 1, 1)),
                    out = file.folder / "out.npy";
  cholesky_command({"--a", whole, "--b", b, "--out", out});
  const Matrix x = file.read("out.npy");
  eig_command({"--a", whole, "--out", out});
  const Matrix w = file.read("out.npy");
  eig_command({"--a", whole, "--b", whole, "--out", out});
  const Matrix ones = file.read("out.npy");
  for (const std::string uplo : {"lower", "upper"}) {
    const std::string a = file("a.npy", made(n, n, [&](index_t i, index_t j) {
                                 return i == j || (i > j) == (uplo == "lower") ? element(i, j) : quiet_nan;
                               }));
    const Words triangle{"--a", a, "--uplo", uplo, "--out", out};
    cholesky_command(triangle + Words{"--b", b});
    CHECK(distance(file.read("out.npy"), x) == 0);
    eig_command(triangle);
    CHECK(distance(file.read("out.npy"), w) == 0);
    eig_command(triangle + Words{"--b", a});
    CHECK(distance(file.read("out.npy"), ones) == 0);
    eig_command.refuses({"--a", a}, "a.npy: the value at");
  }
  eig_command.refuses(
      {"--a",
       file("a.npy", made(n, n, [](index_t i, index_t j) { return i == j && i == 3 ? quiet_nan : element(i, j); })),
       "--uplo", "lower"},
      "the value at [3, 3]");
  // Two matrices side by side.
  const std::string pair =
      file("pair.npy", made(n, 2 * n, [](index_t i, index_t j) { return i >= j % n ? element(i, j % n) : quiet_nan; }));
  eig_command({"--a", pair, "--batch", "2", "--uplo", "lower", "--out", out});
  CHECK(std::abs(file.read("out.npy")(0, 1) - w(0, 0)) <= 1e-14);
}

TEST_CASE("rows of zero weight may hold any values") {
  const Files file;
  const auto with = [&](double other, index_t m, index_t n, double shift) {
    return made(m, n, [=](index_t i, index_t j) {
      return i % 7 == 3 ? other : std::cos(static_cast<double>((3 * i + 1) * (j + 2)) + shift);
    });
  };
  const std::string out = file.folder / "x.npy";
  for (const index_t m : {30, 400}) {  // with 400 rows A is streamed from its file
    const std::string w = file(
        "w.npy", made(m, 1, [](index_t i, index_t) { return i % 7 == 3 ? 0.0 : 1.0 + static_cast<double>(i % 2); }));
    const auto solve = [&](double other) {
      const auto report = wls_command({"--a", file("a.npy", with(other, m, 3, 0)), "--b",
                                       file("b.npy", with(other, m, 2, 1)), "--weights", w, "--out", out});
      CHECK(report["status"] == "ok");
      CHECK(report["problem"].contains("streamed") == (m == 400));
      return file.read("x.npy");
    };
    const Matrix x = solve(1);
    for (const double other : {quiet_nan, std::numeric_limits<double>::infinity(), 1e300})
      CHECK(distance(solve(other), x) <= 1e-15);
  }
}

TEST_CASE("triangles that differ by rounding are averaged, with a note") {
  const Files file;
  const index_t n = 11;
  // X^T X with each element summed in a different order.
  const Matrix x = random(40, n, 3);
  const auto product = [&](index_t i, index_t j) {
    double sum = 0;
    for (index_t k = 0; k < 40; ++k) {
      const index_t row = i > j ? k : 39 - k;
      sum += x(row, i) * x(row, j);
    }
    return sum;
  };
  const Matrix a = made(n, n, product);
  double apart = 0;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < j; ++i) apart = std::max(apart, std::abs(a(i, j) - a(j, i)));
  REQUIRE(apart > 0);
  const std::string computed = file("a.npy", a), b = file("b.npy", full(n, 1, 1)), out = file.folder / "out.npy";
  const auto says = [](const nlohmann::json& report) {
    return report.contains("notes") && report["notes"].dump().find("symmetric up to rounding") != std::string::npos;
  };
  CHECK(says(eig_command({"--a", computed, "--out", out})));
  const Matrix w = file.read("out.npy");
  CHECK(!says(eig_command({"--a", computed, "--symmetrize", "--out", out})));
  CHECK(distance(file.read("out.npy"), w) == 0);
  CHECK(says(cholesky_command({"--a", computed, "--b", b})));
  CHECK(says(eig_command({"--a", computed, "--b", computed})));
  const Outcome shown = run_tesela({"cholesky", "--a", computed});
  CHECK_THAT(shown.out,
             Catch::Matchers::ContainsSubstring("note    ") && Catch::Matchers::ContainsSubstring(" and A("));
  CHECK(!says(eig_command({"--a", file("s.npy", made(n, n, element))})));

  Matrix wrong = made(n, n, product);
  wrong(7, 2) += 1e-12;
  for (const Command& command : {eig_command, cholesky_command})
    command.refuses({"--a", file("wrong.npy", wrong)}, "not symmetric: A(8, 3)");
  // Rows of any size.
  const auto scaled = [&](index_t i, index_t j) { return a(i, j) * std::exp2(static_cast<double>(40 * (i + j))); };
  CHECK(says(cholesky_command({"--a", file("scaled.npy", made(n, n, scaled))})));
}
