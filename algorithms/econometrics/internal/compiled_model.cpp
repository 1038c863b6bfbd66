#include <tesela/algorithms/econometrics/internal/compiled_model.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace tesela::formulas {
namespace {

void add_names(const Expression& e, std::set<std::string>& names) {
  if (e.kind == Expression::Kind::name) names.insert(e.text);
  for (const Expression& argument : e.arguments) add_names(argument, names);
}

/// Returns the columns that a dot means: all but these names. A column without a name holds R's row names.
std::vector<std::string> others(const TableSource& table, const std::set<std::string>& used) {
  std::vector<std::string> names;
  for (const std::string& name : table.names)
    if (!name.empty() && !used.contains(name)) names.push_back(name);
  return names;
}

/// Fails if a term is both endogenous and exogenous or an instrument.
void require_disjoint(const Terms& endogenous, const Terms& instruments, const Factors& factors,
                      const std::string& source, TextPlace place) {
  for (const Term& term : endogenous.terms) {
    if (std::find(instruments.terms.begin(), instruments.terms.end(), term) == instruments.terms.end()) continue;
    std::string name;
    for (const index_t factor : term) name += (name.empty() ? "" : ":") + text_of(factors[factor]);
    fail_at(source, place, name + " is both endogenous and exogenous (or an instrument): name it once");
  }
}

/// Columns by their keys, without duplicates.
class Columns {
 public:
  explicit Columns(std::vector<DesignColumn>& columns) : columns_(columns) {}
  index_t operator()(const DesignColumn& column) {
    const auto [where, added] = places_.emplace(column.key, static_cast<index_t>(columns_.size()));
    if (added) columns_.push_back(column);
    return where->second;
  }

 private:
  std::vector<DesignColumn>& columns_;
  std::map<std::string, index_t> places_;
};

}  // namespace

ExpandedModel::ExpandedModel(const ModelFormulas& formulas, const TableSource& table, SemMethod method)
    : source_(formulas.source),
      instrumental_(uses_instruments(method)),
      has_instruments_(formulas.instruments.has_value()) {
  std::set<std::string> all_dependent;
  for (const EquationFormula& e : formulas.equations) {
    std::set<std::string> dependent;
    add_names(e.dependent, dependent);
    all_dependent.insert(dependent.begin(), dependent.end());
    const std::vector<std::string> dots = others(table, dependent);
    OneEquation one{e.label, factors_.number(e.dependent), e.dependent.place, {}, {}, e.instruments.has_value()};
    one.regressors = expand(e.regressors, dots, factors_, source_);
    if (e.endogenous) {
      Factors all = factors_;  // a method without instruments does not need their columns
      const Terms endogenous = expand(*e.endogenous, dots, all, source_),
                  instruments = expand(*e.instruments, dots, all, source_);
      require_disjoint(endogenous, instruments, all, source_, e.endogenous->place);
    }
    if (instrumental_ && e.instruments) one.instruments = expand(*e.instruments, dots, factors_, source_);
    if (instrumental_ && !e.instruments && !has_instruments_)
      fail_at(source_, one.place,
              "equation " + e.label + " has no instruments: mark its endogenous regressors, as in [" +
                  "x ~ z], add a line 'instruments: ~ ...' for all equations, or choose the method ols");
    equations_.push_back(std::move(one));
  }
  if (instrumental_ && has_instruments_)
    instruments_ = expand(*formulas.instruments, others(table, all_dependent), factors_, source_);
}

std::vector<bool> ExpandedModel::needed() const {
  std::vector<bool> all(static_cast<std::size_t>(factors_.size()));
  for (const OneEquation& e : equations_) all[static_cast<std::size_t>(e.dependent)] = true;
  for_each_terms([&](const Terms& terms) {
    for (const Term& term : terms.terms)
      for (const index_t factor : term) all[static_cast<std::size_t>(factor)] = true;
  });
  return all;
}

bool ExpandedModel::is_plain() const {
  const std::vector<bool> used = needed();
  bool plain = true;
  for (index_t k = 0; k < factors_.size(); ++k)
    plain = plain && (!used[static_cast<std::size_t>(k)] || factors_[k].kind == Expression::Kind::name);
  for_each_terms([&](const Terms& terms) {
    for (const Term& term : terms.terms) plain = plain && term.size() == 1;
  });
  return plain;
}

std::vector<std::string> ExpandedModel::labels() const {
  std::vector<std::string> all;
  for (const OneEquation& e : equations_) all.push_back(e.label);
  return all;
}

bool ExpandedModel::is_dependent(index_t factor) const {
  return std::any_of(equations_.begin(), equations_.end(), [&](const OneEquation& e) { return e.dependent == factor; });
}

SimultaneousModel ExpandedModel::compile(const std::vector<Variable>& variables, std::vector<UsedLevels>& used,
                                         std::vector<DesignColumn>& columns) const {
  SimultaneousModel model;
  Columns column(columns);
  const auto design = [&](const Terms& terms) { return design_columns(terms, factors_, variables, used, source_); };
  std::vector<std::vector<DesignColumn>> regressors;
  for (const OneEquation& e : equations_) {
    regressors.push_back(design(e.regressors));
    if (regressors.back().empty()) fail_at(source_, e.place, "equation " + e.label + " has no regressors");
  }
  if (instrumental_ && has_instruments_) {
    for (const DesignColumn& c : design(instruments_)) column(c);
    if (columns.empty()) fail_at(source_, equations_.front().place, "the line of instruments has none");
  }
  if (!instrumental_)  // the intercept first, if there is one
    for (const auto& of_one : regressors)
      if (of_one.front().pieces.empty()) column(of_one.front());
  model.instruments = instrumental_ ? static_cast<index_t>(columns.size()) : 0;
  for (std::size_t i = 0; i < equations_.size(); ++i) {
    const OneEquation& formula = equations_[i];
    Equation e;
    for (const DesignColumn& c : regressors[i]) e.regressors.push_back(column(c));
    const std::string& name = variables[static_cast<std::size_t>(formula.dependent)].text;
    for (const DesignColumn& c : regressors[i])
      if (c.key == name) fail_at(source_, formula.place, name + " is the dependent variable, and a regressor too");
    e.dependent = column(plain_column(formula.dependent, name));
    if (formula.own_instruments && instrumental_) {
      for (const DesignColumn& c : design(formula.instruments)) e.instruments.push_back(column(c));
      if (e.instruments.empty()) fail_at(source_, formula.place, "equation " + formula.label + " has no instruments");
    }
    model.equations.push_back(std::move(e));
  }
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (columns[c].pieces.empty()) model.constant = static_cast<index_t>(c);
  return model;
}

}  // namespace tesela::formulas
