#include "tests/support/commands/command.hpp"
#include "tests/support/commands/temporary_folder.hpp"
#include "tests/support/machine.hpp"

#include <fstream>
#include <map>

// Regressions of formulas. References: NIST's Statistical Reference Datasets, statsmodels (make_references.py), and the
// estimates of public reports.

using namespace tesela::test;

namespace {

const Command ols{{"ols"}}, wls{{"wls"}}, lse{{"lse"}}, glm{{"glm"}}, sem{{"sem"}};

std::string data(const std::string& name) { return data_directory() + "/econometrics/" + name; }

bool near(const nlohmann::json& x, double reference, double tolerance) {
  return x.is_number() && std::abs(x.get<double>() - reference) <= tolerance * std::abs(reference);
}

/// Checks a regression's number of each unknown, by its name.
void check_numbers(const nlohmann::json& side, const char* number, const nlohmann::json& names,
                   const nlohmann::json& expected, double tolerance) {
  std::map<std::string, nlohmann::json> found;
  for (const auto& one : side["coefficients"]) found[one["name"]] = one[number];
  REQUIRE(found.size() == expected.size());
  for (std::size_t j = 0; j < expected.size(); ++j) {
    const std::string name = names[j];
    CAPTURE(number, name, found[name].dump(), expected[j].dump());
    CHECK(near(found[name], expected[j], tolerance));
  }
}

struct Certified {
  const char *file, *formula;
  std::vector<double> estimates, errors;
  double sigma, r2, f;
  double digits;  ///< relative error of coefficients
};

nlohmann::json estimates_of(const nlohmann::json& report) {
  std::map<std::string, double> all;
  for (const auto& one : report["equations"][0]["coefficients"]) all[one["name"]] = one["estimate"];
  return all;
}

}  // namespace

TEST_CASE("regressions of NIST's data have the certified digits") {
  std::string powers = "y ~ x";
  for (int k = 2; k <= 10; ++k) powers += " + I(x^" + std::to_string(k) + ")";
  const Certified all[] = {
      {"nist_norris.csv",
       "y ~ x",
       {-0.262323073774029, 1.00211681802045},
       {0.232818234301152, 0.429796848199937E-03},
       0.884796396144373,
       0.999993745883712,
       5436385.54079785,
       1e-12},
      {"nist_longley.csv",
       "y ~ .",
       {-3482258.63459582, 15.0618722713733, -0.358191792925910E-01, -2.02022980381683, -1.03322686717359,
        -0.511041056535807E-01, 1829.15146461355},
       {890420.383607373, 84.9149257747669, 0.334910077722432E-01, 0.488399681651699, 0.214274163161675,
        0.226073200069370, 455.478499142212},
       304.854073561965,
       0.995479004577296,
       330.285339234588,
       1e-10},
      // The columns depend on each other to 10 digits.
      {"nist_filip.csv",
       powers.c_str(),
       {-1467.48961422980, -2772.17959193342, -2316.37108160893, -1127.97394098372, -354.478233703349,
        -75.1242017393757, -10.8753180355343, -1.06221498588947, -0.670191154593408E-01, -0.246781078275479E-02,
        -0.402962525080404E-04},
       {298.084530995537, 559.779865474950, 466.477572127796, 227.204274477751, 71.6478660875927, 15.2897178747400,
        2.23691159816033, 0.221624321934227, 0.142363763154724E-01, 0.535617408889821E-03, 0.896632837373868E-05},
       0.334801051324544E-02,
       0.996727416185620,
       2162.43954511489,
       1e-6},
  };
  for (const Certified& one : all) {
    CAPTURE(one.file);
    const auto report = ols(Words{data(one.file), one.formula});
    CHECK(report["status"] == "ok");
    CHECK(!report.contains("notes"));
    const auto& side = report["regression"][0];
    REQUIRE(side["coefficients"].size() == one.estimates.size());
    for (std::size_t j = 0; j < one.estimates.size(); ++j) {
      CAPTURE(j, side["coefficients"][j].dump());
      CHECK(near(side["coefficients"][j]["estimate"], one.estimates[j], one.digits));
      CHECK(near(side["coefficients"][j]["std_error"], one.errors[j], one.digits));
    }
    CHECK(near(side["sigma"], one.sigma, one.digits));
    CHECK(near(side["r2"], one.r2, one.digits));
    CHECK(near(side["f"], one.f, one.digits));
  }
  // poly() has the same fit.
  const auto poly = ols(Words{data("nist_filip.csv"), "y ~ poly(x, 10)"})["regression"][0];
  CHECK(near(poly["r2"], 0.996727416185620, 1e-13));
  CHECK(near(poly["f"], 2162.43954511489, 1e-10));
}

TEST_CASE("regressions agree with statsmodels to ten digits") {
  std::ifstream file(data("regressions.json"));
  for (const auto& expected : nlohmann::json::parse(file)) {
    CAPTURE(expected["formula"].dump());
    const Words problem{data("table.csv"), expected["formula"]};
    const bool covariance = expected.contains("covariance");
    nlohmann::json report;
    if (covariance)
      report = glm(problem + Words{"--effects", "region"} +
                   (expected["covariance"] == "noise" ? Words{"--noise", "w"} : Words{}));
    else
      report = expected["weights"].is_null() ? ols(problem) : wls(problem + Words{"--weights", expected["weights"]});
    CHECK(report["status"] == "ok");
    const auto& side = report["regression"][0];
    for (const char* number : {"estimate", "std_error", "statistic", "p", "low", "high"})
      check_numbers(side, number, expected["names"], expected[number], 1e-10);
    for (const char* number : {"sigma", "degrees_of_freedom", "r2", "adjusted_r2", "f", "f_p"}) {
      if (covariance && number[0] != 's' && number[0] != 'd') continue;
      CAPTURE(number);
      CHECK(near(side[number], expected[number], 1e-10));
    }
  }
}

TEST_CASE("a regression names its unknowns, its base and the rows that it leaves out") {
  const TemporaryFolder folder;
  const std::string file = folder / "d.csv";
  std::ofstream(file) << "y;x;f;w\n1,5;1;b;1\n2,5;2;a;1\n4;3;b;0\n3;-99;a;1\n5,25;5;a;2\n7;6;c;1\n6;7;c;1\n9;9;b;1\n";
  const Words formula{file, "y ~ x + f"};
  const Outcome text = run_tesela(Words{"ols"} + formula + Words{"--na", "-99"});
  CHECK(text.code == 0);
  for (const char* part : {"y ~ ", "(Intercept) ", "fb ", "fc ", "R2 ", "note    f: contrasts to a",
                           "note    left out for a missing value: 1 row\n"})
    CHECK_THAT(text.out, Catch::Matchers::ContainsSubstring(part));
  const auto report = wls(formula + Words{"--na", "-99", "--weights", "w"});
  CHECK(report["factors"][0]["base"] == "a");
  CHECK(report["factors"][0]["levels"] == nlohmann::json{"a", "b", "c"});
  CHECK(report["problem"]["m"] == 6);
  CHECK(report["problem"]["dropped_rows"] == 1);
  CHECK(ols({"y ~ x + f", file, "--na", "-99.0"})["problem"]["m"] == 7);  // in the order of R's lm
  ols.refuses(formula + Words{"--na", "-99", "--missing", "error"}, "d.csv: line 5: x is missing");
  ols.refuses({file}, "needs both");
  ols.refuses({file, "y ~ x | f"}, "belong to `tesela sem`");
  ols.refuses({file, "y ~ z"}, "has no column z; it has y, x, f, w");
  ols.refuses(formula + Words{"--m", "5"}, "contradict each other");
  wls.refuses(formula, "--weights: is missing");
  wls.refuses(formula + Words{"--weights", "v"}, "has no column v; it has y, x, f, w");
  // Columns that depend on each other: the solution of least norm, without errors.
  const auto deficient = ols(Words{file, "y ~ w + I(2 * w)"}, 0);
  CHECK(deficient["status"] == "rank deficient");
  CHECK(deficient["regression"][0]["coefficients"][1]["std_error"].is_null());
  // Rounding errors of an exact fit are no standard errors.
  std::ofstream(file) << "y,x\n2.1,1\n4.2,2\n6.3,3\n8.4,4\n";
  CHECK(ols(Words{file, "y ~ x"}).dump().find("the fit is exact") != std::string::npos);
  std::ofstream(file) << "y,x\n1e300,1e-300\n3e300,2e-300\n4e300,3e-300\n8e300,4e-300\n";
  const auto extreme = ols(Words{file, "I(y/1e150) ~ I(x*1e150)"});
  CHECK(near(extreme["regression"][0]["coefficients"][1]["estimate"], 2.2e300, 1e-12));
}

TEST_CASE("lse holds constraints of a formula's unknowns") {
  const Words problem{data("table.csv"), "y ~ x1 + x2 + C(region)"};
  // The constraint, put into the formula, is the reference.
  const auto free = ols(Words{data("table.csv"), "I(y - x2) ~ I(x1 - x2) + C(region)"})["regression"][0];
  const auto held = lse(problem + Words{"--constraints", "x1 + x2 = 1"})["regression"][0];
  for (const char* number : {"estimate", "std_error", "statistic", "p", "low", "high"})
    for (const auto& [j, k] : {std::pair{0, 0}, {1, 1}, {3, 2}, {4, 3}, {5, 4}}) {
      CAPTURE(number, j);
      CHECK(near(held["coefficients"][static_cast<std::size_t>(j)][number],
                 free["coefficients"][static_cast<std::size_t>(k)][number], 1e-11));
    }
  CHECK(held["degrees_of_freedom"] == free["degrees_of_freedom"]);
  const auto many =
      lse(problem + Words{"--constraints", "`C(region)north` = `C(region)south`; 2 * x1 - x2/2 = 3 - Intercept"});
  const auto& b = many["regression"][0]["coefficients"];
  const auto estimate = [&](std::size_t j) { return b[j]["estimate"].get<double>(); };
  CHECK(std::abs(estimate(3) - estimate(4)) < 1e-12);
  CHECK(std::abs(2 * estimate(1) - estimate(2) / 2 + estimate(0) - 3) < 1e-12);
  // Two constraints determine every unknown; the second follows from the first.
  const auto fixed =
      lse(Words{data("table.csv"), "y ~ x1 - 1", "--constraints", "x1 = 2, 2 * x1 = 4"})["regression"][0];
  CHECK(near(fixed["coefficients"][0]["estimate"], 2, 1e-15));
  CHECK(fixed["coefficients"][0]["std_error"] == 0);
  for (const auto& [text, why] : std::initializer_list<std::pair<const char*, const char*>>{
           {"x1 + z = 1", "column 6: z is neither a number nor an unknown; there are (Intercept), x1, x2"},
           {"x1 * x2 = 1", "is neither"},
           {"x1 + x2", "expected '='"},
           {"1 = 1", "without unknowns"},
           {"x1 = 1 = 2", "unexpected '='"}}) {
    CAPTURE(text);
    lse.refuses(problem + Words{"--constraints", text}, why);
  }
  lse.refuses(problem, "--constraints: is missing");
}

TEST_CASE("glm may hold some rows exactly") {
  const TemporaryFolder folder;
  std::ofstream(folder / "d.csv") << "y,x,s\n1,1,1\n3,2,0\n2,3,1\n5,4,2\n5,5,1\n";
  const auto report = glm(Words{folder / "d.csv", "y ~ x", "--noise", "s"});
  const auto& b = report["regression"][0]["coefficients"];
  CHECK(std::abs(b[0]["estimate"].get<double>() + 2 * b[1]["estimate"].get<double>() - 3) < 1e-12);
  glm.refuses({folder / "d.csv", "y ~ x", "--noise", "t"}, "has no column t");
  glm.refuses({"--noise", "s"}, "belong to a formula");
}

TEST_CASE("a table may have decimal commas, and needs a line of names") {
  const TemporaryFolder folder;
  const std::string file = folder / "d.csv";
  std::string text = contents(data("cases.csv"));
  for (char& c : text) c = c == ',' ? ';' : c == '.' ? ',' : c;
  std::ofstream(file) << "sep=;\r\n" << text;
  const nlohmann::json found = estimates_of(sem({"--data", file, "--model", "y ~ x + w; instruments: ~ w + z1 + z2"}));
  CHECK(near(found["(Intercept)"], 1.860106523486563, 1e-12));
  CHECK(near(found["x"], 1.5657995307744115, 1e-12));
  CHECK(near(found["w"], -0.8288349075959406, 1e-12));
  std::ofstream(file) << "1,2,3\n4,5,6\n7,8,9\n";
  sem.refuses({"--data", file, "--model", "y ~ x", "--method", "ols"},
              "has no column y: its first line has numbers (1, 2, 3), not names; put a line of names before it");
}

TEST_CASE("R2 does not depend on the size of the right-hand side") {
  const TemporaryFolder folder;
  const std::string file = folder / "d.csv";
  const auto fit = [&](const std::string& exponent, const Command& command, const Words& more) {
    std::ofstream(file) << "y,x\n"
                        << "1" + exponent + ",1\n3" + exponent + ",2\n4" + exponent + ",3\n7" + exponent + ",4\n";
    return command(more);
  };
  for (const char* exponent : {"e300", "e-160", "e-290", "e0"}) {
    CAPTURE(exponent);
    const auto report = fit(exponent, ols, {file, "y ~ x"});
    const nlohmann::json &by_ols = report["regression"][0], &variance = report["residual_variances"][0];
    if (exponent == std::string("e0"))
      CHECK(near(variance, 0.35, 1e-12));
    else
      CHECK(variance.is_null());
    CHECK(near(by_ols["sigma"], std::sqrt(0.35) * std::stod(std::string("1") + exponent), 1e-12));
    CHECK(near(by_ols["r2"], 0.9626666666666667, 1e-12));
    CHECK(near(by_ols["adjusted_r2"], 0.944, 1e-12));
    CHECK(near(by_ols["f"], 51.57142857142857, 1e-12));
    const auto by_sem = fit(exponent, sem, {"--data", file, "--model", "y ~ x", "--method", "ols"})["equations"][0];
    CHECK(near(by_sem["r2"], 0.9626666666666667, 1e-12));
  }
}

TEST_CASE("weights are a column of the table, or a file with a number for each of its rows") {
  const TemporaryFolder folder;
  const std::string file = folder / "d.csv", weights = folder / "w.txt";
  std::ofstream out(file), numbers(weights);
  out << "y,x,w\n";
  for (int t = 0; t < 12; ++t) {
    const double w = t == 3 ? 0 : 1 + t % 4;  // row 4 does not count, and row 8 lacks x
    out << std::sin(3 * t) + 0.1 * t << ',' << (t == 7 ? "NA" : std::to_string(t)) << ',' << w << '\n';
    numbers << w << '\n';
  }
  out.close(), numbers.close();
  const auto by_column = wls({file, "y ~ x", "--weights", "w"}), by_file = wls({file, "y ~ x", "--weights", weights});
  CHECK(by_file["regression"] == by_column["regression"]);
  CHECK(by_file["regression"][0]["degrees_of_freedom"] == 8);
  CHECK(by_file["notes"] == by_column["notes"]);
  for (const char* precision : {"s", "d"})
    CHECK(wls({file, "y ~ x", "--weights", weights, "-p", precision})["problem"]["precision"] == precision);
  const Words model{"--data", file, "--model", "y ~ x", "--method", "ols"};
  CHECK(sem(model + Words{"--weights", weights})["equations"] == sem(model + Words{"--weights", "w"})["equations"]);
  std::ofstream(weights) << "1\n2\n";
  wls.refuses({file, "y ~ x", "--weights", weights}, "d.csv: has 12 rows; there are 2 weights");
  sem.refuses(model + Words{"--weights", weights}, "d.csv: has 12 rows; there are 2 weights");
  std::ofstream(weights) << "1 2\n3 4\n";
  wls.refuses({file, "y ~ x", "--weights", weights}, "w.txt: is 2 x 2, and weights are one column");
  wls.refuses({file, "y ~ x", "--weights", "v"}, "d.csv: has no column v");
}

TEST_CASE("a formula with numbers that single precision lacks is computed in double precision") {
  const TemporaryFolder folder;
  const std::string file = folder / "d.csv";
  std::ofstream(file) << "y,x,w\n1,1e-50,1\n2,2e-50,1e-60\n4,3e-50,1e60\n4,5e-50,2\n";
  for (const Command* command : {&ols, &wls}) {
    const Words words = command == &ols ? Words{file, "y ~ x"} : Words{file, "y ~ log(x)", "--weights", "w"};
    const auto single = (*command)(words + Words{"-p", "s"}), wide = (*command)(words);
    CHECK(single["regression"] == wide["regression"]);
    CHECK(single["problem"]["precision"] == "d");
    CHECK_THAT(single["notes"][0].get<std::string>(), Catch::Matchers::StartsWith("computed in double precision: ") &&
                                                          Catch::Matchers::EndsWith("does not fit single precision"));
  }
}

TEST_CASE("every factor of glm's effects has a column for each level, in any order") {
  const TemporaryFolder folder;
  const std::string file = folder / "d.csv";
  std::ofstream out(file);
  out << "y,x,a,b\n";
  for (int t = 0; t < 24; ++t) out << std::sin(3 * t) + 0.1 * t << ',' << t << ",g" << t % 3 << ",h" << t % 4 << '\n';
  out.close();
  // Generalized least squares with the covariance I + Z1 Z1' + Z2 Z2', by NumPy: intercept and slope.
  for (const char* effects : {"C(a) + C(b)", "C(b)+C(a, Treatment(\"g2\"))"}) {
    CAPTURE(effects);
    const auto x = glm({file, "y ~ x", "--effects", effects})["answer"]["X"];
    CHECK(near(x[0], 0.0714338700353197, 1e-10));
    CHECK(near(x[1], 0.09358131890997226, 1e-10));
  }
  lse.refuses({file, "y ~ x", "--constraints", "x/0 = 1"}, "divides by 0");
}

TEST_CASE("a regression without a row, and a scaled constant, are refused") {
  const TemporaryFolder folder;
  const std::string file = folder / "d.csv";
  std::ofstream(file) << "y,x,c\n1,2,7.1\n2,3,7.1\n4,5,7.1\n";
  ols.refuses({file, "y ~ lag(x, 60)"}, "has no row with all values of the formula");
  wls.refuses({file, "y ~ lag(x, 60)", "--weights", "c"}, "has no row with all values of the formula");
  ols.refuses({file, "y ~ scale(c)"}, "scale(c): the column is constant");
  ols.refuses({file, "y ~ scale(c / 7.1)"}, "the column is constant");
  CHECK(ols({file, "y ~ scale(x)"})["status"] == "ok");
  std::ofstream(file) << "y,x,w\n1,2,0\n2,3,0\n4,5,0\n";
  wls.refuses({file, "y ~ x", "--weights", "w"}, "d.csv: weights w: all weights are 0");
  std::ofstream(file) << "y,x,w\n1,2,0\n2,3,0\n4,.,1\n";
  wls.refuses({file, "y ~ x", "--weights", "w"}, "all weights of rows with all values of the formula are 0");
  std::ofstream(file) << "y,x\n";
  ols.refuses({file, "y ~ x"}, "has no row with all values of the formula");
}
