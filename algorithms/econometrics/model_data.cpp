#include <tesela/algorithms/econometrics/internal/compiled_model.hpp>
#include <tesela/algorithms/econometrics/internal/formula_columns.hpp>
#include <tesela/algorithms/econometrics/model_data.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/io/mapped_file.hpp>
#include <tesela/tiles/io/matrix_rows.hpp>
#include <tesela/tiles/io/npy.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <sstream>
#include <unordered_map>
#include <utility>

namespace tesela {
namespace {

using formulas::DesignColumn;
using formulas::Variable;

constexpr double missing_value = std::numeric_limits<double>::quiet_NaN();

/// A model whose columns follow from a table.
struct LoadedModel {
  std::string source = {};  ///< name of its text in messages
  formulas::Factors factors = {};
  std::vector<bool> needed = {}, dependent = {};  ///< of the factors
  std::vector<std::string> labels = {};           ///< labels of the equations
  bool plain = true;                              ///< whether its columns are columns of the table
  bool find_constant = false;                     ///< whether the constant column is to be found in the data
  formulas::Compile compile = {};
};

LoadedModel from_formulas(const ModelFormulas& text, const TableSource& table, SemMethod method) {
  const auto expanded = std::make_shared<const formulas::ExpandedModel>(text, table, method);
  LoadedModel model{.source = text.source, .factors = expanded->factors(), .needed = expanded->needed()};
  for (index_t k = 0; k < model.factors.size(); ++k) model.dependent.push_back(expanded->is_dependent(k));
  model.labels = expanded->labels();
  model.plain = expanded->is_plain();
  model.compile = [expanded](const auto& variables, auto& used, auto& columns) {
    return expanded->compile(variables, used, columns);
  };
  return model;
}

/// Compiles a selection. All columns of the table become columns of the model.
LoadedModel from_selection(const HostMatrix<double>& S, const std::string& selection, const TableSource& table,
                           SemMethod method) {
  const index_t N = S.rows(), n = S.cols(), K = n - N;
  if (N == 0) throw FileError(selection, "has no rows, and so selects no equation");
  if (K < 0 || std::ssize(table.names) != n)
    throw FileError(selection, "is " + to_string(S.shape()) + ": it must be N x (K + N), and " + table.name + " has " +
                                   std::to_string(table.names.size()) + " columns");
  if (K == 0 && uses_instruments(method)) throw FileError(selection, "leaves no instruments: N x N");
  LoadedModel result{.source = selection, .find_constant = true};
  for (const std::string& name : table.names) result.factors.number({Expression::Kind::name, name});
  result.needed = result.dependent = std::vector<bool>(table.names.size(), true);
  SimultaneousModel model{K, -1, {}};
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
    model.equations.push_back(std::move(e));
  }
  result.compile = [model, names = table.names](const auto&, auto&, std::vector<DesignColumn>& columns) {
    for (const std::string& name : names) columns.push_back(formulas::plain_column(std::ssize(columns), name));
    return model;
  };
  return result;
}

/// Returns the number of each name's column. Throws FileError from at() for a name of two columns.
class ColumnNumbers {
 public:
  explicit ColumnNumbers(const TableSource& table) : table_(table) {
    for (index_t k = 0; k < std::ssize(table.names); ++k) {
      const auto [at, is_new] = numbers_.try_emplace(table.names[static_cast<std::size_t>(k)], k);
      if (!is_new) at->second = repeated;
    }
  }
  /// Returns -1 for a name that the table lacks.
  index_t at(const std::string& name) const {
    const auto found = numbers_.find(name);
    if (found == numbers_.end()) return -1;
    if (found->second == repeated) throw FileError(table_.names_from, "two columns are called " + name);
    return found->second;
  }

 private:
  static constexpr index_t repeated = -2;
  const TableSource& table_;
  std::unordered_map<std::string, index_t> numbers_;
};

/// Returns the numbers of the columns in the table, -1 for the intercept.
std::vector<index_t> places_of(const std::vector<DesignColumn>& columns, const formulas::Factors& factors,
                               const TableSource& table) {
  const ColumnNumbers numbers(table);
  std::vector<index_t> places;
  for (const DesignColumn& column : columns)
    places.push_back(column.pieces.empty() ? -1 : numbers.at(factors[column.pieces[0].variable].text));
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
Table read_npy(const TableSource& source, const std::vector<ColumnRequest>& wanted) {
  const Rows file = open_rows(source, Nans::kept);
  Table table{.rows = file->m()};
  const ColumnNumbers numbers(source);
  for (const auto& [name, kind] : wanted) {
    table.names.push_back(name);
    const index_t column = numbers.at(name);
    if (column < 0) throw FileError(source.names_from, "has no name " + name);
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

/// Opens the rows of a .npy file, which all columns of the model come from.
void stream(ModelData& m, const LoadedModel& model, const TableSource& table, const LoadOptions& options) {
  std::vector<Variable> variables;
  for (index_t k = 0; k < model.factors.size(); ++k) {
    const std::string text = text_of(model.factors[k]);
    variables.push_back({.names = {text}, .columns = {{}}, .text = text});
  }
  std::vector<formulas::UsedLevels> used(variables.size());
  std::vector<DesignColumn> columns;
  m.model = model.compile(variables, used, columns);
  for (const DesignColumn& column : columns) m.names.push_back(column.name);
  const std::vector<index_t> places = places_of(columns, model.factors, table);
  const Rows file = open_rows(table, options.drop_missing ? Nans::kept : Nans::refused);
  if (options.drop_missing) m.kept = rows_without_nan(*file, places);
  m.streamed = rows_of(file, places, m.kept);
  m.table_rows = file->m();
  m.dropped = file->m() - m.streamed.m;
  if (model.find_constant)
    m.model.constant = constant_column(std::ssize(columns),
                                       [&](const std::vector<index_t>& some) { return rows_of(file, some, m.kept); });
}

ModelData load(const TableSource& table, const LoadedModel& model, const LoadOptions& options) {
  ModelData m{.labels = model.labels};
  formulas::Evaluator data(model.source, table.names, table.name);
  for (index_t k = 0; k < model.factors.size(); ++k)
    if (model.needed[static_cast<std::size_t>(k)]) data.need(model.factors[k]);
  if (model.plain && !table.read && !options.hold && options.weights.empty() && options.row_weights.empty() &&
      options.groups.empty()) {
    stream(m, model, table, options);
    return m;
  }
  if (!options.weights.empty()) data.need(ColumnRequest{options.weights, ColumnKind::number});
  if (!options.groups.empty()) data.need(ColumnRequest{options.groups, ColumnKind::level});
  data.set(table.read ? table.read(data.requests()) : read_npy(table, data.requests()));
  std::vector<Variable> variables(static_cast<std::size_t>(model.factors.size()));
  for (index_t k = 0; k < model.factors.size(); ++k) {
    const auto at = static_cast<std::size_t>(k);
    if (model.needed[at])
      variables[at] = model.dependent[at] ? data.numbers(model.factors[k]) : data.variable(model.factors[k]);
  }
  formulas::fill(m, variables, data, table, options, model.compile);
  if (model.find_constant)
    m.model.constant =
        constant_column(std::ssize(m.names), [&](const std::vector<index_t>& columns) -> RowSource<double> {
          return {m.data.rows(), std::ssize(columns), [&m, columns](index_t first, const Block<double>& out) {
                    for (index_t j = 0; j < out.cols; ++j)
                      std::copy_n(&m.data(first, columns[static_cast<std::size_t>(j)]), out.rows, &out(0, j));
                  }};
        });
  return m;
}

}  // namespace

TableSource open_table(const std::string& path, const std::vector<std::string>& missing) {
  const auto file = std::make_shared<const MappedFile>(path);
  if (npy::recognise(file->bytes())) return {path, {}};
  return {.name = path,
          .names = read_csv_names(file->bytes(), path),
          .read = [file, path, missing](const std::vector<ColumnRequest>& columns) {
            return read_csv(file->bytes(), path, columns, missing);
          }};
}

ModelData load_model(const TableSource& table, const ModelFormulas& formulas, SemMethod method,
                     const LoadOptions& options) {
  return load(table, from_formulas(formulas, table, method), options);
}

ModelData load_model(const TableSource& table, const HostMatrix<double>& S, const std::string& selection,
                     SemMethod method, const LoadOptions& options) {
  return load(table, from_selection(S, selection, table, method), options);
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
