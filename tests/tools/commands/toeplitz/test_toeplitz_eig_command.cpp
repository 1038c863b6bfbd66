#include "tests/support/commands/command.hpp"
#include "tests/support/machine.hpp"
#include "tests/support/toeplitz.hpp"
#include <tesela/tiles/io/file_formats.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>

using namespace tesela::test;

namespace {

/// Returns the report of `tesela toeplitz COMMAND`.
nlohmann::json toeplitz(const std::string& command, const Words& options, int code = 0,
                        const ProcessOptions& process = {}) {
  return Command{{"toeplitz", command}}(options, code, process);
}

void refused(const std::string& command, const Words& options, const std::string& why) {
  Command{{"toeplitz", command}}.refuses(options, why);
}

const Words all_kinds{"random", "spd", "prolate:0.3", "kms:0.9", "second-difference", "singular-minors"};

const ToeplitzGenerator random_5{ToeplitzKind::random, 0, 5};

/// Returns max |a - b|.
double apart(const HostMatrix<double>& a, const std::vector<double>& b) {
  REQUIRE(a.rows() == static_cast<index_t>(b.size()));
  REQUIRE(a.cols() == 1);
  double most = 0;
  for (index_t i = 0; i < a.rows(); ++i) {
    const double here = std::abs(a(i, 0) - b[static_cast<std::size_t>(i)]);
    if (!(here <= most)) most = here;
  }
  return most;
}

}  // namespace

TEST_CASE("toeplitz eig finds every spectrum completely at any size, with and without vectors") {
  for (const std::string& kind : all_kinds)
    for (const std::string n : {"1", "2", "3", "64", "501"})
      for (const bool vectors : {false, true}) {
        const auto report = toeplitz(
            "eig", Words{"--random", kind, "--n", n, "--seed", "1"} + (vectors ? Words{"--vectors"} : Words{}));
        CAPTURE(kind, n, vectors, report.dump());
        CHECK(report["status"] == "ok");
        CHECK(check(report, "found") == std::stod(n));
        CHECK(check(report, "expected") == std::stod(n));
        CHECK(check(report, "max_error") <= 1e-12);
        if (!vectors) continue;
        CHECK(check(report, "max_residual") <= 1e-12);
        CHECK(check(report, "orthogonality") <= 1e-9);
        CHECK(check(report, "symmetry") <= 1e-12);
      }
}

TEST_CASE("toeplitz eig: residuals are relative to the matrix for small eigenvalues") {
  const auto report = toeplitz("eig", {"--random", "prolate:0.1", "--n", "60", "--smallest", "20", "--vectors"});
  CAPTURE(report.dump());
  CHECK(check(report, "found") == 20);
  CHECK(check(report, "max_residual") <= 1e-14);
  CHECK(check(report, "orthogonality") <= 1e-12);
}

TEST_CASE("toeplitz eig works at every scale and for zero matrices in files") {
  TemporaryFolder folder;
  const auto t = toeplitz_column<double>(random_5, 40);
  for (const double by : {1e10, 1e15, 1e-10, 1e300, 1e-310})
    for (const bool vectors : {false, true}) {
      HostMatrix<double> scaled(40, 1);
      for (index_t k = 0; k < 40; ++k) scaled(k, 0) = by * t(k, 0);
      write_matrix(folder / "t.npy", scaled);
      const auto report = toeplitz("eig", Words{"--t", folder / "t.npy"} + (vectors ? Words{"--vectors"} : Words{}));
      CAPTURE(by, vectors, report.dump());
      CHECK(report["status"] == "ok");
      CHECK(check(report, "max_error") <= (by < 1e-300 ? 1e-13 : 1e-14));
      if (vectors) CHECK(check(report, "max_residual") <= 1e-12);
    }
  for (const index_t n : {1, 10, 65}) {
    write_matrix(folder / "zeros.npy", HostMatrix<double>::zeros(n, 1));
    const auto report = toeplitz("eig", {"--t", folder / "zeros.npy", "--out", folder / "values.npy", "--vectors"});
    CHECK(report["status"] == "ok");
    CHECK(check(report, "found") == static_cast<double>(n));
    const auto values = read_matrix<double>(folder / "values.npy");
    REQUIRE(values.rows() == n);
    for (index_t i = 0; i < n; ++i) CHECK(values(i, 0) == 0);
    const auto sliced = toeplitz("slice", {"--t", folder / "zeros.npy"});
    CHECK(check(sliced, "eigenvalues") == static_cast<double>(n));
    CHECK(check(sliced, "most") == static_cast<double>(n));
    CHECK(check(toeplitz("count", {"--t", folder / "zeros.npy", "--sigma", "0"}), "below") == 0);
    CHECK(check(toeplitz("count", {"--t", folder / "zeros.npy", "--sigma", "1e-320"}), "below") ==
          static_cast<double>(n));
  }
  HostMatrix<double> ones(20, 1);
  std::fill_n(ones.data(), 20, 1e308);
  write_matrix(folder / "ones.npy", ones);
  const auto overflow = toeplitz("eig", {"--t", folder / "ones.npy"}, 1);
  CHECK_THAT(overflow["status"].get<std::string>(), ContainsSubstring("overflow"));
  const auto vectors = toeplitz("eig", {"--t", folder / "ones.npy", "--vectors"}, 1);
  for (const char* const name : {"error_bound", "max_error", "max_residual", "orthogonality", "symmetry"}) {
    CAPTURE(name);
    CHECK(!overflow["checks"].contains(name));  // not measured
    CHECK(!vectors["checks"].contains(name));
  }
  const auto sliced = toeplitz("slice", {"--t", folder / "ones.npy", "--out", folder / "slices.npy"}, 1);
  CHECK(sliced["status"] == "overflow: an eigenvalue is larger than the largest number");
  CHECK(!std::filesystem::exists(folder / "slices.npy"));
}

TEST_CASE("toeplitz eig accepts a matrix of order 0") {
  TemporaryFolder folder;
  for (const std::string precision : {"d", "s", "z"}) {
    const auto report = toeplitz("eig", {"--n", "0", "-p", precision, "--out", folder / "w.npy", "--out-vectors",
                                         folder / "x.npy", "--range=0,1"});
    CHECK(report["status"] == "ok");
    CHECK(check(report, "found") == 0);
    CHECK(check(report, "expected") == 0);
  }
  CHECK(read_matrix<double>(folder / "w.npy").rows() == 0);
  refused("eig", {"--n", "0", "--smallest", "1"}, "--smallest");
}

TEST_CASE("toeplitz eig prints limits that follow the tolerance") {
  const auto report = toeplitz("eig", {"--n", "100", "--vectors"});
  for (const char* name :
       {"max_ritz_residual", "error_bound", "uncertain", "max_error", "max_residual", "orthogonality", "symmetry"}) {
    CAPTURE(name);
    REQUIRE(report["limits"].contains(name));
    CHECK(check(report, name) <= report["limits"][name].get<double>());
  }
  const auto rough = toeplitz("eig", {"--n", "100", "--tol", "0.001", "--no-check"});
  CHECK(rough["limits"]["max_ritz_residual"] == 0.004);
}

TEST_CASE("toeplitz eig reads and writes files") {
  TemporaryFolder folder;
  const auto t = toeplitz_column<double>(random_5, 80);
  const auto right = dense_eigenvalues(t);
  HostMatrix<double> row(1, 80);
  std::copy_n(t.data(), 80, row.data());
  write_matrix(folder / "t.npy", t);
  write_matrix(folder / "row.mtx", row);
  for (const std::string name : {"t.npy", "row.mtx"})
    for (const std::string ending : {".npy", ".mtx"}) {
      const auto report = toeplitz("eig", {"--t", folder / name, "--out", folder / ("values" + ending), "--out-vectors",
                                           folder / ("vectors" + ending)});
      CHECK(report["problem"]["n"] == 80);
      CHECK(check(report, "max_residual") <= 1e-12);  // vectors were computed, since they are written
      const auto values = read_matrix<double>(folder / ("values" + ending));
      const auto vectors = read_matrix<double>(folder / ("vectors" + ending));
      CHECK(apart(values, right) <= 1e-12 * 20);
      REQUIRE(vectors.shape() == Shape{80, 80});
      const HostMatrix<double> a = dense(t);
      for (index_t j = 0; j < 80; ++j) {
        double squares = 0, length = 0;
        for (index_t i = 0; i < 80; ++i) {
          double r = -values(j, 0) * vectors(i, j);
          for (index_t k = 0; k < 80; ++k) r += a(i, k) * vectors(k, j);
          squares += r * r;
          length += vectors(i, j) * vectors(i, j);
        }
        REQUIRE(std::sqrt(squares) <= 1e-12 * 20);
        REQUIRE(std::abs(length - 1) <= 1e-12);
      }
    }
  std::ofstream(folder / "bad.mtx") << "%%MatrixMarket matrix array real general\n3 1\n1\nnan\n2\n";
  for (const std::string command : {"eig", "count", "slice"})
    refused(command, {"--t", folder / "bad.mtx"}, "bad.mtx: line 4: the value is not finite");
  refused("eig", {"--t", folder / "vectors.npy"}, "not one row or column");
  refused("eig", {"--t", folder / "none.npy"}, "none.npy");
}

TEST_CASE("toeplitz eig uses the requested method or the faster one") {
  for (const std::string method : {"auto", "lanczos", "dense"}) {
    const auto report = toeplitz("eig", {"--n", "200", "--ncpu", "2", "--ncuda", "0", "--method", method});
    CHECK(report["status"] == "ok");
    CHECK(report["problem"]["method"] == (method == "lanczos" ? "lanczos" : "dense"));
  }
  CHECK(toeplitz("eig", {"--n", "200", "--dk", "4"})["problem"]["method"] == "lanczos");
  refused("eig", {"--n", "200", "--method", "dense", "--dk", "4"}, "method");
}

TEST_CASE("toeplitz eig runs with the choices of Graciá Gil 2010") {
  const auto report = toeplitz("eig", {"--n", "300", "--preset", "published"});
  CHECK(report["status"] == "ok");
  CHECK(check(report, "found") == 300);
  CHECK(report["limits"]["max_error"] == 0.01);
}

TEST_CASE("toeplitz eig with too few steps of the choices of Graciá Gil 2010 reports missing values") {
  TemporaryFolder folder;
  const auto report = toeplitz(
      "eig",
      {"--n", "200", "--preset", "published", "--tol", "1e-10", "--krylov-factor", "3", "--out", folder / "values.npy"},
      1);
  CHECK_THAT(report["status"].get<std::string>(), ContainsSubstring("shortage") && ContainsSubstring("found"));
  CHECK(check(report, "found") < 200);
  CHECK(check(report, "found") > 0);
  CHECK(check(report, "expected") == 200);
  CHECK(folder.files() == 0);
}

TEST_CASE("toeplitz eig uses at most the steps of --krylov-factor") {
  // 20 steps for 40 eigenvalues are too few; a preset with additional steps would need fewer shifts.
  const auto report = toeplitz("eig", {"--n", "400", "--per-interval", "40", "--krylov-factor", "0.5"});
  CAPTURE(report.dump());
  CHECK(check(report, "found") == 400);
  CHECK(report["counts"]["solves"] <= 20 * report["counts"]["shifts_inverted"].get<int>());
}

TEST_CASE("toeplitz eig works in single precision") {
  for (const std::string n : {"1", "64", "300"}) {
    const auto report = toeplitz("eig", {"--n", n, "--precision", "s", "--vectors"});
    CAPTURE(report.dump());
    CHECK(check(report, "found") == std::stod(n));
    CHECK(check(report, "max_error") <= 1e-5);
    CHECK(check(report, "max_residual") <= 1e-4);
    if (n != "1") CHECK(check(report, "max_error") > 1e-12);  // computed in single precision
  }
}

TEST_CASE("toeplitz eig, count and slice refuse wrong use and name the option") {
  for (const std::string command : {"eig", "count", "slice"}) {
    if (command != "eig") refused(command, {"--n", "0"}, "--n");
    refused(command, {"--n", "-3"}, "--n");
    refused(command, {"--random", "odd"}, "--random");
    refused(command, {"--n", "8", "--out", "/no/such/folder/x.npy"}, "/no/such/folder");
  }
  for (const std::string range : {"3", "3,", ",", "a,b", "3,1", "1,1", "1,2,3", "nan,1", "1;2"})
    for (const std::string command : {"eig", "slice"}) refused(command, {"--n", "5", "--range=" + range}, "--range");
  refused("eig", {"--n", "5", "--smallest", "2", "--range", "0,1"}, "--range");
  refused("eig", {"--n", "5", "--smallest", "2", "--largest", "2"}, "--largest");
  refused("eig", {"--n", "5", "--smallest", "0"}, "--smallest");
  refused("eig", {"--n", "5", "--preset", "slow"}, "--preset");
  refused("eig", {"--n", "5", "--dk", "0"}, "--dk");
  refused("eig", {"--n", "5", "--shift", "left"}, "--shift");
  refused("count", {"--n", "5", "--sigma", "nan"}, "--sigma");
  refused("slice", {"--n", "5", "--most", "0"}, "--most");
}

TEST_CASE("toeplitz count accepts several shifts, also an eigenvalue") {
  TemporaryFolder folder;
  const auto right = dense_eigenvalues(toeplitz_column<double>(random_5, 200));
  toeplitz("count", {"--n", "200", "--seed", "5", "--sigma=-100,-1.5,0,2,100", "--out", folder / "counts.npy"});
  const auto counts = read_matrix<double>(folder / "counts.npy");
  REQUIRE(counts.shape() == Shape{5, 4});
  for (index_t i = 0; i < 5; ++i) {
    const double below =
        static_cast<double>(std::count_if(right.begin(), right.end(), [&](double v) { return v < counts(i, 0); }));
    CHECK(counts(i, 1) == below);
    CHECK(counts(i, 2) + counts(i, 3) == below);
  }
  const auto both = toeplitz("count", {"--n", "200", "--seed", "5", "--sigma=-100,-1.5,0,2,100", "--both"});
  CHECK(check(both, "levinson_differs") == 0);
  CHECK(check(both, "levinson_breakdowns") == 0);
  // A shift equal to t_0 gives a zero leading minor.
  const auto silent = toeplitz("count", {"--n", "200", "--random", "singular-minors", "--sigma", "0", "--both"});
  CHECK(check(silent, "below") == 100);
  CHECK(check(silent, "levinson_breakdowns") == 1);
  // 2 is the middle eigenvalue 2 - 2 cos(k pi / 102) and t_0.
  const auto equal = toeplitz("count", {"--n", "101", "--random", "second-difference", "--sigma", "2"});
  CHECK(check(equal, "doubtful") == 0);
  CHECK(check(equal, "shift") == 2);
  CHECK(check(equal, "below") == 50);
  const auto clear = toeplitz("count", {"--n", "101", "--random", "second-difference", "--sigma", "1.99"});
  CHECK(check(clear, "nudged") == 0);
  CHECK(check(clear, "shift") == 1.99);
  const Outcome table =
      run_tesela({"toeplitz", "count", "--n", "3", "--random", "second-difference", "--sigma", "1,3"});
  CHECK(table.code == 0);
  CHECK_THAT(table.out, ContainsSubstring("symmetric"));
}

TEST_CASE("toeplitz slice returns intervals that contain all eigenvalues") {
  TemporaryFolder folder;
  const auto right = dense_eigenvalues(toeplitz_column<double>(random_5, 200));
  const auto sliced = [&](const Words& options, index_t most) {
    const auto report = toeplitz(
        "slice",
        Words{"--n", "200", "--seed", "5", "--most", std::to_string(most), "--out", folder / "slices.npy"} + options);
    const auto rows = read_matrix<double>(folder / "slices.npy");
    REQUIRE(rows.cols() == 5);
    REQUIRE(rows.rows() == static_cast<index_t>(check(report, "intervals")));
    double total = 0;
    for (index_t i = 0; i < rows.rows(); ++i) {
      const auto inside =
          std::count_if(right.begin(), right.end(), [&](double v) { return v >= rows(i, 0) && v < rows(i, 1); });
      CHECK(rows(i, 2) + rows(i, 3) == static_cast<double>(inside));
      CHECK(inside <= most);
      CHECK(rows(i, 4) == 0);
      total += static_cast<double>(inside);
    }
    CHECK(check(report, "eigenvalues") == total);
    return total;
  };
  for (const index_t most : {1, 7, 200}) CHECK(sliced({}, most) == 200);
  const auto inside = std::count_if(right.begin(), right.end(), [](double v) { return v >= -3 && v < 5; });
  CHECK(sliced({"--range=-3,5"}, 10) == static_cast<double>(inside));
}

TEST_CASE("toeplitz eig finds the same eigenvalues with every scheduler and on one core") {
  TemporaryFolder folder;
  const auto right = dense_eigenvalues(toeplitz_column<double>(random_5, 150));
  using Environment = std::map<std::string, std::string>;
  for (const Environment& environment : {Environment{{"STARPU_SCHED", "eager"}},
                                         Environment{{"STARPU_SCHED", "random"}}, Environment{{"STARPU_SCHED", "lws"}},
                                         Environment{{"STARPU_SCHED", "dmdas"}}, Environment{{"STARPU_NCPU", "1"}}}) {
    CAPTURE(environment.begin()->first, environment.begin()->second);
    const auto report = toeplitz("eig",
                                 {"--n", "150", "--seed", "5", "--per-interval", "10", "--vectors", "--no-check",
                                  "--out", folder / "values.npy"},
                                 0, {.environment = environment});
    CHECK(check(report, "max_residual") <= 1e-12);
    CHECK(check(report, "orthogonality") <= 1e-9);
    CHECK(apart(read_matrix<double>(folder / "values.npy"), right) <= 1e-12 * 20);
  }
}

TEST_CASE("toeplitz eig works on a GPU alone and with cores", "[gpu]") {
  require_gpu();
  for (const std::string& kind : all_kinds)
    for (const std::string n : {"1", "3", "501"})
      for (const std::string cores : {"0", "2"}) {
        const auto report = toeplitz("eig", {"--random", kind, "--n", n, "--ncpu", cores, "--vectors"});
        CAPTURE(kind, n, cores, report.dump());
        CHECK(check(report, "found") == std::stod(n));
        CHECK(check(report, "max_error") <= 1e-12);
        CHECK(check(report, "max_residual") <= 1e-12);
        CHECK(check(report, "orthogonality") <= 1e-9);
      }
}

TEST_CASE("toeplitz eig performs its steps as fused tasks or on tiles") {
  for (const std::string tasks : {"auto", "fused", "tiles"}) {
    const auto report = toeplitz("eig", {"--n", "400", "--smallest", "30", "--lanczos", tasks, "--ncuda", "0"});
    CAPTURE(tasks, report.dump());
    CHECK(report["status"] == "ok");
    CHECK(report["problem"]["lanczos"] == (tasks == "tiles" ? "tiles" : "fused"));  // auto: short vectors
    CHECK(check(report, "found") == 30);
    CHECK(check(report, "max_error") <= 1e-12);
    CHECK(check(report, "time_in_solves") > 0);
  }
  refused("eig", {"--n", "40", "--lanczos", "tiles", "--solver", "levinson"}, "tasks on tiles");
  refused("eig", {"--n", "40", "--lanczos", "tiny"}, "--lanczos");
}
