#include "tests/support/commands/sem_command.hpp"
#include <tesela/algorithms/econometrics/generated_model.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <cstdio>
#include <fstream>
#include <random>

using namespace tesela::test;

namespace {

/// Requires the printed estimates and standard errors of the equations.
void require_printed(const nlohmann::json& report, const std::vector<std::vector<const char*>>& equations) {
  REQUIRE(report["equations"].size() == equations.size());
  for (std::size_t i = 0; i < equations.size(); ++i) {
    const auto& coefficients = report["equations"][i]["coefficients"];
    REQUIRE(2 * coefficients.size() == equations[i].size());
    for (std::size_t k = 0; k < equations[i].size(); ++k) {
      const std::string digits = equations[i][k];
      const auto point = digits.find('.');
      char text[64];
      std::snprintf(text, sizeof text, "%.*f", static_cast<int>(digits.size() - point - 1),
                    coefficients[k / 2][k % 2 == 0 ? "estimate" : "std_error"].get<double>());
      CAPTURE(i, k);
      CHECK(std::string(text) == digits);
    }
  }
}

}  // namespace

TEST_CASE("Kmenta's food market from files agrees with every printed digit") {
  const std::vector<const char*> demand{"94.6333", "7.9208", "-0.2436", "0.0965", "0.3140", "0.0469"};
  const Words small = example_files("food_market") + Words{"--dof", "small"};
  require_printed(sem(small),
                  {demand, {"49.5324", "12.0105", "0.2401", "0.0999", "0.2556", "0.0473", "0.2529", "0.0997"}});
  require_printed(sem(small + Words{"--method", "3sls"}),
                  {demand, {"52.1972", "11.8934", "0.2286", "0.0997", "0.2282", "0.0440", "0.3611", "0.0729"}});
  const auto iterated = sem(small + Words{"--method", "3sls", "--iterate", "--tolerance", "3e-5"});
  require_printed(iterated,
                  {demand, {"52.6618", "12.8051", "0.2266", "0.1075", "0.2234", "0.0468", "0.3800", "0.0720"}});
  require_printed(sem(small + Words{"--method", "ols"}),
                  {{"99.8954", "7.5194", "-0.3163", "0.0907", "0.3346", "0.0454"},
                   {"58.2754", "11.4629", "0.1604", "0.0949", "0.2481", "0.0462", "0.2483", "0.0975"}});
  require_printed(sem(small + Words{"--method", "sur"}),
                  {{"99.3329", "7.5145", "-0.2755", "0.0885", "0.2986", "0.0419"},
                   {"61.9662", "11.0808", "0.1469", "0.0944", "0.2140", "0.0399", "0.3393", "0.0679"}});

  const auto report = sem(small);
  const auto& e = report["equations"][0];
  CHECK(e["label"] == "demand");
  CHECK(e["coefficients"][1]["name"] == "price");
  CHECK(std::abs(e["coefficients"][1]["p"].get<double>() - 0.021832) <= 1e-6);  // systemfit
  CHECK(std::abs(e["coefficients"][2]["statistic"].get<double>() - 6.68869) <= 1e-5);
  CHECK(e["sargan"]["df"] == 1);
  CHECK(std::abs(e["sargan"]["statistic"].get<double>() - 2.9831191904) <= 1e-9);  // R, by the formula
  CHECK(std::abs(e["first_stage"]["price"]["f"].get<double>() - 88.0251282792) <= 1e-8);
  CHECK((e["covariance"] == "classical" && e["first_stage"]["price"]["covariance"] == "classical"));
  CHECK(report["equations"][1]["sargan"].is_null());
  CHECK(report["problem"]["observations"] == 20);
}

TEST_CASE("Klein's Model I with lags agrees with printed 2SLS, 3SLS and iterated 3SLS") {
  const Words klein = example_files("klein");
  const auto two = sem(klein);
  CHECK(two["problem"]["observations"] == 21);
  CHECK(two["problem"]["dropped_rows"] == 1);
  CHECK(two["equations"][2]["label"] == "private wages");
  CHECK(two["equations"][0]["coefficients"][2]["name"] == "lag(corpProf)");
  require_printed(two, {{"16.555", "1.321", "0.017", "0.118", "0.216", "0.107", "0.810", "0.040"},
                        {"20.278", "7.543", "0.150", "0.173", "0.616", "0.163", "-0.158", "0.036"},
                        {"1.500", "1.148", "0.439", "0.036", "0.147", "0.039", "0.130", "0.029"}});
  require_printed(sem(klein + Words{"--method", "3sls"}),
                  {{"16.441", "1.305", "0.125", "0.108", "0.163", "0.100", "0.790", "0.038"},
                   {"28.178", "6.794", "-0.013", "0.162", "0.756", "0.153", "-0.195", "0.033"},
                   {"1.797", "1.116", "0.400", "0.032", "0.181", "0.034", "0.150", "0.028"}});
  require_printed(sem(klein + Words{"--method", "3sls", "--iterate"}),
                  {{"16.559", "1.224", "0.165", "0.096", "0.177", "0.090", "0.766", "0.035"},
                   {"42.896", "10.594", "-0.357", "0.260", "1.011", "0.249", "-0.260", "0.051"},
                   {"2.625", "1.196", "0.375", "0.031", "0.194", "0.032", "0.168", "0.029"}});
}

TEST_CASE("a generated model is recovered, also from its files") {
  const TemporaryFolder folder;
  const Words sizes{"--samples",  "5000", "--endogenous", "6",   "--exogenous", "20",
                    "--included", "7",    "--noise",      "1e-4"};
  for (const char* method : {"2sls", "3sls"}) {
    const auto report =
        sem(sizes + Words{"--method", method, "--out-data", folder / "d.csv", "--out-model", folder / "m.txt", "--out",
                          folder / "c.csv", "--out-residuals", folder / "r.csv"});
    CHECK(check(report, "truth_error") <= 1e-4);
    const auto again = sem({"--data", folder / "d.csv", "--model", folder / "m.txt", "--method", method});
    CHECK(apart(report, again) <= 1e-12);
    const std::string coefficients = contents(folder / "c.csv");
    CHECK(coefficients.starts_with("equation,name,estimate,std_error,statistic,p,low,high\neq1,(Intercept),"));
    CHECK(std::count(coefficients.begin(), coefficients.end(), '\n') == 43);
    const std::string residuals = contents(folder / "r.csv");
    CHECK(std::count(residuals.begin(), residuals.end(), '\n') == 5001);
  }
}

TEST_CASE("equations without estimates give exit code 1 and the reason") {
  const Files with;
  const std::string model = "good: y ~ x + p\nbad: ", instruments = "\ninstruments: ~ x + z + v\n";
  const auto status = [&](const std::string& bad, const std::string& expected, const std::string& details = "") {
    std::string data = "y,x,p,z,v,w,text\n";
    for (int t = 0; t < 12; ++t) {
      const double x = std::sin(t), z = std::cos(3 * t), v = std::sin(5 * t * t),
                   p = x + 2 * z - v + 0.1 * std::sin(9 * t);
      char line[256];
      std::snprintf(line, sizeof line, "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,word\n", p - 2 * x + std::cos(7 * t), x, p,
                    z, v, 2 * x - 1);
      data += line;
    }
    for (const char* method : {"2sls", "3sls"}) {
      CAPTURE(bad, method);
      const auto report = sem(with(data, model + bad + instruments) + Words{"--method", method}, 1);
      CHECK(report["status"] == "bad: " + expected + details);
      CHECK(report["equations"][0]["status"] == "ok");
      CHECK(report["equations"][1]["status"] == expected);
      CHECK(!report["equations"][1].contains("coefficients"));
    }
  };
  status("p ~ x + y + z + v", "not identified: order", " (1 excluded instrument is needed, 0 are given)");
  status("p ~ x + w + z", "collinear");
  status("p ~ x + z + v + y + I(y * y) + I(y * x) + I(x * x) + I(z * z) + I(v * v) + I(v * x) + I(v * z)",
         "too few observations");
}

TEST_CASE("a failure of the system is the status of its equations") {
  const auto klein = sem(example_files("klein") + Words{"--method", "3sls", "--iterate", "--tolerance", "1e-300"}, 1);
  CHECK(klein["status"].get<std::string>().starts_with("not converged: 2000 iterations"));
  const Files with;
  std::string data = "y,z,w,x\n";
  for (int t = 0; t < 40; ++t) {
    const double x = std::round(1e3 * std::sin(t)), y = std::round(1e3 * std::cos(2 * t)),
                 z = x + std::round(1e3 * std::sin(5 * t));
    for (const double value : {y, z, x - y - z}) data += std::to_string(value) + ",";
    data += std::to_string(x) + "\n";
  }
  const Words sur{"--method", "sur"};
  const std::string model = "one: y ~ x\ntwo: z ~ x\nthree: w ~ x\n";
  const auto adding = sem(with(data, model) + sur, 1);
  CHECK(adding["status"] == "singular residual covariance: three");
  const auto few = sem(with("y,z,w,v,x\n1,2,1,5,1\n2,1,2,4,3\n4,3,3,7,2\n", model + "four: v ~ x\n") + sur, 1);
  CHECK(few["status"].get<std::string>().ends_with(" (3 observations of 4 equations)"));
  for (const auto& [report, status] : {std::pair(klein, "not converged"),
                                       {adding, "singular residual covariance"},
                                       {few, "singular residual covariance"}})
    for (const auto& e : report["equations"]) {
      CHECK(e["status"] == status);
      CHECK(e.contains("coefficients") == (e["status"] == "not converged"));
    }
}

TEST_CASE("without an intercept and with weights, estimates agree with R's lm") {
  const Files with;
  const auto e = [&](const std::string& model, const Words& options) {
    return sem(Words{"--data", example("food_market.csv"), "--model", with("x\n", model)[3], "--method", "ols", "--dof",
                     "small"} +
               options)["equations"][0];
  };
  const auto near = [](const nlohmann::json& value, double expected) {
    CHECK(std::abs(value.get<double>() / expected - 1) <= 1e-9);
  };
  const auto origin = e("consump ~ price + income - 1", {});
  near(origin["r2"], 0.99646434124209);
  near(origin["adjusted_r2"], 0.99607149026899);
  near(origin["f"], 2536.49452202517);
  near(origin["sigma"], 6.32824214589288);
  const auto weighted = e("consump ~ price + income", {"--weights", "trend"});
  near(weighted["r2"], 0.81102022056552);
  near(weighted["adjusted_r2"], 0.78878730533793);
  near(weighted["f"], 36.4783570783992);
  near(weighted["coefficients"][1]["estimate"], -0.32611926389430);
  near(weighted["coefficients"][1]["std_error"], 0.080182641539481);
  near(weighted["coefficients"][1]["p"], 8.0162622185829e-04);
}

TEST_CASE("a selection replaces a model, and the reduced form is OLS") {
  const TemporaryFolder folder;
  const Words generated{"--samples", "200", "--endogenous", "2", "--exogenous", "4", "--included", "3", "--seed", "5"};
  const auto report = sem(generated + Words{"--method", "3sls", "--out-data", folder / "d.csv", "--out-model",
                                            folder / "m.txt", "--out-reduced", folder / "p.csv"});
  // The same data with the column of ones for the intercept of a formula.
  std::ifstream in(folder / "d.csv");
  std::string line, data;
  for (int t = 0; std::getline(in, line); ++t) data += (t == 0 ? "one," : "1,") + line + "\n";
  std::ofstream(folder / "e.csv") << data;
  std::ofstream(folder / "s.mtx") << "%%MatrixMarket matrix array real general\n2 6\n";
  std::string selection = "%%MatrixMarket matrix array real general\n2 6\n";
  for (const char* name : {"(Intercept)", "x1", "x2", "x3", "y1", "y2"})
    for (std::size_t i = 0; i < 2; ++i) {
      bool there = false;
      for (const auto& c : report["equations"][i]["coefficients"]) there = there || c["name"] == name;
      selection += there ? "1\n" : "0\n";
    }
  std::ofstream(folder / "s.mtx") << selection;
  const auto selected = sem({"--data", folder / "e.csv", "--select", folder / "s.mtx", "--method", "3sls"});
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(selected["equations"][i]["label"] == (i == 0 ? "y1" : "y2"));
    CHECK(std::abs(selected["equations"][i]["r2"].get<double>() - report["equations"][i]["r2"].get<double>()) <= 1e-12);
    for (std::size_t p = 0; p < 3; ++p)
      CHECK(std::abs(selected["equations"][i]["coefficients"][p]["estimate"].get<double>() -
                     report["equations"][i]["coefficients"][p]["estimate"].get<double>()) <= 1e-12);
  }
  // The reduced form is OLS of each endogenous variable on all instruments.
  std::ofstream(folder / "r.txt") << "y1 ~ x1 + x2 + x3\ny2 ~ x1 + x2 + x3\n";
  const auto ols = sem({"--data", folder / "d.csv", "--model", folder / "r.txt", "--method", "ols"});
  std::ifstream form(folder / "p.csv");
  std::getline(form, line);
  CHECK(line == "name,y1,y2");
  for (std::size_t k = 0; k < 4; ++k) {
    std::getline(form, line);
    char name[32];
    double y1 = 0, y2 = 0;
    REQUIRE(std::sscanf(line.c_str(), "%31[^,],%lf,%lf", name, &y1, &y2) == 3);
    CHECK(ols["equations"][0]["coefficients"][k]["name"] == name);
    CHECK(std::abs(ols["equations"][0]["coefficients"][k]["estimate"].get<double>() - y1) <= 1e-12);
    CHECK(std::abs(ols["equations"][1]["coefficients"][k]["estimate"].get<double>() - y2) <= 1e-12);
  }
  sem.refuses({"--data", folder / "d.csv", "--select", folder / "s.mtx"}, "it must be N x (K + N)");
  std::ofstream(folder / "none.mtx") << "%%MatrixMarket matrix array real general\n0 7\n";
  sem.refuses({"--data", folder / "d.csv", "--select", folder / "none.mtx"}, "selects no equation");
  for (const char* const option : {"--level", "--rcond"})
    sem.refuses(example_files("food_market") + Words{option, "nan"}, "not nan");
  sem.refuses(example_files("food_market") + Words{"--select", folder / "s.mtx"}, "replaces --model");
}

TEST_CASE("conjugate gradients report that they give no standard errors") {
  const Words klein = example_files("klein") + Words{"--method", "3sls"};
  const auto a = sem(klein), b = sem(klein + Words{"--system-solver", "cg"});
  CHECK(a["system"]["solver"] == "cholesky");
  CHECK(b["system"]["solver"] == "cg");
  CHECK(b["system"]["std_errors"] == "none by conjugate gradients");
  CHECK(b["system"]["gradient_steps"] > 2);
  CHECK(apart(a, b, "estimate", true) <= 1e-9);
  for (const auto& equation : b["equations"])
    for (const auto& c : equation["coefficients"]) CHECK((c["std_error"].is_null() && c["p"].is_null()));
  CHECK(check(b, "system_residual") < 1e-10);
  sem.refuses(example_files("klein") + Words{"--system-solver", "cg"},
              "--system-solver: belongs to --method 3sls or sur");
}

TEST_CASE("the report shows the flops saved by reuse of other equations' triangles") {
  const auto report = sem(example_files("klein") + Words{"--engine", "givens"});
  const auto& reuse = report["problem"]["reuse"];
  CHECK(reuse["rotation_flops"] > 0);
  CHECK(reuse["rotation_flops_along_tree"] <= reuse["rotation_flops"]);
  CHECK(reuse["from_the_data"] >= 1);
  const auto executed = sem(example_files("klein") + Words{"--engine", "reuse"});
  CHECK(executed["problem"]["reuse"] == reuse);
  const auto alone = sem(example_files("klein"));
  CHECK(!alone["problem"].contains("reuse"));
  CHECK(apart(executed, alone, "estimate", true) <= 1e-10);
}

TEST_CASE("robust and clustered standard errors agree with formulas") {
  const Files with;
  std::string data = "consump,price,income,farmPrice,trend,firm\n", line;
  std::ifstream rows(example("food_market.csv"));
  std::getline(rows, line);
  for (int t = 0; std::getline(rows, line); ++t) data += line + ",firm " + std::to_string(t / 3) + "\n";
  const Words market = with(data, contents(example("food_market.txt")));
  const auto error = [](const nlohmann::json& report) {
    return report["equations"][0]["coefficients"][1]["std_error"].get<double>();
  };
  const auto robust = sem(market + Words{"--cov", "robust"});
  CHECK(std::abs(error(robust) - 0.0758990132942) <= 1e-11);
  CHECK(!robust["equations"][0].contains("sargan"));
  CHECK(std::abs(robust["equations"][0]["hansen"]["statistic"].get<double>() - 3.51660801876) <= 1e-9);
  CHECK(std::abs(error(sem(market + Words{"--cov", "cluster:firm"})) - 0.0943994176735) <= 1e-11);
  const auto system = sem(market + Words{"--cov", "cluster:firm", "--method", "3sls", "--dof", "small"});
  CHECK(std::abs(error(system) / 0.1077941146489 - 1) <= 1e-10);  // linearmodels' IV3SLS
  CHECK(std::abs(system["equations"][1]["f"].get<double>() / 69.56052344977 - 1) <= 1e-9);
  CHECK(system["system"]["hansen"].is_null());  // 7 clusters of 8 moments
  CHECK(sem(market + Words{"--cov", "robust", "--method", "3sls"})["system"]["hansen"]["df"] == 1);
  sem.refuses(market + Words{"--cov", "cluster:nobody"}, "has no column nobody");
  // Clusters of one row.
  CHECK(std::abs(error(sem(market + Words{"--cov", "cluster:trend"})) - error(robust)) <= 1e-12);
  sem.refuses(with("y,x\n1,2\n2,4\n4,5\n7,8\n", "y ~ x") + Words{"--method", "ols", "--cov", "cluster:z"},
              "has no column z");
  sem.refuses(market + Words{"--cov", "white"}, "none of classical, robust");
}

TEST_CASE("the text report has intervals, R2, F, first stages and the tests of the instruments") {
  const Words market = example_files("food_market") + Words{"--method", "3sls", "--dof", "small", "--cov", "robust"};
  Words words{"sem"};
  words.insert(words.end(), market.begin(), market.end());
  const Outcome run = run_tesela(words);
  CAPTURE(run.out, run.err);
  CHECK(run.code == 0);
  for (const char* part :
       {"95 % interval", "adjusted 0.7", "slopes F(2, 17) 29.2492", "standard errors and tests: robust (HC1)",
        "first stage of price: robust F(2, 16) 113.872", "overidentification of the system, Hansen's J: chi2(1) 3.5",
        "system: McElroy's R2", "17 degrees of freedom"})
    CHECK_THAT(run.out, Catch::Matchers::ContainsSubstring(part));
  const Outcome plain =
      run_tesela({"sem", "--data", example("food_market.csv"), "--model", example("food_market.txt")});
  CHECK_THAT(plain.out, Catch::Matchers::ContainsSubstring("overidentification, Sargan: chi2(1) 2.98312"));
  CHECK_THAT(plain.out, Catch::Matchers::ContainsSubstring("slopes Wald chi2(2)"));
}

TEST_CASE("indirect least squares estimates exactly identified equations") {
  const Outcome run = run_tesela({"sem", "--data", example("food_market.csv"), "--model", example("food_market.txt"),
                                  "--method", "ils", "--json", "-"});
  CHECK(run.code == 1);
  const auto report = nlohmann::json::parse(run.out), stages = sem(example_files("food_market"));
  CHECK(report["status"] == "demand: overidentified");
  CHECK(report["equations"][0]["status"] == "overidentified");
  CHECK(report["equations"][1]["coefficients"] == stages["equations"][1]["coefficients"]);
}

TEST_CASE("3SLS handles variances that overflow, and one cluster is refused") {
  const Files write;
  std::string data = "a,b,x,z,w,g\n";
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (int t = 0; t < 30; ++t) {
    const double x = normal(random), z = normal(random), w = normal(random), e = normal(random), f = normal(random);
    const double b = x - w + e;
    data += std::to_string(1 + b + 2 * z + e + 0.5 * f) + "e156,";
    for (const double value : {b, x, z, w}) data += std::to_string(value) + ",";
    data += "1\n";
  }
  const Words words = write(data, "first: a ~ b + z\nsecond: b ~ x + w\ninstruments: ~ x + z + w\n");
  const auto report = sem(words + Words{"--method", "3sls"});
  CHECK(report["status"] == "ok");
  CHECK(check(report, "system_residual") <= 1e-13);
  CHECK(std::abs(report["system"]["correlation"][0][1].get<double>()) > 0.1);
  sem.refuses(words + Words{"--cov", "cluster:g"}, "column g has one cluster");
}

TEST_CASE("files of other programs are read") {
  const Files with;
  const std::string rows = "1,2\n2,4\n4,5\n7,8\n", mark = "\xEF\xBB\xBF";
  const Words ols{"--method", "ols"};
  const auto expected = sem(with("y,x\n" + rows, "y ~ x") + ols)["equations"];
  const auto same = [&](const std::string& data, const std::string& model) {
    CHECK(sem(with(data, model) + ols)["equations"] == expected);
  };
  CHECK(sem(Words{with("y,x\n" + rows, "y ~ x")[1], "y ~ x"} + ols)["equations"] == expected);
  same(mark + "y,x\n" + rows, mark + "y ~ x\r\n");
  same("y;x\r\n1;2\r\n2;4\r\n\r\n4;5\r\n7;8", "y ~ x\r\n");
  same("\"y\"\t\"x\"\n1\t2\n2\t4\n4\t5\n7\t8\n", "# a comment\n\ny ~ x");
  sem.refuses(with("", "y ~ x") + ols, "d.csv: is empty");
  sem.refuses(with("y,x\n" + rows, "") + ols, "m.txt: is empty");
  sem.refuses(with("y,x,x\n1,2,3\n", "y ~ x") + ols, "two columns are called x");
  sem.refuses(with("y,x\n\"1,5\",2\n", "y ~ x") + ols, "line 2, column y: '1,5' is not a finite number");
  sem.refuses(with("y,x\n1,2\n3\n", "y ~ x") + ols, "line 3: 1 fields; the header has 2");
  sem.refuses(with("y,x\n1,1e999\n", "y ~ x") + ols, "line 2, column x: 1e999");
  for (const char* data : {"y,x\n", "y,x\n,1\n,2\n,3\n"})
    sem.refuses(with(data, "y ~ x") + ols, "d.csv: has no row with all values of the formula");
  sem.refuses(with("y,x\n1,0\n2,0\n", "y ~ 1") + ols + Words{"--weights", "x"}, "d.csv: weights x: all weights are 0");
  const auto few = sem(with("y,x\n1,2\n3,5\n", "y ~ x") + ols, 1);
  CHECK(few["equations"][0]["status"] == "too few observations");
  // A check without numbers is not reported.
  CHECK(!sem({"--samples", "1"}, 1).value("checks", nlohmann::json::object()).contains("truth_error"));
}

TEST_CASE("missing values, text, unknown names and other wrong use are reported") {
  const Files with;
  const std::string data = "y,x,z,text\n1,2,3,a\n2,NA,4,b\n4,5,1,c\n7,8,2,\n9,9,9,e\n3,1,.,f\n";
  const auto report = sem(with(data, "y ~ x") + Words{"--method", "ols"});
  CHECK(report["problem"]["observations"] == 5);
  CHECK(report["problem"]["dropped_rows"] == 1);
  sem.refuses(with(data, "y ~ x") + Words{"--method", "ols", "--missing", "error"}, "d.csv: line 3: x is missing");
  sem.refuses(with(data, "text ~ x") + Words{"--method", "ols"}, "text has text (a, b, c, e, f), not numbers");
  sem.refuses(with(data, "y ~ x\ninstruments: ~ q"), "m.txt: line 2, column 16: ");
  sem.refuses(with(data, "y ~ x +"), "m.txt: line 1, column 8: expected a name");
  sem.refuses(with(data, "y ~ x"), "m.txt: line 1, column 1: equation eq1 has no instruments");
  sem.refuses(with(data + "inf,1,1,x\n", "y ~ x") + Words{"--method", "ols"}, "line 8, column y");
  sem.refuses(with(data, "y ~ I(x / (z - 3))") + Words{"--method", "ols"}, "line 2: I(x/(z - 3)) is not finite");
  sem.refuses(with(data, "y ~ x") + Words{"--method", "ols", "--iterate"}, "--iterate");
  sem.refuses({"--data", "x.csv"}, "--model");
  sem.refuses({"--samples", "9", "--exogenous", "2", "--included", "6"}, "more exogenous variables");
  CHECK(sem(with(data, "y ~ x") + Words{"--method", "ols", "--weights", "z"})["problem"]["observations"] == 4);
}
