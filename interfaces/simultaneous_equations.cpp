// Not in C yet: models are formulas and tables with names.
#ifdef TESELA_PYTHON
#include "interfaces/python/results.hpp"
#include <tesela/algorithms/econometrics/model_data.hpp>
#include <tesela/algorithms/econometrics/regression.hpp>
#include <tesela/algorithms/econometrics/sem_summary.hpp>
#include <tesela/tiles/io/csv_column.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nanobind/stl/map.h>
#include <nanobind/stl/vector.h>

namespace tesela::python {
namespace {

struct EquationResult {
  std::string label, dependent, status;
  std::vector<std::string> names, dependent_regressors;
  AnyArray coefficients, standard_errors, statistics, p_values, intervals, covariance;
  index_t degrees_of_freedom = 0;
  double sigma = 0, r2 = 0, adjusted_r2 = 0, f = 0, f_p = 0, condition = 1, sargan = 0, sargan_p = 0, hansen = 0,
         hansen_p = 0;
  nb::tuple f_df;
  nb::dict first_stage;
};

struct SemResult {
  std::string status, covariance_type;
  std::map<std::string, EquationResult> equations;
  std::vector<std::string> labels, dropped_instruments;
  index_t observations = 0, dropped_rows = 0;
  AnyArray residual_covariance;
  double mcelroy_r2 = 0, hansen_sargan = 0, hansen_sargan_p = 0, hansen = 0, hansen_p = 0;
  std::string text;
};

nb::object numpy(const char* name) { return nb::module_::import_("numpy").attr(name); }

template <class E>
E named(const char* argument, std::span<const Named<E>> all, const std::string& given) {
  const auto found = find_named(all, given);
  std::string names;
  for (const Named<E>& one : all) names += (names.empty() ? "'" : ", '") + std::string(one.name) + "'";
  if (!found) throw nb::value_error((std::string(argument) + " must be one of " + names).c_str());
  return *found;
}

nb::object masked(const char* name) { return nb::module_::import_("numpy.ma").attr(name); }

/// Returns a column of real numbers as float64, with NaN for masked elements. Throws TypeError for other types, which
/// NumPy would convert with a loss.
nb::object numbers_of(const std::string& name, nb::handle column) {
  const nb::object own = nb::getattr(column, "dtype", nb::none());  // pandas has its own types with missing values
  const nb::object type = nb::hasattr(own, "kind") ? own : nb::object(numpy("asarray")(column).attr("dtype"));
  const auto kind = nb::cast<std::string>(type.attr("kind"));
  if (kind.find_first_not_of("biuf") != std::string::npos)
    throw nb::type_error(
        ("data: " + name + " has values of type " + nb::cast<std::string>(nb::str(type)) + ", not real numbers")
            .c_str());
  if (nb::isinstance(column, masked("MaskedArray")))
    return masked("filled")(column.attr("astype")("float64"), std::numeric_limits<double>::quiet_NaN());
  return numpy("array")(column, "dtype"_a = "float64");
}

/// Returns for each element of a column whether it is present: not masked, None, NaN or NA.
nb::object present_in(nb::handle column) {
  if (nb::hasattr(column, "isna")) return numpy("logical_not")(numpy("asarray")(column.attr("isna")()));
  const nb::object values = numpy("asarray")(column), either = numpy("logical_or");
  const nb::object missing =
      either(masked("getmaskarray")(column), either(values.attr("__ne__")(values), values.attr("__eq__")(nb::none())));
  return numpy("logical_not")(missing);
}

/// Levels of a column of any type: their numbers, NaN for None, NaN and masked elements, and their texts.
struct Levels {
  nb::object numbers;
  std::vector<std::string> texts;
};

/// Returns the sorted distinct values of a column as levels; of a pandas categorical its categories in their order.
Levels levels_of(nb::handle column) {
  const nb::object categorical = nb::getattr(column, "cat", nb::none());
  if (!categorical.is_none()) {
    const nb::object codes = numpy("asarray")(categorical.attr("codes"), "dtype"_a = "float64");
    Levels levels{numpy("where")(codes.attr("__lt__")(0), std::numeric_limits<double>::quiet_NaN(), codes), {}};
    for (const nb::handle category : nb::iter(categorical.attr("categories")))
      levels.texts.push_back(nb::cast<std::string>(nb::str(category)));
    return levels;
  }
  const nb::object values = numpy("asarray")(column), present = present_in(column);
  const nb::tuple unique = nb::cast<nb::tuple>(numpy("unique")(values[present], "return_inverse"_a = true));
  Levels levels{numpy("full")(values.attr("shape"), std::numeric_limits<double>::quiet_NaN()), {}};
  levels.numbers[present] = unique[1];
  for (const nb::handle value : nb::iter(unique[0])) levels.texts.push_back(nb::cast<std::string>(nb::str(value)));
  return levels;
}

/// Returns whether a column of either kind holds levels: categories, bool, or text that is not digits.
bool has_levels(nb::handle column) {
  if (!nb::getattr(column, "cat", nb::none()).is_none()) return true;
  const nb::object values = numpy("asarray")(column);
  const char kind = nb::cast<std::string>(values.attr("dtype").attr("kind"))[0];
  if (kind != 'O' && kind != 'U') return kind == 'b';
  bool any = false;
  for (const nb::handle value : nb::iter(values[present_in(column)])) {
    const bool text = nb::isinstance<nb::str>(value) && !looks_like_number(nb::cast<std::string>(value));
    if (!text && !nb::isinstance<nb::bool_>(value)) return false;
    any = true;
  }
  return any;
}

/// Returns the wanted columns of a dict of columns, a data frame, or a structured array.
Table table_of(nb::handle data, const std::vector<ColumnRequest>& wanted) {
  Table table{.ordered = true};
  for (const auto& [name, kind] : wanted) {
    nb::object column = data[nb::str(name.c_str())];
    table.names.push_back(name);
    table.levels.emplace_back();
    if (kind == ColumnKind::level || (kind == ColumnKind::either && has_levels(column))) {
      Levels levels = levels_of(column);
      column = levels.numbers;
      table.levels.back() = std::move(levels.texts);
    }
    const Argument values(name.c_str(), numbers_of(name, column));
    values.require_vector();
    const auto numbers = Columns<double>::on_host(values);
    if (!table.columns.empty() && table.rows != numbers.rows)
      throw nb::value_error(("data: " + name + " has " + std::to_string(numbers.rows) + " rows, and " +
                             wanted.front().name + " " + std::to_string(table.rows))
                                .c_str());
    table.rows = numbers.rows;
    table.columns.emplace_back(numbers.data, numbers.data + numbers.rows);
  }
  return table;
}

std::vector<std::string> names_of_table(nb::handle data) {
  const nb::object structured = nb::getattr(nb::getattr(data, "dtype", nb::none()), "names", nb::none());
  std::vector<std::string> names;
  for (const nb::handle name : nb::list(structured.is_none() ? nb::borrow(data) : structured))
    names.push_back(nb::cast<std::string>(nb::str(name)));
  return names;
}

/// Returns the table of a dict of columns, a data frame, a structured array, or a CSV file.
TableSource source_of(nb::handle data) {
  if (nb::isinstance<nb::str>(data) || nb::hasattr(data, "__fspath__")) {
    const auto path = nb::cast<std::string>(nb::module_::import_("os").attr("fspath")(data));
    TableSource table = open_table(path);
    if (table.read == nullptr)
      throw nb::value_error(("data: " + path + " is no CSV: its columns have no names").c_str());
    return table;
  }
  const auto read = [data](const std::vector<ColumnRequest>& wanted) { return table_of(data, wanted); };
  return {.name = "data", .names = names_of_table(data), .read = read, .first_row = 0};
}

double p_of(const TestStatistic& test) {
  return p_of_chi_squared(test.statistic, static_cast<double>(std::max<index_t>(test.df, 1)));
}

/// Fills the members with one number for each regressor.
void add_coefficients(EquationResult& result, EquationEstimate& found, SemDivisor divisor, double level) {
  std::vector<double> statistics, p_values;
  HostMatrix<double> intervals(std::ssize(found.coefficients), 2);
  for (std::size_t k = 0; k < found.coefficients.size(); ++k) {
    const CoefficientTest test = test_of(found, k, divisor, level);
    statistics.push_back(test.statistic);
    p_values.push_back(test.p);
    intervals(static_cast<index_t>(k), 0) = test.low;
    intervals(static_cast<index_t>(k), 1) = test.high;
  }
  result.coefficients = to_python(found.coefficients);
  result.standard_errors = to_python(found.standard_errors);
  result.statistics = to_python(statistics);
  result.p_values = to_python(p_values);
  result.intervals = to_python(std::move(intervals));
  result.covariance = to_python(std::move(found.covariance));
}

EquationResult equation_result(EquationEstimate& found, const ModelData& model, std::size_t i, SemDivisor divisor,
                               double level) {
  EquationResult result;
  result.label = model.labels[i];
  result.dependent = model.name(model.model.equations[i].dependent);
  result.status = description(found.status);
  for (const index_t column : model.model.equations[i].regressors) result.names.push_back(model.name(column));
  for (const index_t column : found.dependent_regressors) result.dependent_regressors.push_back(model.name(column));
  add_coefficients(result, found, divisor, level);
  result.degrees_of_freedom = found.degrees_of_freedom;
  result.sigma = found.sigma;
  result.r2 = found.r2;
  result.adjusted_r2 = found.adjusted_r2;
  result.f = found.f.statistic;
  result.f_p = p_of_slopes(found.f, divisor);
  result.f_df = nb::make_tuple(found.f.df, found.f.df2);
  for (std::size_t k = 0; k < found.first_stage.size(); ++k)
    if (const TestStatistic& f = found.first_stage[k]; f.df2 > 0)
      result.first_stage[result.names[k].c_str()] = nb::make_tuple(
          f.statistic, f.df, f.df2, p_of_f(f.statistic, static_cast<double>(f.df), static_cast<double>(f.df2)));
  result.condition = found.condition;
  result.sargan = found.sargan.statistic;
  result.sargan_p = p_of(found.sargan);
  result.hansen = found.hansen.statistic;
  result.hansen_p = p_of(found.hansen);
  return result;
}

/// Returns whether the covariances of all coefficients together have at most 10^7 numbers.
bool few_coefficients(const SimultaneousModel& model) {
  double numbers = 0;
  for (const Equation& e : model.equations) {
    const auto r = static_cast<double>(e.regressors.size());
    numbers += r * r;
  }
  return numbers <= 1e7;
}

/// Returns Wald's statistic of R b = q, its degrees of freedom and its p-value by chi squared.
nb::tuple wald(const EquationResult& result, const ArrayLike& restrictions, nb::handle values) {
  const nb::object R = numpy("atleast_2d")(numpy("asarray")(restrictions, "dtype"_a = "float64"));
  const nb::object zero = numpy("zeros")(R.attr("shape")[nb::int_(0)]),
                   q = values.is_none() ? zero : numpy("broadcast_to")(values, zero.attr("shape")),
                   matmul = numpy("matmul"), d = numpy("subtract")(matmul(R, result.coefficients), q),
                   V = matmul(matmul(R, result.covariance), R.attr("T")),
                   solve = nb::module_::import_("numpy.linalg").attr("solve");
  const auto statistic = nb::cast<double>(matmul(d, solve(V, d)));
  const auto df = nb::cast<index_t>(zero.attr("size"));
  return nb::make_tuple(statistic, df, p_of_chi_squared(statistic, static_cast<double>(df)));
}

SemResult sem(const std::string& model, nb::handle data, const std::string& method, const std::string& divisor,
              const std::string& covariance, const std::string& missing, const std::string& weights,
              const std::string& clusters, Flag iterate, double level) {
  SemOptions options;
  options.method = named("method", sem_methods(), method);
  options.divisor = named("divisor", sem_divisors(), divisor);
  options.iterate = iterate;
  const bool system = is_joint(options.method);
  if (!(level > 0 && level < 1)) throw nb::value_error("level must be between 0 and 1");
  if (covariance != "classical" && covariance != "robust")
    throw nb::value_error(
        "covariance must be 'classical' or 'robust' (HC0, with divisor='small' HC1); clusters='COLUMN' selects "
        "clustered errors");
  options.robust = covariance == "robust" || !clusters.empty();
  if (iterate && !system) throw nb::value_error("iterate belongs to the methods '3sls' and 'sur'");
  if (missing != "drop" && missing != "raise") throw nb::value_error("missing must be 'drop' or 'raise'");
  const TableSource table = source_of(data);
  ModelData loaded;
  try {
    const bool names_file = model.find('~') == std::string::npos && std::filesystem::is_regular_file(model);
    loaded = load_model(table, names_file ? read_or_parse_model(model) : parse_model(model, "model"), options.method,
                        {.weights = weights, .groups = clusters, .drop_missing = missing == "drop"});
  } catch (const FileError& e) {  // from parsing the formulas or the table
    throw nb::value_error(e.what());
  }
  const index_t observations = loaded.data.rows();
  options.covariances = few_coefficients(loaded.model);
  SimultaneousEquations found = with_workers([&](const c::Session& session) {
    Graph g(session);
    return estimate(g, std::move(loaded.data), loaded.model, options, loaded.groups);
  });
  SemResult result;
  result.covariance_type = covariance_name(options, loaded.groups);
  result.text = summary(found, loaded, options, level);
  result.status = description(found.status);
  result.labels = loaded.labels;
  for (std::size_t i = 0; i < found.equations.size(); ++i) {
    EquationEstimate& equation = found.equations[i];
    if (equation.status != EquationStatus::ok && result.status == "ok")
      result.status = "equation " + loaded.labels[i] + ": " + description(equation);
    result.equations.emplace(loaded.labels[i], equation_result(equation, loaded, i, options.divisor, level));
  }
  for (const index_t column : found.dropped_instruments) result.dropped_instruments.push_back(loaded.name(column));
  result.observations = observations;
  result.dropped_rows = loaded.dropped;
  result.residual_covariance = to_python(std::move(found.residual_covariance));
  result.mcelroy_r2 = found.mcelroy_r2;
  result.hansen_sargan = found.hansen_sargan.statistic;
  result.hansen_sargan_p = p_of(found.hansen_sargan);
  result.hansen = found.hansen.statistic;
  result.hansen_p = p_of(found.hansen);
  if (result.status != "ok") raise_lin_alg_error("sem: " + result.status, result.status, nb::cast(result));
  return result;
}

const Part part([](nb::module_& m) {
  ResultClass<EquationResult>(m, "EquationResult", "Result of `sem` for one equation.")
      .member("label", &EquationResult::label, "Its name in the model.")
      .member("dependent", &EquationResult::dependent, "Name of the dependent variable.")
      .member("names", &EquationResult::names, "Names of the regressors.")
      .member("coefficients", &EquationResult::coefficients, "Coefficients of the regressors, in the order of `names`.")
      .member("standard_errors", &EquationResult::standard_errors, "Standard errors of the coefficients.")
      .member("statistics", &EquationResult::statistics,
              "Student's t for divisor 'small', else z: coefficients over standard errors.")
      .member("p_values", &EquationResult::p_values, "Two-sided p-values of the statistics.")
      .member("intervals", &EquationResult::intervals, "Confidence intervals, two columns.")
      .member("covariance", &EquationResult::covariance,
              "Covariance of the coefficients; empty if all equations need more than 10^7 numbers.")
      .member("degrees_of_freedom", &EquationResult::degrees_of_freedom, "Observations less regressors.")
      .member("sigma", &EquationResult::sigma, "The errors' standard deviation.")
      .member("r2", &EquationResult::r2, "Explained share of the variance.")
      .member("adjusted_r2", &EquationResult::adjusted_r2, "r2 adjusted for the number of regressors.")
      .member("f", &EquationResult::f, "Wald's statistic of all slopes over their number; NaN without any.")
      .member("f_df", &EquationResult::f_df, "Its two degrees of freedom.")
      .member("f_p", &EquationResult::f_p, "Its p-value: by F for divisor 'small', else by chi squared.")
      .member(
          "first_stage", &EquationResult::first_stage,
          "For each endogenous regressor F of the excluded instruments, its degrees of freedom and p-value; robust or "
          "clustered as the standard errors.")
      .member("condition", &EquationResult::condition, "Condition of the regressors as explained by the instruments.")
      .member(
          "sargan", &EquationResult::sargan,
          "Sargan's statistic of the overidentifying restrictions, valid for independent errors of one variance; NaN "
          "without any. Robust errors and clusters also have `hansen`.")
      .member("sargan_p", &EquationResult::sargan_p, "Its p-value.")
      .member(
          "hansen", &EquationResult::hansen,
          "Hansen's J of the overidentifying restrictions under robust errors or clusters; NaN without restrictions, "
          "with fewer clusters than moments, and for classical errors.")
      .member("hansen_p", &EquationResult::hansen_p, "Its p-value.")
      .member("dependent_regressors", &EquationResult::dependent_regressors, "Linearly dependent regressors.")
      .member("status", &EquationResult::status, "'ok', or the reason why there are no coefficients.")
      .prints({"label", "names", "coefficients", "standard_errors", "status"})
      .def("wald", wald, "restrictions"_a, "values"_a = nb::none(),
           "Test R b = q for the rows R of `restrictions`: Wald's statistic, its degrees of freedom and p-value.");
  ResultClass<SemResult>(m, "SemResult", "Result of `sem`; result[label] is an equation.")
      .member("equations", &SemResult::equations, "By their labels.")
      .member("covariance_type", &SemResult::covariance_type,
              "Kind of the standard errors and tests: 'classical', 'robust (HC0)', 'robust (HC1)' or 'clustered (12 "
              "clusters)'.")
      .member("labels", &SemResult::labels, "Labels of the equations, in the model's order.")
      .member("observations", &SemResult::observations, "Number of rows used.")
      .member("dropped_rows", &SemResult::dropped_rows, "Number of rows with missing values.")
      .member("dropped_instruments", &SemResult::dropped_instruments, "Instruments that others imply.")
      .member("residual_covariance", &SemResult::residual_covariance, "Covariance of the equations' residuals.")
      .member("mcelroy_r2", &SemResult::mcelroy_r2, "McElroy's R2 of the whole system ('3sls', 'sur'); otherwise NaN.")
      .member("hansen_sargan", &SemResult::hansen_sargan, "Statistic of all restrictions; NaN without any.")
      .member("hansen_sargan_p", &SemResult::hansen_sargan_p, "Its p-value.")
      .member("hansen", &SemResult::hansen,
              "Hansen's J of all restrictions for robust errors or clusters of '3sls'; NaN without any.")
      .member("hansen_p", &SemResult::hansen_p, "Its p-value.")
      .member("status", &SemResult::status, "'ok'.")
      .member("text", &SemResult::text, "The text of summary().")
      .prints({"labels", "observations", "status"})
      .def("__str__", [](const SemResult& r) { return r.text; })
      .def(
          "summary", [](const SemResult& r) { return r.text; },
          "Return coefficients and tests as text; print() shows it.")
      .def("__getitem__", [](const SemResult& r, const std::string& label) {
        const auto found = r.equations.find(label);
        if (found == r.equations.end()) throw nb::key_error(label.c_str());
        return found->second;
      });
  m.def("sem", sem, "model"_a, "data"_a, nb::kw_only(), "method"_a = "2sls", "divisor"_a = "n",
        "covariance"_a = "classical", "missing"_a = "drop", "weights"_a = "", "clusters"_a = "", "iterate"_a = false,
        "level"_a = 0.95,
        R"(Estimate systems of simultaneous equations by two- or three-stage least squares, OLS or SUR.

Parameters
----------
model : str
    One equation per line in R's formula notation, and a line of instruments: see the example and the guide; or the
    path of a file with these lines.
data : dict of columns, data frame, structured array, or path of a CSV file
    data[name] is the column of a variable. NaN and masked elements are missing values. Columns of text, bool and
    categories become treatment contrasts to their first level.
method : {'2sls', '3sls', 'ols', 'sur', 'ils'}
divisor : {'n', 'small'}
    Divisor of residual sums of squares: observations, or observations minus regressors.
covariance : {'classical', 'robust'}
    Standard errors for errors of one variance, or of any variances (White).
missing : {'drop', 'raise'}
    Treatment of rows with a missing value in a used column.
weights, clusters : str
    Column with the weights of the rows, and column whose values group rows with dependent errors.
iterate : bool
    For '3sls' and 'sur': repeat until the coefficients converge.
level : float
    Probability of the intervals.

Returns
-------
SemResult

Raises
------
numpy.linalg.LinAlgError
    If an equation is not identified or has no coefficients; its attribute `result` has the other equations.

Examples
--------
>>> import numpy as np, tesela
>>> income, rain = np.array([1., 2., 3., 4., 6.]), np.array([3., 1., 2., 5., 4.])
>>> price = (7 + income - 2 * rain) / 3
>>> market = {"income": income, "rain": rain, "price": price, "quantity": 10 - 2 * price + income}
>>> r = tesela.sem('''demand: quantity ~ price + income
...                   supply: quantity ~ price + rain
...                   instruments: ~ income + rain''', market)
>>> r["demand"].names, np.round(r["demand"].coefficients, 6)
(['(Intercept)', 'price', 'income'], array([10., -2.,  1.]))
)");
});

}  // namespace
}  // namespace tesela::python
#endif
