#include "tools/app/matrix_outputs.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/checks/svd_error.hpp"
#include "tools/commands/least_squares/solution.hpp"
#include "tools/commands/support/pictures.hpp"
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/io/matrix_rows.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace tesela::cli {
namespace {

struct Options {
  CommonOptions common;
  FormulaInput formula;
  std::string a, out, out_loadings, svg;
  index_t components = -1;
  bool scale = false;
};

/// A table in memory, or the rows of a file.
template <class T>
struct PcaTable {
  std::vector<std::string> names, left_out;
  HostMatrix<T> a;
  RowSource<T> rows;  ///< refers to a
  bool streamed = false;
  index_t dropped = 0;
};

/// Returns the formula of all columns with numbers, and the names of the other columns.
std::pair<std::string, std::vector<std::string>> all_numbers(const std::string& path,
                                                             const std::vector<std::string>& na) {
  const TableSource source = open_table(path, na);
  require(source.read != nullptr, "pca", "DATA", path, " is no CSV: its columns have no names; --a reads it");
  std::vector<ColumnRequest> wanted;
  for (const std::string& name : source.names) wanted.push_back({name, ColumnKind::either});
  const Table table = source.read(wanted);
  std::string formula;
  std::vector<std::string> texts;
  for (index_t j = 0; j < std::ssize(table.names); ++j) {
    const std::string& name = table.names[static_cast<std::size_t>(j)];
    if (table.levels_of(j).empty())
      formula += (formula.empty() ? "" : " + ") + ("`" + name + "`");
    else
      texts.push_back(name);
  }
  if (formula.empty()) throw FileError(path, "has no column of numbers");
  return {formula, texts};
}

template <class T>
PcaTable<T> read_table(const Options& o) {
  PcaTable<T> table;
  if (o.a.empty()) {
    FormulaInput input = o.formula;
    input.one_sided = true;
    std::string& terms = input.formula;
    if (terms.empty())
      std::tie(terms, table.left_out) = all_numbers(input.data, input.na);
    else if (const auto tilde = terms.find('~'); tilde != std::string::npos)
      require(terms.find_first_not_of(" \t") == tilde, "pca", "FORMULA", terms, " has a left side; ~ x1 + x2 has none");
    const FormulaData data = load_formula("pca", input);
    table.names = data.names;
    for (std::string& name : table.names)  // of columns without a formula, where nobody quoted them
      if (o.formula.formula.empty() && name.size() > 2 && name.front() == '`') name = name.substr(1, name.size() - 2);
    table.dropped = data.dropped;
    table.a = in_precision<T>("pca", data.a);
  } else {
    const MatrixFileInfo info = probe_matrix(o.a);
    const auto [m, n] = info.shape;
    for (index_t j = 0; j < n; ++j) table.names.push_back(fmt::format("x{}", j + 1));
    table.streamed = info.format == MatrixFileFormat::npy && n > 0 && m >= 16 * (n + 1);
    if (table.streamed)
      table.rows = rows_of(std::make_shared<const MatrixRows<T>>(o.a));
    else
      table.a = read_matrix<T>(o.a);
  }
  return table;
}

/// Prints the shares, and the loadings of the first components.
void print_components(const nlohmann::json& all, const std::vector<std::string>& names) {
  constexpr std::size_t most_components = 20, most_columns = 6, most_names = 40;
  fmt::print("\n{:<10} {:>14} {:>14} {:>10} {:>10}\n", "component", "std deviation", "variance", "share", "together");
  for (std::size_t c = 0; c < std::min(all.size(), most_components); ++c)
    fmt::print("{:<10} {:>14.7g} {:>14.7g} {:>10.4f} {:>10.4f}\n", c + 1, all[c]["deviation"].get<double>(),
               std::pow(all[c]["deviation"].get<double>(), 2), all[c]["share"].get<double>(),
               all[c]["cumulative"].get<double>());
  if (all.size() > most_components) fmt::print("... and {} more (--json)\n", all.size() - most_components);
  std::size_t width = 10;
  for (const std::string& name : names) width = std::max(width, name.size());
  const std::size_t shown = std::min(all.size(), most_columns);
  fmt::print("\n{:<{}}", "loadings", width);
  for (std::size_t c = 0; c < shown; ++c) fmt::print(" {:>10}", c + 1);
  fmt::print("\n");
  for (std::size_t j = 0; j < std::min(names.size(), most_names); ++j) {
    fmt::print("{:<{}}", names[j], width);
    for (std::size_t c = 0; c < shown; ++c) fmt::print(" {:>10.5f}", all[c]["loadings"][j].get<double>());
    fmt::print("\n");
  }
  if (names.size() > most_names) fmt::print("... and {} more (--json)\n", names.size() - most_names);
  fmt::print("\n");
}

template <class T>
void report_components(const Pca<T>& found, const std::vector<std::string>& names, Report& report) {
  nlohmann::json components = nlohmann::json::array(), columns = nlohmann::json::array();
  double together = 0;
  for (std::size_t c = 0; c < found.deviations.size(); ++c) {
    const double deviation = found.deviations[c];
    together += found.shares[c];
    nlohmann::json loadings = nlohmann::json::array();
    for (index_t j = 0; j < found.loadings.rows(); ++j) loadings.push_back(found.loadings(j, static_cast<index_t>(c)));
    components.push_back({{"deviation", deviation},
                          {"variance", deviation * deviation},
                          {"share", found.shares[c]},
                          {"cumulative", std::min(together, 1.0)},
                          {"loadings", loadings}});
  }
  for (std::size_t j = 0; j < names.size(); ++j)
    columns.push_back({{"name", names[j]}, {"mean", found.means[j]}, {"scale", found.scales[j]}});
  report.section("columns", columns);
  report.section("components", components);
  report.results([components, names] { print_components(components, names); });
}

template <class T>
void draw_shares(const std::string& path, const Pca<T>& found) {
  if (path.empty()) return;
  LinePicture::Line shares{"share", {}, true}, together{"together"};
  double sum = 0;
  for (std::size_t c = 0; c < found.shares.size(); ++c) {
    const auto x = static_cast<double>(c + 1);
    shares.points.emplace_back(x, found.shares[c]);
    together.points.emplace_back(x, sum += found.shares[c]);
  }
  write_text(path,
             draw({"explained variance", "component", "share of the variance", false, false, {shares, together}}));
}

template <class T>
int run(Options o) {
  Report report("pca", o.common);
  require(!o.a.empty() || !o.formula.data.empty(), "pca", "DATA", "is missing: a table, or --a with a matrix");
  require(o.a.empty() || !o.formula.given(), "pca", "--a", "goes without DATA and FORMULA");
  PcaTable<T> table = read_table<T>(o);
  if (!table.streamed) table.rows = rows_of(table.a);
  const index_t m = table.rows.m, n = table.rows.n, most = std::min(m, n);
  require(m >= 2 && n >= 1, "pca", o.a.empty() ? "DATA" : "--a", "leaves ", to_string(Shape{m, n}),
          ": principal components need two rows and a column");
  require(o.components <= most, "pca", "--components", o.components, " of ", most);
  const PcaOptions options{.scale = o.scale,
                           .components = o.components < 0 ? std::nullopt : std::optional(o.components),
                           .scores = !o.out.empty() || !table.streamed};
  const double elements = static_cast<double>(m) * static_cast<double>(n);
  require_memory("pca", "the table, its copies and the scores",
                 (table.streamed ? (options.scores ? elements : 0) : 5 * elements) * sizeof(T));
  report.problem() = {{"m", m},
                      {"n", n},
                      {"input", o.a.empty() ? o.formula.data : o.a},
                      {"scale", o.scale},
                      {"precision", o.common.precision}};
  if (table.streamed) report.problem()["streamed"] = true;
  if (o.a.empty()) report.problem()["dropped_rows"] = table.dropped;
  Pca<T> found;
  {
    Runtime runtime(o.common.runtime());
    const auto compute = [&](Graph* g) {
      found = table.streamed ? pca(*g, table.rows, options) : pca(*g, MatrixView<T>(table.a), options);
    };
    const Solver<int> solver{[] {}, compute, {}, [] { return 0; }};
    run_timed(o.common, runtime, report, solver, svd_flops(m, n, SvdVectors::economic));
  }
  if (!found.status.ok()) {
    report.fail(to_string(found.status));
    return report.finish();
  }
  if (o.common.check) {
    const PcaError error = pca_error(table.rows, found);
    const PcaBounds bounds = pca_bounds<T>(m, n);
    report.check("mean_error", Measured{error.means, bounds.value});
    report.check("residual", Measured{error.residual, bounds.value});
    report.check("orthogonality_v", Measured{error.orthogonality, bounds.orthogonality});
    report.check("share_error", Measured{error.shares, bounds.value});
    if (options.scores) report.check("score_error", Measured{error.scores, bounds.value});
  }
  report_components(found, table.names, report);
  note_rows(table.dropped, 0, report);
  for (const std::string& name : table.left_out) report.note("left out, no numbers: " + name);
  if (report.good()) draw_shares(o.svg, found);
  write_matrices(report, {{"scores", o.out, found.scores}, {"loadings", o.out_loadings, found.loadings}});
  return report.finish();
}

const Command pca_command(Command::Group::top, "pca", "principal components of a table", [](App& app) {
  auto o = std::make_shared<Options>();
  Option* const data = add_formula(app, o->formula, "a table, CSV with a header, also without --data",
                                   "the columns, \"~ x1 + log(x2)\", also without --model (default: all columns of "
                                   "numbers)");
  add_input(app, "-a,--a", o->a, "read the table from FILE without names (.mtx, .npy, .csv or .txt)")->excludes(data);
  app.add_flag("--scale", o->scale, "divide columns by their standard deviations");
  app.add_option("--components", o->components, "the K components of largest variance (default: all)")
      ->positive()
      ->type_name("K");
  add_output(app, Output::matrix, "-o,--out", o->out, "write the scores, a row for each row that is used, to FILE");
  add_output(app, Output::matrix, "--out-loadings", o->out_loadings, "write the loadings, n x K, to FILE");
  add_output(app, Output::text, "--svg", o->svg, "draw the explained variance to FILE");
  o->common.add_to(app, {.seed = false});
  app.footer(
      "Columns are centred. The largest loading of each component is positive.\n"
      "Examples:\n"
      "  tesela pca data.csv --scale --svg variance.svg\n"
      "  tesela pca data.csv \"~ height + log(weight)\" -o scores.csv --components 2\n"
      "  tesela pca -a A.npy --json -");
  return std::function<int()>([o] { return run_in_precision(*o, run<float>, run<double>); });
});

}  // namespace
}  // namespace tesela::cli
