#include <tesela/algorithms/econometrics/internal/formula_terms.hpp>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace tesela::formulas {
namespace {

using Kind = Expression::Kind;
using Set = std::vector<Term>;  // without duplicates, in the order of their first occurrence

class Expander {
 public:
  Expander(const std::vector<std::string>& others, Factors& factors, const std::string& source)
      : others_(others), factors_(factors), source_(source) {}

  /// Returns the terms of e. `added` is whether e adds to the formula, or is behind a minus.
  Set expand(const Expression& e, bool added) {
    if (e.kind == Kind::number) return intercept(e, added);
    if (e.kind == Kind::string) fail(e, text_of(e) + " is text, not a column");
    if (e.kind == Kind::name) return e.text == "." ? all_others(e) : Set{{factors_.number(e)}};
    if (e.text == "(") return expand(e.arguments[0], added);
    if (e.text == "+") return sum(e, added);
    if (e.text == "-") return expand(e.arguments[0], !added), Set();
    if (e.text == ":" || e.text == "%in%" || e.text == "*" || e.text == "/")
      for (const Expression& side : e.arguments)
        if (side.kind == Kind::number) fail(side, "expected a name, found " + side.text + ": arithmetic needs I(...)");
    if (e.text == ":" || e.text == "%in%") {
      const Set a = expand(e.arguments[0], added), b = expand(e.arguments[1], added);
      return product(e, a, b);
    }
    if (e.text == "*") {
      const Set a = expand(e.arguments[0], added), b = expand(e.arguments[1], added);
      return united(united(a, b), product(e, a, b));
    }
    if (e.text == "/") {  // b within a
      const Set a = expand(e.arguments[0], added), b = expand(e.arguments[1], added);
      Term all;
      for (const Term& term : a) all = joined(all, term);
      return united(a, product(e, {all}, b));
    }
    if (e.text == "^") return power(e, added);
    if (e.text == "[") fail(e, "[endogenous ~ instruments] must be a summand of its equation");
    if (e.text == "|") fail(e, "terms with | within parentheses (random effects) are not supported");
    return {{factors_.number(e)}};
  }

  bool has_intercept = true;

 private:
  static constexpr std::size_t most_terms = 100'000;

  [[noreturn]] void fail(const Expression& e, const std::string& problem) const { fail_at(source_, e.place, problem); }

  Set intercept(const Expression& e, bool added) {
    if (e.number != 0 && e.number != 1) fail(e, "expected a name, found " + e.text + ": arithmetic needs I(...)");
    has_intercept = (e.number == 1) == added;
    return {};
  }

  Set all_others(const Expression& e) {
    Set all;
    for (const std::string& name : others_) all.push_back({factors_.number({Kind::name, name, 0, {}, {}, e.place})});
    return all;
  }

  Set sum(const Expression& e, bool added) {
    Set all;
    std::set<Term> present;
    for (const Expression& operand : e.arguments) {
      const bool minus = operand.calls("-");
      for (Term& term : expand(minus ? operand.arguments[0] : operand, added != minus)) {
        if (minus && present.erase(term) > 0)
          all.erase(std::find(all.begin(), all.end(), term));
        else if (!minus && present.insert(term).second)
          all.push_back(std::move(term));
      }
    }
    return all;
  }

  Set power(const Expression& e, bool added) {
    const Expression& exponent = e.arguments[1];
    const double times = exponent.kind == Kind::number ? exponent.number : 0;
    if (!(times >= 1 && times <= 100 && times == static_cast<double>(static_cast<int>(times))))
      fail(exponent, "a power of terms must be a whole number from 1; arithmetic needs I(...)");
    const Set base = expand(e.arguments[0], added);
    Set all = base;
    for (int k = 1; k < static_cast<int>(times); ++k) all = united(all, product(e, all, base));
    return all;
  }

  static Term joined(const Term& a, const Term& b) {
    Term both;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    return both;
  }

  static Set united(const Set& a, const Set& b) {
    Set all = a;
    std::set<Term> present(a.begin(), a.end());
    for (const Term& term : b)
      if (present.insert(term).second) all.push_back(term);
    return all;
  }

  Set product(const Expression& e, const Set& a, const Set& b) const {
    if (a.size() * b.size() > most_terms) fail(e, "more than " + std::to_string(most_terms) + " terms");
    Set all;
    std::set<Term> present;
    for (const Term& x : a)
      for (const Term& y : b)
        if (Term both = joined(x, y); present.insert(both).second) all.push_back(std::move(both));
    return all;
  }

  const std::vector<std::string>& others_;
  Factors& factors_;
  const std::string& source_;
};

}  // namespace

index_t Factors::number(const Expression& factor) {
  const auto [where, added] = numbers_.emplace(text_of(factor), size());
  if (added) all_.push_back(factor);
  return where->second;
}

Terms expand(const Expression& formula, const std::vector<std::string>& others, Factors& factors,
             const std::string& source) {
  Expander expander(others, factors, source);
  Terms result{true, expander.expand(formula, true)};
  result.intercept = expander.has_intercept;
  std::stable_sort(result.terms.begin(), result.terms.end(),
                   [](const Term& a, const Term& b) { return a.size() < b.size(); });
  return result;
}

}  // namespace tesela::formulas
