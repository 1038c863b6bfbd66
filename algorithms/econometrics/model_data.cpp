#include <tesela/algorithms/econometrics/model_data.hpp>
#include <tesela/runtime/errors.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace tesela {
namespace {

using Kind = ExpressionStep::Kind;

std::string at(TextPlace place) {
  return "line " + std::to_string(place.line) + ", column " + std::to_string(place.column) + ": ";
}

/// Columns by their texts, without duplicates.
class Columns {
 public:
  explicit Columns(std::vector<ModelTerm>& columns) : columns_(columns) {}
  index_t operator()(const ModelTerm& term) {
    const auto [where, added] = places_.emplace(term.text, static_cast<index_t>(columns_.size()));
    if (added) columns_.push_back(term);
    return where->second;
  }

 private:
  std::vector<ModelTerm>& columns_;
  std::map<std::string, index_t> places_;
};

/// Returns the value of a term in row t; NaN if a value is missing. `stack` is work space.
double value(const ModelTerm& term, const std::vector<const std::vector<double>*>& variables, index_t t,
             std::vector<double>& stack) {
  stack.clear();
  std::size_t next = 0;
  for (const ExpressionStep& step : term.steps) {
    if (step.kind == Kind::number) {
      stack.push_back(step.number);
    } else if (step.kind == Kind::variable) {
      const index_t row = t - step.lag;
      const std::vector<double>& column = *variables[next++];
      stack.push_back(row < 0 ? std::numeric_limits<double>::quiet_NaN() : column[static_cast<std::size_t>(row)]);
    } else if (step.kind == Kind::negate) {
      stack.back() = -stack.back();
    } else {
      const double right = stack.back();
      stack.pop_back();
      double& left = stack.back();
      switch (step.kind) {
        case Kind::add:
          left += right;
          break;
        case Kind::subtract:
          left -= right;
          break;
        case Kind::multiply:
          left *= right;
          break;
        default:
          left /= right;
      }
    }
  }
  return stack.back();
}

/// Returns whether the term uses a value that is missing in row t.
bool missing(const ModelTerm& term, const std::vector<const std::vector<double>*>& variables, index_t t) {
  std::size_t next = 0;
  for (const ExpressionStep& step : term.steps) {
    if (step.kind != Kind::variable) continue;
    const index_t row = t - step.lag;
    const std::vector<double>& column = *variables[next++];
    if (row < 0 || std::isnan(column[static_cast<std::size_t>(row)])) return true;
  }
  return false;
}

}  // namespace

CompiledModel compile_model(const ModelFormulas& formulas, SemMethod method) {
  const bool instrumental = method == SemMethod::two_stage || method == SemMethod::three_stage;
  CompiledModel result;
  Columns column(result.columns);
  if (instrumental)
    for (const ModelTerm& term : formulas.instruments) column(term);
  else  // the intercept first, if there is one
    for (const EquationFormula& e : formulas.equations)
      if (!e.regressors.empty() && e.regressors[0].text == intercept_name) column(e.regressors[0]);
  result.model.instruments = instrumental ? static_cast<index_t>(result.columns.size()) : 0;
  for (const EquationFormula& formula : formulas.equations) {
    Equation e;
    if (instrumental && formula.instruments.empty() && formulas.instruments.empty())
      throw FileError(formulas.source, at(formula.dependent.place) + "equation " + formula.label +
                                           " has no instruments: add a line 'instruments: ~ ...' for all equations");
    for (const ModelTerm& term : formula.regressors) e.regressors.push_back(column(term));
    e.dependent = column(formula.dependent);
    if (instrumental)
      for (const ModelTerm& term : formula.instruments) e.instruments.push_back(column(term));
    result.model.equations.push_back(std::move(e));
    result.labels.push_back(formula.label);
  }
  for (std::size_t c = 0; c < result.columns.size(); ++c)
    if (result.columns[c].text == intercept_name) result.model.constant = static_cast<index_t>(c);
  result.variables = variables_of(result.columns);
  return result;
}

void require_names(const CompiledModel& model, const ModelFormulas& formulas, const std::vector<std::string>& names,
                   const std::string& source) {
  for (const ModelTerm& term : model.columns)
    for (const ExpressionStep& step : term.steps)
      if (step.kind == Kind::variable && std::find(names.begin(), names.end(), step.variable) == names.end())
        throw FileError(formulas.source, at(step.place) + source + " has no column " + step.variable);
}

ModelData evaluate(const CompiledModel& model, const ModelFormulas& formulas, const Table& table,
                   const std::string& source, bool drop_missing, const RowColumns& rows, index_t first_row) {
  require_names(model, formulas, table.names, source);
  const auto line = [&](index_t t) {
    const index_t number = table.lines.empty() ? t + first_row : table.lines[static_cast<std::size_t>(t)];
    return (table.lines.empty() ? "row " : "line ") + std::to_string(number) + ": ";
  };
  const auto other = [&](const std::string& name, const char* what) -> const std::vector<double>* {
    if (name.empty()) return nullptr;
    const index_t c = table.find(name);
    if (c < 0) throw FileError(source, "has no column " + name + what);
    return &table.columns[static_cast<std::size_t>(c)];
  };
  const std::vector<double>*weight = other(rows.weights, " of weights"), *group = other(rows.groups, " of clusters");
  std::vector<std::vector<const std::vector<double>*>> variables;  // variables of each term, in the order of their use
  for (const ModelTerm& term : model.columns) {
    variables.emplace_back();
    for (const ExpressionStep& step : term.steps)
      if (step.kind == Kind::variable)
        variables.back().push_back(&table.columns[static_cast<std::size_t>(table.find(step.variable))]);
  }
  ModelData result;
  std::map<double, index_t> groups;  // numbered from 0, in the order of their first rows
  const std::size_t n = model.columns.size();
  for (index_t t = 0; t < table.rows; ++t) {
    const ModelTerm* lacking = nullptr;
    for (std::size_t c = 0; lacking == nullptr && c < n; ++c)
      if (missing(model.columns[c], variables[c], t)) lacking = &model.columns[c];
    const double w = weight == nullptr ? 1 : (*weight)[static_cast<std::size_t>(t)];
    const bool grouped = group == nullptr || !std::isnan((*group)[static_cast<std::size_t>(t)]);
    if (lacking != nullptr || std::isnan(w) || !grouped) {
      const std::string& name = lacking != nullptr ? lacking->text : grouped ? rows.weights : rows.groups;
      if (!drop_missing) throw FileError(source, line(t) + name + " is missing");
      ++result.dropped;
    } else if (w < 0) {
      throw FileError(source, line(t) + "the weight is negative");
    } else if (w == 0) {
      ++result.without_weight;
    } else {
      result.rows.push_back(t);
      if (weight != nullptr) result.root_weights.push_back(std::sqrt(w));
      if (group != nullptr)
        result.groups.push_back(
            groups.try_emplace((*group)[static_cast<std::size_t>(t)], std::ssize(groups)).first->second);
    }
  }
  result.data = HostMatrix<double>(static_cast<index_t>(result.rows.size()), static_cast<index_t>(n));
  std::vector<double> stack;
  for (std::size_t c = 0; c < n; ++c)
    for (std::size_t k = 0; k < result.rows.size(); ++k) {
      const index_t t = result.rows[k];
      double x = value(model.columns[c], variables[c], t, stack);
      if (weight != nullptr) x *= result.root_weights[k];
      if (!std::isfinite(x)) throw FileError(source, line(t) + model.columns[c].text + " is not finite");
      result.data(static_cast<index_t>(k), static_cast<index_t>(c)) = x;
    }
  return result;
}

}  // namespace tesela
