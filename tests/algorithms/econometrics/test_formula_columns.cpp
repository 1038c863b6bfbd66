#include "tests/support/commands/temporary_folder.hpp"
#include "tests/support/machine.hpp"
#include "tests/support/test.hpp"
#include <tesela/algorithms/econometrics/model_data.hpp>
#include <tesela/tiles/io/mapped_file.hpp>

#include <array>
#include <fstream>
#include <sstream>

using namespace tesela::test;

namespace {

using Texts = std::vector<std::string>;

/// The regressors of one equation.
struct Design {
  Texts names;
  std::vector<std::vector<double>> rows;
  std::vector<FactorBase> factors;
  ModelData model;
};

Design design(const TableSource& table, const std::string& formula, const LoadOptions& options = {}) {
  Design all;
  all.model = load_model(table, parse_model(formula, "formula"), SemMethod::ols, options);
  const std::vector<index_t>& regressors = all.model.model.equations[0].regressors;
  for (const index_t c : regressors) all.names.push_back(all.model.name(c));
  for (index_t t = 0; t < all.model.data.rows(); ++t) {
    all.rows.emplace_back();
    for (const index_t c : regressors) all.rows.back().push_back(all.model.data(t, c));
  }
  all.factors = all.model.factors;
  return all;
}

/// Opens a text as a CSV file.
TableSource csv(const std::string& text) {
  return {.name = "d.csv", .names = read_csv_names(text, "d.csv"), .read = [text](const auto& columns) {
            return read_csv(text, "d.csv", columns);
          }};
}

Texts names(const std::string& text, const std::string& formula) { return design(csv(text), formula).names; }

void refused(const std::string& text, const std::string& formula, const std::string& why) {
  CAPTURE(formula);
  CHECK_THROWS_WITH(design(csv(text), formula), ContainsSubstring(why));
}

Texts split(const std::string& line) {
  Texts words;
  std::istringstream stream(line);
  for (std::string word; std::getline(stream, word, '\t');) words.push_back(word);
  return words;
}

}  // namespace

TEST_CASE("columns have the names and values of R's model.matrix, by formulaic and patsy") {
  const std::string folder = data_directory() + "/econometrics/";
  const TableSource table = open_table(folder + "table.csv");
  std::ifstream file(folder + "designs.txt");
  index_t formulas = 0;
  Design mine;
  std::size_t row = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("# ")) {
      CAPTURE(line);
      mine = design(table, "y ~ " + line.substr(2));
      row = 0;
      ++formulas;
      REQUIRE(std::getline(file, line));
      CHECK(mine.names == split(line));
      continue;
    }
    const Texts expected = split(line);
    REQUIRE(expected.size() == mine.names.size());
    for (std::size_t c = 0; c < expected.size(); ++c) {
      const double value = std::stod(expected[c]);
      CHECK(std::abs(mine.rows[row][c] - value) <= 1e-14 * (1 + std::abs(value)));
    }
    ++row;
  }
  CHECK(formulas == 30);
}

TEST_CASE("factors are contrasts to a named base") {
  const std::string text = "y,f,k,l\n1,b,10,TRUE\n2,c,2,FALSE\n3,a,10,TRUE\n4,c,1.0,TRUE\n5,a,1,NA\n";
  const auto base = [&](const std::string& formula) {
    const Design d = design(csv(text), formula);
    REQUIRE(d.factors.size() == 1);
    return d.factors[0].base;
  };
  CHECK(names(text, "y ~ f") == Texts{"(Intercept)", "fb", "fc"});
  CHECK(base("y ~ f") == "a");
  CHECK(design(csv(text), "y ~ f").factors[0].levels == Texts{"a", "b", "c"});
  CHECK(design(csv(text), "y ~ 0 + f").factors.empty());
  CHECK(names(text, "y ~ factor(k)") == Texts{"(Intercept)", "factor(k)2", "factor(k)10"});
  CHECK(base("y ~ factor(k)") == "1");
  for (const char* formula : {"y ~ C(f, Treatment('b'))", "y ~ C(f, Treatment(reference = \"b\"))",
                              "y ~ C(f, base = 'b')", "y ~ relevel(f, ref = 'b')", "y ~ relevel(factor(f), 'b')",
                              "y ~ C(f, Treatment(1))", "y ~ C(f, contr.treatment, base = 2)",
                              "y ~ C(f, contr.treatment(3, base = 2))", "y ~ factor(f, levels = c('b', 'a', 'c'))"}) {
    CAPTURE(formula);
    const Design d = design(csv(text), formula);
    REQUIRE(d.factors.size() == 1);
    CHECK(d.factors[0].base == "b");
    CHECK(d.rows == std::vector<std::vector<double>>{{1, 0, 0}, {1, 0, 1}, {1, 1, 0}, {1, 0, 1}, {1, 1, 0}});
  }
  CHECK(base("y ~ C(k, Treatment(10))") == "10");
  CHECK(names(text, "y ~ 0 + relevel(f, 'b')") ==
        Texts{"relevel(f, \"b\")b", "relevel(f, \"b\")a", "relevel(f, \"b\")c"});
  CHECK(names(text, "y ~ l") == Texts{"(Intercept)", "lTRUE"});
  CHECK(design(csv(text), "y ~ l").rows.size() == 4);
  CHECK(design(csv(text), "y ~ I(l * 2)").rows[0][1] == 2);
  CHECK(names(text, "y ~ I(k > 1.5)") == Texts{"(Intercept)", "I(k > 1.5)TRUE"});
  CHECK(design(csv(text), "y ~ I(f == 'c')").rows[1][1] == 1);
  CHECK(design(csv(text), "l ~ 1").model.data(1, 1) == 0);
  // Levels that only dropped rows have do not count, and factor() keeps them out of the model.
  CHECK(names(text, "l ~ factor(k)") == Texts{"(Intercept)", "factor(k)2", "factor(k)10"});
  CHECK(names("y,f\n1,a\n2,b\nNA,c\n", "y ~ f") == Texts{"(Intercept)", "fb"});
  CHECK(design(csv(text), "y ~ factor(f, levels = c('a', 'b'))").model.dropped == 2);
  refused(text, "y ~ C(f, Treatment('z'))", "line 1, column 20: no level is called z; there are a, b, c");
  refused(text, "y ~ relevel(f, ref = 9)", "no level is called 9");
  refused("y,f\n1,a\n2,b\nNA,c\n", "y ~ C(f, base = 'c')", "no row of the model has the base c");
  refused("y,f\n1,a\n2,a\n", "y ~ f", "line 1, column 5: f has the one level a");
  refused(text, "f ~ y", "f has text (a, b, c), not numbers");
  refused(text, "y ~ log(f)", "f has text (a, b, c), not numbers");
  refused("y,f\n1,7\n2,a\n", "y ~ f", "line 3, column f: 'a' is not a finite number; factor(f)");
  CHECK(names("y,f\n1,7\n2,a\n", "y ~ factor(f)") == Texts{"(Intercept)", "factor(f)a"});
}

TEST_CASE("functions, lags and polynomials have their values") {
  const std::string text = "y,x,z\n1,1,4\n2,2,9\n3,4,16\n4,8,25\n5,16,NA\n";
  const auto column = [&](const std::string& term) {
    std::vector<double> all;
    for (const std::vector<double>& row : design(csv(text), "y ~ 0 + " + term).rows) all.push_back(row.back());
    return all;
  };
  CHECK(column("log2(x)") == std::vector<double>{0, 1, 2, 3, 4});
  CHECK(column("log(x, 2)") == std::vector<double>{0, 1, 2, 3, 4});
  CHECK(column("sqrt(z)") == std::vector<double>{2, 3, 4, 5});
  CHECK(column("I(x^2 - 2^-1 * x)") == std::vector<double>{0.5, 3, 14, 60, 248});
  CHECK(column("I(-x^2)") == std::vector<double>{-1, -4, -16, -64, -256});
  CHECK(column("I(x**2/2)") == std::vector<double>{0.5, 2, 8, 32, 128});
  CHECK(column("lag(x)") == std::vector<double>{1, 2, 4, 8});
  CHECK(column("lag(x, -1)") == std::vector<double>{2, 4, 8, 16});
  CHECK(column("lag(z, -1)") == std::vector<double>{9, 16, 25});
  CHECK(column("diff(x)") == std::vector<double>{1, 2, 4, 8});
  CHECK(column("pmax(x, 3)") == std::vector<double>{3, 3, 4, 8, 16});
  CHECK(column("center(y)") == std::vector<double>{-2, -1, 0, 1, 2});
  CHECK(std::abs(column("scale(y)")[0] + 2 / std::sqrt(2.5)) < 1e-15);
  CHECK(column("poly(y, 2, raw = TRUE)") == std::vector<double>{1, 4, 9, 16, 25});
  CHECK(names(text, "y ~ lag(x, 1:2)") == Texts{"(Intercept)", "lag(x)", "lag(x, 2)"});
  CHECK(names(text, "y ~ lag(x) + lag(x, 0:2)") == Texts{"(Intercept)", "lag(x)", "x", "lag(x, 2)"});
  CHECK(names(text, "y ~ lag(x, c(1, -1))") == Texts{"(Intercept)", "lag(x)", "lag(x, -1)"});
  CHECK(design(csv(text), "y ~ lag(x, 1:2)").rows == std::vector<std::vector<double>>{{1, 2, 1}, {1, 4, 2}, {1, 8, 4}});
  CHECK(names(text, "y ~ poly(x, 1)") == Texts{"(Intercept)", "poly(x, 1)"});
  CHECK(names(text, "y ~ poly(x)") == Texts{"(Intercept)", "poly(x)"});
  CHECK(column("poly(x)") == column("poly(x, 1)"));
  CHECK(column("poly(x, raw = TRUE)") == std::vector<double>{1, 2, 4, 8, 16});
  refused(text, "y ~ poly(x, 5)", "needs more than 5 distinct values; there are 5");
  refused(text, "y ~ log(y - 1)", "line 2: log(y - 1) is not finite");
  refused("y,x\n1,1e300\n2,1\n", "y ~ I(x^2)", "line 2: I(x^2) is not finite");
  CHECK(design(csv("y,x\n1,1e300\n2,1e-300\n"), "y ~ x").rows[1][1] == 1e-300);
}

TEST_CASE("a dot is all other columns that have names") {
  const std::string text = "\"\",y,x,date,w\n1,1,2,2020-01-01,a\n2,2,4,2020-01-02,b\n";
  CHECK(names(text, "y ~ . - date") == Texts{"(Intercept)", "x", "wb"});
  CHECK(names(text, "log(y) ~ . - date - w") == Texts{"(Intercept)", "x"});
  refused(text, "y ~ .", "line 2, column date: '2020-01-01' is not a finite number");
}

TEST_CASE("a file without a header is named as such") {
  refused("1,2\n3,4\n", "y ~ x",
          "line 1, column 1: d.csv has no column y: its first line has numbers (1, 2), not names");
  refused("a,b\n3,4\n", "y ~ x", "d.csv has no column y; it has a, b");
}

TEST_CASE("rows may stay unweighted") {
  const TableSource table = csv("y,x,w\n1,2,4\n2,3,0\n3,5,9\n");
  const ModelData m = load_model(table, parse_model("y ~ x", "f"), SemMethod::ols, {.weights = "w", .scale = false});
  CHECK(m.weights == std::vector<double>{4, 9});
  CHECK(m.data(1, 1) == 5);
}

TEST_CASE("a compressed table is read") {
  const TemporaryFolder folder;
  constexpr std::array<unsigned char, 36> bytes{0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
                                                0xab, 0xd4, 0xa9, 0xe0, 0x32, 0xd4, 0x31, 0xe2, 0x32, 0xd6,
                                                0x31, 0xe1, 0x32, 0xd5, 0x31, 0xe7, 0x02, 0x00, 0x0c, 0xb1,
                                                0xa9, 0x6a, 0x10, 0x00, 0x00, 0x00};  // y,x and three rows
  std::ofstream(folder / "d.csv.gz").write(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const MappedFile file(folder / "d.csv.gz");
  if (file.bytes()[0] == '\x1f') SKIP("files are not decompressed here");
  CHECK(design(open_table(folder / "d.csv.gz"), "y ~ x").rows ==
        std::vector<std::vector<double>>{{1, 2}, {1, 4}, {1, 7}});
}
