#include "tests/support/commands/command.hpp"
#include "tests/support/test.hpp"
#include <tesela/tiles/io/file_formats.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>

using namespace tesela::test;

namespace {

const Command lse{{"lse"}};

/// Generates a file and returns its path.
std::string file(const TemporaryFolder& folder, const char* name, const char* rows, const char* columns,
                 const char* seed) {
  REQUIRE(run_tesela({"generate", "--m", rows, "--n", columns, "--seed", seed, "--out", folder / name}).code == 0);
  return folder / name;
}

}  // namespace

TEST_CASE("tesela lse solves files by every method and agrees with gglse") {
  const TemporaryFolder folder;
  const Words input{"--a", file(folder, "a.mtx", "200", "30", "1"), "--b", file(folder, "b.mtx", "200", "3", "2"),
                    "--c", file(folder, "c.npy", "12", "30", "3"),  "--d", file(folder, "d.npy", "12", "3", "4")};
  const auto solve = [&](const char* method) {
    const auto report = lse(input + Words{"--method", method, "--out", folder / "x.npy"});
    CAPTURE(method, report.dump());
    CHECK(report["status"] == "ok");
    CHECK(check(report, "constraint_residual") <= 1e-13);
    CHECK(check(report, "optimality") <= 1e-13);
    return read_matrix<double>(folder / "x.npy");
  };
  const auto reference = solve("lapack");
  for (const char* method : {"auto", "tiles", "tall-skinny", "givens-stages"}) {
    const auto x = solve(method);
    REQUIRE(x.shape() == reference.shape());
    for (index_t k = 0; k < x.size(); ++k) CHECK(std::abs(x.data()[k] - reference.data()[k]) <= 1e-10);
  }
}

TEST_CASE("tesela lse streams A from its file") {
  const TemporaryFolder folder;
  const Words others{"--b", file(folder, "b.mtx", "40000", "2", "2"), "--c",   file(folder, "c.npy", "3", "9", "3"),
                     "--d", file(folder, "d.npy", "3", "2", "4"),     "--out", folder / "x.npy"};
  const auto report = lse(others + Words{"--a", file(folder, "a.npy", "40000", "9", "1")});
  CHECK(report["problem"]["streamed"] == true);
  CHECK(report["status"] == "ok");
  CHECK(check(report, "constraint_residual") <= 1e-13);
  CHECK(check(report, "optimality") <= 1e-13);
  const auto x = read_matrix<double>(folder / "x.npy");
  const auto whole = lse(others + Words{"--a", folder / "a.npy", "--method", "tiles"});
  CHECK(!whole["problem"].contains("streamed"));
  const auto y = read_matrix<double>(folder / "x.npy");
  for (index_t k = 0; k < x.size(); ++k) CHECK(std::abs(x.data()[k] - y.data()[k]) <= 1e-12);
}

TEST_CASE("tesela lse handles redundant, inconsistent and missing constraints") {
  const auto redundant = lse({"--m", "64", "--n", "20", "--rows-c", "9", "--random-b", "rank:6"});
  CHECK(redundant["status"] == "ok");
  CHECK(check(redundant, "constraint_rank") == 6);
  CHECK(redundant["dropped_rows"].size() == 3);
  const TemporaryFolder folder;
  const auto none =
      lse({"--m", "64", "--n", "7", "--rows-c", "20", "--rhs", "2", "--inconsistent", "--out", folder / "x.npy"}, 1);
  CHECK(none["status"] == "inconsistent");
  CHECK(check(none, "distance") > 0.1);
  CHECK(none["columns"].size() == 2);
  CHECK_FALSE(std::filesystem::exists(folder / "x.npy"));
  const auto open = lse({"--m", "7", "--n", "64", "--rows-c", "7"});
  CHECK(open["status"] == "rank deficient");
  CHECK(check(open, "rank") == 7);
  lse.refuses({"--a", "a.mtx"}, "belong together");
  lse.refuses({"--m", "5", "--n", "9", "--rows-c", "1", "--method", "lapack"}, "p <= n <= m + p");
}

TEST_CASE("the solution of LAPACK's gglse is checked like ours") {
  const Words problem{"--m", "40", "--n", "20", "--rows-c", "9", "--method", "lapack"};
  const auto report = lse(problem);
  CHECK((report["checks"]["constraint_rank"] == 9 && report["checks"]["rank"] == 11));
  CHECK(check(report, "optimality") <= report["limits"]["optimality"].get<double>());
  CHECK(lse(problem + Words{"--random-b", "rank:6"}, 1)["status"] == "rank deficient");
  CHECK(lse(problem + Words{"--random-b", "rank:6", "--inconsistent"}, 1)["status"] == "inconsistent");
  CHECK(lse(problem + Words{"--random", "rank:5"}, 1)["status"] == "rank deficient");
}

TEST_CASE("tesela lse stays within its bounds for every kind and shape") {
  const char* const kind = GENERATE("uniform", "graded", "kappa:1e12", "rank:5");
  for (const char* size : {"0", "1", "7", "64"}) {
    const auto report = lse({"--m", "64", "--n", size, "--rows-c", "7", "--random", kind, "--rhs", "2"});
    CAPTURE(kind, size, report.dump());
    CHECK((report["status"] == "ok" || report["status"] == "rank deficient"));
    CHECK(check(report, "constraint_residual") <= 1e-13);
    CHECK(check(report, "optimality") <= report["limits"]["optimality"].get<double>());
  }
}
