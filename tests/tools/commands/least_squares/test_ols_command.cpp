#include "tests/support/commands/command.hpp"
#include "tests/support/machine.hpp"
#include <tesela/tiles/io/file_formats.hpp>

#include <nlohmann/json.hpp>

using namespace tesela::test;

namespace {

const Command ols{{"ols"}};

/// Returns the options of every way to solve on this machine.
std::vector<Words> ways() {
  std::vector<Words> all{{}, {"--tree", "greedy", "--ib", "8"}, {"--tile", "96x64", "--method", "tiles"}};
  for (const char* method : {"tiles", "tall-skinny", "givens", "givens-stages", "givens-chain", "lapack"})
    all.push_back({"--method", method});
  if (count_cuda_devices() > 0) all.push_back({"--method", "cusolver"});
  return all;
}

/// Returns ||B - A X||_F and ||A^T (B - A X)||_F.
std::pair<double, double> residual(const HostMatrix<double>& a, const HostMatrix<double>& b,
                                   const HostMatrix<double>& x) {
  double r = 0, gradient = 0;
  for (index_t k = 0; k < b.cols(); ++k) {
    std::vector<double> column(static_cast<std::size_t>(a.rows()));
    for (index_t i = 0; i < a.rows(); ++i) {
      double& element = column[static_cast<std::size_t>(i)];
      element = b(i, k);
      for (index_t j = 0; j < a.cols(); ++j) element -= a(i, j) * x(j, k);
      r = std::hypot(r, element);
    }
    for (index_t j = 0; j < a.cols(); ++j) {
      double sum = 0;
      for (index_t i = 0; i < a.rows(); ++i) sum += a(i, j) * column[static_cast<std::size_t>(i)];
      gradient = std::hypot(gradient, sum);
    }
  }
  return {r, gradient};
}

}  // namespace

TEST_CASE("every method solves files in any format and writes x") {
  const TemporaryFolder folder;
  const auto [m, n, format] =
      GENERATE(table<std::string, std::string, std::string>({{"200", "30", ".mtx"}, {"700", "8", ".npy"}}));
  const std::string a = folder / ("a" + format), b = folder / ("b" + format), out = folder / "x.npy";
  REQUIRE(run_tesela({"generate", "--m", m, "--n", n, "--out", a}).code == 0);
  REQUIRE(run_tesela({"generate", "--m", m, "--n", "3", "--seed", "2", "--out", b}).code == 0);
  const auto A = read_matrix<double>(a), B = read_matrix<double>(b);
  for (const Words& way : ways()) {
    CAPTURE(m, n, format, way);
    const auto report = ols(way + Words{"--a", a, "--b", b, "--out", out, "--repeat", "2"});
    CHECK(report["status"] == "ok");
    const auto& checks = report["checks"];
    CHECK(checks["rank"] == std::stoi(n));
    CHECK(checks["condition"].get<double>() >= 1);
    CHECK(checks["normal_residual"].get<double>() <= 1e-13);
    const auto X = read_matrix<double>(out);
    REQUIRE(X.shape() == Shape{A.cols(), 3});
    const auto [r, gradient] = residual(A, B, X);
    CHECK(gradient <= 1e-10);
    CHECK(std::abs(checks["residual_norm"].get<double>() - r) <= 1e-11);
  }
}

TEST_CASE("with fewer rows than columns x has least norm and a residual at rounding") {
  for (const Words& way : ways()) {
    if (way.size() > 1 && way[1] == "cusolver") continue;
    const auto report = ols(way + Words{"--m", "60", "--n", "150", "--rhs", "2"});
    CAPTURE(way);
    CHECK(report["checks"]["rank"] == 60);
    CHECK(report["checks"]["residual_norm"].get<double>() <= 1e-12);
    CHECK(report["checks"]["normal_residual"] == 0);
    static const double solution_norm = report["checks"]["solution_norm"].get<double>();
    CHECK(std::abs(report["checks"]["solution_norm"].get<double>() - solution_norm) <= 1e-12 * solution_norm);
  }
}

TEST_CASE("a deficient rank is reported and solved with least norm, and is not a failure") {
  const Words shape = GENERATE(Words{"--m", "300", "--n", "90"}, Words{"--m", "90", "--n", "300"});
  for (const char* method : {"tiles", "tall-skinny", "givens-stages"}) {
    const auto report = ols(shape + Words{"--random", "rank:20", "--method", method});
    CAPTURE(shape, method);
    CHECK(report["status"] == "rank deficient");
    CHECK(report["checks"]["rank"] == 20);
    CHECK(report["checks"]["condition"].get<double>() > 1e13);
    CHECK(report["checks"]["normal_residual"].get<double>() <= 1e-13);
  }
  // gels does not detect the rank, so its solution is a failure.
  CHECK(ols(shape + Words{"--random", "rank:20", "--method", "lapack"}, 1)["status"] == "rank deficient");
  const auto zero = ols(shape + Words{"--random", "zero"});
  CHECK(zero["checks"]["rank"] == 0);
  CHECK(zero["checks"]["condition"].is_null());  // infinite
  CHECK(zero["checks"]["solution_norm"] == 0);
}

TEST_CASE("gelsd is a peer for any rank and uses A unscaled") {
  for (const Words& shape : {Words{"--m", "120", "--n", "40"}, {"--m", "40", "--n", "120"}, {"--m", "50", "--n", "50"}})
    for (const char* random : {"uniform", "rank:17", "zero"}) {
      const Words problem = shape + Words{"--random", random, "--rhs", "2"};
      const auto ours = ols(problem), theirs = ols(problem + Words{"--method", "gelsd"});
      CAPTURE(shape, random);
      CHECK(theirs["status"] == ours["status"]);
      CHECK(theirs["problem"]["method"] == "gelsd");
      CHECK(theirs["checks"]["rank"] == ours["checks"]["rank"]);
      const double size = ours["checks"]["solution_norm"];
      CHECK(std::abs(theirs["checks"]["solution_norm"].get<double>() - size) <= 1e-9 * size);
      for (const auto& report : {ours, theirs})
        CHECK(report["checks"]["backward_error"].get<double>() <= report["limits"]["backward_error"].get<double>());
    }
  // The units of columns affect gelsd, but not our methods.
  const TemporaryFolder folder;
  std::ofstream(folder / "a.mtx") << "%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n1e-20\n0\n-1e-20\n";
  std::ofstream(folder / "b.mtx") << "%%MatrixMarket matrix array real general\n3 1\n1\n2\n4\n";
  const Words files{"--a", folder / "a.mtx", "--b", folder / "b.mtx"};
  CHECK(ols(files)["checks"]["rank"] == 2);
  CHECK(ols(files + Words{"--method", "gelsd"})["checks"]["rank"] == 1);
}

TEST_CASE("the bound of the backward error follows from size and precision") {
  for (const char* precision : {"s", "d"}) {
    const auto report = ols({"--m", "400", "--n", "50", "--precision", precision});
    const double epsilon = *precision == 's' ? 0x1p-23 : 0x1p-52;
    CHECK(std::abs(report["limits"]["backward_error"].get<double>() / (200 * epsilon) - 1) <= 1e-12);
  }
}

TEST_CASE("subnormal data are solved") {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b"}) {
    std::ofstream file(folder / (std::string(name) + ".mtx"));
    file << "%%MatrixMarket matrix array real general\n40 " << (*name == 'a' ? 5 : 1) << "\n";
    for (int e = 0; e < (*name == 'a' ? 200 : 40); ++e) file << (e * 37 % 101 - 50) << "e-316\n";
  }
  for (const char* method : {"tiles", "tall-skinny", "givens"}) {
    // R has few digits left, so the residual may exceed the bound; the status then reports it.
    const auto report = ols({"--a", folder / "a.mtx", "--b", folder / "b.mtx", "--method", method}, -1);
    CAPTURE(method, report.dump());
    CHECK(report["checks"]["rank"] == 5);
    const double error = report["checks"]["backward_error"], limit = report["limits"]["backward_error"];
    CHECK((report["status"] == "ok") == (error <= limit));
  }
}

TEST_CASE("--rcond cuts off small singular values") {
  const Words problem{"--m", "200", "--n", "40", "--random", "kappa:1e10"};
  CHECK(ols(problem)["checks"]["rank"] == 40);
  const auto cut = ols(problem + Words{"--rcond", "1e-5"});
  CHECK(cut["status"] == "rank deficient");
  CHECK(cut["checks"]["rank"] < 40);
  CHECK(cut["checks"]["rank"] > 5);
  CHECK(cut["checks"]["solution_norm"] < ols(problem)["checks"]["solution_norm"]);
}

TEST_CASE("a solution that overflows gives exit code 1 and no file") {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.mtx") << "%%MatrixMarket matrix array real general\n2 1\n1e-300\n1e-300\n";
  std::ofstream(folder / "b.mtx") << "%%MatrixMarket matrix array real general\n2 1\n1e300\n1e300\n";
  for (const char* method : {"tiles", "tall-skinny", "lapack"}) {
    const auto report =
        ols({"--a", folder / "a.mtx", "--b", folder / "b.mtx", "--out", folder / "x.mtx", "--method", method}, 1);
    CHECK(report["status"] == "not finite");
    CHECK(folder.files() == 2);
  }
}

TEST_CASE("a large .npy file of few columns is streamed in both orders of NumPy") {
  const TemporaryFolder folder;
  const std::string a = folder / "a.npy", b = folder / "b.mtx";
  const std::string precision = GENERATE("s", "d");
  REQUIRE(run_tesela({"generate", "--m", "60000", "--n", "5", "--precision", precision, "--out", a}).code == 0);
  REQUIRE(
      run_tesela({"generate", "--m", "60000", "--n", "1", "--seed", "2", "--precision", precision, "--out", b}).code ==
      0);
  const auto streamed = ols({"--a", a, "--b", b, "--precision", precision});
  CHECK(streamed["problem"]["streamed"] == true);
  CHECK(streamed["problem"]["method"] == "tall-skinny");
  const auto whole = ols({"--a", a, "--b", b, "--method", "tiles", "--precision", precision});
  CHECK_FALSE(whole["problem"].contains("streamed"));
  for (const char* check : {"residual_norm", "solution_norm"})
    CHECK(std::abs(streamed["checks"][check].get<double>() / whole["checks"][check].get<double>() - 1) <=
          (precision == "s" ? 1e-4 : 1e-12));
  CHECK(streamed["checks"]["normal_residual"].get<double>() <= (precision == "s" ? 1e-6 : 1e-15));
}

TEST_CASE("sizes of zero are accepted") {
  for (const Words& sizes :
       {Words{"--m", "0", "--n", "5"}, {"--m", "5", "--n", "0"}, {"--m", "5", "--n", "3", "--rhs", "0"}})
    for (const char* method : {"auto", "tall-skinny", "lapack"})
      CHECK(ols(sizes + Words{"--method", method})["status"] == "ok");
}

TEST_CASE("the JSON report of ols has its documented fields") {
  const auto report = ols({"--m", "500", "--n", "100", "--rhs", "3", "--repeat", "3", "--seed", "5", "--tile", "64"});
  for (const char* key : {"command", "version", "problem", "machine", "workers", "counts", "seconds", "gflops",
                          "bounds", "checks", "status"})
    CHECK(report.contains(key));
  const auto& problem = report["problem"];
  CHECK((problem["m"] == 500 && problem["n"] == 100 && problem["rhs"] == 3 && problem["mb"] == 64));
  CHECK((problem["method"] == "tiles" && problem["seed"] == 5 && problem["input"] == "uniform"));
  CHECK(report["counts"]["tasks"]["geqrt"] == 2);
  for (const char* check : {"rank", "condition", "residual_norm", "normal_residual", "solution_norm"})
    CHECK(report["checks"][check].is_number());
}

TEST_CASE("wrong use of ols gives exit code 2 and a message") {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.mtx") << "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n";
  std::ofstream(folder / "b.mtx") << "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n";
  std::ofstream(folder / "nan.mtx") << "%%MatrixMarket matrix array real general\n2 1\n1\nnan\n";
  const std::string a = folder / "a.mtx", b = folder / "b.mtx";
  const std::pair<Words, std::string> cases[] = {
      {{"--n", "-3"}, "--n"},
      {{"--a", a}, "--b"},
      {{"--b", a}, "--a"},
      {{"--a", a, "--b", b}, "has 3 rows"},
      {{"--a", a, "--b", folder / "nan.mtx"}, "nan.mtx"},
      {{"--a", a, "--b", folder / "missing.mtx"}, "missing.mtx"},
      {{"--a", a, "--b", a, "--n", "2"}, "--n"},
      {{"--a", a, "--b", a, "--rhs", "2"}, "--rhs"},
      {{"--method", "cholesky"}, "cholesky"},
      {{"--tree", "willow"}, "willow"},
      {{"--method", "lapack", "--tree", "greedy"}, "--tree"},
      {{"--method", "tall-skinny", "--ib", "8"}, "--ib"},
      {{"--method", "lapack", "--trace", folder / "trace"}, "--trace"},
      {{"--rcond", "-1"}, "--rcond"},
      {{"--rcond", "2"}, "--rcond"},
      {{"--tile", "8x"}, "--tile"},
      {{"--out", folder / "none/x.npy"}, "none"},
      {{"--out", folder / "x.xyz"}, "x.xyz"},
  };
  for (const auto& [options, message] : cases) {
    const Outcome run = run_with_problem({"ols"}, options);
    CAPTURE(options, run.err);
    CHECK(run.code == 2);
    CHECK_THAT(run.err, ContainsSubstring(message));
    CHECK(folder.files() == 3);
  }
}

TEST_CASE("a limit of the machine gives exit code 3 in ols") {
  const Outcome memory = run_tesela({"ols", "--m", "3000000", "--n", "1000000"});
  CHECK(memory.code == 3);
  CHECK_THAT(memory.err, ContainsSubstring("GiB"));
  const Outcome device =
      run_tesela({"ols", "--n", "10", "--method", "cusolver"}, {.environment = {{"CUDA_VISIBLE_DEVICES", ""}}});
  CHECK(device.code == 3);
  CHECK_THAT(device.err, ContainsSubstring("CUDA"));
}

TEST_CASE("ols works on the GPU alone and together with cores", "[gpu]") {
  require_gpu();
  const Words workers = GENERATE(Words{"--ncpu", "0"}, Words{});
  for (const Words& problem : {Words{"--m", "3000", "--n", "300"},
                               {"--m", "300", "--n", "700"},
                               {"--m", "90000", "--n", "9"},
                               {"--m", "700", "--n", "300", "--random", "rank:100"}})
    for (const char* precision : {"d", "s"}) {
      const auto report = ols(problem + workers + Words{"--precision", precision});
      CAPTURE(problem, workers, precision);
      CHECK(report["checks"]["normal_residual"].get<double>() <= (precision[0] == 'd' ? 1e-13 : 1e-5));
    }
}
