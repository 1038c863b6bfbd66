#include "tools/problems/econometrics/sem.hpp"

#include "tools/app/numbers.hpp"
#include "tools/peers/cusolver_least_squares.hpp"
#include "tools/problems/least_squares/formula_data.hpp"
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/machine/memory.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/io/mapped_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace tesela::cli {
namespace {

using Estimates = Solver<SimultaneousEquations>;

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

[[noreturn]] void refuse_rows(const char* why) { throw ArgumentError("sem", "--rows-at-once", why); }

ModelData load_file(const SemInput& input, SemMethod method) {
  require(!input.model.empty() || !input.select.empty(), "sem", "--model",
          "is missing (or --select): --data belongs to a model");
  require(input.model.empty() || input.select.empty(), "sem", "--select", "replaces --model: leave out one option");
  require(input.select.empty() || (input.weights.empty() && input.clusters.empty()), "sem", "--select",
          "goes without --weights and clusters: name them in a --model");
  TableSource table = open_table(input.data, input.na);
  const bool npy = !table.read;
  require(npy || input.names.empty(), "sem", "--names", "belongs to a .npy file of data, and no CSV takes it");
  require(!npy || !input.names.empty() || !input.select.empty(), "sem", "--names",
          "is missing: a .npy file of data has no names of columns");
  if (input.rows_at_once > 0 && !npy) refuse_rows("belongs to a .npy file or a generated model");
  if (input.rows_at_once > 0 && (input.hold || !input.weights.empty() || !input.clusters.empty()))
    refuse_rows("goes without --weights and --cov, which hold the data");
  if (npy && !input.names.empty()) table.names = read_names(input.names), table.names_from = input.names;
  LoadOptions options{.groups = input.clusters, .drop_missing = input.missing == "drop", .hold = input.hold};
  choose_weights(input.weights, table, options);
  if (input.select.empty()) return load_model(table, read_or_parse_model(input.model), method, options);
  const HostMatrix<double> S = read_matrix<double>(input.select);
  if (npy && input.names.empty()) {
    table.names_from = input.select;
    const index_t K = S.cols() - S.rows();
    for (index_t c = 1; c <= S.cols(); ++c)
      table.names.push_back(c <= K ? fmt::format("x{}", c) : fmt::format("y{}", c - K));
  }
  return load_model(table, S, input.select, method, options);
}

/// Returns whether generated data and their copy need at most half of the memory.
bool held(const ModelSizes& s) {
  const double columns = static_cast<double>(s.exogenous) + static_cast<double>(s.equations);
  return 2 * sizeof(double) * static_cast<double>(s.observations) * columns <= usable_host_bytes() / 2;
}

Estimates by_graph(SemProblem& p, SemEngine engine) {
  SemOptions options = p.options;
  options.engine = engine;
  const auto answer = std::make_shared<SimultaneousEquations>();
  const auto prepare = [&p] {
    if (!p.is_streamed()) p.work = p.data.clone();
  };
  const auto run = [&p, options, answer](Graph* g) {
    if (!p.is_streamed()) {
      *answer = estimate(*g, std::move(p.work), p.model, options, p.groups);
      return;
    }
    ModelTriangle triangle = model_triangle(*g, p.streamed, p.rows_at_once);
    *answer = estimate(*g, triangle, p.model, options);
    answer->triangle = std::move(triangle);
  };
  return {prepare, run, {}, [answer] { return std::move(*answer); }};
}

using Coefficients = std::vector<std::vector<double>>;

/// Returns the solver of a library, which computes all coefficients.
template <class Solve>
Estimates by_library(const std::function<void()>& prepare, Solve solve) {
  const auto found = std::make_shared<Coefficients>();
  return {prepare,
          [found, solve](Graph*) { *found = solve(); },
          {},
          [found] {
            SimultaneousEquations answer;
            for (const std::vector<double>& b : *found) answer.equations.push_back({.coefficients = b});
            return answer;
          }};
}

/// Runs geqrf of all data, then for each equation geqrf of its dense columns, ormqr and a triangular solve.
template <class T>
Coefficients solve_by_lapack(const SimultaneousModel& model, HostMatrix<T>& R) {
  const index_t D = R.rows(), n = R.cols(), K = model.instruments;
  std::vector<T> tau(static_cast<std::size_t>(std::min(D, n)));
  lapack::geqrf(D, n, R.data(), D, tau.data());
  Coefficients all;
  HostMatrix<T> Z, y(K, 1);
  for (const Equation& e : model.equations) {
    const index_t r = std::ssize(e.regressors);
    if (Z.cols() != r) Z = HostMatrix<T>(K, r);
    const auto gather = [&](index_t c, T* to) {
      const index_t kept = std::min(c + 1, K);
      std::fill_n(std::copy_n(&R(0, c), kept, to), K - kept, T(0));
    };
    for (index_t p = 0; p < r; ++p) gather(e.regressors[static_cast<std::size_t>(p)], &Z(0, p));
    gather(e.dependent, y.data());
    lapack::geqrf(K, r, Z.data(), K, tau.data());
    lapack::ormqr(Op::transpose, K, 1, r, Z.data(), K, tau.data(), y.data(), K);
    blas::trsm(Op::none, r, 1, Z.data(), K, y.data(), K);
    all.emplace_back(y.data(), y.data() + r);
  }
  return all;
}

Estimates by_lapack(SemProblem& p) {
  return by_library([&p] { p.work = p.data.clone(); }, [&p] { return solve_by_lapack(p.model, p.work); });
}

Estimates by_lapack_single(SemProblem& p) {
  const auto round = [&p] {
    p.work_single = HostMatrix<float>(p.data.rows(), p.data.cols());
    std::transform(p.data.data(), p.data.data() + p.data.size(), p.work_single.data(),
                   [](double x) { return static_cast<float>(x); });
  };
  return by_library(round, [&p] { return solve_by_lapack(p.model, p.work_single); });
}

}  // namespace

void add_sizes(App& app, ModelSizes& sizes, Option* other) {
  for (const auto& [name, value, about] :
       {std::tuple{"--samples", &sizes.observations, "observations of a generated model"},
        {"--endogenous", &sizes.equations, "its equations"},
        {"--exogenous", &sizes.exogenous, "its exogenous variables, the intercept among them"},
        {"--included", &sizes.included, "regressors of an equation, half of them endogenous"}}) {
    auto* option = app.add_option(name, *value, about)->excludes(other)->generates();
    option->transform(value == &sizes.observations ? non_negative() : positive());
    option->default_str(*value < 0 ? "half of the exogenous variables" : std::to_string(*value));
  }
  app.add_option("--noise", sizes.noise, "standard deviation of its errors")
      ->non_negative()
      ->excludes(other)
      ->show_default();
}

SemProblem generate_sem(const ModelSizes& sizes, std::uint64_t seed, bool by_rows) {
  StreamedModel s = by_rows ? stream_model(sizes, seed) : StreamedModel{generate_model(sizes, seed), {}};
  SemProblem p;
  p.formulas = formulas_of(s.model);
  p.data = std::move(s.model.data);
  p.model = std::move(s.model.model);
  p.names = std::move(s.model.names);
  p.truth = std::move(s.model.truth);
  p.streamed = std::move(s.rows);
  for (std::size_t i = 1; i <= p.model.equations.size(); ++i) p.labels.push_back(fmt::format("eq{}", i));
  return p;
}

SemProblem load_sem(const SemInput& input, SemMethod method, std::uint64_t seed) {
  if (!input.generated()) {
    SemProblem p{load_file(input, method)};
    require_rows(p, input.data, input.weights);
    if (input.rows_at_once > 0 && !p.is_streamed()) refuse_rows("goes without functions and products of columns");
    return p;
  }
  for (const auto& [option, value, what] : {std::tuple{"--select", &input.select, ""},
                                            {"--model", &input.model, ""},
                                            {"--names", &input.names, ""},
                                            {"--weights", &input.weights, ""},
                                            {"--cov", &input.clusters, "cluster:COLUMN "}})
    require(value->empty(), "sem", option, what, "belongs to --data");
  if (input.hold && input.rows_at_once > 0) refuse_rows("goes without --cov and --out-data, which hold the data");
  return generate_sem(input.sizes, seed, !input.hold && (input.rows_at_once > 0 || !held(input.sizes)));
}

std::vector<Method<SemProblem, SimultaneousEquations>> sem_table() {
  using Row = Method<SemProblem, SimultaneousEquations>;
  std::vector<Row> rows;
  for (const auto& engine : sem_engines())
    rows.push_back({engine.name, engine.about, Row::Place::graph,
                    [value = engine.value](SemProblem& p) { return by_graph(p, value); }});
  rows.push_back({"lapack", "QR of all data and of each equation, one after the other", Row::Place::cores, by_lapack});
  rows.push_back({"lapack-single", "the same in single precision", Row::Place::cores, by_lapack_single});
  add_cusolver(rows, "cusolver", "the same on a GPU, transfers timed",
               [](auto& p) { return by_library([] {}, bench::cusolver_sem(p.data, p.model)); });
  return rows;
}

double sem_flops(const SemProblem& p) {
  double flops = qr_flops(p.rows().m, p.rows().n);
  for (const Equation& e : p.model.equations) flops += qr_flops(p.model.instruments, std::ssize(e.regressors));
  return flops;
}

SemError measure_sem(Runtime& runtime, const SemProblem& p, const SimultaneousEquations& answer) {
  Graph g(runtime);
  ModelTriangle own;
  if (answer.triangle.R.cols() != p.rows().n) own = model_triangle(g, p.data.clone());
  const ModelTriangle& triangle = own.R.cols() > 0 ? own : answer.triangle;
  return sem_error(g, p.rows(), triangle, p.model, p.options.method, answer);
}

double check_peer(const std::string& peer, const SemProblem& p, const SimultaneousEquations& answer) {
  bool complete = answer.equations.size() == p.model.equations.size();
  for (std::size_t i = 0; complete && i < answer.equations.size(); ++i)
    complete = answer.equations[i].coefficients.size() == p.model.equations[i].regressors.size();
  if (!complete) throw bench::WrongResult(fmt::format("bench sem: {}: coefficients are missing", peer));
  const SemError error = measure_sem(*p.runtime, p, answer);
  const double most = std::fmax(error.system_residual, error.normal_residual()),
               bound = peer == "lapack-single" ? error.bound_in<float>() : error.bound;
  if (!(most <= bound))
    throw bench::WrongResult(
        fmt::format("bench sem: {}: the normal residual is {:.3g}, above {:.3g}", peer, most, bound));
  return most / bound;
}

}  // namespace tesela::cli
