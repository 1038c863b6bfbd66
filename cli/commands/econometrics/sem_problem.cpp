#include "cli/commands/econometrics/sem_problem.hpp"

#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/io/atomic_file.hpp>
#include <tesela/tiles/io/csv_table.hpp>
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/io/mapped_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tesela::cli {
namespace {

bool npy(const std::string& path) { return path.size() > 4 && path.compare(path.size() - 4, 4, ".npy") == 0; }

/// One name a line.
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

Table read_table(const SemInput& input, const std::vector<std::string>& wanted) {
  if (!npy(input.data)) return read_csv(input.data, wanted, {input.clusters});
  const std::vector<std::string> names = read_names(input.names);
  const HostMatrix<double> a = read_matrix<double>(input.data);
  if (static_cast<index_t>(names.size()) != a.cols())
    throw FileError(input.names, fmt::format("has {} names; {} has {} columns", names.size(), input.data, a.cols()));
  Table table{wanted, {}, {}, a.rows()};
  for (const std::string& name : wanted) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) throw FileError(input.names, "has no name " + name);
    const double* column = a.data() + (at - names.begin()) * a.ld();
    table.columns.emplace_back(column, column + a.rows());
  }
  return table;
}

SemProblem from_files(const SemInput& input, SemMethod method) {
  if (input.model.empty()) throw ArgumentError("sem", "--model", "is missing (or --select): --data belongs to a model");
  if (npy(input.data) == input.names.empty())
    throw ArgumentError("sem", "--names", "belongs to a .npy file of data, and no CSV takes it");
  const ModelFormulas formulas = read_model(input.model);
  const CompiledModel compiled = compile_model(formulas, method);
  require_names(compiled, formulas, npy(input.data) ? read_names(input.names) : read_csv_names(input.data), input.data);
  std::vector<std::string> wanted = compiled.variables;
  for (const std::string& name : {input.weights, input.clusters})
    if (!name.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) wanted.push_back(name);
  if (!input.clusters.empty() &&
      (std::find(compiled.variables.begin(), compiled.variables.end(), input.clusters) != compiled.variables.end() ||
       input.clusters == input.weights))
    throw ArgumentError("sem", "--cov", "clusters' column " + input.clusters + " is one of the model's numbers");
  const Table table = read_table(input, wanted);
  ModelData data =
      evaluate(compiled, formulas, table, input.data, input.missing == "drop", {input.weights, input.clusters});
  SemProblem p{std::move(data.data), compiled.model,      compiled.labels,       {},
               data.dropped,         data.without_weight, std::move(data.groups)};
  for (const ModelTerm& column : compiled.columns) p.names.push_back(column.text);
  return p;
}

/// Equation i is of Y's column i, and has the variables that row i of S selects.
SemProblem from_selection(const SemInput& input, SemMethod method) {
  if (!input.weights.empty() || !input.clusters.empty())
    throw ArgumentError("sem", "--select", "goes without --weights and clusters: name them in a --model");
  if (!npy(input.data) && !input.names.empty()) throw ArgumentError("sem", "--names", "belongs to a .npy file");
  const HostMatrix<double> S = read_matrix<double>(input.select);
  const index_t N = S.rows(), n = S.cols();
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
  ModelFormulas all{input.select, {}, {}};  // every column, as it is
  CompiledModel compiled{{n - N, -1, {}}, {}, {}, names};
  for (const std::string& name : names)
    compiled.columns.push_back({name, {{ExpressionStep::Kind::variable, 0, name, 0, {}}}, {}});
  Table table;
  if (npy(input.data)) {
    const HostMatrix<double> a = read_matrix<double>(input.data);
    if (a.cols() != n) throw FileError(input.select, fmt::format("has {} columns; {} has {}", n, input.data, a.cols()));
    table = {names, {}, {}, a.rows()};
    for (index_t c = 0; c < n; ++c) table.columns.emplace_back(a.data() + c * a.ld(), a.data() + c * a.ld() + a.rows());
  } else {
    table = read_csv(input.data, names);
  }
  ModelData data = evaluate(compiled, all, table, input.data, input.missing == "drop");
  SemProblem p{std::move(data.data), std::move(compiled.model), {}, names, data.dropped, 0};
  const HostMatrix<double>& a = p.data;
  for (index_t c = n - 1; c >= 0; --c)
    if (a.rows() > 0 && a(0, c) != 0 &&
        std::all_of(&a(0, c), &a(0, c) + a.rows(), [&](double x) { return x == a(0, c); }))
      p.model.constant = c;
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

}  // namespace

SemProblem load_sem(const SemInput& input, SemMethod method, std::uint64_t seed) {
  if (!input.generated() && !input.select.empty()) {
    if (!input.model.empty()) throw ArgumentError("sem", "--select", "stands in place of --model");
    return from_selection(input, method);
  }
  if (!input.generated()) return from_files(input, method);
  if (!input.select.empty()) throw ArgumentError("sem", "--select", "belongs to --data");
  if (!input.model.empty()) throw ArgumentError("sem", "--model", "belongs to --data");
  if (!input.names.empty()) throw ArgumentError("sem", "--names", "belongs to --data");
  if (!input.weights.empty()) throw ArgumentError("sem", "--weights", "belongs to --data");
  if (!input.clusters.empty()) throw ArgumentError("sem", "--cov", "cluster:COLUMN belongs to --data");
  GeneratedModel m = generate_model(input.sizes, seed);
  SemProblem p{std::move(m.data), std::move(m.model), {}, std::move(m.names), 0, 0, {}, std::move(m.truth), {}};
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
