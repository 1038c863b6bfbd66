#include "tests/support/commands/command.hpp"
#include "tests/support/files.hpp"

#include <nlohmann/json.hpp>

using namespace tesela::test;

namespace {

const Command ols{{"ols"}}, tls{{"tls"}};

/// A table with nearly equal columns u and v, and y = 10 + 2 u + v and noise.
std::string table(const TemporaryFolder& folder) {
  std::string text = "u,v,w,y\n";
  for (int i = 0; i < 40; ++i) {
    const double u = std::sin(3.0 * i), v = u + 1e-3 * std::cos(7.0 * i), w = std::cos(5.0 * i);
    text += std::to_string(u) + "," + std::to_string(v) + "," + std::to_string(w) + "," +
            std::to_string(10 + 2 * u + v + 0.1 * std::sin(11.0 * i)) + "\n";
  }
  text += "1,NA,2,3\n";
  return file_in(folder, "data.csv", text);
}

double estimate(const nlohmann::json& report, const char* name) {
  for (const auto& one : report["coefficients"])
    if (one["name"] == name) return one["estimate"];
  return NAN;
}

}  // namespace

TEST_CASE("ridge of generated matrices is within its bound for every shape, method and precision") {
  for (const Words& shape : {Words{"--m", "200", "--n", "30"},
                             {"--m", "30", "--n", "200"},
                             {"--m", "1", "--n", "1"},
                             {"--m", "4000", "--n", "8", "--rhs", "3"},
                             {"--m", "0", "--n", "3"},
                             {"--m", "3", "--n", "0"}})
    for (const Words& way : {Words{"--ridge", "auto"},
                             {"--ridge", "0.5"},
                             {"--ridge", "0"},
                             {"--truncate", "auto"},
                             {"--truncate", "0"},
                             {"--ridge", "auto", "-p", "s"}}) {
      CAPTURE(shape, way);
      const auto report = ols(shape + way);
      CHECK((report["status"] == "ok" || report["status"] == "rank deficient"));
      CHECK(report["regularization"].size() == (shape.size() > 4 ? 3 : 1));
    }
  for (const Words& shape : {Words{"--m", "200", "--n", "30"}, {"--m", "30", "--n", "200"}})
    CHECK(ols(shape + Words{"--truncate", "30"})["checks"]["k"] == 30);
  for (const char* const method : {"tiles", "tall-skinny", "givens"})
    CHECK(ols({"--m", "300", "--n", "20", "--ridge", "auto", "--method", method})["status"] == "ok");
  for (const char* const kind : {"rank:5", "zero", "kappa:1e14", "graded"})
    CHECK(ols({"--m", "80", "--n", "20", "--ridge", "auto", "--random", kind})["status"] != "inaccurate");
}

TEST_CASE("a formula's intercept is not penalized, and the coefficients have names") {
  const TemporaryFolder folder;
  const std::string data = table(folder), svg = folder / "gcv.svg", out = folder / "x.npy";
  const auto report = ols({data, "y ~ u + v + w", "--ridge", "auto", "--svg", svg, "--out", out});
  CHECK(report["status"] == "ok");
  CHECK(std::abs(estimate(report, "(Intercept)") - 10) < 0.1);
  CHECK(std::abs(estimate(report, "u") + estimate(report, "v") - 3) < 0.1);
  CHECK(report["problem"]["dropped_rows"] == 1);
  const double lambda = report["checks"]["lambda"], df = report["checks"]["effective_df"];
  CHECK(lambda > 0);
  CHECK((df > 1 && df < 4));
  for (const auto& point : report["regularization"][0]["curve"])
    CHECK(report["checks"]["gcv"].get<double>() <= point["gcv"].get<double>() * (1 + 1e-12));
  const auto x = read_matrix<double>(out);
  CHECK(x(0, 0) == estimate(report, "(Intercept)"));
  CHECK(x.rows() == 4);
  CHECK(contents(svg).find("</svg>") != std::string::npos);
  // A large penalty leaves the mean.
  CHECK(std::abs(estimate(ols({data, "y ~ u", "--ridge", "1e12"}), "(Intercept)") - 10) < 0.5);
  // No penalty: as without --ridge.
  const auto plain = ols({data, "y ~ u + w"}), none = ols({data, "y ~ u + w", "--ridge", "0"});
  CHECK(std::abs(plain["regression"][0]["coefficients"][1]["estimate"].get<double>() - estimate(none, "u")) <= 1e-12);
}

TEST_CASE("a file by rows has the same ridge") {
  const TemporaryFolder folder;
  const std::string a = folder / "a.npy", b = folder / "b.npy";
  REQUIRE(run_tesela({"generate", "--m", "5000", "--n", "7", "--out", a}).code == 0);
  REQUIRE(run_tesela({"generate", "--m", "5000", "--n", "2", "--seed", "2", "--out", b}).code == 0);
  const Words files{"--a", a, "--b", b, "--ridge", "100"};
  const auto streamed = ols(files), tiles = ols(files + Words{"--method", "tiles"});
  CHECK(streamed["problem"]["streamed"] == true);
  for (const char* const name : {"residual_norm", "solution_norm"})
    CHECK(std::abs(streamed["checks"][name].get<double>() / tiles["checks"][name].get<double>() - 1) <= 1e-12);
}

TEST_CASE("ridge of data whose lambda is beyond the range reports its root") {
  const TemporaryFolder folder;
  const std::string b = file_in(folder, "b.csv", "1\n3\n2\n6\n5\n");
  const auto of_factor = [&](const std::string& factor) {
    const std::string a =
        file_in(folder, "a.csv",
                "1" + factor + ",2" + factor + "\n2" + factor + ",5" + factor + "\n3" + factor + ",1" + factor + "\n4" +
                    factor + ",9" + factor + "\n5" + factor + ",7" + factor + "\n");
    return ols({"--a", a, "--b", b, "--ridge", "auto"});
  };
  const auto plain = of_factor("");
  const double root = std::sqrt(plain["checks"]["lambda"].get<double>());
  REQUIRE(root > 0);
  CHECK(!plain["regularization"][0].contains("sqrt_lambda"));
  for (const double factor : {1e-200, 1e200}) {
    const auto report = of_factor(factor > 1 ? "e200" : "e-200");
    CAPTURE(report.dump());
    CHECK(report["status"] == "ok");
    CHECK(std::abs(report["regularization"][0]["sqrt_lambda"].get<double>() / factor / root - 1) <= 1e-6);
  }
}

TEST_CASE("wrong uses of --ridge and --truncate") {
  for (const Words& wrong : {Words{"--ridge", "-1"},
                             {"--ridge", "x"},
                             {"--ridge", "nan"},
                             {"--truncate", "1.5"},
                             {"--truncate", "5"},
                             {"--truncate", "3", "--m", "2"},
                             {"--ridge", "1", "--truncate", "1"},
                             {"--ridge", "1", "--svg", "x.svg"},
                             {"--svg", "x.svg"},
                             {"--ridge", "1", "--std-errors"},
                             {"--ridge", "1", "--method", "lapack"}}) {
    CAPTURE(wrong);
    CHECK(run_tesela(Words{"ols", "--n", "4"} + wrong).code == 2);
  }
}

TEST_CASE("total least squares of generated matrices, and of a table") {
  for (const Words& shape : {Words{"--m", "200", "--n", "30"},
                             {"--m", "200", "--n", "30", "--rhs", "4"},
                             {"--m", "900", "--n", "1"},
                             {"--m", "31", "--n", "30"},
                             {"--m", "50", "--n", "0"}})
    for (const char* const precision : {"d", "s"}) {
      CAPTURE(shape, precision);
      CHECK(tls(shape + Words{"-p", precision})["status"] == "ok");
    }
  const TemporaryFolder folder;
  const auto report = tls({table(folder), "y ~ u"});
  CHECK(report["status"] == "ok");
  // NumPy's smallest singular vector of the centred columns; the last row, which lacks v alone, counts.
  CHECK(std::abs(estimate(report, "u") - 4.041247) < 1e-4);
  CHECK(std::abs(estimate(report, "(Intercept)") - 9.737684) < 1e-4);
  CHECK(tls({"--m", "90", "--n", "20", "--random", "rank:5"}, 1)["status"] == "nongeneric");
}
