#include "tests/support/test.hpp"
#include <tesela/algorithms/econometrics/distributions.hpp>
#include <tesela/algorithms/econometrics/model_data.hpp>
#include <tesela/runtime/errors.hpp>

#include <random>

using namespace tesela;
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
  const CompiledModel m = compile_model(parse(market), SemMethod::three_stage);
  CHECK(texts(m.columns) == Texts{"(Intercept)", "income", "rain", "trend", "price", "quantity"});
  CHECK(m.model.instruments == 4);
  CHECK(m.model.constant == 0);
  CHECK(m.model.equations[0].regressors == std::vector<index_t>{0, 4, 1});
  CHECK(m.model.equations[1].regressors == std::vector<index_t>{4, 2, 3});
  CHECK(m.model.equations[1].dependent == 5);
  const CompiledModel ols = compile_model(parse(market), SemMethod::ols);
  CHECK(ols.columns.size() == 6);
  CHECK(ols.model.instruments == 0);
  refused([] { compile_model(parse("y ~ x | x\nz ~ x"), SemMethod::two_stage); },
          "line 2, column 1: equation eq2 has no");
  const CompiledModel own = compile_model(parse("y ~ x + p | x + z"), SemMethod::two_stage);
  CHECK(own.model.instruments == 0);
  CHECK(own.model.equations[0].instruments.size() == 3);
}

TEST_CASE("columns are evaluated with lags first, and rows with missing values are dropped") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Table t{{"x", "y", "w", "unused"},
          {{1, 2, nan, 4, 5}, {6, 7, 8, 9, 10}, {1, 4, 1, 0, 9}, {nan, nan, nan, nan, nan}},
          {},
          5};
  const ModelFormulas f = parse("y ~ lag(x) + I((x + 2 * y) / -x - lag(y, 1))");
  const CompiledModel m = compile_model(f, SemMethod::ols);
  const ModelData d = evaluate(m, f, t, "data");
  CHECK(d.rows == std::vector<index_t>{1, 4});  // the first row has no lag, the third no x, the fourth no lag of x
  CHECK(d.dropped == 3);
  REQUIRE(d.data.shape() == Shape{2, 4});
  CHECK(d.data(1, 0) == 1);
  CHECK(d.data(0, 1) == 1);
  CHECK(d.data(1, 1) == 4);
  CHECK(d.data(1, 2) == (5.0 + 20) / -5 - 9);
  CHECK(d.data(1, 3) == 10);
  refused([&] { evaluate(m, f, t, "data", false); }, "row 1: lag(x) is missing");

  const ModelFormulas simple = parse("y ~ 1");
  const CompiledModel one = compile_model(simple, SemMethod::ols);
  const ModelData weighted = evaluate(one, simple, t, "data", true, {.weights = "w"});
  CHECK(weighted.rows == std::vector<index_t>{0, 1, 2, 4});
  CHECK(weighted.without_weight == 1);
  CHECK(weighted.data(3, 1) == 30);
  CHECK(weighted.data(3, 0) == 3);
  t.columns[2][1] = -1;
  refused([&] { evaluate(one, simple, t, "data", true, {.weights = "w"}); }, "row 2: the weight is negative");
  refused([&] { evaluate(one, simple, t, "data", true, {.weights = "v"}); }, "no column v of weights");
  const ModelFormulas unknown = parse("\ny ~ I(2 * nobody)"), zero = parse("y ~ I(1 / (y - 7))");
  refused([&] { evaluate(compile_model(unknown, SemMethod::ols), unknown, t, "data"); },
          "model.txt: line 2, column 11: data has no column nobody");
  refused([&] { evaluate(compile_model(zero, SemMethod::ols), zero, t, "data"); },
          "row 2: I(1 / (y - 7)) is not finite");
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
      const ModelFormulas m = parse(text);
      compile_model(m, SemMethod::ols);
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
