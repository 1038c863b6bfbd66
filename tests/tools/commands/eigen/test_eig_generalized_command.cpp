#include "tests/support/commands/command.hpp"
#include "tests/support/test.hpp"
#include <tesela/tiles/io/file_formats.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>

using namespace tesela::test;

namespace {

const Command eig{{"eig"}};
void refused(const Words& options, const std::string& why) { eig.refuses(options, why); }

/// Writes diag(values) with `corner` at (3, 1) and, if symmetric, at (1, 3).
std::string written(const std::string& path, const std::vector<double>& values, double corner = 0,
                    bool symmetric = true) {
  const auto n = static_cast<index_t>(values.size());
  HostMatrix<double> a = HostMatrix<double>::zeros(n, n);
  for (index_t i = 0; i < n; ++i) a(i, i) = values[static_cast<std::size_t>(i)];
  a(2, 0) = corner;
  if (symmetric) a(0, 2) = corner;
  write_matrix(path, a);
  return path;
}

}  // namespace

TEST_CASE("eig --random-b solves the three problems within their bounds") {
  for (const char* const problem : {"1", "2", "3"})
    for (const char* const n : {"0", "1", "2", "65"})
      for (const Words& how : {Words{"--method", "two-stage"}, Words{"-p", "s", "--method", "lapack"},
                               Words{"-p", "z", "--method", "two-stage"}, Words{"-p", "c"}}) {
        const auto report = eig(Words{"--random-b", "geometric:100", "-n", n, "--vectors", "--problem", problem} + how);
        CHECK(report["status"] == "ok");
        CHECK(report["problem"]["problem"] == problem);
        CHECK(report["checks"]["found"] == std::stod(n));
        for (const char* const name : {"max_residual", "max_error", "orthogonality"}) {
          const double bound = report["limits"][name].get<double>();
          CHECK(report["checks"][name].get<double>() <= bound);
          CHECK(bound <= 0.01);
        }
        CHECK(report["checks"]["condition"].get<double>() <= 101);
      }
  CHECK(eig({"--random-b", "geometric:100", "-n", "65", "--smallest", "4", "--vectors"})["checks"]["found"] == 4);
  for (const char* const precision : {"d", "z"})
    CHECK(eig({"--random-b", "geometric:100", "-n", "65", "--range", "0,inf", "--vectors", "-p",
               precision})["status"] == "ok");
}

TEST_CASE("eig --b finds values and vectors of files at any scale") {
  TemporaryFolder folder;
  const std::string a = written(folder / "a.npy", {3, 8, 1, 6}), b = written(folder / "b.mtx", {1, 4, 4, 1}),
                    out = folder / "w.npy", x = folder / "x.npy";
  eig({"--a", a, "--b", b, "--out", out, "--out-vectors", x});
  const HostMatrix<double> values = read_matrix<double>(out), vectors = read_matrix<double>(x);
  const double known[] = {0.25, 2, 3, 6};
  for (index_t i = 0; i < 4; ++i) CHECK(std::abs(values(i, 0) - known[i]) <= 1e-14);
  CHECK(std::abs(vectors(2, 0) - 0.5) <= 1e-15);
  eig({"--a", a, "--b", b, "--problem", "3", "--out", out});
  CHECK(std::abs(read_matrix<double>(out)(3, 0) - 32) <= 1e-13);

  const auto scaled = [&](const char* name, double scale) {
    return written(folder / name, {scale, 2 * scale, 3 * scale, 4 * scale}, 0.5 * scale);
  };
  const std::string large = scaled("large.npy", 1e300), small = scaled("small.npy", 1e-300);
  for (const char* const method : {"two-stage", "lapack"}) {
    for (const std::string& both : {large, small})
      CHECK(eig({"--a", both, "--b", both, "--vectors", "--method", method})["status"] == "ok");
    CHECK(eig({"--a", small, "--b", large, "--vectors", "--problem", "2", "--method", method})["status"] == "ok");
    CHECK_THAT(eig({"--a", large, "--b", small, "--vectors", "--method", method}, 1)["status"].get<std::string>(),
               ContainsSubstring("overflow"));
    CHECK_THAT(eig({"--a", small, "--b", large, "--vectors", "--method", method}, 1)["status"].get<std::string>(),
               ContainsSubstring("underflow"));
  }
}

TEST_CASE("eig --b certifies a spectrum and counts a range by inertias") {
  for (const char* const problem : {"1", "2", "3"}) {
    const Words pair{"--random-b", "geometric:100", "-n", "120", "--problem", problem};
    for (const char* const precision : {"s", "d", "c", "z"}) {
      const auto report = eig(pair + Words{"--certify", "6", "-p", precision});
      CHECK(report["checks"]["certify_misses"] == 0);
      const double doubtful = report["checks"].value("doubtful", 0.0);
      CHECK(report["checks"]["certified"].get<double>() + doubtful == 6);
      if (*precision == 'd' || *precision == 'z') CHECK(doubtful == 0);
    }
    for (const char* const precision : {"d", "z"}) {
      const auto expected = [&](const char* range) {
        const auto checks = eig(pair + Words{"--range", range, "-p", precision})["checks"];
        CHECK(checks["found"] == checks["expected"]);
        CHECK(!checks.contains("doubtful"));
        return checks["expected"].get<int>();
      };
      const int low = expected("-inf,0.37"), high = expected("0.37,inf");
      CHECK(low + high == 120);
      CHECK(low > 0);
      CHECK(high > 0);
      CHECK(expected("1e9,1e300") == 0);
    }
  }
  TemporaryFolder folder;
  const std::string a = written(folder / "a.npy", {3, 8, 1, 6}), b = written(folder / "b.mtx", {1, 4, 4, 1});
  for (const auto& [range, count] : {std::pair{"1,5", 2}, {"0.1,0.3", 1}, {"7,9", 0}})  // values 0.25, 2, 3, 6
    CHECK(eig({"--a", a, "--b", b, "--range", range})["checks"]["expected"] == count);
  for (const auto& [range, count] : {std::pair{"1,5", 2}, {"5,33", 2}, {"33,100", 0}})  // values 3, 4, 6, 32
    CHECK(eig({"--a", a, "--b", b, "--range", range, "--problem", "3"})["checks"]["expected"] == count);
}

TEST_CASE("eig --b is never ok if nothing is known about the result") {
  TemporaryFolder folder;
  // R has elements 1e-8 and 1, and the small eigenvalues of C are lost next to 1e16.
  const std::string a = written(folder / "a.npy", {3, 8, 1, 6}, 0.5), b = written(folder / "b.npy", {1, 1, 1, 1e-16});
  const auto status = [&](const Words& more) {
    return eig(Words{"--a", a, "--b", b} + more, 1)["status"].get<std::string>();
  };
  CHECK_THAT(status({"--vectors"}), ContainsSubstring("ill-conditioned"));
  CHECK_THAT(status({}), ContainsSubstring("ill-conditioned"));
  CHECK_THAT(status({"--range", "0,5"}), ContainsSubstring("not counted"));
}

TEST_CASE("eig --b refuses vectors of a nearly singular B in every problem") {
  TemporaryFolder folder;
  const std::string a = written(folder / "a.npy", {3, 8, 1, 6}, 0.5), out = folder / "x.npy";
  for (const double least : {1e-14, 1e-28, 1e-40, 1e-300}) {
    const std::string b = written(folder / "b.npy", {1, 1, least, 1});
    for (const char* const problem : {"1", "2", "3"}) {
      CAPTURE(least, problem);
      const Words pair{"--a", a, "--b", b, "--problem", problem};
      const auto report = eig(pair + Words{"--out-vectors", out}, 1);
      CHECK_THAT(report["status"].get<std::string>(), ContainsSubstring("B is too ill-conditioned"));
      CHECK_FALSE(std::filesystem::exists(out));
      if (*problem != '1') CHECK(eig(pair)["status"] == "ok");  // the values keep their digits
    }
  }
}

TEST_CASE("eig --b reports errors in B") {
  TemporaryFolder folder;
  const std::string a = written(folder / "a.npy", {3, 8, 1, 6});
  const auto status = [&](const std::string& b) {
    return eig({"--a", a, "--b", b, "--vectors"}, 1)["status"].get<std::string>();
  };
  CHECK_THAT(status(written(folder / "b.npy", {1, 1, 1, -1})), ContainsSubstring("not positive definite"));
  CHECK_THAT(status(written(folder / "b.npy", {1, 1, 1, -1})), ContainsSubstring("order 4"));
  CHECK_THAT(status(written(folder / "b.npy", {1, 1, 1, 1}, 2)), ContainsSubstring("order 3"));
  CHECK_THAT(eig({"--random-b", "uniform", "-n", "20"}, 1)["status"].get<std::string>(),
             ContainsSubstring("not positive definite"));

  const std::string skew = written(folder / "skew.npy", {4, 4, 4, 4}, 1, false);
  refused({"--a", a, "--b", skew}, "not symmetric: B(3, 1) = 1 and B(1, 3) = 0");
  CHECK(eig({"--a", a, "--b", skew, "--symmetrize", "--vectors"})["status"] == "ok");
  refused({"--a", a, "--b", written(folder / "five.npy", {1, 1, 1, 1, 1})}, "of order 5, but A has order 4");
  refused({"-n", "7", "--b", a}, "of order 4, but A has order 7");
  refused({"--a", a, "--b", folder / "none.npy"}, "none.npy");
  HostMatrix<double> wide(2, 3);
  std::fill_n(wide.data(), 6, 1.0);
  write_matrix(folder / "wide.npy", wide);
  refused({"--a", a, "--b", folder / "wide.npy"}, "not square");
  refused({"-n", "10", "--problem", "2"}, "--problem");
  refused({"-n", "10", "--random-b", "identity", "--problem", "4"}, "--problem");
  refused({"-n", "10", "--random-b", "spdd"}, "uniform, normal");
  refused({"-n", "10", "--random-b", "identity", "--certify", "2", "--smallest", "3"}, "--certify");
  refused({"--diagonal", a, "--off-diagonal", a, "--b", a}, "--b");
}
