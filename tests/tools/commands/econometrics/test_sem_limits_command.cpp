#include "tests/support/commands/sem_command.hpp"

#include <cstdio>
#include <random>
#include <sstream>

using namespace tesela::test;

// `tesela sem` with omitted rows, nearly dependent columns, perfect fits, and as many instruments as rows.

TEST_CASE("with weights, fitted values and residuals are unweighted, with one line for each row") {
  const Files with;
  const TemporaryFolder folder;
  sem(with("a,y,w\n1,2,4\n2,3,4\n2,NA,4\n3,5,4\n4,4,0\n", "y ~ a") + Words{"--method", "ols", "--weights", "w",
                                                                           "--out-fitted", folder / "f.csv",
                                                                           "--out-residuals", folder / "r.csv"});
  const auto numbers = [](const std::string& path) {
    std::istringstream lines(contents(path));
    std::string line;
    std::getline(lines, line);
    CHECK(line == "eq1");
    std::vector<double> all;
    while (std::getline(lines, line)) all.push_back(line == "NA" ? NAN : std::stod(line));
    return all;
  };
  const std::vector<double> fitted = numbers(folder / "f.csv"), residuals = numbers(folder / "r.csv");
  REQUIRE((fitted.size() == 5 && residuals.size() == 5));
  const double y[] = {2, 3, 0, 5, 4};
  for (const std::size_t t : {0, 1, 3}) {
    const double expected = 1.0 / 3 + 1.5 * (t < 2 ? static_cast<double>(t) + 1 : 3);
    CHECK(std::abs(fitted[t] - expected) <= 1e-14);
    CHECK(std::abs(residuals[t] - (y[t] - expected)) <= 1e-14);
  }
  for (const std::size_t t : {2, 4}) CHECK((std::isnan(fitted[t]) && std::isnan(residuals[t])));
}

TEST_CASE("of nearly dependent regressors the later one is named, whatever columns follow") {
  const Files with;
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (const double distance : {1e-6, 1e-12, 2e-13, 1e-13, 7e-14, 3e-14, 1e-15}) {
    std::string data = "y,a,b,c,d\n";
    for (int t = 0; t < 60; ++t) {
      const double a = normal(random),
                   x[] = {normal(random), a, a + distance * normal(random), normal(random), normal(random)};
      char line[200];
      std::snprintf(line, sizeof line, "%.17g,%.17g,%.17g,%.17g,%.17g\n", x[0], x[1], x[2], x[3], x[4]);
      data += line;
    }
    CAPTURE(distance);
    const auto equation = sem(with(data, "y ~ a + b + c + d") + Words{"--method", "ols"})["equations"][0];
    CHECK(equation["coefficients"].size() == 5);
    if (distance <= 1e-13) CHECK(equation["status"] == "collinear");
    if (equation["status"] == "collinear") CHECK(equation["because_of"] == nlohmann::json{"b"});
  }
}

TEST_CASE("as many instruments as rows give 2SLS = OLS without a Sargan test") {
  const Files with;
  const Words words =
      with("y,z,a,b,c,d\n1,2,1,5,1,3\n2,1,4,2,7,1\n4,3,3,7,2,2\n3,5,2,2,9,4\n", "y ~ z\ninstruments: ~ a + b + c + d");
  const auto least_squares = sem(words + Words{"--method", "ols"}), two_stages = sem(words + Words{"--method", "2sls"});
  CHECK(two_stages["equations"][0]["status"] == "ok");
  CHECK(two_stages["equations"][0]["sargan"].is_null());
  CHECK(apart(two_stages, least_squares) <= 1e-13);
  const auto fewer = sem(with("y,z,a\n1,2,1\n2,1,4\n4,3,3\n3,5,2\n2,2,5\n", "y ~ z\ninstruments: ~ a + I(a*a)"));
  CHECK(!fewer["equations"][0]["sargan"].is_null());
}

TEST_CASE("a perfect fit is noted, and undefined statistics are shown as -") {
  const Files with;
  for (const char* data : {"y,x\n5,1\n7,2\n9,3\n11,4\n13,5\n", "y,x\n5,1\n5,2\n5,3\n5,4\n5,5\n"}) {
    const Words words = with(data, "y ~ x") + Words{"--method", "ols"};
    const Outcome shown = run_tesela(Words{"sem"} + words);
    CAPTURE(shown.out);
    CHECK(shown.code == 0);
    CHECK(shown.out.find("degrees of freedom, the fit is exact up to rounding\n") != std::string::npos);
    CHECK(shown.out.find("note    eq1: the fit is exact up to rounding: ") != std::string::npos);
    CHECK(shown.out.find("              0         -         -             -             -\n") != std::string::npos);
    CHECK(shown.out.find("nan") == std::string::npos);
    CHECK((shown.out.find("R2 -, adjusted -, ") != std::string::npos) == (std::string(data)[8] == '5'));
    CHECK(sem(words)["notes"].size() == 1);
  }
  const auto inexact = sem(with("y,x\n5,1\n7,2\n9,3\n11,4\n14,5\n", "y ~ x") + Words{"--method", "ols"});
  CHECK(!inexact.contains("notes"));
}
