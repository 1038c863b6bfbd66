#include <tesela/algorithms/econometrics/model_data.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/io/mapped_file.hpp>
#include <tesela/tiles/io/matrix_rows.hpp>
#include <tesela/tiles/io/npy.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <unordered_map>
#include <utility>

namespace tesela {
namespace {

using Kind = ExpressionStep::Kind;

constexpr double missing_value = std::numeric_limits<double>::quiet_NaN();

std::string at(TextPlace place) {
  return "line " + std::to_string(place.line) + ", column " + std::to_string(place.column) + ": ";
}

bool needs_instruments(SemMethod method) { return uses_instruments(method); }

/// A model compiled to columns of a table.
struct CompiledModel {
  SimultaneousModel model = {};
  std::string source = {};  ///< name of its text in messages
  std::vector<ModelTerm> columns = {};
  std::vector<std::string> labels = {};  ///< labels of the equations
  bool find_constant = false;            ///< whether the constant column is to be found in the data
};

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
      stack.push_back(row < 0 ? missing_value : column[static_cast<std::size_t>(row)]);
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

CompiledModel compile_model(const ModelFormulas& formulas, SemMethod method) {
  const bool instrumental = needs_instruments(method);
  CompiledModel result{.source = formulas.source};
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
  return result;
}

/// Compiles a selection. All columns of the table become columns of the model.
CompiledModel compile_selection(const HostMatrix<double>& S, const std::string& selection, const TableSource& table,
                                SemMethod method) {
  const index_t N = S.rows(), n = S.cols(), K = n - N;
  if (N == 0) throw FileError(selection, "has no rows, and so selects no equation");
  if (K < 0 || std::ssize(table.names) != n)
    throw FileError(selection, "is " + to_string(S.shape()) + ": it must be N x (K + N), and " + table.name + " has " +
                                   std::to_string(table.names.size()) + " columns");
  if (K == 0 && needs_instruments(method)) throw FileError(selection, "leaves no instruments: N x N");
  CompiledModel result{.model = {K, -1, {}}, .source = selection, .find_constant = true};
  for (const std::string& name : table.names) result.columns.push_back({name, {{Kind::variable, 0, name, 0, {}}}, {}});
  for (index_t i = 0; i < N; ++i) {
    Equation e{K + i};
    for (index_t c = 0; c < n; ++c) {
      if (S(i, c) != 0 && S(i, c) != 1) {
        std::ostringstream why;
        why << "row " << i + 1 << ", column " << c + 1 << ": " << S(i, c) << " is neither 0 nor 1";
        throw FileError(selection, why.str());
      }
      if (S(i, c) == 1) e.regressors.push_back(c);
    }
    result.labels.push_back(table.names[static_cast<std::size_t>(e.dependent)]);
    result.model.equations.push_back(std::move(e));
  }
  return result;
}

void require_names(const CompiledModel& model, const TableSource& table) {
  for (const ModelTerm& term : model.columns)
    for (const ExpressionStep& step : term.steps)
      if (step.kind == Kind::variable &&
          std::find(table.names.begin(), table.names.end(), step.variable) == table.names.end())
        throw FileError(model.source, at(step.place) + table.name + " has no column " + step.variable);
}

/// Evaluates the columns into m.data, and determines the rows.
void evaluate(const CompiledModel& model, const Table& table, const TableSource& source, const LoadOptions& options,
              ModelData& m) {
  const auto line = [&](index_t t) {
    const index_t number = table.lines.empty() ? t + source.first_row : table.lines[static_cast<std::size_t>(t)];
    return (table.lines.empty() ? "row " : "line ") + std::to_string(number) + ": ";
  };
  const auto column = [&](const std::string& name) {
    const index_t c = table.find(name);
    if (c < 0) throw FileError(source.name, "has no column " + name);
    return &table.columns[static_cast<std::size_t>(c)];
  };
  const std::vector<double>* const weight = options.weights.empty() ? nullptr : column(options.weights);
  const std::vector<double>* const group = options.groups.empty() ? nullptr : column(options.groups);
  std::vector<std::vector<const std::vector<double>*>> variables;  // variables of each term, in the order of their use
  for (const ModelTerm& term : model.columns) {
    variables.emplace_back();
    for (const ExpressionStep& step : term.steps)
      if (step.kind == Kind::variable) variables.back().push_back(column(step.variable));
  }
  std::vector<index_t> rows;
  std::map<double, index_t> groups;  // numbered from 0, in the order of their first rows
  const std::size_t n = model.columns.size();
  for (index_t t = 0; t < table.rows; ++t) {
    const ModelTerm* lacking = nullptr;
    for (std::size_t c = 0; lacking == nullptr && c < n; ++c)
      if (missing(model.columns[c], variables[c], t)) lacking = &model.columns[c];
    const double w = weight == nullptr ? 1 : (*weight)[static_cast<std::size_t>(t)];
    const bool grouped = group == nullptr || !std::isnan((*group)[static_cast<std::size_t>(t)]);
    if (lacking != nullptr || std::isnan(w) || !grouped) {
      const std::string& name = lacking != nullptr ? lacking->text : grouped ? options.weights : options.groups;
      if (!options.drop_missing) throw FileError(source.name, line(t) + name + " is missing");
      ++m.dropped;
    } else if (w < 0) {
      throw FileError(source.name, line(t) + "the weight is negative");
    } else if (w == 0) {
      ++m.without_weight;
    } else {
      rows.push_back(t);
      if (weight != nullptr) m.root_weights.push_back(std::sqrt(w));
      if (group != nullptr)
        m.groups.push_back(groups.try_emplace((*group)[static_cast<std::size_t>(t)], std::ssize(groups)).first->second);
    }
  }
  m.data = HostMatrix<double>(std::ssize(rows), static_cast<index_t>(n));
  std::vector<double> stack;
  for (std::size_t c = 0; c < n; ++c)
    for (std::size_t k = 0; k < rows.size(); ++k) {
      double x = value(model.columns[c], variables[c], rows[k], stack);
      if (weight != nullptr) x *= m.root_weights[k];
      if (!std::isfinite(x)) throw FileError(source.name, line(rows[k]) + model.columns[c].text + " is not finite");
      m.data(static_cast<index_t>(k), static_cast<index_t>(c)) = x;
    }
  m.table_rows = table.rows;
  if (std::ssize(rows) < table.rows) m.kept = std::move(rows);
  if (groups.size() == 1)
    throw FileError(source.name, "column " + options.groups + " has one cluster, and between clusters nothing varies");
}

/// Returns the numbers of the columns in the table, -1 for the intercept, if each column is a column of the table or
/// the intercept.
std::optional<std::vector<index_t>> plain_columns(const CompiledModel& model, const TableSource& table) {
  std::unordered_map<std::string, index_t> numbers;
  for (const std::string& name : table.names) numbers.try_emplace(name, std::ssize(numbers));
  std::vector<index_t> places;
  for (const ModelTerm& term : model.columns) {
    const ExpressionStep& step = term.steps.front();
    const bool variable = step.kind == Kind::variable;
    if (term.steps.size() > 1 || step.lag != 0 || (!variable && term.text != intercept_name)) return std::nullopt;
    places.push_back(variable ? numbers.at(step.variable) : -1);
  }
  return places;
}

using Rows = std::shared_ptr<const MatrixRows<double>>;

/// Opens a .npy file with as many columns as names.
Rows open_rows(const TableSource& table, Nans nans) {
  Rows file = std::make_shared<const MatrixRows<double>>(table.name, nans);
  if (file->n() != std::ssize(table.names))
    throw FileError(table.names_from, "has " + std::to_string(table.names.size()) + " names; " + table.name + " has " +
                                          std::to_string(file->n()) + " columns");
  return file;
}

/// Reads the wanted columns of a .npy file.
Table read_npy(const TableSource& source, const std::vector<std::string>& wanted) {
  const Rows file = open_rows(source, Nans::kept);
  Table table{wanted, {}, {}, file->m()};
  for (const std::string& name : wanted) {
    const auto at = std::find(source.names.begin(), source.names.end(), name);
    if (at == source.names.end()) throw FileError(source.names_from, "has no name " + name);
    const index_t column = at - source.names.begin();
    std::vector<double>& values = table.columns.emplace_back(static_cast<std::size_t>(file->m()));
    file->read(0, {values.data(), file->m(), 1, std::max<index_t>(file->m(), 1)}, {&column, 1});
  }
  return table;
}

/// Returns the first column of n whose elements are equal and not 0; -1 without one. `columns_of` returns the rows of
/// some columns.
index_t constant_column(index_t n, const std::function<RowSource<double>(const std::vector<index_t>&)>& columns_of) {
  constexpr index_t rows_at_once = 1024;
  std::vector<index_t> candidates(static_cast<std::size_t>(n));
  std::iota(candidates.begin(), candidates.end(), 0);
  std::vector<double> values;  // elements of the first row
  RowSource<double> rows = columns_of(candidates);
  if (rows.m == 0) return -1;
  for (index_t first = 0; first < rows.m && !candidates.empty(); first += rows_at_once) {
    HostMatrix<double> block(std::min(rows_at_once, rows.m - first), rows.n);
    rows.read(first, {block.data(), block.rows(), block.cols(), block.ld()});
    if (first == 0)
      for (index_t j = 0; j < rows.n; ++j) values.push_back(block(0, j));
    std::vector<index_t> equal;
    std::vector<double> of_equal;
    for (index_t j = 0; j < rows.n; ++j) {
      const double x = values[static_cast<std::size_t>(j)], *const column = &block(0, j);
      if (x == 0 || !std::all_of(column, column + block.rows(), [&](double y) { return y == x; })) continue;
      equal.push_back(candidates[static_cast<std::size_t>(j)]);
      of_equal.push_back(x);
    }
    if (equal.size() < candidates.size() && !equal.empty()) rows = columns_of(equal);
    candidates = std::move(equal), values = std::move(of_equal);
  }
  return candidates.empty() ? -1 : candidates.front();
}

ModelData load(const TableSource& table, CompiledModel model, const LoadOptions& options) {
  require_names(model, table);
  ModelData m{.model = std::move(model.model), .labels = std::move(model.labels)};
  for (const ModelTerm& column : model.columns) m.names.push_back(column.text);
  const index_t n = std::ssize(m.names);
  const bool by_rows = !table.read && !options.hold && options.weights.empty() && options.groups.empty();
  if (const auto places = by_rows ? plain_columns(model, table) : std::nullopt) {
    const Rows file = open_rows(table, options.drop_missing ? Nans::kept : Nans::refused);
    if (options.drop_missing) m.kept = rows_without_nan(*file, *places);
    m.streamed = rows_of(file, *places, m.kept);
    m.table_rows = file->m();
    m.dropped = file->m() - m.streamed.m;
    if (model.find_constant)
      m.model.constant =
          constant_column(n, [&](const std::vector<index_t>& columns) { return rows_of(file, columns, m.kept); });
    return m;
  }
  std::vector<std::string> wanted = variables_of(model.columns), labels;
  const auto is_wanted = [&](const std::string& name) {
    return name.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
  };
  // The column of groups may hold text, unless it holds numbers of the model.
  if (!is_wanted(options.groups) && options.groups != options.weights) labels.push_back(options.groups);
  for (const std::string& name : {options.weights, options.groups})
    if (!is_wanted(name)) wanted.push_back(name);
  evaluate(model, table.read ? table.read(wanted, labels) : read_npy(table, wanted), table, options, m);
  if (model.find_constant)
    m.model.constant = constant_column(n, [&](const std::vector<index_t>& columns) -> RowSource<double> {
      return {m.data.rows(), std::ssize(columns), [&m, columns](index_t first, const Block<double>& out) {
                for (index_t j = 0; j < out.cols; ++j)
                  std::copy_n(&m.data(first, columns[static_cast<std::size_t>(j)]), out.rows, &out(0, j));
              }};
    });
  return m;
}

}  // namespace

TableSource open_table(const std::string& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  if (npy::recognise(file->bytes())) return {path, {}};
  return {.name = path, .names = read_csv_names(file->bytes(), path), .read = [file, path](const auto&... columns) {
            return read_csv(file->bytes(), path, columns...);
          }};
}

ModelData load_model(const TableSource& table, const ModelFormulas& formulas, SemMethod method,
                     const LoadOptions& options) {
  return load(table, compile_model(formulas, method), options);
}

ModelData load_model(const TableSource& table, const HostMatrix<double>& S, const std::string& selection,
                     SemMethod method, const LoadOptions& options) {
  return load(table, compile_selection(S, selection, table, method), options);
}

HostMatrix<double> equation_residuals(const ModelData& m, const SimultaneousEquations& answer, bool fitted) {
  constexpr index_t rows_at_once = 8192;
  const RowSource<double> source = m.rows();
  HostMatrix<double> E(source.m, std::ssize(answer.equations));
  for (index_t first = 0; first < source.m; first += rows_at_once) {
    HostMatrix<double> data(std::min(rows_at_once, source.m - first), source.n);
    source.read(first, {data.data(), data.rows(), data.cols(), data.ld()});
    parallel_for(E.cols(), [&](index_t i) {
      const std::vector<double>& b = answer.equations[static_cast<std::size_t>(i)].coefficients;
      const Equation& equation = m.model.equations[static_cast<std::size_t>(i)];
      double* const sums = &E(first, i);
      std::fill_n(sums, data.rows(), b.empty() ? missing_value : 0.0);
      for (std::size_t p = 0; p < b.size(); ++p)
        for (index_t t = 0; t < data.rows(); ++t) sums[t] += b[p] * data(t, equation.regressors[p]);
      for (index_t t = 0; t < data.rows() && !fitted; ++t) sums[t] = data(t, equation.dependent) - sums[t];
      for (index_t t = 0; t < data.rows() && !m.root_weights.empty(); ++t)
        sums[t] /= m.root_weights[static_cast<std::size_t>(first + t)];
    });
  }
  if (!m.kept) return E;
  HostMatrix<double> all(m.table_rows, E.cols());
  std::fill_n(all.data(), all.size(), missing_value);
  for (index_t i = 0; i < E.cols(); ++i)
    for (index_t t = 0; t < E.rows(); ++t) all((*m.kept)[static_cast<std::size_t>(t)], i) = E(t, i);
  return all;
}

}  // namespace tesela
