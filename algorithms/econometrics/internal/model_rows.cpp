#include <tesela/algorithms/econometrics/internal/formula_columns.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/machine/memory.hpp>
#include <tesela/runtime/out_of_memory.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace tesela::formulas {
namespace {

/// The rows of a table that a model uses.
class Rows {
 public:
  Rows(const Evaluator& data, const TableSource& source, const LoadOptions& options)
      : table_(data.table()), source_(source), options_(options) {
    if (!options.weights.empty()) weights_ = data.column({options.weights, ColumnKind::number});
    if (!options.row_weights.empty()) {
      if (std::ssize(options.row_weights) != table_.rows)
        throw FileError(source.name, "has " + std::to_string(table_.rows) + " rows; there are " +
                                         std::to_string(options.row_weights.size()) + " weights");
      weights_.x = options.row_weights;
    }
    weighted_ = !options.weights.empty() || !options.row_weights.empty();
    if (!options.groups.empty()) groups_ = data.column({options.groups, ColumnKind::level});
  }

  /// Selects the rows; puts them, their weights and their groups into m.
  std::vector<index_t> select(const std::vector<Variable>& variables, ModelData& m) const {
    std::vector<index_t> rows;
    std::map<double, index_t> groups;  // numbered from 0, in the order of their first rows
    for (index_t t = 0; t < table_.rows; ++t) {
      const auto row = static_cast<std::size_t>(t);
      if (const std::string* const name = missing_in(variables, row)) {
        if (!options_.drop_missing) throw FileError(source_.name, place(t) + *name + " is missing");
        ++m.dropped;
        continue;
      }
      const double w = weighted_ ? weights_.x[row] : 1;
      if (w < 0)
        throw options_.row_weights.empty()
            ? FileError(source_.name, place(t) + "the weight is negative")
            : FileError(source_.name, "row weight " + std::to_string(t + 1) + " is negative");
      if (w == 0) {
        ++m.without_weight;
        continue;
      }
      rows.push_back(t);
      if (weighted_) m.weights.push_back(w), m.root_weights.push_back(std::sqrt(w));
      if (!options_.groups.empty())
        m.groups.push_back(groups.try_emplace(groups_.x[row], std::ssize(groups)).first->second);
    }
    if (groups.size() == 1)
      throw FileError(source_.name,
                      "column " + options_.groups + " has one cluster, and between clusters nothing varies");
    return rows;
  }

  /// Returns the words for row t in messages.
  std::string place(index_t t) const {
    const bool lines = !table_.lines.empty();
    return (lines ? "line " : "row ") +
           std::to_string(lines ? table_.lines[static_cast<std::size_t>(t)] : t + source_.first_row) + ": ";
  }

 private:
  /// Returns the name of a value that the row lacks; null without one.
  const std::string* missing_in(const std::vector<Variable>& variables, std::size_t row) const {
    for (const Variable& variable : variables)
      if (!variable.missing.empty() && variable.missing[row]) return &variable.text;
    if (!options_.weights.empty() && weights_.is_missing(row)) return &options_.weights;
    if (!options_.groups.empty() && groups_.is_missing(row)) return &options_.groups;
    return nullptr;
  }

  const Table& table_;
  const TableSource& source_;
  const LoadOptions& options_;
  Values weights_, groups_;
  bool weighted_ = false;
};

/// Returns the levels of each variable in these rows.
std::vector<UsedLevels> levels_in(const std::vector<Variable>& variables, const std::vector<index_t>& rows,
                                  const std::string& source) {
  std::vector<UsedLevels> all(variables.size());
  for (std::size_t v = 0; v < variables.size(); ++v) {
    const Variable& variable = variables[v];
    if (variable.levels.empty()) continue;
    std::vector<bool> present(variable.levels.size());
    for (const index_t t : rows)
      present[static_cast<std::size_t>(variable.columns[0][static_cast<std::size_t>(t)])] = true;
    for (std::size_t k = 0; k < present.size(); ++k)
      if (present[k]) all[v].levels.push_back(static_cast<index_t>(k));
    if (variable.base >= 0 && !rows.empty() && !present[static_cast<std::size_t>(variable.base)])
      throw FileError(source, variable.text + ": no row of the model has the base " +
                                  variable.levels[static_cast<std::size_t>(variable.base)]);
    all[v].base = variable.base >= 0 ? variable.base : all[v].levels.empty() ? -1 : all[v].levels.front();
  }
  return all;
}

std::vector<FactorBase> bases(const std::vector<Variable>& variables, const std::vector<UsedLevels>& used) {
  std::vector<FactorBase> all;
  for (std::size_t v = 0; v < used.size(); ++v) {
    if (!used[v].contrasted || used[v].base < 0) continue;
    const auto name = [&](index_t level) { return variables[v].levels[static_cast<std::size_t>(level)]; };
    FactorBase& one = all.emplace_back(FactorBase{variables[v].text, name(used[v].base), {}});
    for (const index_t level : used[v].levels) one.levels.push_back(name(level));
  }
  return all;
}

/// Returns the words for the factor with most levels; empty without factors.
std::string largest_factor(const std::vector<Variable>& variables) {
  const auto most = std::max_element(variables.begin(), variables.end(), [](const Variable& a, const Variable& b) {
    return a.levels.size() < b.levels.size();
  });
  if (most == variables.end() || most->levels.empty()) return {};
  return "; " + most->text + " has " + std::to_string(most->levels.size()) + " levels";
}

/// Writes the values of a column in these rows to `values`.
void evaluate(const DesignColumn& column, const std::vector<Variable>& variables, const std::vector<index_t>& rows,
              double* values) {
  std::fill_n(values, rows.size(), 1.0);
  for (const Piece& piece : column.pieces) {
    const Variable& variable = variables[static_cast<std::size_t>(piece.variable)];
    const std::vector<double>& x = variable.columns[static_cast<std::size_t>(piece.column)];
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const double value = x[static_cast<std::size_t>(rows[k])];
      values[k] *= piece.level < 0 ? value : value == static_cast<double>(piece.level) ? 1.0 : 0.0;
    }
  }
}

}  // namespace

void fill(ModelData& m, const std::vector<Variable>& variables, const Evaluator& data, const TableSource& source,
          const LoadOptions& options, const Compile& compile) {
  const Rows all(data, source, options);
  std::vector<index_t> rows = all.select(variables, m);
  std::vector<UsedLevels> used = levels_in(variables, rows, source.name);
  std::vector<DesignColumn> columns;
  m.model = compile(variables, used, columns);
  m.factors = bases(variables, used);
  const double bytes = sizeof(double) * static_cast<double>(rows.size()) * static_cast<double>(columns.size());
  if (bytes > usable_host_bytes())
    throw OutOfMemory(source.name + ": the model has " + std::to_string(rows.size()) + " rows and " +
                      std::to_string(columns.size()) + " columns" + largest_factor(variables));
  m.data = HostMatrix<double>(std::ssize(rows), std::ssize(columns));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    m.names.push_back(columns[c].name);
    if (rows.empty()) continue;
    double* const values = &m.data(0, static_cast<index_t>(c));
    evaluate(columns[c], variables, rows, values);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (options.scale && !m.root_weights.empty()) values[k] *= m.root_weights[k];
      if (!std::isfinite(values[k]))
        throw FileError(source.name, all.place(rows[k]) + columns[c].name + " is not finite");
    }
  }
  m.table_rows = data.table().rows;
  if (std::ssize(rows) < m.table_rows) m.kept = std::move(rows);
}

}  // namespace tesela::formulas
