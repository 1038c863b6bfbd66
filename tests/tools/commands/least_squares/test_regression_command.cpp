#include "tests/support/commands/command.hpp"
#include "tests/support/least_squares.hpp"

#include <array>
#include <filesystem>

// Tables of --std-errors, compared with NIST's certified values and statsmodels 0.14, which agrees with them to 12
// digits.

using namespace tesela::test;

namespace {

const Command ols_command{{"ols"}}, wls_command{{"wls"}}, glm_command{{"glm"}};

bool near(double x, double reference, double tolerance) {
  return std::abs(x - reference) <= tolerance * std::abs(reference);
}

struct Problem {
  TemporaryFolder folder;

  std::string file(const std::string& name, const Matrix& matrix) const {
    write_matrix(folder / name, matrix);
    return folder / name;
  }
};

/// Returns a column of ones and x = 1, …, 8.
Matrix line() {
  return made(8, 2, [](index_t i, index_t j) { return j == 0 ? 1.0 : static_cast<double>(i + 1); });
}
Matrix responses() {
  static constexpr std::array<double, 8> y{2.1, 3.9, 6.2, 7.8, 10.1, 12.2, 13.8, 16.3};
  return made(8, 1, [](index_t i, index_t) { return y[static_cast<std::size_t>(i)]; });
}

struct Row {
  double estimate, error, p, low, high;
};

void check_table(const nlohmann::json& side, const std::vector<Row>& rows, double tolerance) {
  REQUIRE(side["coefficients"].size() == rows.size());
  for (std::size_t j = 0; j < rows.size(); ++j) {
    const auto& found = side["coefficients"][j];
    CAPTURE(found.dump());
    CHECK(found["unknown"] == j + 1);
    CHECK(near(found["estimate"], rows[j].estimate, tolerance));
    CHECK(near(found["std_error"], rows[j].error, tolerance));
    CHECK(near(found["statistic"], rows[j].estimate / rows[j].error, tolerance));
    CHECK(near(found["p"], rows[j].p, 100 * tolerance));
    CHECK(near(found["low"], rows[j].low, tolerance));
    CHECK(near(found["high"], rows[j].high, tolerance));
  }
}

}  // namespace

TEST_CASE("ols --std-errors agrees with NIST's certified standard errors for Longley's data") {
  // Estimates and standard errors: NIST. p and intervals: statsmodels.
  const std::vector<Row> certified = {
      {-3482258.63459582, 890420.383607373, 0.003560403663719, -5.496529483277399e+06, -1.467987785918486e+06},
      {15.0618722713733, 84.9149257747669, 0.863140832807658, -1.770290352983595e+02, 2.071527798414592e+02},
      {-0.0358191792925910, 0.0334910077722432, 0.312681061091816, -1.115811024140024e-01, 3.994274382866000e-02},
      {-2.02022980381683, 0.488399681651699, 0.002535091734108, -3.125066641974443e+00, -9.153929656606075e-01},
      {-1.03322686717359, 0.214274163161675, 0.000944366764162, -1.517948700172571e+00, -5.485050341748576e-01},
      {-0.0511041056535807, 0.226073200069370, 0.826211795763437, -5.625172145073490e-01, 4.603090032000493e-01},
      {1829.15146461355, 455.478499142212, 0.003036803341624, 7.987875152792453e+02, 2.859515413950047e+03}};
  const Problem p;
  const Words files{"--a",
                    p.file("a.npy", made(16, 7, [&](index_t i, index_t j) { return j == 0 ? 1 : longley[i][j]; })),
                    "--b", p.file("b.npy", made(16, 1, [&](index_t i, index_t) { return longley[i][0]; }))};
  const std::string v = p.folder / "v.npy";
  for (const Words& way : {Words{}, {"--method", "tall-skinny"}, {"--method", "givens"}}) {
    CAPTURE(way);
    const auto report = ols_command(files + way + Words{"--std-errors", "--out-covariance", v});
    const auto& side = report["regression"][0];
    check_table(side, certified, 1e-8);
    CHECK(near(side["sigma"], 304.854073561965, 1e-8));
    CHECK(near(report["residual_variances"][0], 836424.055505915 / 9, 1e-8));
    CHECK((side["degrees_of_freedom"] == 9 && side["statistic"] == "t" && side["level"] == 0.95));
    const Matrix covariance = read_matrix<double>(v);
    REQUIRE(covariance.shape() == Shape{7, 7});
    for (std::size_t j = 0; j < 7; ++j) {
      CHECK(report["standard_errors"][j] == side["coefficients"][j]["std_error"]);
      CHECK(near(std::sqrt(covariance(static_cast<index_t>(j), static_cast<index_t>(j))), certified[j].error, 1e-8));
    }
  }
  const nlohmann::json other =
      ols_command(files + Words{"--std-errors", "--level", "0.9"})["regression"][0]["coefficients"];
  CHECK(near(other[3]["low"], -2.915521576558576, 1e-8));
  CHECK(near(other[3]["high"], -1.124938031076474, 1e-8));
  const Outcome shown = run_tesela(Words{"ols"} + files + Words{"--std-errors"});
  for (const char* const text : {"estimate", "std error", "95 % from", "-3482259", "890420.4", "-3.911", "0.00356",
                                 "sigma 304.8541, 9 degrees of freedom"})
    CHECK_THAT(shown.out, ContainsSubstring(text));
}

TEST_CASE("wls --std-errors works with variances known up to a factor and with known variances") {
  const Problem p;
  static constexpr std::array<double, 8> weights{1, 2, 4, 1, .5, .25, 2, 1};
  const Words files{"--a", p.file("a.npy", line()), "--b", p.file("b.npy", responses()), "--std-errors"},
      by_weights{"--weights",
                 p.file("w.npy", made(8, 1, [](index_t i, index_t) { return weights[static_cast<std::size_t>(i)]; }))},
      by_sigma{"--sigma", p.file("s.npy", made(8, 8, [](index_t i, index_t j) {
                                   return std::exp2(-std::abs(static_cast<double>(i - j)));
                                 }))};
  check_table(wls_command(files + by_weights)["regression"][0],
              {{0.081491244586709, 0.154398530877894, 6.165797817823311e-01, -0.296308350417784, 0.459290839591203},
               {1.990265486725663, 0.033847193578492, 1.625537834581763e-09, 1.907444387630453, 2.073086585820874}},
              1e-11);
  check_table(wls_command(files + by_sigma)["regression"][0],
              {{-0.015031055900618, 0.331902142099675, 9.653477107815845e-01, -0.827166340824717, 0.79710422902348},
               {2.02111801242236, 0.062390266050822, 5.753801159150873e-08, 1.868454531026516, 2.173781493818204}},
              1e-11);
  const auto known = wls_command(files + by_weights + Words{"--known-variances"})["regression"][0];
  check_table(known,
              {{0.081491244586709, 0.606870845968636, 8.931803502327759e-01, -1.107953756779172, 1.27093624595259},
               {1.990265486725663, 0.133038021047548, 1.337735987052998e-50, 1.729515756897988, 2.251015216553338}},
              1e-11);
  CHECK((known["statistic"] == "z" && known["degrees_of_freedom"].is_null() && known["sigma"] == 1));
}

TEST_CASE("each right-hand side has its own variance") {
  const Problem p;
  const Matrix one = responses(),
               two =
                   made(8, 2, [&](index_t i, index_t j) { return j == 0 ? one(i, 0) : -4 * one(i, 0) + line()(i, 1); });
  const std::string v = p.folder / "v.npy",
                    eye = p.file("eye.npy", made(8, 8, [](index_t i, index_t j) { return i == j ? 1.0 : 0.0; }));
  const Words files{"--a", p.file("a.npy", line()), "--b", p.file("b.npy", two), "--std-errors", "--out-covariance", v};
  for (const auto& [command, by] : {std::pair{ols_command, Words{}},
                                    {glm_command, Words{"--factor", eye}},
                                    {wls_command, Words{"--factor", eye}}}) {
    const auto report = command(files + by);
    REQUIRE(report["regression"].size() == 2);
    REQUIRE(report["standard_errors"].size() == 4);
    const Matrix covariance = read_matrix<double>(v);
    REQUIRE(covariance.shape() == Shape{2, 4});
    for (const std::size_t j : {0, 1}) {
      const double error = report["standard_errors"][j], error_of_two = report["standard_errors"][2 + j];
      CHECK(near(error_of_two, 4 * error, 1e-12));
      CHECK(near(std::sqrt(covariance(static_cast<index_t>(j), static_cast<index_t>(2 + j))), error_of_two, 1e-12));
    }
    CHECK(near(report["regression"][0]["coefficients"][1]["estimate"], 2.0142857142857142, 1e-12));
  }
  CHECK_THAT(run_tesela(Words{"ols"} + files).out, ContainsSubstring("right-hand side 2"));
}

TEST_CASE("a note gives the reason for missing standard errors") {
  const Problem p;
  const std::string v = p.folder / "v.npy";
  const auto says = [](const nlohmann::json& report, const char* const text) {
    CAPTURE(report.dump());
    REQUIRE(report.contains("notes"));
    CHECK_THAT(report["notes"].dump(), ContainsSubstring(text));
    CHECK(report["standard_errors"].empty());
    for (const auto& unknown : report["regression"][0]["coefficients"]) {
      CHECK(unknown["estimate"].is_number());
      CHECK((unknown["std_error"].is_null() && unknown["p"].is_null() && unknown["low"].is_null()));
    }
  };
  const Words square{"--m", "4", "--n", "4", "--std-errors"},
      deficient{"--m", "9", "--n", "4", "--random", "rank:3", "--std-errors"},
      wide{"--m", "3", "--n", "4", "--std-errors"};
  says(ols_command(square), "no degree of freedom");
  says(ols_command(deficient), "the rank 3 is less than the 4 unknowns");
  says(ols_command(wide), "the rank 3 is less than the 4 unknowns");
  says(wls_command(deficient), "the rank 3");
  says(glm_command({"--m", "9", "--n", "4", "--random", "rank:3", "--std-errors"}), "the rank 3");
  for (const Words& words : {square, deficient, wide}) {
    const auto report = ols_command(words + Words{"--out-covariance", v}, 1);
    CHECK_THAT(report["status"].get<std::string>(), ContainsSubstring("no covariance"));
    CHECK(!std::filesystem::exists(v));
  }
  const auto known = ols_command(square + Words{"--known-variances", "--out-covariance", v});
  CHECK(known["standard_errors"].size() == 4);
  CHECK(std::filesystem::exists(v));
  const Outcome shown = run_tesela(Words{"ols"} + square);
  CHECK_THAT(shown.out, ContainsSubstring("note    no standard errors: no degree of freedom"));

  const auto exact = ols_command(
      {"--a", p.file("a.npy", line()), "--b",
       p.file("b.npy", made(8, 1, [](index_t i, index_t) { return static_cast<double>(i); })), "--std-errors"});
  CHECK_THAT(exact["notes"].dump(), ContainsSubstring("exact up to rounding"));
}

TEST_CASE("standard errors are correct for a singular covariance of the errors") {
  // A = [I; 0] and covariance diag(1, 1, 1, 4, 0, 0, 0, 0): the error of row 4 has standard deviation 2, and its value
  // here is 4.
  const Problem p;
  const auto diagonal = [](const std::vector<double>& d) {
    return made(8, 8, [&](index_t i, index_t j) { return i == j ? d[static_cast<std::size_t>(i)] : 0.0; });
  };
  const Matrix eye = diagonal({1, 1, 1, 1, 1, 1, 1, 1});
  const auto unit = [](index_t i, index_t j) { return i == j ? 1.0 : 0.0; };
  const std::string v = p.folder / "v.npy";
  const Words data{
      "--a",
      p.file("a.npy", made(8, 3, unit)),
      "--b",
      p.file("b.npy", made(8, 1, [](index_t i, index_t) { return static_cast<double>(i < 4 ? i + 1 : 0); })),
      "--std-errors",
      "--out-covariance",
      v};
  const auto check_all = [&](const Command& command, const Words& words, double sigma) {
    CAPTURE(command.words, words);
    const auto report = command(data + words);
    CHECK(report["status"] == "ok");
    const Matrix covariance = read_matrix<double>(v);
    REQUIRE(covariance.shape() == Shape{3, 3});
    CHECK(distance(covariance, made(3, 3, [&](index_t i, index_t j) { return sigma * sigma * unit(i, j); })) <= 1e-6);
    REQUIRE(report["standard_errors"].size() == 3);
    for (const double error : report["standard_errors"]) CHECK(near(error, sigma, 1e-6));
  };
  const Words factor{"--factor", p.file("f.npy", diagonal({1, 1, 1, 2, 0, 0, 0, 0}))},
      sigma{"--sigma", p.file("s.npy", diagonal({1, 1, 1, 4, 0, 0, 0, 0}))}, known{"--known-variances"};
  for (const std::string precision : {"s", "d"}) {
    const Words single{"-p", precision};
    for (const char* const method : {"seminormal", "tiles", "gqr", "givens-stages"})
      for (const bool given : {false, true})
        check_all(glm_command, single + factor + Words{"--method", method} + (given ? known : Words{}), given ? 1 : 2);
    for (const Words& by : {factor, sigma}) {
      check_all(wls_command, single + by, 2);
      check_all(wls_command, single + by + known, 1);
    }
  }
  CHECK(wls_command(data + sigma)["regression"][0]["degrees_of_freedom"] == 1);

  // Without errors the unknowns are exact for any variance. With errors only in their own equations the variance is
  // unknown.
  const Words exact{
      "--a",
      p.file("a.npy", made(8, 3, unit)),
      "--b",
      p.file("e.npy", made(8, 1, [](index_t i, index_t) { return i < 3 ? static_cast<double>(i + 1) : 0.0; })),
      "--std-errors",
      "--out-covariance",
      v};
  for (const Words& words : {Words{"--factor", p.file("none.npy", Matrix(8, 0))},
                             Words{"--factor", p.file("zero.npy", diagonal({0, 0, 0, 0, 0, 0, 0, 0}))}}) {
    const auto report = glm_command(exact + words);
    CHECK(report["standard_errors"] == nlohmann::json{0.0, 0.0, 0.0});
    const Matrix covariance = read_matrix<double>(v);
    CHECK((covariance.shape() == Shape{3, 3} && norm(covariance) == 0));
  }
  p.file("v.npy", eye);
  const Words theirs{"--factor", p.file("g.npy", diagonal({1, 1, 1, 0, 0, 0, 0, 0}))};
  for (const Command& command : {glm_command, wls_command}) {
    CHECK_THAT(command(exact + theirs, 1)["status"].get<std::string>(), ContainsSubstring("no degree of freedom"));
    CHECK(distance(read_matrix<double>(v), eye) == 0);  // unchanged
  }
  for (const Command& command : {glm_command, wls_command}) {
    command(exact + theirs + known);
    CHECK(distance(read_matrix<double>(v), made(3, 3, unit)) <= 1e-14);
  }
}

TEST_CASE("wrong use of --std-errors and related options is refused") {
  for (const Command& command : {ols_command, wls_command, glm_command}) {
    command.refuses({"--known-variances"}, "--known-variances: belongs to --std-errors or --out-covariance");
    command.refuses({"--level", "0.9"}, "--level: belongs to --std-errors");
    command.refuses({"--std-errors", "--level", "1"}, "--level");
    command.refuses({"--std-errors", "--method", "lapack"}, "--std-errors");
  }
}
