#include "tools/commands/least_squares/solution.hpp"

#include "tools/app/arguments.hpp"
#include "tools/app/help.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/outputs.hpp"
#include <tesela/algorithms/dense/random_matrix.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::cli {

void LeastSquaresOptions::complete(const char* command) {
  if (formula.given() && !method.library()) uncertainty.errors = true;
  choose_tiles_for_options(method);
  require_valid(command, method, tile, common);
  require_rcond(command, rcond);
  uncertainty.require_valid(command, method);
}

void LeastSquaresOptions::require_complex(const char* command, const Choices& methods) const {
  if (!common.complex()) return;
  require_holds_numbers(command, common, {{"--out", &out}});
  const std::vector<std::string>& names = methods.names();
  require(std::find(names.begin(), names.end(), method.name) != names.end(), command, "--method", method.name,
          " has no complex numbers: use ", names.front());
  require(!formula.given(), command, "--precision", common.precision, ": formulas have no complex numbers");
}

void LeastSquaresOptions::default_sizes(index_t default_n, index_t ratio) {
  if (n < 0) n = default_n;
  if (m < 0) m = ratio * n;
}

void LeastSquaresOptions::load_model(const char* command) {
  if (!a.empty() || !b.empty() || m >= 0 || n >= 0 || p >= 0)
    throw ArgumentError(command, "DATA FORMULA", "goes without files of matrices and sizes");
  if (formula.data.find('~') != std::string::npos && formula.formula.find('~') == std::string::npos)
    std::swap(formula.data, formula.formula);  // the order of R's lm
  model = std::make_shared<const FormulaData>(load_formula(command, formula));
  m = model->a.rows(), n = model->a.cols(), rhs = 1;
}

RegressionNames LeastSquaresOptions::regression_names(bool total) const {
  if (model == nullptr) return {};
  return {model->names, model->dependent, model->intercept,
          total ? total_norm(model->b, model->weights, model->intercept) : std::numeric_limits<double>::quiet_NaN()};
}

void LeastSquaresOptions::note_formula(Report& report) const {
  if (model == nullptr) return;
  note_factors(model->factors, report);
  note_rows(model->dropped, model->without_weight, report);
}

void LeastSquaresOptions::take_sizes(const InputFile& of_a, const InputFile& of_b, bool stream) {
  m = of_a.shape.rows;
  n = of_a.shape.cols;
  rhs = of_b.shape.cols;
  streamed = stream && !common.complex() && can_stream(method, a, of_a.shape, rhs);
}

void LeastSquaresOptions::complete_sizes(const char* command) {
  std::vector<InputFile> files{{"--a", a}, {"--b", b}};
  if (model == nullptr && probe_all(command, files)) {
    require_rows_of(command, files[0], files[1]);
    take_sizes(files[0], files[1], true);
  }
  default_sizes(512, 4);
}

template <class T>
void LeastSquaresOptions::read(OlsProblem<T>& problem, const Counted& counted) const {
  if constexpr (!is_complex<T>) {
    if (model != nullptr) {
      problem.a = in_precision<T>(problem.command, model->a);
      problem.b = in_precision<T>(problem.command, model->b);
      return;
    }
    if (streamed) problem.rows = std::make_unique<MatrixRows<T>>(a, Nans::refused, counted);
  }
  if (!streamed) problem.a = read_matrix<T>(a, counted);
  problem.b = read_matrix<T>(b, counted);
}

template <class T>
void LeastSquaresOptions::load(OlsProblem<T>& problem) const {
  if (has_input()) return read(problem);
  problem.a = generate<T>(problem.shape, parse_random_kind(random), problem.seed);
  problem.b = uniform<T>({m, rhs}, problem.seed + 1);
}

nlohmann::json LeastSquaresOptions::describe() const {
  nlohmann::json all{{"m", m},
                     {"n", n},
                     {"rhs", rhs},
                     {"method", method.name},
                     {"input", model != nullptr ? formula.data
                               : a.empty()      ? random
                                                : a},
                     {"precision", common.precision},
                     {"seed", common.seed}};
  if (streamed) all["streamed"] = true;
  if (model != nullptr) all["formula"] = formula.formula, all["dropped_rows"] = model->dropped;
  return all;
}

Option* add_formula(App& app, FormulaInput& in, const char* of_data, const char* of_formula) {
  Option* const data = add_input(app, "--data,data", in.data, of_data);
  app.add_option("--model,formula", in.formula, of_formula)->type_name("FORMULA");
  app.add_option("--na", in.na,
                 "with FORMULA: a further code of missing values (NA, NaN, null, -, . and the like are known)")
      ->type_name("CODE");
  app.add_option("--missing", in.missing, "with FORMULA: rows that lack a used value: drop or error")
      ->check(one_of({"drop", "error"}))
      ->show_default();
  for (const char* rare : {"--na", "--missing"}) app.get_option(rare)->group(more_options);
  return data;
}

void add_least_squares_options(App& app, LeastSquaresOptions& o, const LeastSquaresTexts& texts,
                               const Choices& methods) {
  Option* const data = texts.formula ? add_formula(app, o.formula) : nullptr;
  auto* a = add_input(app, "-a,--a", o.a, "read A from FILE (.mtx, .npy, .csv or .txt)");
  auto* b = add_input(app, "-b,--b", o.b, "read the right-hand sides, the columns of B, from FILE");
  for (const auto& [option, path, text] : texts.files) add_input(app, option, *path, text);
  const auto generated = [&](Option* option, Option* file) {
    return data == nullptr ? option->excludes(file) : option->excludes(file)->excludes(data);
  };
  const auto add_size = [&](const char* option, index_t& value, const char* text) {
    return generated(app.add_option(option, value, text)->non_negative()->generates(), a);
  };
  add_size("-m,--m", o.m, texts.m);
  add_size("-n,--n", o.n, texts.n);
  if (texts.p != nullptr) add_size(texts.p_option, o.p, texts.p)->group(more_options);
  generated(app.add_option("--rhs", o.rhs, texts.rhs)->non_negative()->show_default(), b);
  generated(add_random(app, o.random, random_kinds()), a);
  if (texts.random_b != nullptr)
    generated(app.add_option("--random-b", o.random_b, texts.random_b)->type_name("KIND")->show_default(), a)
        ->generates();
  if (texts.inconsistent != nullptr) generated(app.add_flag("--inconsistent", o.inconsistent, texts.inconsistent), a);
  add_output(app, Output::matrix, "-o,--out", o.out, "write X, n x rhs, to FILE (.mtx, .npy, .csv or .txt)");
  for (const auto& [option, path, text] : texts.outputs) add_output(app, Output::matrix, option, *path, text);
  if (texts.uncertainty) o.uncertainty.add_to(app);
  methods.add_option(app, "--method", o.method.name);
  app.add_option("--rcond", o.rcond, texts.rcond);
  add_tile(app, o.tile, "MB or MBxNB");
  add_to(app, o.method);
  o.common.add_to(app, {.complex = texts.complex, .streams = 2});  // panels next to updates
  for (const char* rare : {"--rhs", "--random", "--seed", "--tile", "--precision", "--repeat"})
    app.get_option(rare)->group(more_options);
}

void report_distances(const std::vector<double>& distances, bool inconsistent, Report& report,
                      const std::function<bool(std::size_t)>& possible) {
  double worst = 0;
  for (const double distance : distances) worst = std::isnan(distance) ? distance : std::max(worst, distance);
  report.check("distance", worst);
  if (!inconsistent || distances.size() < 2) return;
  nlohmann::json columns = nlohmann::json::array();
  for (std::size_t j = 0; j < distances.size(); ++j)
    columns.push_back({{"status", possible(j) ? "ok" : "inconsistent"}, {"distance", distances[j]}});
  report.columns(columns);
}

void report_coefficients(const std::string& dependent, const nlohmann::json& coefficients, Report& report) {
  report.section("coefficients", coefficients);
  report.results([dependent, coefficients] {
    constexpr std::size_t most = 40;
    const std::size_t shown = std::min(coefficients.size(), most);
    std::size_t width = 10;
    for (std::size_t j = 0; j < shown; ++j)
      width = std::max(width, coefficients[j]["name"].get_ref<const std::string&>().size());
    fmt::print("\n{:<{}} {:>14}\n", dependent + " ~", width, "estimate");
    for (std::size_t j = 0; j < shown; ++j)
      fmt::print("{:<{}} {:>14.7g}\n", coefficients[j]["name"].get_ref<const std::string&>(), width,
                 coefficients[j]["estimate"].get<double>());
    if (shown < coefficients.size()) fmt::print("... and {} more (--json)\n", coefficients.size() - shown);
    fmt::print("\n");
  });
}

#define TESELA_INSTANTIATE(T)                                                    \
  template void LeastSquaresOptions::read(OlsProblem<T>&, const Counted&) const; \
  template void LeastSquaresOptions::load(OlsProblem<T>&) const;
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela::cli
