#include "tools/problems/econometrics/sem_problem.hpp"

#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/memory.hpp>
#include <tesela/tiles/io/atomic_file.hpp>
#include <tesela/tiles/io/csv_table.hpp>
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/io/mapped_file.hpp>
#include <tesela/tiles/io/matrix_rows.hpp>
#include <tesela/tiles/io/npy.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

namespace tesela::cli {
namespace {

/// Returns whether the file's content is NumPy's; its name does not matter.
bool npy(const std::string& path) { return tesela::npy::recognise(MappedFile(path).bytes()); }

/// Reads one name per line.
std::vector<std::string> read_names(const std::string& path) {
  const MappedFile file(path);
  std::vector<std::string> names(1);
  for (const char c : file.bytes()) {
    if (c == '\n')
      names.emplace_back();
    else if (c != '\r')
      names.back() += c;
  }
  if (names.back().empty()) names.pop_back();
  if (!names.empty() && names[0].starts_with("\xEF\xBB\xBF")) names[0].erase(0, 3);  // as some editors begin UTF-8
  return names;
}

/// Opens a .npy file with this number of columns.
std::shared_ptr<const MatrixRows<double>> open_rows(const SemInput& input, std::size_t names, Nans nans) {
  auto file = std::make_shared<const MatrixRows<double>>(input.data, nans);
  if (file->n() != static_cast<index_t>(names))
    throw FileError(input.names.empty() ? input.select : input.names,
                    fmt::format("has {} names; {} has {} columns", names, input.data, file->n()));
  return file;
}

/// The wanted columns of the data, whose names are `names`.
Table read_table(const SemInput& input, const std::vector<std::string>& names, const std::vector<std::string>& wanted,
                 const std::vector<std::string>& labels = {}) {
  if (!npy(input.data)) return read_csv(input.data, wanted, labels);
  const auto file = open_rows(input, names.size(), Nans::kept);
  Table table{wanted, {}, {}, file->m()};
  for (const std::string& name : wanted) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) throw FileError(input.names, "has no name " + name);
    const index_t column = at - names.begin();
    std::vector<double>& values = table.columns.emplace_back(static_cast<std::size_t>(file->m()));
    file->read(0, {values.data(), file->m(), 1, std::max<index_t>(file->m(), 1)}, {&column, 1});
  }
  return table;
}

/// Returns the numbers of the columns in the file, -1 for the intercept, if each column is a variable of the file or
/// the intercept.
std::optional<std::vector<index_t>> plain_columns(const std::vector<ModelTerm>& columns,
                                                  const std::vector<std::string>& names) {
  std::unordered_map<std::string, index_t> numbers;
  for (std::size_t c = 0; c < names.size(); ++c) numbers.try_emplace(names[c], static_cast<index_t>(c));
  std::vector<index_t> places;
  for (const ModelTerm& term : columns) {
    const ExpressionStep& step = term.steps.front();
    const bool variable = step.kind == ExpressionStep::Kind::variable;
    if (term.steps.size() > 1 || step.lag != 0 || (!variable && term.text != intercept_name)) return std::nullopt;
    places.push_back(variable ? numbers.at(step.variable) : -1);
  }
  return places;
}

/// Rows of a .npy file that lack no value.
struct FileRows {
  std::shared_ptr<const MatrixRows<double>> file = nullptr;  ///< none: the data are to be held
  std::vector<index_t> columns = {};
  std::optional<std::vector<index_t>> complete = std::nullopt;  ///< nothing: all rows are

  RowSource<double> source() const { return file ? rows_of(file, columns, complete) : RowSource<double>{}; }
  index_t dropped() const { return complete ? file->m() - std::ssize(*complete) : 0; }
  void print_error(SemProblem& p) const {
    p.all_rows = file ? file->m() : 0;
    p.kept = complete;
  }
};

/// The rows of a .npy file, where nothing else is asked for than its columns. Looks for missing values before.
FileRows streamed_rows(const SemInput& input, const std::vector<ModelTerm>& columns,
                       const std::vector<std::string>& names) {
  const auto refuse = [&](const char* why) {
    if (input.rows_at_once > 0) throw ArgumentError("sem", "--rows-at-once", why);
    return FileRows{};
  };
  if (!npy(input.data)) return refuse("belongs to a .npy file or a generated model");
  if (input.hold || !input.weights.empty() || !input.clusters.empty())
    return refuse("goes without --weights and --cov, which hold the data");
  const auto places = plain_columns(columns, names);
  if (!places) return refuse("goes without lag() and I()");
  const bool drop = input.missing == "drop";
  FileRows rows{open_rows(input, names.size(), drop ? Nans::kept : Nans::refused), *places};
  if (drop) rows.complete = rows_without_nan(*rows.file, rows.columns);
  return rows;
}

/// Tells which rows of the table stayed, where some did not.
void keep_rows(ModelData& data, const Table& table, SemProblem& p) {
  p.all_rows = table.rows;
  if (std::ssize(data.rows) < table.rows) p.kept = std::move(data.rows);
}

SemProblem from_files(const SemInput& input, SemMethod method) {
  if (input.model.empty()) throw ArgumentError("sem", "--model", "is missing (or --select): --data belongs to a model");
  if (npy(input.data) && input.names.empty())
    throw ArgumentError("sem", "--names", "is missing: a .npy file of data has no names of columns");
  if (!npy(input.data) && !input.names.empty())
    throw ArgumentError("sem", "--names", "belongs to a .npy file of data, and no CSV takes it");
  const ModelFormulas formulas = read_model(input.model);
  const CompiledModel compiled = compile_model(formulas, method);
  const std::vector<std::string> names = npy(input.data) ? read_names(input.names) : read_csv_names(input.data);
  require_names(compiled, formulas, names, input.data);
  if (const FileRows rows = streamed_rows(input, compiled.columns, names); rows.file) {
    SemProblem p{{}, compiled.model, compiled.labels, {}, rows.dropped(), 0, {}, {}, {}, rows.source()};
    rows.print_error(p);
    for (const ModelTerm& column : compiled.columns) p.names.push_back(column.text);
    return p;
  }
  std::vector<std::string> wanted = compiled.variables;
  for (const std::string& name : {input.weights, input.clusters})
    if (!name.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) wanted.push_back(name);
  // Clusters' column may hold text, unless it holds numbers of the model.
  const auto& numbers = compiled.variables;
  const bool label =
      std::find(numbers.begin(), numbers.end(), input.clusters) == numbers.end() && input.clusters != input.weights;
  const Table table =
      read_table(input, names, wanted, label ? std::vector{input.clusters} : std::vector<std::string>{});
  ModelData data =
      evaluate(compiled, formulas, table, input.data, input.missing == "drop", {input.weights, input.clusters});
  if (!data.groups.empty() && std::all_of(data.groups.begin(), data.groups.end(), [](index_t i) { return i == 0; }))
    throw FileError(input.data, "column " + input.clusters + " has one cluster, and between clusters nothing varies");
  SemProblem p{std::move(data.data), compiled.model,      compiled.labels,       {},
               data.dropped,         data.without_weight, std::move(data.groups)};
  keep_rows(data, table, p);
  p.root_weights = std::move(data.root_weights);
  for (const ModelTerm& column : compiled.columns) p.names.push_back(column.text);
  return p;
}

/// Which of these columns of the data are the same in rows first ... as numbers say.
std::vector<index_t> constant_columns(const RowSource<double>& data, const std::vector<double>& numbers) {
  constexpr index_t rows_at_once = 1024;
  std::vector<index_t> left(numbers.size());
  std::iota(left.begin(), left.end(), 0);
  for (index_t first = 0; first < data.m && !left.empty(); first += rows_at_once) {
    HostMatrix<double> rows(std::min(rows_at_once, data.m - first), data.n);
    data.read(first, {rows.data(), rows.rows(), rows.cols(), rows.ld()});
    std::erase_if(left, [&](index_t c) {
      const double* const x = &rows(0, c);
      return !std::all_of(x, x + rows.rows(), [&](double y) { return y == numbers[static_cast<std::size_t>(c)]; });
    });
  }
  return left;
}

/// The first column that is the same in every row, but not 0; -1 without one. `columns` answers some of them.
index_t constant_column(const RowSource<double>& data,
                        const std::function<RowSource<double>(const std::vector<index_t>&)>& columns) {
  if (data.m == 0 || data.n == 0) return -1;
  HostMatrix<double> first(1, data.n);
  data.read(0, {first.data(), 1, data.n, 1});
  const RowSource<double> some{std::min<index_t>(data.m, 1024), data.n, data.read};
  std::vector<index_t> left = constant_columns(some, {first.data(), first.data() + data.n});
  std::erase_if(left, [&](index_t c) { return first(0, c) == 0; });
  if (left.empty()) return -1;
  std::vector<double> numbers;
  for (const index_t c : left) numbers.push_back(first(0, c));
  const std::vector<index_t> all = constant_columns(columns(left), numbers);
  return all.empty() ? -1 : left[static_cast<std::size_t>(all.front())];
}

/// Equation i is of Y's column i, and has the variables that row i of S selects.
SemProblem from_selection(const SemInput& input, SemMethod method) {
  if (!input.weights.empty() || !input.clusters.empty())
    throw ArgumentError("sem", "--select", "goes without --weights and clusters: name them in a --model");
  if (!npy(input.data) && !input.names.empty()) throw ArgumentError("sem", "--names", "belongs to a .npy file");
  const HostMatrix<double> S = read_matrix<double>(input.select);
  const index_t N = S.rows(), n = S.cols();
  if (N == 0) throw FileError(input.select, "has no rows, and so selects no equation");
  std::vector<std::string> names;
  if (!npy(input.data)) {
    names = read_csv_names(input.data);
  } else if (!input.names.empty()) {
    names = read_names(input.names);
  } else {
    for (index_t c = 1; c <= n; ++c)
      names.push_back(c <= n - N ? fmt::format("x{}", c) : fmt::format("y{}", c - n + N));
  }
  if (N > n || static_cast<index_t>(names.size()) != n)
    throw FileError(input.select, fmt::format("is {} x {}: it must be N x (K + N), and {} has {} columns", N, n,
                                              input.data, names.size()));
  ModelFormulas all{input.select, {}, {}};  // every column, unchanged
  CompiledModel compiled{{n - N, -1, {}}, {}, {}, names};
  for (const std::string& name : names)
    compiled.columns.push_back({name, {{ExpressionStep::Kind::variable, 0, name, 0, {}}}, {}});
  const FileRows rows = streamed_rows(input, compiled.columns, names);
  SemProblem p{{}, std::move(compiled.model), {}, names, rows.dropped(), 0, {}, {}, {}, rows.source()};
  rows.print_error(p);
  if (!p.streamed()) {
    const Table table = read_table(input, names, names);
    ModelData data = evaluate(compiled, all, table, input.data, input.missing == "drop");
    keep_rows(data, table, p);
    p.data = std::move(data.data);
    p.dropped = data.dropped;
  }
  p.model.constant = constant_column(p.source(), [&](const std::vector<index_t>& columns) -> RowSource<double> {
    if (p.streamed()) return rows_of(rows.file, columns, rows.complete);
    return {p.data.rows(), std::ssize(columns), [&](index_t first, const Block<double>& out) {
              for (index_t j = 0; j < out.cols; ++j)
                std::copy_n(&p.data(first, columns[static_cast<std::size_t>(j)]), out.rows, &out(0, j));
            }};
  });
  for (index_t i = 0; i < N; ++i) {
    Equation e{n - N + i};
    for (index_t c = 0; c < n; ++c) {
      if (S(i, c) != 0 && S(i, c) != 1)
        throw FileError(input.select, fmt::format("row {}, column {}: {} is neither 0 nor 1", i + 1, c + 1, S(i, c)));
      if (S(i, c) == 1) e.regressors.push_back(c);
    }
    p.labels.push_back(p.name(e.dependent));
    p.model.equations.push_back(std::move(e));
  }
  if (method == SemMethod::ols || method == SemMethod::sur) return p;
  if (p.model.instruments == 0) throw FileError(input.select, "leaves no instruments: N x N");
  return p;
}

/// Whether generated data and their copy take up to half of the memory.
bool held(const ModelSizes& s) {
  const double columns = static_cast<double>(s.exogenous) + static_cast<double>(s.equations);
  return 2 * sizeof(double) * static_cast<double>(s.observations) * columns <= usable_host_bytes() / 2;
}

}  // namespace

SemProblem load_sem(const SemInput& input, SemMethod method, std::uint64_t seed) {
  if (!input.generated() && !input.select.empty()) {
    if (!input.model.empty()) throw ArgumentError("sem", "--select", "replaces --model: give one of them");
    return from_selection(input, method);
  }
  if (!input.generated()) return from_files(input, method);
  if (!input.select.empty()) throw ArgumentError("sem", "--select", "belongs to --data");
  if (!input.model.empty()) throw ArgumentError("sem", "--model", "belongs to --data");
  if (!input.names.empty()) throw ArgumentError("sem", "--names", "belongs to --data");
  if (!input.weights.empty()) throw ArgumentError("sem", "--weights", "belongs to --data");
  if (!input.clusters.empty()) throw ArgumentError("sem", "--cov", "cluster:COLUMN belongs to --data");
  const bool streamed = !input.hold && (input.rows_at_once > 0 || !held(input.sizes));
  if (input.hold && input.rows_at_once > 0)
    throw ArgumentError("sem", "--rows-at-once", "goes without --cov and --out-data, which hold the data");
  StreamedModel s = streamed ? stream_model(input.sizes, seed) : StreamedModel{generate_model(input.sizes, seed), {}};
  GeneratedModel& m = s.model;
  SemProblem p{std::move(m.data), std::move(m.model), {}, std::move(m.names), 0, 0, {}, std::move(m.truth), {},
               std::move(s.rows)};
  for (std::size_t i = 0; i < p.model.equations.size(); ++i) p.labels.push_back(fmt::format("eq{}", i + 1));
  p.formulas = formulas_of({{}, p.model, p.names, {}});
  return p;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",;\"\n\r\t") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

void write_csv(const std::string& path, const std::vector<std::string>& names, const HostMatrix<double>& columns,
               const std::vector<std::string>& rows) {
  AtomicFile file(path);
  std::string line = rows.empty() ? "" : "name,";
  for (std::size_t c = 0; c < names.size(); ++c) line += (c > 0 ? "," : "") + csv_field(names[c]);
  file.write(line + '\n');
  for (index_t t = 0; t < columns.rows(); ++t) {
    line = rows.empty() ? "" : csv_field(rows[static_cast<std::size_t>(t)]) + ',';
    for (index_t c = 0; c < columns.cols(); ++c) {
      const double x = columns(t, c);
      line += (c > 0 ? "," : "") + (std::isfinite(x) ? fmt::format("{}", x) : std::string("NA"));
    }
    file.write(line + '\n');
  }
  file.commit();
}

}  // namespace tesela::cli
