#include "tests/support/commands/command.hpp"
#include "tests/support/test.hpp"
#include <tesela/tiles/io/file_formats.hpp>

#include <filesystem>
#include <fstream>

using namespace tesela::test;

namespace {

const Command glm{{"glm"}}, gqr{{"gqr"}};

Words sizes(index_t m, index_t n, index_t p) {
  return {"--m", std::to_string(m), "--n", std::to_string(n), "--columns-b", std::to_string(p)};
}

double largest(std::initializer_list<index_t> all) { return static_cast<double>(std::max<index_t>(std::max(all), 1)); }

}  // namespace

constexpr std::array<index_t, 3> shapes[] = {{0, 7, 7},    {7, 0, 64},   {64, 7, 0},    {1, 1, 1},
                                             {64, 7, 517}, {517, 64, 7}, {64, 517, 64}, {64, 7, 57}};

TEST_CASE("gqr of any shape has errors at rounding") {
  const Words ways[] = {{},
                        {"--tile", "48x20"},
                        {"--random", "kappa:1e12", "--random-b", "rank:5"},
                        {"--random", "graded", "--tree", "greedy", "--tile", "40"},
                        {"--method", "lapack"}};
  int turn = 0;
  for (const auto& [m, n, p] : shapes) {
    const Words& way = ways[turn++ % 5];
    CAPTURE(m, n, p, way);
    const auto report = gqr(sizes(m, n, p) + way);
    const double root = std::sqrt(largest({m, n, p}));
    CHECK(check(report, "backward_error_a") <= 5e-15 * root);
    CHECK(check(report, "backward_error_b") <= 5e-15 * root);
    CHECK(check(report, "orthogonality_q") <= 1e-13 * root);
    CHECK(check(report, "orthogonality_v") <= 1e-13 * root);
  }
}

TEST_CASE("glm solves problems of any shape and kind") {
  const Words ways[] = {{},
                        {"--tile", "48x20"},
                        {"--random", "kappa:1e12", "--method", "gqr"},
                        {"--random", "graded", "--method", "givens-stages"},
                        {"--random", "rank:3", "--rhs", "3"}};
  for (int turn = 0; turn < 16; ++turn) {
    const auto& [m, n, p] = shapes[turn % 8];
    const Words& way = ways[turn % 5];
    CAPTURE(m, n, p, way);
    const auto report = glm(sizes(m, n, p) + way);
    CHECK(check(report, "constraint_residual") <= 1e-13);
    CHECK(check(report, "optimality") <= 1e-13);
    const bool deficient = turn % 5 == 4 && std::min(m, n) > 3;
    CHECK(report["status"] == (deficient ? "rank deficient" : "ok"));
    if (deficient) CHECK(report["checks"]["rank"] == 3);
  }
}

TEST_CASE("all methods write the same solutions to files") {
  const TemporaryFolder folder;
  const std::string a = folder / "a.mtx", b = folder / "b.npy", y = folder / "y.mtx";
  REQUIRE(run_tesela({"generate", "--m", "90", "--n", "20", "--out", a}).code == 0);
  REQUIRE(run_tesela({"generate", "--m", "90", "--n", "120", "--seed", "2", "--out", b}).code == 0);
  REQUIRE(run_tesela({"generate", "--m", "90", "--n", "2", "--seed", "3", "--out", y}).code == 0);
  const Words problem{"--a", a, "--factor", b, "--b", y};
  const auto solve = [&](const std::string& method) {
    glm(problem +
        Words{"--method", method, "--out", folder / (method + "x.npy"), "--out-u", folder / (method + "u.npy")});
    return std::pair{read_matrix<double>(folder / (method + "x.npy")),
                     read_matrix<double>(folder / (method + "u.npy"))};
  };
  const auto [x, u] = solve("lapack");
  REQUIRE(x.shape() == Shape{20, 2});
  REQUIRE(u.shape() == Shape{120, 2});
  for (const std::string method : {"tiles", "gqr", "givens", "givens-chain"}) {
    CAPTURE(method);
    const auto [our_x, our_u] = solve(method);
    for (index_t k = 0; k < x.size(); ++k) REQUIRE(std::abs(our_x.data()[k] - x.data()[k]) <= 1e-10);
    for (index_t k = 0; k < u.size(); ++k) REQUIRE(std::abs(our_u.data()[k] - u.data()[k]) <= 1e-10);
  }
}

TEST_CASE("inconsistent right-hand sides give exit code 1, the distance, and no file") {
  const TemporaryFolder folder;
  const std::string out = folder / "x.mtx", out_u = folder / "u.mtx";
  const auto report = glm(sizes(80, 20, 30) + Words{"--inconsistent", "--rhs", "2", "--out", out, "--out-u", out_u}, 1);
  CHECK(report["status"] == "inconsistent");
  CHECK(check(report, "distance") > 0.1);
  REQUIRE(report["columns"].size() == 2);
  CHECK(report["columns"][1]["status"] == "inconsistent");
  CHECK(!report["checks"].contains("constraint_residual"));
  CHECK(!std::filesystem::exists(out));
  CHECK(!std::filesystem::exists(out_u));
  CHECK(glm(sizes(80, 20, 70) + Words{"--inconsistent"})["status"] == "ok");  // with full row rank any b is consistent
  CHECK(glm(sizes(80, 20, 100) + Words{"--inconsistent", "--random-b", "rank:10"}, 1)["status"] == "inconsistent");
}

TEST_CASE("the solution of LAPACK's ggglm is checked like ours") {
  const Words library{"--method", "lapack"}, problem = sizes(40, 6, 40);
  const auto report = glm(problem + library + Words{"--rhs", "2"});
  CHECK((report["checks"]["rank"] == 6 && report["checks"]["rank_b"] == 34));
  CHECK(check(report, "condition") > 1);
  CHECK(check(report, "optimality") <= report["limits"]["optimality"].get<double>());
  // For a B of rank 3, ggglm's u has norm 8.5 where the minimum is 1.01, or norm 1e16 for inconsistent equations.
  CHECK(glm(problem + library + Words{"--random-b", "rank:3"}, 1)["status"] == "rank deficient");
  CHECK(glm(problem + library + Words{"--random-b", "rank:3", "--inconsistent"}, 1)["status"] == "inconsistent");
  CHECK(glm(problem + library + Words{"--random", "rank:3"}, 1)["status"] == "rank deficient");
  CHECK(glm(sizes(40, 6, 36) + library)["status"] == "ok");
}

TEST_CASE("wrong use of glm and gqr is refused") {
  const TemporaryFolder folder;
  const std::string a = folder / "a.mtx", b = folder / "b.mtx", bad = folder / "bad.mtx";
  REQUIRE(run_tesela({"generate", "--m", "9", "--n", "2", "--out", a}).code == 0);
  REQUIRE(run_tesela({"generate", "--m", "8", "--n", "2", "--out", b}).code == 0);
  std::ofstream(bad) << "%%MatrixMarket matrix array real general\n9 1\n1\n2\n3\n4\nnan\n6\n7\n8\n9\n";
  glm.refuses({"--a", a}, "belong together");
  glm.refuses({"--a", a, "--factor", b, "--b", a}, "9");
  glm.refuses({"--a", a, "--factor", a, "--b", bad}, "nan");
  glm.refuses({"--rcond", "2"}, "--rcond");
  glm.refuses({"--m", "10", "--n", "20", "--method", "lapack"}, "n <= m <= n + p");
  gqr.refuses({"--a", a}, "belong together");
  gqr.refuses({"--a", a, "--factor", b}, "9");
}
