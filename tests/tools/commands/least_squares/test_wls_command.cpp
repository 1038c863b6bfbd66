#include "tests/support/commands/command.hpp"
#include "tests/support/least_squares.hpp"
#include "tests/support/machine.hpp"
#include "tests/support/quadruple.hpp"
#include <tesela/tiles/io/file_formats.hpp>

#include <filesystem>
#include <fstream>

using namespace tesela::test;

namespace {

const Command wls{{"wls"}}, plain_ols{{"ols"}}, model{{"glm"}};

Words sizes(index_t m, index_t n) { return {"--m", std::to_string(m), "--n", std::to_string(n)}; }

/// Writes the matrix to a file in the folder and returns its path.
std::string file(const TemporaryFolder& folder, const std::string& name, const Matrix& matrix) {
  write_matrix(folder / name, matrix);
  return folder / name;
}

Matrix answer(const TemporaryFolder& folder, const Command& command, const Words& options) {
  command(options + Words{"--out", folder / "x.npy"});
  return read_matrix<double>(folder / "x.npy");
}

}  // namespace

TEST_CASE("tesela wls solves files by weights, a factor or a covariance with every method and agrees with LAPACK") {
  const TemporaryFolder folder;
  const index_t m = 90, n = 12;
  const Matrix f = made(m, m, kernels::ProductForm<double>(m, m, kernels::spectrum(m, 20), 3));
  const Words problem{"--a", file(folder, "a.mtx", random(m, n, 1)), "--b", file(folder, "b.npy", random(m, 2, 2))};
  const Matrix s = made(m, m, [&](index_t i, index_t j) {
    double sum = 0;
    for (index_t k = 0; k < m; ++k) sum += f(std::min(i, j), k) * f(std::max(i, j), k);
    return sum;
  });
  const Matrix w = made(m, 1, [](index_t i, index_t) { return std::exp2(-static_cast<double>(i % 9)); });
  const int which = GENERATE(0, 1, 2);
  const Words by = which == 0   ? Words{"--weights", file(folder, "w.mtx", w)}
                   : which == 1 ? Words{"--factor", file(folder, "f.npy", f)}
                                : Words{"--sigma", file(folder, "s.mtx", s)};
  const Matrix reference = answer(folder, wls, problem + by + Words{"--method", "lapack"});
  REQUIRE(reference.shape() == Shape{n, 2});
  for (const std::string method : {"auto", "tiles", "tall-skinny", "givens", "givens-stages"}) {
    CAPTURE(method, by);
    const Matrix x = answer(folder, wls, problem + by + Words{"--method", method});
    CHECK(distance(x, reference) <= 1e-10 * norm(reference));
  }
}

TEST_CASE("tesela wls has errors at rounding for any shape and kind") {
  const std::string by = GENERATE("weights", "factor", "sigma");
  const char* const kinds[] = {"uniform", "graded", "kappa:1e12", "rank:5"};
  int turn = 0;
  for (const auto& [m, n] : {std::pair<index_t, index_t>{0, 7}, {7, 0}, {1, 1}, {7, 64}, {64, 7}, {64, 64}, {90, 20}}) {
    const char* const kind = kinds[turn++ % 4];
    const Words tile = turn % 3 == 0 ? Words{"--tile", "24x10"} : Words{};
    const auto report =
        wls(sizes(m, n) + tile + Words{"--by", by, "--random", kind, "--rhs", "2", "--random-b", "kappa:1e2"});
    CAPTURE(by, m, n, kind, report.dump());
    CHECK((report["status"] == "ok" || report["status"] == "rank deficient"));
    CHECK(check(report, "backward_error") <= (by == "weights" ? 1e-14 : 1e-12));
  }
}

TEST_CASE("wls and glm find the least norm of graded unknowns that the equations leave undetermined") {
  const int seed = GENERATE(1, 2, 4, 5);
  for (const Words& command : {Words{"wls", "--by", "sigma"}, Words{"wls", "--by", "factor"},
                               Words{"wls", "--by", "sigma", "-p", "z"}, Words{"glm", "--columns-b", "15"}}) {
    const auto report = Command{command}(sizes(15, 40) + Words{"--random", "graded", "--seed", std::to_string(seed)});
    CAPTURE(command, seed, report.dump());
    CHECK(report["status"] == "ok");
    CHECK(check(report, "constraint_residual") <= 1e-14);
  }
}

TEST_CASE("tesela wls solves problems with a covariance that is nearly singular in single precision") {
  for (const std::string kind : {"zero", "rank:3", "uniform"})
    for (const std::string seed : {"5", "6"})
      for (const std::string precision : {"s", "c"}) {
        const auto report =
            wls(sizes(60, 20) + Words{"--by", "sigma", "--random", kind, "--seed", seed, "-p", precision});
        CHECK(report["status"] == (kind == "uniform" ? "ok" : "rank deficient"));
        CHECK(check(report, "rank") == (kind == "zero" ? 0 : kind == "uniform" ? 20 : 3));
      }
}

TEST_CASE("tesela wls: with only zero weights every unknown is undetermined") {
  const TemporaryFolder folder;
  const std::string a = file(folder, "a.npy", random(12, 3, 1)), b = file(folder, "b.npy", random(12, 1, 2)),
                    w = file(folder, "w.npy", Matrix::zeros(12, 1));
  const auto report = wls({"--a", a, "--b", b, "--weights", w, "--std-errors"});
  CHECK(report["status"] == "rank deficient");
  CHECK(check(report, "rank") == 0);
  CHECK(report["standard_errors"].empty());
}

TEST_CASE("tesela wls and glm solve correlated equations of any precision") {
  const TemporaryFolder folder;
  const index_t m = 12, n = 3;
  const Matrix a = random(m, n, 1), b = random(m, 1, 2),
               root = made(m, m, kernels::ProductForm<double>(m, m, kernels::spectrum(m, 10), 3)),
               factor = made(m, m, [&](index_t i, index_t j) {
                 return root(i, j) * std::pow(10.0, -10 + 20 * static_cast<double>(i * 7 % m) / 11);
               });
  const Matrix reference = quadruple_glm(a, factor, b);
  const Words problem{"--a",      file(folder, "a.npy", a),     "--b", file(folder, "b.npy", b),
                      "--factor", file(folder, "f.npy", factor)};
  const auto solved = [&](const Command& command, const Words& how) {
    const auto report = command(problem + how + Words{"--out", folder / "x.npy"});
    CAPTURE(how, report.dump());
    CHECK(report["status"] == "ok");
    for (const auto& [name, limit] : report["limits"].items()) CHECK(limit.get<double>() <= 1e-10);
    const Matrix x = read_matrix<double>(folder / "x.npy");
    for (index_t j = 0; j < n; ++j) CHECK(std::abs(x(j, 0) / reference(j, 0) - 1) <= 1e-12);
  };
  solved(wls, {});
  solved(wls, {"--std-errors"});
  for (const char* const method : {"seminormal", "tiles", "gqr", "givens"}) solved(model, {"--method", method});
}

TEST_CASE("tesela wls: B = I gives ols, and a diagonal gives weights") {
  const TemporaryFolder folder;
  const index_t m = 70, n = 9;
  const Words problem{"--a", file(folder, "a.npy", random(m, n, 1)), "--b", file(folder, "b.npy", random(m, 2, 2))};
  const Matrix plain = answer(folder, plain_ols, problem);
  const std::string one = file(folder, "one.npy", identity(m));
  for (const Words& by :
       {Words{"--factor", one}, Words{"--sigma", one},
        Words{"--weights", file(folder, "ones.npy", made(m, 1, [](index_t, index_t) { return 1.0; }))}})
    CHECK(distance(answer(folder, wls, problem + by), plain) <= 1e-13 * norm(plain));
  CHECK(distance(answer(folder, model, problem + Words{"--factor", one}), plain) <= 1e-12 * norm(plain));

  const auto size = [](index_t i) { return std::exp2(static_cast<double>(i % 7 - 3)); };
  const Matrix weighted =
      answer(folder, wls, problem + Words{"--weights", file(folder, "w.npy", made(m, 1, [&](index_t i, index_t) {
                                                              return 1 / size(2 * i) / size(2 * i);
                                                            }))});
  const Matrix diagonal = made(m, m, [&](index_t i, index_t j) { return i == j ? size(2 * i) : 0; });
  const Words by_diagonal{"--factor", file(folder, "f.npy", diagonal)};
  CHECK(distance(answer(folder, wls, problem + by_diagonal), weighted) <= 1e-13 * norm(weighted));
  CHECK(distance(answer(folder, model, problem + by_diagonal), weighted) <= 1e-12 * norm(weighted));
}

TEST_CASE("tesela wls streams A from its file for any weights") {
  const TemporaryFolder folder;
  const index_t m = 3000, n = 5;
  const Matrix e = random(m, 1, 4);
  const Matrix weights =
      made(m, 1, [&](index_t i, index_t) { return i % 50 == 0 ? 0.0 : std::pow(10.0, 12 * e(i, 0)); });
  const Matrix a = random(m, n, 1);
  const Words problem{"--b", file(folder, "b.npy", random(m, 1, 2)), "--weights", file(folder, "w.npy", weights)};
  const std::string npy = file(folder, "a.npy", a), mtx = file(folder, "a.mtx", a);
  const auto report = wls(problem + Words{"--a", npy, "--out", folder / "x.npy", "--std-errors"});
  CHECK(report["problem"]["streamed"] == true);
  CHECK(check(report, "backward_error") <= 1e-14);
  REQUIRE(report["standard_errors"].size() == n);
  const auto whole = wls(problem + Words{"--a", mtx, "--out", folder / "y.npy", "--std-errors", "--method", "tiles"});
  CHECK(!whole["problem"].contains("streamed"));
  const Matrix x = read_matrix<double>(folder / "x.npy"), y = read_matrix<double>(folder / "y.npy");
  for (index_t j = 0; j < n; ++j) {
    CHECK(std::abs(x(j, 0) - y(j, 0)) <= 1e-10 * std::abs(y(j, 0)));
    const auto at = static_cast<std::size_t>(j);
    const double error = whole["standard_errors"][at];
    CHECK(std::abs(report["standard_errors"][at].get<double>() - error) <= 1e-8 * error);
  }
}

TEST_CASE("standard errors of ols, wls and glm agree with their covariances") {
  const TemporaryFolder folder;
  const index_t m = 60, n = 7;
  const Words problem{"--a", file(folder, "a.npy", random(m, n, 1)), "--b", file(folder, "b.npy", random(m, 2, 2))};
  const std::string out = folder / "v.npy", one = file(folder, "one.npy", identity(m));
  const auto ask = [&](const Command& command, const Words& by) {
    const auto report = command(problem + by + Words{"--std-errors", "--known-variances", "--out-covariance", out});
    const Matrix v = read_matrix<double>(out);
    REQUIRE(v.shape() == Shape{n, n});
    for (index_t j = 0; j < n; ++j)
      CHECK(std::abs(report["standard_errors"][static_cast<std::size_t>(j)].get<double>() - std::sqrt(v(j, j))) <=
            1e-13);
    CHECK(report["residual_variances"].size() == 2);
    return std::pair{v.clone(), report["residual_variances"][0].get<double>()};
  };
  const auto [v, variance] = ask(plain_ols, {});
  const auto report = plain_ols(problem + Words{"--std-errors"});
  const double both = report["residual_variances"][0].get<double>() + report["residual_variances"][1].get<double>(),
               residual = check(report, "residual_norm");
  CHECK(std::abs(both * static_cast<double>(m - n) - residual * residual) <= 1e-12 * residual * residual);
  for (const auto& [command, by] : {std::pair{wls, Words{"--factor", one}},
                                    {wls, Words{"--sigma", one}},
                                    {model, Words{"--factor", one}},
                                    {model, Words{"--factor", one, "--method", "gqr"}}}) {
    const auto [same, same_variance] = ask(command, by);
    CHECK(distance(same, v) <= 1e-12 * norm(v));
    CHECK(std::abs(same_variance - variance) <= 1e-12 * variance);
  }
  // Neither a deficient rank nor a library method has standard errors.
  const std::string none = folder / "none.npy";
  const auto deficient =
      plain_ols({"--m", "40", "--n", "9", "--random", "rank:4", "--std-errors", "--out-covariance", none}, 1);
  CHECK(deficient["standard_errors"].empty());
  CHECK(!std::filesystem::exists(none));
  for (const Command& command : {plain_ols, wls, model})
    command.refuses({"--m", "20", "--n", "4", "--method", "lapack", "--std-errors"}, "triangle");
}

TEST_CASE("tesela wls: an inconsistent singular covariance gives exit code 1, the distance and no file") {
  const TemporaryFolder folder;
  const std::string out = folder / "x.npy", v = folder / "v.npy";
  for (const std::string by : {"factor", "sigma"}) {
    const Words singular = sizes(60, 8) + Words{"--by", by, "--random-b", "rank:20", "--rhs", "2"};
    const auto none = wls(singular + Words{"--inconsistent", "--out", out, "--out-covariance", v}, 1);
    CHECK(none["status"] == "inconsistent");
    CHECK(check(none, "distance") > 0.1);
    CHECK(none["columns"].size() == 2);
    CHECK(!std::filesystem::exists(out));
    CHECK(!std::filesystem::exists(v));
    const auto some = wls(singular);
    CHECK(some["status"] == "ok");
    CHECK(some["problem"]["path"] == "model");
    CHECK(check(some, "covariance_rank") == 20);
    CHECK(check(some, "constraint_residual") <= 1e-13);
    CHECK(check(some, "normal_residual") <= 1e-13);
  }
}

TEST_CASE("the solution of LAPACK's ggglm for a covariance is checked like ours") {
  for (const std::string by : {"factor", "sigma"}) {
    const Words problem = sizes(60, 8) + Words{"--by", by, "--method", "lapack"};
    const auto report = wls(problem + Words{"--random-b", "kappa:1e3"});
    CAPTURE(by, report.dump());
    CHECK((report["checks"]["rank"] == 8 && report["checks"]["covariance_rank"] == 60));
    CHECK(report["problem"]["path"] == "whitened");
    CHECK(check(report, "condition") > 1);
    CHECK(wls(problem + Words{"--random", "rank:3", "--random-b", "kappa:1e3"}, 1)["status"] == "rank deficient");
  }
  const Words singular = sizes(60, 8) + Words{"--method", "lapack", "--by", "factor", "--random-b", "rank:20"};
  CHECK(wls(singular, 1)["status"] != "ok");
  CHECK(wls(singular + Words{"--inconsistent"}, 1)["status"] == "inconsistent");
}

TEST_CASE("wrong use of wls is refused") {
  const TemporaryFolder folder;
  const index_t m = 12;
  const Words problem{"--a",   file(folder, "a.npy", random(m, 3, 1)),
                      "--b",   file(folder, "b.npy", random(m, 1, 2)),
                      "--out", folder / "x.npy"};
  Matrix w = made(m, 1, [](index_t, index_t) { return 1.0; });
  w(6, 0) = -2;
  for (const std::string method : {"auto", "tiles", "lapack"})
    wls.refuses(problem + Words{"--weights", file(folder, "w.npy", w), "--method", method}, "row 7");
  std::ofstream(folder / "nan.mtx") << "%%MatrixMarket matrix array real general\n2 1\n1\nnan\n";
  for (const auto& [weight, why] : {std::pair{1e-60, "row 7 is 1e-60; that does not fit single precision"},
                                    {3e-42, "row 7 is 3e-42; that does not fit single precision"},
                                    {1e60, "row 7 is 1e+60; that does not fit single precision"}}) {
    w(6, 0) = weight;
    const auto report = wls(problem + Words{"--weights", file(folder, "w.npy", w), "-p", "s"});
    CHECK(report["problem"]["precision"] == "d");
    CHECK_THAT(report["notes"][0].get<std::string>(), Catch::Matchers::EndsWith(why));
    CHECK(std::filesystem::remove(folder / "x.npy"));
  }
  wls.refuses(problem + Words{"--weights", folder / "nan.mtx"}, "2 rows");
  std::ofstream(folder / "nan.mtx")
      << "%%MatrixMarket matrix array real general\n12 1\n1\n2\n3\nnan\n5\n6\n7\n8\n9\n1\n1\n1\n";
  wls.refuses(problem + Words{"--weights", folder / "nan.mtx"}, "nan");
  Matrix s = identity(m);
  s(4, 7) = 0.5;
  wls.refuses(problem + Words{"--sigma", file(folder, "s.npy", s)}, "(5, 8)");
  s(4, 7) = 0;
  s(3, 3) = -1;
  wls.refuses(problem + Words{"--sigma", file(folder, "s.npy", s)}, "pivot 4 is -1");
  wls.refuses(problem, "--weights, --factor or --sigma");
  wls.refuses(problem + Words{"--sigma", folder / "s.npy", "--weights", folder / "w.npy"}, "give one");
  wls.refuses(problem + Words{"--weights", folder / "s.npy"}, "12 columns, not 1");
  wls.refuses(problem + Words{"--factor", folder / "w.npy"}, "1 columns, not 12");
  wls.refuses({"--weights", folder / "w.npy"}, "belong together");
  wls.refuses({"--spread", "99"}, "--spread");
  wls.refuses({"--rcond", "2"}, "--rcond");
  CHECK(!std::filesystem::exists(folder / "x.npy"));
}

TEST_CASE("wls, glm and lse work in single precision") {
  const Command lse{{"lse"}};
  for (const char* const kind : {"uniform", "graded", "rank:5"}) {
    const Words problem = sizes(120, 20) + Words{"--precision", "s", "--random", kind, "--rhs", "2"};
    CAPTURE(kind);
    for (const std::string by : {"weights", "factor", "sigma"}) {
      const auto report = wls(problem + Words{"--by", by, "--random-b", "kappa:10"});
      CHECK(check(report, "backward_error") <= (by == "weights" ? 5e-6 : 5e-5));
    }
    for (const std::string method : {"tiles", "gqr", "givens"}) {
      const auto general = model(problem + Words{"--columns-b", "110", "--method", method});
      CHECK(check(general, "constraint_residual") <= 5e-6);
      CHECK(check(general, "optimality") <= general["limits"]["optimality"].get<double>());
    }
    const auto constrained = lse(problem + Words{"--rows-c", "6"});
    CHECK(check(constrained, "constraint_residual") <= 5e-6);
  }
}

TEST_CASE("wls and glm work on a GPU and with cuSOLVER", "[gpu]") {
  require_gpu();
  const TemporaryFolder folder;
  for (const std::string by : {"weights", "factor", "sigma"}) {
    const Words problem = sizes(700, 60) + Words{"--by", by, "--random-b", "kappa:10", "--rhs", "3"};
    const Matrix reference = answer(folder, wls, problem + Words{"--method", "lapack"});
    CAPTURE(by);
    for (const Words& way :
         {Words{"--method", "tiles", "--ncpu", "0"}, Words{"--method", "tiles"}, Words{"--method", "cusolver"}})
      CHECK(distance(answer(folder, wls, problem + way), reference) <= 1e-10 * norm(reference));
  }
  const Words general = sizes(400, 60) + Words{"--columns-b", "500", "--rhs", "2"};
  const Matrix reference = answer(folder, model, general + Words{"--method", "lapack"});
  CHECK(distance(answer(folder, model, general + Words{"--method", "cusolver"}), reference) <= 1e-10 * norm(reference));
  const auto with = [&](const Words& way) {
    return model(general + way + Words{"--std-errors"})["standard_errors"][7].get<double>();
  };
  CHECK(std::abs(with({"--ncpu", "0"}) / with({"--ncuda", "0"}) - 1) <= 1e-10);
}
