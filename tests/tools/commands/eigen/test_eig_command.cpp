#include "tests/support/commands/command.hpp"
#include "tests/support/machine.hpp"
#include <tesela/tiles/io/file_formats.hpp>

#include <nlohmann/json.hpp>

#include <fstream>
#include <iomanip>
#include <sstream>

using namespace tesela::test;

namespace {

const Command eig{{"eig"}};
void refused(const Words& options, const std::string& why) { eig.refuses(options, why); }

/// Writes a matrix with these elements to a file and returns its path.
template <class Element>
std::string written(const std::string& path, index_t m, index_t n, const Element& element) {
  HostMatrix<double> a(m, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) a(i, j) = element(i, j);
  write_matrix(path, a);
  return path;
}

constexpr const char* kinds[] = {
    "uniform",   "normal",     "band:5",        "graded",      "rank:7",    "diagonal",        "identity",
    "zero",      "arithmetic", "geometric:1e6", "clustered:5", "wilkinson", "glued-wilkinson", "second-difference",
    "laplacian", "exchange",   "nbody"};

}  // namespace

TEST_CASE("eig finds every spectrum completely and within its bounds") {
  for (const char* const kind : kinds)
    for (const char* const n : {"0", "1", "2", "3", "65"}) {
      const bool every_size =
          std::string(kind) == "uniform" || std::string(kind) == "zero" || std::string(kind) == "laplacian";
      if (std::string(n) != "65" && !every_size) continue;
      for (const Words& how :
           {Words{"--method", "two-stage"}, Words{"-p", "s", "--method", "two-stage", "--band", "8"}}) {
        const auto report = eig(Words{"--random", kind, "-n", n, "--vectors"} + how);
        CHECK(check(report, "found") == std::stod(n));
        CHECK(check(report, "expected") == std::stod(n));
        const double root = std::sqrt(std::max(1.0, std::stod(n))), single = how.size() > 2 ? 1 : 0;
        CHECK(check(report, "max_residual") <= (single > 0 ? 1e-6 : 5e-15) * root);
        CHECK(check(report, "max_error") <= (single > 0 ? 1e-6 : 5e-15) * root);
        CHECK(check(report, "orthogonality") <= (single > 0 ? 2e-5 : 1e-13) * root);
        CHECK(report["status"] == "ok");
      }
    }
}

TEST_CASE("eig works at the ends of the range") {
  for (const char* const scale : {"1e300", "1e-300", "-1"})
    for (const char* const method : {"two-stage", "one-stage", "lapack"})
      CHECK(eig({"-n", "40", "--scale", scale, "--vectors", "--method", method})["status"] == "ok");
  // Forty rows of ones times 1e308: the largest eigenvalue overflows.
  TemporaryFolder folder;
  const std::string ones = written(folder / "ones.npy", 40, 40, [](index_t, index_t) { return 1e308; });
  for (const char* const method : {"two-stage", "lapack"})
    CHECK_THAT(eig({"--a", ones, "--method", method}, 1)["status"].get<std::string>(), ContainsSubstring("overflow"));
  const auto part = eig({"--a", ones, "--range=-inf,1e307"});  // the row sums overflow, too
  CHECK(part["checks"]["found"] == 39);
  CHECK(part["checks"]["expected"] == 39);
  // A tridiagonal matrix with an overflow: the whole spectrum, and the part that is finite.
  const std::string d = written(folder / "d.npy", 5, 1, [](index_t i, index_t) { return i < 2 ? 1.5e308 : double(i); });
  const std::string e = written(folder / "e.npy", 4, 1, [](index_t i, index_t) { return i == 0 ? 1.5e308 : 0; });
  const Words problem{"--diagonal", d, "--off-diagonal", e};
  CHECK_THAT(eig(problem, 1)["status"].get<std::string>(), ContainsSubstring("overflow"));
  CHECK_THAT(eig(problem + Words{"--vectors"}, 1)["status"].get<std::string>(), ContainsSubstring("overflow"));
  CHECK(eig(problem + Words{"--smallest", "4", "--no-check"})["checks"]["found"] == 4);
}

TEST_CASE("eig writes the eigenvalues of every order as a vector") {
  const TemporaryFolder folder;
  for (const index_t n : {1, 2}) {
    const std::string a = written(folder / "a.npy", n, n, [](index_t i, index_t j) { return i == j ? 2 : 1; });
    eig({"--a", a, "--out", folder / "d.npy", "--vectors", "--out-vectors", folder / "x.npy"});
    CHECK(probe_matrix(folder / "d.npy").vector);
    CHECK(!probe_matrix(folder / "x.npy").vector);
  }
}

TEST_CASE("eig counts parts of a spectrum by the inertia of A") {
  const auto expected = [](const Words& part) {
    const auto report = eig(Words{"-n", "120", "--vectors", "--method", "two-stage"} + part);
    // At an eigenvalue the inertia is uncertain, and the report shows it.
    const double doubtful = report["checks"].value("doubtful", 0.0);
    CHECK(std::abs(check(report, "found") - check(report, "expected")) <= doubtful);
    if (part[0] != "--random") CHECK(doubtful == 0);
    return static_cast<int>(check(report, "found"));
  };
  CHECK(expected({"--index", "3,7"}) == 5);
  CHECK(expected({"--smallest", "4"}) == 4);
  CHECK(expected({"--largest", "120"}) == 120);
  const int low = expected({"--range=-inf,1.5"}), high = expected({"--range=1.5,inf"});
  CHECK(low + high == 120);
  CHECK(expected({"--range", "1e4,1e5"}) == 0);
  // 1 and -1, 60 times each; the range ends at both.
  CHECK(expected({"--random", "exchange", "--range=-1,1"}) + expected({"--random", "exchange", "--range=1,2"}) +
            expected({"--random", "exchange", "--range=-2,-1"}) ==
        120);
}

TEST_CASE("eig counts ranges whose ends are eigenvalues or breakdowns of the inertia of A - sigma I") {
  const auto counted = [](const Words& options) {
    const auto report = eig(options);
    const auto& checks = report["checks"];
    INFO(report.dump());
    CHECK(report["status"] == "ok");
    const double doubtful = checks.value("doubtful", 0.0);
    CHECK(std::abs(checks["expected"].get<double>() - checks["found"].get<double>()) <= doubtful);
    return std::pair{checks["found"].get<int>(), static_cast<int>(doubtful)};
  };
  // 2 - 2 cos(k pi / (n + 1)): the pivots of T - 2 I are zero, and no eigenvalue is near.
  CHECK(counted({"--random", "second-difference", "-n", "500", "--range=2,4"}) == std::pair{250, 0});
  // 1 and 3 are eigenvalues for n = 50.
  CHECK(counted({"--random", "second-difference", "-n", "50", "--range=1,3"}).second == 2);
  CHECK(counted({"--random", "exchange", "-n", "100", "--range=0,2"}) == std::pair{50, 0});
  CHECK(counted({"--random", "identity", "-n", "30", "--range=1,2"}) == std::pair{30, 30});
  CHECK(counted({"--random", "identity", "-n", "30", "--range=0,1"}) == std::pair{0, 30});
  CHECK(counted({"--random", "zero", "-n", "30", "--range=0,1"}).first == 30);
  CHECK(counted({"--random", "zero", "-n", "30", "--range=-1e-320,1e-320"}).second <= 30);  // near both ends
}

TEST_CASE("eig returns only values inside the range, also with vectors") {
  TemporaryFolder folder;
  const std::string all = folder / "all.npy", part = folder / "part.npy";
  const Words what{"--random", "second-difference", "-n", "200", "-p", "s", "--method", "two-stage", "--vectors"};
  eig(what + Words{"--out", all});
  const HostMatrix<double> whole = read_matrix<double>(all);
  for (const index_t i : {0, 7, 63, 150}) {
    const double end = whole(i, 0);
    std::ostringstream range;
    range << std::setprecision(17) << "--range=-9," << end;
    eig(what + Words{range.str(), "--out", part});
    const HostMatrix<double> found = read_matrix<double>(part);
    for (index_t j = 0; j < found.rows(); ++j) CHECK(found(j, 0) < end);
  }
}

TEST_CASE("eig finds the same values from a file, a triangle, a band and a tridiagonal matrix") {
  TemporaryFolder folder;
  const index_t n = 70;
  const auto element = [](index_t i, index_t j) {
    return i == j                 ? 2 + 0.01 * static_cast<double>(i)
           : std::abs(i - j) == 1 ? 0.5 - 0.003 * static_cast<double>(i + j)
                                  : 0.0;
  };
  const std::string whole = written(folder / "a.mtx", n, n, element),
                    lower = written(folder / "lower.npy", n, n,
                                    [&](index_t i, index_t j) { return i >= j ? element(i, j) : 7; }),
                    d = written(folder / "d.npy", n, 1, [&](index_t i, index_t) { return element(i, i); }),
                    e = written(folder / "e.npy", 1, n - 1, [&](index_t, index_t j) { return element(j + 1, j); });
  const auto values = [&](const Words& input) {
    const std::string out = folder / "w.npy";
    eig(input + Words{"--out", out, "--out-vectors", folder / "x.npy", "--certify", "3"});
    CHECK(read_matrix<double>(folder / "x.npy").shape() == Shape{n, n});
    return read_matrix<double>(out);
  };
  const HostMatrix<double> first = values({"--a", whole, "--method", "lapack"});
  for (const Words& input :
       {Words{"--a", whole, "--method", "two-stage"}, Words{"--a", lower, "--uplo", "lower", "--method", "two-stage"},
        Words{"--diagonal", d, "--off-diagonal", e},
        Words{"--diagonal", d, "--off-diagonal", e, "--method", "lapack"}}) {
    const HostMatrix<double> other = values(input);
    REQUIRE(other.rows() == n);
    for (index_t i = 0; i < n; ++i) CHECK(std::abs(other(i, 0) - first(i, 0)) <= 1e-13);
  }
  refused({"--a", lower}, "not symmetric: A(3, 1) = 0 and A(1, 3) = 7");
  CHECK(eig({"--a", lower, "--symmetrize"})["status"] == "ok");
  refused({"--a", written(folder / "wide.npy", 2, 3, element)}, "not square");
  refused({"--diagonal", d, "--off-diagonal", d}, "70 elements, but the diagonal has 70");
  refused({"--diagonal", d}, "--off-diagonal");
}

TEST_CASE("eig --certify proves a spectrum by the inertia of A") {
  for (const char* const precision : {"d", "s", "z", "c"}) {
    const auto report = eig({"-n", "200", "--certify", "5", "--method", "two-stage", "-p", precision});
    CHECK(check(report, "certify_misses") == 0);
    CHECK(check(report, "certified") == 5);
  }
}

TEST_CASE("eig refuses invalid options, and works with all schedulers") {
  refused({"-n", "-1"}, "--n");
  refused({"--random", "unifrom"}, "uniform, normal");
  refused({"-n", "10", "--index", "0,3"}, "--index");
  refused({"-n", "10", "--index", "3,11"}, "--index");
  refused({"-n", "10", "--index", "3"}, "--index");
  refused({"-n", "10", "--smallest", "11"}, "--smallest");
  refused({"-n", "10", "--range", "2,1"}, "--range");
  refused({"-n", "10", "--range", "1,2", "--smallest", "2"}, "--range");
  refused({"-n", "10", "--scale", "nan"}, "--scale");
  refused({"-n", "10", "--scale", "1e308", "--random", "wilkinson"}, "--scale");
  refused({"-n", "10", "--band", "0"}, "--band");
  refused({"-n", "10", "--method", "one-stage", "--band", "8"}, "band");
  refused({"-n", "10", "--method", "lapack", "--band", "8"}, "--band: belongs to --method two-stage, not to lapack");
  refused({"-n", "10", "--method", "qr-iteration", "--block", "8"}, "--block");
  refused({"--a", ""}, "--a");
  refused({"-n", "10", "--out", ""}, "--out");
  refused({"-n", "10", "--method", "jacobi"}, "--method");
  refused({"-n", "10", "--certify", "2", "--smallest", "3"}, "--certify");
  refused({"-n", "10", "--method", "cusolver", "--random-b", "uniform"}, "--method");
  refused({"-n", "10", "--method", "cusolver", "--trace", "none"}, "--trace");
  const Outcome device =
      run_tesela({"eig", "-n", "10", "--method", "cusolver"}, {.environment = {{"CUDA_VISIBLE_DEVICES", ""}}});
  CHECK(device.code == 3);
  CHECK_THAT(device.err, ContainsSubstring("CUDA"));
  refused({"-n", "10", "--random", "spectrum:none.npy"}, "none.npy");
  refused({"-n", "10", "--range=-1e400,1e400"}, "--range: '-1e400,1e400' has a number beyond double precision");
  for (const char* const scheduler : {"eager", "lws", "dmdas", "random"})
    CHECK(eig({"-n", "90", "--vectors", "--method", "two-stage", "--sched", scheduler})["status"] == "ok");
  CHECK(eig({"-n", "90", "--vectors", "--method", "two-stage", "--ncpu", "1"})["status"] == "ok");
}

TEST_CASE("eig with cuSOLVER solves all kinds and parts", "[gpu]") {
  require_gpu();
  const Words by{"--method", "cusolver", "--vectors"};
  for (const char* const kind : kinds)
    for (const char* const n : {"0", "1", "2", "65"})
      CHECK(eig(Words{"--random", kind, "-n", n} + by)["status"] == "ok");
  for (const char* const scale : {"1e300", "1e-300"})
    CHECK(eig(Words{"-n", "40", "--scale", scale} + by)["status"] == "ok");
  for (const Words& part : {Words{"--smallest", "4"}, {"--largest", "7"}, {"--index", "3,9"}, {"--range", "0,inf"}})
    CHECK(eig(Words{"-n", "60", "-p", "s"} + part + by)["status"] == "ok");
  CHECK(check(eig(Words{"-n", "90", "--certify", "3"} + by), "certified") == 3);
}

TEST_CASE("eig finds and proves a few pairs of a tridiagonal matrix of order 20000 in seconds") {
  constexpr index_t n = 20000;
  TemporaryFolder folder;
  // Slepian's sequences: eigenvalues near the largest one are close, and of size 1e8.
  const std::string d = written(folder / "d.npy", n, 1, [](index_t i, index_t) {
    return std::pow((n - 1) / 2.0 - static_cast<double>(i), 2) * std::cos(2 * 3.14159265358979 * 4 / n);
  });
  const std::string e = written(folder / "e.npy", n - 1, 1, [](index_t i, index_t) {
    return static_cast<double>(i + 1) * static_cast<double>(n - i - 1) / 2;
  });
  const Words matrix{"--diagonal", d, "--off-diagonal", e};
  for (const Words& precision : {Words{}, Words{"-p", "s"}}) {
    const auto report = eig(matrix + precision + Words{"--largest", "7", "--vectors"});
    CHECK(check(report, "found") == 7);
    for (const char* const error : {"max_error", "max_residual", "orthogonality"})
      CHECK(check(report, error) <= report["limits"][error].get<double>());
    CHECK(report["seconds"]["total"].get<double>() < 30);  // by all pairs it was minutes
    CHECK(report["problem"]["method"] == "bisection");
  }
  const double middle = 5e7;
  const auto part = [&](double low, double high) {
    std::ostringstream range;
    range << std::setprecision(17) << "--range=" << low << "," << high;
    const auto report = eig(matrix + Words{range.str(), "--vectors"});
    CHECK(check(report, "found") == check(report, "expected"));
    return check(report, "found");
  };
  const double both = part(middle, middle + 4e5);
  CHECK(both > 3);
  CHECK(part(middle, middle + 1e5) + part(middle + 1e5, middle + 4e5) == both);
}

TEST_CASE("eig never makes a tridiagonal matrix in a coordinate file dense") {
  TemporaryFolder folder;
  const auto file = [&](const std::string& name, const char* symmetry, index_t n, index_t extra) {
    const bool general = symmetry == std::string("general");
    std::ofstream text(folder / name);
    text << "%%MatrixMarket matrix coordinate real " << symmetry << "\n"
         << n << " " << n << " " << n + (general ? 2 : 1) * (n - 1) + (extra > 0 ? 1 : 0) << "\n";
    for (index_t i = 1; i <= n; ++i) text << i << " " << i << " 2\n";
    for (index_t i = 1; i < n; ++i) text << i + 1 << " " << i << " -1\n";
    for (index_t i = 1; general && i < n; ++i) text << i << " " << i + 1 << " -1\n";
    if (extra > 0) text << extra << " 1 0.5\n";
    return folder / name;
  };
  const auto smallest = [](index_t n) { return 2 - 2 * std::cos(3.14159265358979323846 / static_cast<double>(n + 1)); };
  for (const char* const symmetry : {"symmetric", "general"}) {
    const index_t n = 100000;  // 80 GB if dense
    const auto report =
        eig({"--a", file("t.mtx", symmetry, n, 0), "--smallest", "3", "--vectors", "--out", folder / "w.npy"});
    CHECK(report["problem"]["method"] == "bisection");
    CHECK(std::abs(read_matrix<double>(folder / "w.npy")(0, 0) - smallest(n)) <= 1e-15);
  }
  // One more element makes the matrix a dense one.
  CHECK(eig({"--a", file("c.mtx", "symmetric", 50, 50)})["problem"]["method"] == "lapack");
  CHECK(eig({"--a", file("t.mtx", "symmetric", 50, 0), "--method", "lapack"})["problem"]["method"] == "lapack");
  // The plan describes the method of the run.
  const auto planned = [&](const std::string& path) {
    return eig({"--a", path, "--smallest", "3", "--plan"})["plan"]["host"]["peak_bytes"].get<double>();
  };
  const std::string bands = file("p.mtx", "symmetric", 2000, 0), full = file("q.mtx", "symmetric", 2000, 2000);
  CHECK(planned(bands) < 8.0 * 2000 * 100);
  CHECK(planned(full) > 8.0 * 2000 * 2000);
}

TEST_CASE("eig --certify proves the spectrum of a tridiagonal matrix by Sturm counts") {
  TemporaryFolder folder;
  const std::string d = written(folder / "d.npy", 5000, 1, [](index_t i, index_t) { return std::sin(double(i)); });
  const std::string e = written(folder / "e.npy", 4999, 1, [](index_t i, index_t) { return std::cos(double(i)); });
  for (const char* const precision : {"d", "s"}) {
    const auto report = eig({"--diagonal", d, "--off-diagonal", e, "--certify", "4", "-p", precision});
    CHECK(check(report, "certified") == 4);
    CHECK(check(report, "certify_misses") == 0);
    CHECK(check(report, "max_error") <= report["limits"]["max_error"].get<double>());
    CHECK(check(report, "trace_drift") <= report["limits"]["trace_drift"].get<double>());
  }
}
