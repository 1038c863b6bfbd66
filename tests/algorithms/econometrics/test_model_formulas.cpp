#include "tests/support/commands/temporary_folder.hpp"
#include "tests/support/test.hpp"
#include <tesela/algorithms/econometrics/model_data.hpp>
#include <tesela/algorithms/econometrics/regression.hpp>
#include <tesela/runtime/errors.hpp>

#include <fstream>
#include <random>
#include <sys/stat.h>
#include <thread>

using namespace tesela::test;

namespace {

using Texts = std::vector<std::string>;

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
  return {"data", table.names, {}, [table](const std::vector<ColumnRequest>& wanted) {
            Table some{.rows = table.rows};
            for (const auto& [name, kind] : wanted) {
              some.names.push_back(name);
              some.columns.push_back(table.columns[static_cast<std::size_t>(table.find(name))]);
              some.levels.push_back(table.levels_of(table.find(name)));
            }
            return some;
          }};
}

/// Loads a model of a table without rows.
ModelData without_rows(const std::string& text, SemMethod method) {
  Table table{.names = {"quantity", "price", "income", "rain", "trend",    "x",   "y",   "p",    "z",   "a",
                        "b",        "c",     "d",      "I",    "odd name", "a b", "lag", ".x_1", "a:b", "c#d"}};
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

/// Returns the names of the regressors of the first equation.
Texts regressors(const std::string& text, SemMethod method = SemMethod::ols) {
  const ModelData m = without_rows(text, method);
  Texts all;
  for (const index_t c : m.model.equations[0].regressors) all.push_back(m.name(c));
  return all;
}

/// Returns the names of the own instruments of the first equation.
Texts instruments(const std::string& text) {
  const ModelData m = without_rows(text, SemMethod::two_stage);
  Texts all;
  for (const index_t c : m.model.equations[0].instruments) all.push_back(m.name(c));
  return all;
}

TEST_CASE("a model's equations and instruments are parsed") {
  const ModelFormulas m = parse(market);
  REQUIRE(m.equations.size() == 2);
  CHECK(m.equations[0].label == "demand");
  CHECK(text_of(m.equations[0].dependent) == "quantity");
  CHECK(text_of(m.equations[0].regressors) == "price + income");
  CHECK(text_of(m.equations[1].regressors) == "price + rain + trend - 1");
  CHECK(text_of(*m.instruments) == "income + rain + trend");

  const auto rhs = [](const std::string& text) { return regressors("y ~ " + text); };
  for (const char* text : {"0 + x", "x - 1", "-1 + x", "x + 0", " x-1", "x+1-1", "0+x+0", "x + -1", "(x - 1)"}) {
    CAPTURE(text);
    CHECK(rhs(text) == Texts{"x"});
  }
  CHECK(rhs("1") == Texts{"(Intercept)"});
  CHECK(rhs("x - 0") == Texts{"(Intercept)", "x"});
  CHECK(rhs("x - 1 + 1") == Texts{"(Intercept)", "x"});
  CHECK(rhs("x + x") == Texts{"(Intercept)", "x"});
  CHECK(rhs("lag( x )+lag(`odd name`,3) + I + lag(x, 1)") == Texts{"(Intercept)", "lag(x)", "lag(`odd name`, 3)", "I"});
  CHECK(rhs("I( a+b *-( c - 2.50 )/lag(d,2) )") == Texts{"(Intercept)", "I(a + b * -(c - 2.50)/lag(d, 2))"});
  CHECK(rhs("`a b` + `lag` + .x_1 + Q('odd name')") == Texts{"(Intercept)", "`a b`", "lag", ".x_1", "`odd name`"});
  CHECK(rhs("np.log(x) + I(x**2)") == Texts{"(Intercept)", "log(x)", "I(x^2)"});
  const auto own = parse("y ~ x + p | x + z - 1; w ~ x\nlast: a ~ b").equations;
  REQUIRE(own.size() == 3);
  CHECK(own[0].label == "eq1");
  CHECK(own[1].label == "eq2");
  CHECK(own[2].label == "last");
  CHECK(text_of(*own[0].instruments) == "x + z - 1");
  CHECK(!own[1].instruments);
  CHECK(text_of(parse("`a:b` ~ `c#d`").equations[0].dependent) == "`a:b`");
  CHECK(text_of(parse("lag(y, 1:2) ~ x").equations[0].dependent) == "lag(y, 1:2)");
  CHECK(text_of(parse_terms("~ a*b %in% c - d^2", "t")) == "a * b %in% c - d^2");
}

TEST_CASE("terms expand as R's") {
  const auto rhs = [](const std::string& text) {
    Texts all = regressors("y ~ 0 + " + text);
    std::string joined;
    for (const std::string& name : all) joined.append(joined.empty() ? "" : " ").append(name);
    return joined;
  };
  // The names of R 4's model.matrix.
  for (const auto& [text, names] : std::initializer_list<std::pair<const char*, const char*>>{
           {"a * b", "a b a:b"},
           {"a:b", "a:b"},
           {"b + a:b", "b b:a"},
           {"a:b + a", "a a:b"},
           {"a * b * c", "a b c a:b a:c b:c a:b:c"},
           {"(a + b + c)^2", "a b c a:b a:c b:c"},
           {"(a + b)^3", "a b a:b"},
           {"a * b * c - a:b:c", "a b c a:b a:c b:c"},
           {"a / b", "a a:b"},
           {"(a + b) / c", "a b a:b:c"},
           {"a + b %in% a", "a a:b"},
           {"a * b - a", "b a:b"},
           {"(a + b) : (c + d)", "a:c a:d b:c b:d"},
           {"a:a", "a"},
           {"a - b", "a"},
           {"a + (b + c) - (b + d)", "a c"},
           {"x + . - `odd name` - quantity - price - income - rain - trend - I - lag - .x_1 - `a:b` - `c#d` - `a b`",
            "x p z a b c d"},
       }) {
    CAPTURE(text);
    CHECK(rhs(text) == names);
  }
  CHECK(regressors("log(y) ~ . - x").size() == 19);
  CHECK(regressors("y ~ (a + b - 1)^2") == Texts{"a", "b", "a:b"});
}

TEST_CASE("an equation names its instruments behind bars or in brackets") {
  const auto two_stage = [](const char* text) { return regressors(text, SemMethod::two_stage); };
  CHECK(two_stage("y ~ x | p | z + a") == Texts{"(Intercept)", "p", "x"});
  CHECK(instruments("y ~ x | p | z + a") == Texts{"(Intercept)", "z", "a", "x"});
  CHECK(two_stage("y ~ x - 1 | p | z") == Texts{"p", "x"});
  CHECK(instruments("y ~ x - 1 | p | z - 1") == Texts{"z", "x"});
  CHECK(two_stage("y ~ 1 + x + [p ~ z + a]") == Texts{"(Intercept)", "x", "p"});
  CHECK(instruments("y ~ 1 + x + [p ~ z + a]") == Texts{"(Intercept)", "x", "z", "a"});
  CHECK(instruments("y ~ [p + b ~ z + a] + x - 1") == Texts{"z", "a", "x"});
  CHECK(instruments("y ~ x + p | . - p + z") == Texts{"(Intercept)", "x", "z"});
  refused([] { parse("y ~ x + [p ~ z] | z"); }, "goes without parts");
  refused([] { parse("y ~ x | p | z | a"); }, "more than three parts");
  for (const SemMethod method : {SemMethod::two_stage, SemMethod::ols})
    for (const char* text : {"y ~ 1 + x + [x ~ z]", "y ~ [x + p ~ z + x]", "y ~ x | p + x | z", "y ~ a | x | x + z"})
      refused([&] { without_rows(text, method); }, "x is both endogenous and exogenous (or an instrument)");
  refused([] { without_rows("y ~ a + x * z + [p + z:x ~ p:a]", SemMethod::two_stage); }, "x:z is both endogenous");
  CHECK(instruments("y ~ x + [log(p) ~ p]") == Texts{"(Intercept)", "x", "p"});
  refused([] { without_rows("y ~ x * [p ~ z]", SemMethod::two_stage); }, "must be a summand");
}

TEST_CASE("an invalid model is refused with line and column") {
  for (const auto& [text, why] : std::initializer_list<std::pair<const char*, const char*>>{
           {"", "no equation"},
           {"instruments: ~ x\n", "no equation"},
           {"y x", "line 1, column 3: expected '~'"},
           {"\ny ~ x +", "line 2, column 8: expected a name, found end of the line"},
           {"y ~ x; y2 ~ x x", "line 1, column 15: unexpected 'x'"},
           {"y ~ lag(x", "')' in lag(...)"},
           {"y ~ I(x", "')' in I(...)"},
           {"y ~ I((x)", "')'"},
           {"y ~ I(1e999)", "beyond double"},
           {"y ~ `x", "backquote is not closed"},
           {"y ~ C(x, \"a)", "quote is not closed"},
           {"y ~ ``", "name is missing"},
           {"a: y ~ x\na: z ~ x", "second equation is called a"},
           {": y ~ x", "a label must precede"},
           {"y ~ x\ninstruments: ~ z\ninstruments: ~ z", "line 3, column 13: a second line"},
       }) {
    CAPTURE(text);
    refused([&, t = text] { parse(t); }, why);
  }
  for (const auto& [text, why] : std::initializer_list<std::pair<const char*, const char*>>{
           {"y ~ x + logg(x)", "line 1, column 9: no function is called logg; there are C factor"},
           {"y ~ I(foo(x))", "column 7: no function is called foo"},
           {"y ~ x + nobody", "column 9: data has no column nobody; it has quantity, price"},
           {"y ~ lag(x, 0.5)", "column 12: a lag must be a whole number"},
           {"y ~ lag(x, z)", "a lag must be a whole number"},
           {"y ~ I(lag(x, 1:2))", "several lags must be a term"},
           {"y ~ 0", "equation eq1 has no regressors"},
           {"y ~ x - x - 1", "has no regressors"},
           {"y ~ y", "y is the dependent variable"},
           {"y ~ 2", "column 5: expected a name, found 2"},
           {"y ~ 2 * x", "column 5: expected a name, found 2: arithmetic needs I(...)"},
           {"y ~ 'x'", "is text, not a column"},
           {"y ~ (x + z)^0", "a power of terms"},
           {"y ~ x^z", "a power of terms"},
           {"y ~ (1 | x)", "random effects"},
           {"y ~ log(x, 2, 3)", "log(...) with 3 arguments"},
           {"y ~ pmin(x)", "pmin(...) with 1 arguments"},
           {"y ~ sqrt()", "needs an argument"},
           {"y ~ poly(x, 0)", "needs a whole degree"},
           {"y ~ I(poly(x, 2))", "must be a term"},
           {"y ~ C(x, Sum)", "treatment contrasts alone"},
           {"poly(y, 2) ~ x", "several columns"},
       }) {
    CAPTURE(text);
    refused([&, t = text] { without_rows(t, SemMethod::ols); }, why);
  }
  refused([] { without_rows("y ~ x | 0", SemMethod::two_stage); }, "no instruments");
  refused([] { without_rows("y ~ x\ninstruments: ~ 0", SemMethod::two_stage); }, "the line of instruments has none");
  for (const std::string& deep : {"y ~ I(" + std::string(1000, '(') + "x" + std::string(1000, ')') + ")",
                                  "y ~ I(x" + std::string(100'000, '^') + "x)", "y ~ " + std::string(5000, '-') + "x"})
    CHECK_THROWS_AS(parse(deep), FileError);
  std::string products = "y ~ x";
  for (int k = 0; k < 1000; ++k) products += " * x";
  refused([&] { parse(products); }, "too many nested");
  std::string sum = "y ~ x";
  for (int k = 0; k < 20000; ++k) sum += " + x";
  CHECK(regressors(sum).size() == 2);
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
  Table t{.names = {"x", "y", "w", "unused"},
          .columns = {{1, 2, nan, 4, 5}, {6, 7, 8, 9, 10}, {1, 4, 1, 0, 9}, {nan, nan, nan, nan, nan}},
          .rows = 5};
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
  refused([&] { load("y ~ 1", {.row_weights = {1, 1, 1, -2, 1}}); }, "row weight 4 is negative");
  refused([&] { load("y ~ 1", {.weights = "v"}); }, "no column v");
  refused([&] { load("\ny ~ I(2 * nobody)"); }, "model.txt: line 2, column 11: data has no column nobody");
  refused([&] { load("y ~ I(1 / (y - 7))"); }, "row 2: I(1/(y - 7)) is not finite");
}

TEST_CASE("a selection of columns becomes a model, and its constant column is found") {
  Table t{.names = {"zero", "steps", "one", "y"}, .columns = {{0, 0, 0}, {2, 2, 3}, {7, 7, 7}, {1, 5, 2}}, .rows = 3};
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
  CHECK(m.names == Texts{"(Intercept)", "x", "y"});
  CHECK(m.data(2, 1) * m.data(2, 2) == 20);
  CHECK(m.groups == std::vector<index_t>{0, 1, 0});
}

TEST_CASE("arbitrary text is parsed or refused") {
  std::mt19937 random(3);
  const Texts words{"y", "~", "x", "+",   "-", "1", "0", "lag(", "I(", ")",       "(",   "|", ":", "`",    "#", "\n",
                    "*", "/", ",", "2.5", " ", "^", "[", "]",    "C(", "poly(x,", "'b'", ";", ".", "%in%", "=="};
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
