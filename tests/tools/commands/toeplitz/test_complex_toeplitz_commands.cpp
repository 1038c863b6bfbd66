#include "tests/support/commands/command.hpp"
#include "tests/support/machine.hpp"
#include "tests/support/matrices.hpp"
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <nlohmann/json.hpp>

#include <fstream>

// Complex Toeplitz matrices in generated problems and in files; LAPACK and dense products are the reference.

using namespace tesela::test;

namespace {

const Command solve{{"toeplitz", "solve"}}, eig{{"toeplitz", "eig"}};

template <class T>
const std::string precision = sizeof(T) == 8 ? "c" : "z";

/// Returns the matrix with this first column and row, whose first number is not read.
template <class T>
HostMatrix<T> dense(const HostMatrix<T>& c, const HostMatrix<T>& r) {
  return filled<T>({c.rows(), c.rows()}, [&](index_t i, index_t j) { return i >= j ? c(i - j, 0) : r(j - i, 0); });
}

template <class T>
HostMatrix<T> conjugates(const HostMatrix<T>& a) {
  return filled<T>(a.shape(), [&](index_t i, index_t j) { return conj(a(i, j)); });
}

/// Overwrites the number that is this far from the end of a .npy file by one with NaN as its imaginary part.
template <class T>
void spoil(const std::string& path, index_t numbers) {
  const T bad(0, std::numeric_limits<real_t<T>>::quiet_NaN());
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-numbers * static_cast<index_t>(sizeof(T)), std::ios::end);
  file.write(reinterpret_cast<const char*>(&bad), sizeof bad);
}

/// Requires that every error is within its limit.
void within_limits(const nlohmann::json& report) {
  CAPTURE(report.dump());
  for (const auto& [name, limit] : report["limits"].items()) {
    REQUIRE(report["checks"][name].is_number());
    CHECK(check(report, name.c_str()) <= limit.get<double>());
  }
}

/// Returns the first column, n x 1, of a well-conditioned matrix.
template <class T>
HostMatrix<T> column(index_t n, std::uint64_t seed) {
  HostMatrix<T> t = random<T>(n, 1, seed);
  t(0, 0) = T(static_cast<real_t<T>>(n));
  return t;
}

}  // namespace

TEMPLATE_TEST_CASE("toeplitz solve reads complex files, Hermitian and with a first row", "", COMPLEX_TYPES) {
  using T = TestType;
  TemporaryFolder folder;
  for (const index_t n : {1, 3, 70}) {
    const HostMatrix<T> c = column<T>(n, 1), r = random<T>(n, 1, 2), b = random<T>(n, 2, 3);
    for (const std::string ending : {".npy", ".mtx"})
      for (const bool hermitian : {true, false}) {
        write_matrix(folder / ("c" + ending), c);
        write_matrix(folder / ("r" + ending), filled<T>({1, n}, [&](index_t, index_t j) { return r(j, 0); }));
        if (ending == ".npy") spoil<T>(folder / "r.npy", n);  // r(0) is not used
        write_matrix(folder / ("b" + ending), b);
        Words words{"--t",   folder / ("c" + ending), "--b", folder / ("b" + ending), "-p", precision<T>,
                    "--out", folder / ("x" + ending)};
        if (!hermitian) words = words + Words{"--row", folder / ("r" + ending)};
        CAPTURE(n, ending, hermitian);
        const auto report = solve(words);
        within_limits(report);
        CHECK(report["problem"]["n"] == n);
        const auto x = read_matrix<T>(folder / ("x" + ending));
        const HostMatrix<T> a = dense(c, hermitian ? conjugates(c) : r.clone());
        CHECK(distance(product(a, x), b) <= 20 * eps<T> * norm(a) * norm(x));
      }
    if (n != 3) continue;
    // A real file is a complex one; a complex file is no real one.
    write_matrix(folder / "real.npy", filled<real_t<T>>({3, 1}, [](index_t i, index_t) { return real_t<T>(3 - i); }));
    within_limits(solve({"--t", folder / "real.npy", "--b", folder / "b.npy", "-p", precision<T>}));
    solve.refuses({"--t", folder / "c.npy", "--b", folder / "b.npy"}, "must be real");
    solve.refuses({"--t", folder / "b.npy", "--rhs", "1", "-p", precision<T>}, "not one row or column");
    write_matrix(folder / "bad.npy", c);
    spoil<T>(folder / "bad.npy", 1);
    solve.refuses({"--t", folder / "bad.npy", "--rhs", "1", "-p", precision<T>}, "bad.npy");
  }
}

TEMPLATE_TEST_CASE("toeplitz eig solves complex Hermitian matrices of every kind within its bounds", "",
                   COMPLEX_TYPES) {
  using T = TestType;
  for (const std::string kind : {"random", "spd", "prolate:0.3", "kms:0.9", "second-difference", "singular-minors"})
    for (const std::string n : {"1", "2", "3", "64", "301"}) {
      const auto report = eig({"--random", kind, "--n", n, "-p", precision<T>, "--vectors"});
      CAPTURE(kind, n);
      CHECK(report["status"] == "ok");
      CHECK(check(report, "found") == std::stod(n));
      for (const char* const name : {"max_error", "max_residual", "orthogonality", "trace_drift", "miscounted"})
        CHECK(report["limits"].contains(name));
      within_limits(report);
    }
  const auto values = eig({"--n", "200", "-p", precision<T>});
  CHECK(!values["checks"].contains("max_residual"));
  CHECK(check(values, "max_error") <= (precision<T> == "c" ? 1e-5 : 1e-13));
}

TEMPLATE_TEST_CASE("toeplitz eig reads complex files and writes eigenpairs", "", COMPLEX_TYPES) {
  using T = TestType;
  TemporaryFolder folder;
  const index_t n = 60;
  HostMatrix<T> t = random<T>(n, 1, 4);
  t(0, 0) = t(0, 0).real();
  const HostMatrix<T> a = dense(t, conjugates(t));
  HostMatrix<T> lost = a.clone();
  std::vector<real_t<T>> right(static_cast<std::size_t>(n));
  REQUIRE(lapack::syevd(n, lost.data(), n, right.data(), false) == 0);
  const Words of{"-p", precision<T>};
  for (const std::string ending : {".npy", ".mtx"}) {
    write_matrix(folder / ("t" + ending), t);
    const Words file = of + Words{"--t", folder / ("t" + ending)};
    within_limits(eig(file + Words{"--out", folder / ("w" + ending), "--out-vectors", folder / ("x" + ending)}));
    const auto w = read_matrix<real_t<T>>(folder / ("w" + ending));
    const auto x = read_matrix<T>(folder / ("x" + ending));
    const double size = norm(a);
    for (index_t k = 0; k < n; ++k)
      CHECK(std::abs(static_cast<double>(w(k, 0)) - static_cast<double>(right[static_cast<std::size_t>(k)])) <=
            20 * eps<T> * size);
    const HostMatrix<T> xw = filled<T>({n, n}, [&](index_t i, index_t j) { return x(i, j) * w(j, 0); });
    CHECK(distance(product(a, x), xw) <= 50 * eps<T> * size);
    const double low = (static_cast<double>(right[9]) + static_cast<double>(right[10])) / 2,
                 high = (static_cast<double>(right[29]) + static_cast<double>(right[30])) / 2;
    const auto some = eig(file + Words{"--range=" + std::to_string(low) + "," + std::to_string(high), "--vectors"});
    CHECK(check(some, "found") == 20);
    within_limits(some);
    const auto few = eig(file + Words{"--largest", "3", "--vectors", "--out", folder / "few.npy"});
    CHECK(check(few, "expected") == 3);
    within_limits(few);
    CHECK(std::abs(static_cast<double>(read_matrix<real_t<T>>(folder / "few.npy")(0, 0)) -
                   static_cast<double>(right[57])) <= 20 * eps<T> * size);
    CHECK(check(eig(file + Words{"--smallest", "60"}), "found") == 60);
  }
  for (const int e : {std::numeric_limits<real_t<T>>::max_exponent - 5, std::numeric_limits<real_t<T>>::min_exponent}) {
    write_matrix(folder / "scaled.npy", times_two_to(e, t));
    within_limits(eig(of + Words{"--t", folder / "scaled.npy", "--vectors"}));
  }
  write_matrix(folder / "large.npy", times_two_to(std::numeric_limits<real_t<T>>::max_exponent, t));
  CHECK_THAT(eig(of + Words{"--t", folder / "large.npy"}, 1)["status"].get<std::string>(),
             ContainsSubstring("overflow"));
  write_matrix(folder / "zeros.npy", HostMatrix<T>::zeros(5, 1));
  within_limits(eig(of + Words{"--t", folder / "zeros.npy", "--vectors"}));
  eig.refuses({"--t", folder / "t.npy"}, "must be real");
  eig.refuses(of + Words{"--t", folder / "t.npy", "--dk", "4"}, "options of the search");
  eig.refuses(of + Words{"--t", folder / "t.npy", "--out-vectors", folder / "x.csv"}, "plain text");
  t(0, 0) = T(1, 2);
  write_matrix(folder / "t.npy", t);
  eig.refuses(of + Words{"--t", folder / "t.npy"}, "t(0) has the imaginary part 2;");
  t(0, 0) = T(1, 0);
  write_matrix(folder / "t.npy", t);
  spoil<T>(folder / "t.npy", n - 7);
  eig.refuses(of + Words{"--t", folder / "t.npy"}, "[7, 0]");
}
