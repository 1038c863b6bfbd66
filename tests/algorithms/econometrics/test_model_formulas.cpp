#include "tests/support/temporary_folder.hpp"
#include "tests/support/test.hpp"
#include <tesela/algorithms/econometrics/distributions.hpp>
#include <tesela/algorithms/econometrics/model_data.hpp>
#include <tesela/runtime/errors.hpp>

#include <fstream>
#include <random>
#include <sys/stat.h>
#include <thread>

using namespace tesela;
using namespace tesela::test;
using Catch::Matchers::ContainsSubstring;

namespace {

using Texts = std::vector<std::string>;

Texts texts(const std::vector<ModelTerm>& terms) {
  Texts all;
  for (const ModelTerm& term : terms) all.push_back(term.text);
  return all;
}

ModelFormulas parse(const std::string& text) { return parse_model(text, "model.txt"); }

template <class F>
void refused(const F& f, const std::string& why) {
  try {
    f();
    FAIL_CHECK("accepted; expected an error: " << why);
  } catch (const FileError& e) {
    CHECK_THAT(e.what(), ContainsSubstring(why));
  }
}

/// Returns the table as a source.
TableSource source_of(const Table& table) {
  return {"data", table.names, {}, [table](const auto&, const auto&) { return table; }};
}

/// Loads a model of a table without rows.
ModelData without_rows(const std::string& text, SemMethod method) {
  Table table{{"quantity", "price", "income", "rain", "trend", "x", "y", "p", "z"}, {}, {}, 0};
  table.columns.resize(table.names.size());
  return load_model(source_of(table), parse(text), method);
}

const char* market =
    "# a comment\n"
    "demand: quantity ~ price + income\r\n"
    "\n"
    "supply: quantity ~ price + rain + trend - 1  # no intercept\n"
    "instruments: ~ income + rain + trend\n";

}  // namespace

TEST_CASE("a model's equations and instruments are parsed") {
  const ModelFormulas m = parse(market);
  REQUIRE(m.equations.size() == 2);
  CHECK(m.equations[0].label == "demand");
  CHECK(m.equations[0].dependent.text == "quantity");
  CHECK(texts(m.equations[0].regressors) == Texts{"(Intercept)", "price", "income"});
  CHECK(texts(m.equations[1].regressors) == Texts{"price", "rain", "trend"});
  CHECK(texts(m.instruments) == Texts{"(Intercept)", "income", "rain", "trend"});

  const auto rhs = [](const std::string& text) { return texts(parse("y ~ " + text).equations[0].regressors); };
  for (const char* text : {"0 + x", "x - 1", "-1 + x", "x + 0", " x-1", "x+1-1", "0+x+0"}) {
    CAPTURE(text);
    CHECK(rhs(text) == Texts{"x"});
  }
  CHECK(rhs("1") == Texts{"(Intercept)"});
  CHECK(rhs("x - 0") == Texts{"(Intercept)", "x"});
  CHECK(rhs("x - 1 + 1") == Texts{"(Intercept)", "x"});
  CHECK(rhs("lag( x )+lag(`odd name`,3) + I") == Texts{"(Intercept)", "lag(x)", "lag(`odd name`, 3)", "I"});
  CHECK(rhs("I( a+b *-( c - 2.50 )/lag(d,2) )") == Texts{"(Intercept)", "I(a + b * -(c - 2.50) / lag(d, 2))"});
  CHECK(rhs("`a b` + `lag` + .x_1") == Texts{"(Intercept)", "`a b`", "lag", ".x_1"});
  const auto own = parse("y ~ x + p | x + z - 1\nw ~ x").equations;
  CHECK(own[0].label == "eq1");
  CHECK(own[1].label == "eq2");
  CHECK(texts(own[0].instruments) == Texts{"x", "z"});
  CHECK(own[1].instruments.empty());
  CHECK(parse("`a:b` ~ `c#d`").equations[0].dependent.text == "`a:b`");
  CHECK(variables_of(parse("y ~ I(a + a) + lag(b) + a").equations[0].regressors) == Texts{"a", "b"});
}

TEST_CASE("an invalid model is refused with line and column") {
  for (const auto& [text, why] : std::initializer_list<std::pair<const char*, const char*>>{
           {"", "no equation"},
           {"instruments: ~ x\n", "no equation"},
           {"y x", "line 1, column 3: expected '~'"},
           {"\ny ~ x +", "line 2, column 8: expected a name, found end of the line"},
           {"y ~ x x", "line 1, column 7: unexpected 'x'"},
           {"y ~ x - z", "column 9: only 1, the intercept"},
           {"y ~ log(x)", "column 5: no function is called log"},
           {"y ~ I(log(x))", "column 7: no function is called log here"},
           {"y ~ x + x", "column 9: x appears twice"},
           {"y ~ lag(x) + lag(x, 1)", "lag(x) appears twice"},
           {"y ~ lag(x, 0)", "a lag must be a whole number"},
           {"y ~ lag(x, -1)", "a lag must be a whole number"},
           {"y ~ lag(x", "')' after a lag"},
           {"y ~ I(x", "')' at the end of I"},
           {"y ~ I((x)", "')'"},
           {"y ~ I(x ^ 2)", "')' at the end of I"},
           {"y ~ I(1e999)", "beyond double"},
           {"y ~ `x", "backquote is not closed"},
           {"y ~ ``", "name is missing"},
           {"y ~ 0", "no regressors"},
           {"y ~ y", "column 5: y is the dependent variable"},
           {"a: y ~ x\na: z ~ x", "second equation is called a"},
           {": y ~ x", "a label must precede"},
           {"y ~ x | 0", "no instruments"},
           {"y ~ x\ninstruments: ~ z\ninstruments: ~ z", "line 3, column 13: a second line"},
           {"y ~ 2", "column 5: expected a name, found '2'"},
       }) {
    CAPTURE(text);
    refused([&, t = text] { parse(t); }, why);
  }
  refused([] { parse("y ~ I(" + std::string(1000, '(') + "x" + std::string(1000, ')') + ")"); },
          "too many nested parentheses");
}

TEST_CASE("formulas become columns, instruments first and equal formulas once") {
  const ModelData m = without_rows(market, SemMethod::three_stage);
  CHECK(m.names == Texts{"(Intercept)", "income", "rain", "trend", "price", "quantity"});
  CHECK(m.labels == Texts{"demand", "supply"});
  CHECK(m.model.instruments == 4);
  CHECK(m.model.constant == 0);
  CHECK(m.model.equations[0].regressors == std::vector<index_t>{0, 4, 1});
  CHECK(m.model.equations[1].regressors == std::vector<index_t>{4, 2, 3});
  CHECK(m.model.equations[1].dependent == 5);
  const ModelData ols = without_rows(market, SemMethod::ols);
  CHECK(ols.names.size() == 6);
  CHECK(ols.model.instruments == 0);
  refused([] { without_rows("y ~ x | x\nz ~ x", SemMethod::two_stage); }, "line 2, column 1: equation eq2 has no");
  const ModelData own = without_rows("y ~ x + p | x + z", SemMethod::two_stage);
  CHECK(own.model.instruments == 0);
  CHECK(own.model.equations[0].instruments.size() == 3);
}

TEST_CASE("columns are evaluated with lags first, and rows with missing values are dropped") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Table t{{"x", "y", "w", "unused"},
          {{1, 2, nan, 4, 5}, {6, 7, 8, 9, 10}, {1, 4, 1, 0, 9}, {nan, nan, nan, nan, nan}},
          {},
          5};
  const auto load = [&](const std::string& text, const LoadOptions& options = {}) {
    return load_model(source_of(t), parse(text), SemMethod::ols, options);
  };
  const std::string lags = "y ~ lag(x) + I((x + 2 * y) / -x - lag(y, 1))";
  const ModelData d = load(lags);
  CHECK(*d.kept == std::vector<index_t>{1, 4});  // the first row has no lag, the third no x, the fourth no lag of x
  CHECK(d.dropped == 3);
  CHECK(d.table_rows == 5);
  REQUIRE(d.data.shape() == Shape{2, 4});
  CHECK(d.data(1, 0) == 1);
  CHECK(d.data(0, 1) == 1);
  CHECK(d.data(1, 1) == 4);
  CHECK(d.data(1, 2) == (5.0 + 20) / -5 - 9);
  CHECK(d.data(1, 3) == 10);
  refused([&] { load(lags, {.drop_missing = false}); }, "row 1: lag(x) is missing");
  CHECK(!load("y ~ 1").kept);

  const ModelData weighted = load("y ~ 1", {.weights = "w"});
  CHECK(*weighted.kept == std::vector<index_t>{0, 1, 2, 4});
  CHECK(weighted.without_weight == 1);
  CHECK(weighted.data(3, 1) == 30);
  CHECK(weighted.data(3, 0) == 3);
  t.columns[2][1] = -1;
  refused([&] { load("y ~ 1", {.weights = "w"}); }, "row 2: the weight is negative");
  refused([&] { load("y ~ 1", {.weights = "v"}); }, "no column v");
  refused([&] { load("\ny ~ I(2 * nobody)"); }, "model.txt: line 2, column 11: data has no column nobody");
  refused([&] { load("y ~ I(1 / (y - 7))"); }, "row 2: I(1 / (y - 7)) is not finite");
}

TEST_CASE("a selection of columns becomes a model, and its constant column is found") {
  Table t{{"zero", "steps", "one", "y"}, {{0, 0, 0}, {2, 2, 3}, {7, 7, 7}, {1, 5, 2}}, {}, 3};
  HostMatrix<double> S = HostMatrix<double>::zeros(1, 4);
  S(0, 1) = S(0, 2) = 1;
  const ModelData m = load_model(source_of(t), S, "selection", SemMethod::two_stage);
  CHECK(m.model.instruments == 3);
  CHECK(m.model.constant == 2);
  CHECK(m.labels == Texts{"y"});
  CHECK(m.model.equations[0].regressors == std::vector<index_t>{1, 2});
  t.columns[2][2] = 8;
  CHECK(load_model(source_of(t), S, "selection", SemMethod::ols).model.constant == -1);
  S(0, 0) = 2;
  refused([&] { load_model(source_of(t), S, "selection", SemMethod::ols); }, "row 1, column 1: 2 is neither 0 nor 1");
  refused([&] { load_model(source_of(t), HostMatrix<double>(1, 5), "selection", SemMethod::ols); }, "is 1 x 5");
  refused([&] { load_model(source_of(t), HostMatrix<double>(4, 4), "selection", SemMethod::three_stage); },
          "leaves no instruments");
}

TEST_CASE("a CSV is read once, so that it may come from a pipe") {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::thread writer([&] { std::ofstream(pipe) << "y,x,firm\n1,2,a\n2,4,b\n4,5,a\n"; });
  const ModelData m = load_model(open_table(pipe), parse("y ~ x"), SemMethod::ols, {.groups = "firm"});
  writer.join();
  CHECK(m.names == Texts{"(Intercept)", "y", "x"});
  CHECK(m.data(2, 1) * m.data(2, 2) == 20);
  CHECK(m.groups == std::vector<index_t>{0, 1, 0});
}

TEST_CASE("arbitrary text is parsed or refused") {
  std::mt19937 random(3);
  const Texts words{"y", "~", "x", "+", "-",  "1", "0", "lag(", "I(",  ")", "(",
                    "|", ":", "`", "#", "\n", "*", "/", ",",    "2.5", " "};
  int good = 0;
  for (int k = 0; k < 30000; ++k) {
    std::string text = k % 3 == 0 ? "y ~ x" : "";
    for (std::size_t n = random() % 12; n > 0; --n) text += words[random() % words.size()];
    try {
      without_rows(text, SemMethod::ols);
      ++good;
    } catch (const FileError&) {
    }
  }
  CHECK(good > 100);
}

TEST_CASE("distributions agree with R") {
  const double infinite = std::numeric_limits<double>::infinity();
  const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-13 * std::abs(b); };
  CHECK(near(p_of_t(-2.5, 17), 0.02294780698638494));
  CHECK(near(p_of_t(1.96, infinite), 0.049995790296440868));
  CHECK(near(quantile_of_t(0.975, 17), 2.1098155778333156));
  CHECK(near(quantile_of_t(0.975, infinite), 1.959963984540054));
  CHECK(near(p_of_chi_squared(2.5, 3), 0.47529108334302067));
  CHECK(near(p_of_f(4.2, 2, 17), 0.032940428206389191));
  CHECK(p_of_t(infinite, 3) == 0);
  CHECK(p_of_f(infinite, 3, 4) == 0);
  CHECK(std::isnan(p_of_t(std::numeric_limits<double>::quiet_NaN(), 3)));
  CHECK(std::isnan(p_of_chi_squared(1, 0)));
}
