#include "tests/support/commands/command.hpp"
#include "tests/support/toeplitz.hpp"
#include <tesela/tiles/io/file_formats.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace tesela::test;

namespace {

/// Returns the report of `tesela toeplitz COMMAND`.
nlohmann::json toeplitz(const std::string& command, const Words& options, int code = 0) {
  return Command{{"toeplitz", command}}(options, code);
}

const ToeplitzGenerator random_5{ToeplitzKind::random, 0, 5};

}  // namespace

TEST_CASE("toeplitz eig finds parts of a spectrum") {
  const auto right = dense_eigenvalues(toeplitz_column<double>(random_5, 300));
  const Words problem{"--n", "300", "--seed", "5"};
  const auto part = [&](const Words& options, index_t wanted) {
    const auto report = toeplitz("eig", problem + options);
    CAPTURE(options, report.dump());
    CHECK(check(report, "found") == static_cast<double>(wanted));
    CHECK(check(report, "expected") == static_cast<double>(wanted));
    CHECK(check(report, "max_error") <= 1e-12);
  };
  const auto inside = std::count_if(right.begin(), right.end(), [](double v) { return v >= -2.5 && v < 4; });
  part({"--range=-2.5,4"}, inside);
  part({"--range=-inf,4"}, std::count_if(right.begin(), right.end(), [](double v) { return v < 4; }));
  part({"--range=1e5,2e5"}, 0);
  for (const index_t k : {index_t{1}, index_t{17}, index_t{300}})
    for (const std::string end : {"--smallest", "--largest"})
      part({end, std::to_string(k), "--vectors"}, std::min<index_t>(k, 300));
}

TEST_CASE("toeplitz eig: ends of ranges may be eigenvalues or far away") {
  TemporaryFolder folder;
  const auto far = toeplitz("eig", {"--random", "second-difference", "--n", "50", "--range", "0,1e15"});
  CHECK(check(far, "max_error") <= 1e-14);
  CHECK(check(far, "found") == 50);
  CHECK(check(toeplitz("eig", {"--random", "second-difference", "--n", "50", "--range=-1e308,1e308"}), "found") == 50);
  HostMatrix<double> ones(40, 1), periodic(40, 1);
  for (index_t k = 0; k < 40; ++k) ones(k, 0) = 1, periodic(k, 0) = k % 2 == 0 ? 1 : 0;
  write_matrix(folder / "ones.npy", ones);
  write_matrix(folder / "periodic.npy", periodic);
  const auto part = [&](const char* file, const char* range) {
    const auto report = toeplitz("eig", {"--t", folder / file, "--range", range});
    CAPTURE(file, range, report.dump());
    CHECK(check(report, "miscounted") == 0);
    CHECK(check(report, "max_error") <= 1e-13);
    return check(report, "found");
  };
  CHECK(part("ones.npy", "0,inf") == 40);
  CHECK(part("ones.npy", "0,40") == 39);
  CHECK(part("periodic.npy", "0,1") == 38);
  CHECK(check(toeplitz("slice", {"--t", folder / "periodic.npy", "--range", "0,1"}), "eigenvalues") == 38);
}

TEST_CASE("toeplitz eig: eigenvalues within rounding of an end of a range are doubtful") {
  TemporaryFolder folder;
  HostMatrix<double> identity = HostMatrix<double>::zeros(40, 1);
  identity(0, 0) = 1;
  const auto random = toeplitz_column<double>(random_5, 60);
  const auto right = dense_eigenvalues(random);
  write_matrix(folder / "t.npy", identity);
  write_matrix(folder / "random.npy", random);
  const auto part = [&](const Words& problem, const std::string& range, int inside, int doubtful) {
    for (const std::string method : {"dense", "lanczos"}) {
      const auto report = toeplitz("eig", problem + Words{"--range=" + range, "--method", method});
      CAPTURE(problem, range, method, report.dump());
      CHECK(report["checks"].value("doubtful", 0.0) == doubtful);
      CHECK(report.contains("notes") == (doubtful > 0));
      CHECK(std::abs(check(report, "found") - inside) <= doubtful);
      CHECK(check(report, "found") == check(report, "expected"));
      CHECK(check(report, "miscounted") <= doubtful);
      CHECK(report["limits"]["miscounted"] == doubtful);
      CHECK(check(report, "range_moved") > 0);
      CHECK(check(report, "range_moved") < report["limits"]["range_moved"]);
    }
  };
  const Words ones{"--t", folder / "t.npy"};
  part(ones, "0.5,1.0000000000000002", 40, 40);
  part(ones, "0.5,1.000000000000004", 40, 40);
  part(ones, "1.000000000000004,2", 0, 40);
  part(ones, "0.999999999999999,1.000000000000001", 40, 40);
  part(ones, "0.5,2", 40, 0);
  part(ones, "0.5,0.9999999999", 0, 0);
  part({"--t", folder / "random.npy"}, fmt::format("{},{}", right[10] - 1e-13, right[30] + 1e-13), 21, 2);
  part({"--t", folder / "random.npy"}, fmt::format("{},{}", right[10] - 1e-9, right[30] + 1e-9), 21, 0);
  for (const Words& check : {Words{}, Words{"--no-check"}}) {
    const Words range = ones + Words{"-p", "z", "--range=0.5,1.0000000000000002"} + check;
    CHECK(toeplitz("eig", range)["checks"].value("doubtful", 0.0) == 40);
  }
  const auto small = toeplitz("eig", {"--random", "prolate:0.3", "--n", "40", "--range=1e-14,2"});
  CAPTURE(small.dump());
  CHECK(check(small, "doubtful") >= check(small, "found") - 36);  // 4 are below the range
  CHECK_FALSE(toeplitz("eig", {"--n", "40", "--smallest", "3"})["checks"].contains("doubtful"));
  // Not all values are found, so their number is not compared.
  const auto few =
      toeplitz("eig", {"--n", "200", "--preset", "published", "--tol", "1e-10", "--krylov-factor", "3"}, 1);
  CHECK_FALSE(few["checks"].contains("miscounted"));
}
