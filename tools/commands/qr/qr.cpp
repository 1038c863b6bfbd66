#include "tools/problems/qr/qr.hpp"

#include "tools/app/arguments.hpp"
#include "tools/app/command.hpp"
#include "tools/app/matrix_outputs.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/plan_report.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/checks/qr_parts_error.hpp"
#include <tesela/algorithms/dense/random_matrix.hpp>
#include <tesela/algorithms/givens/givens.hpp>
#include <tesela/algorithms/qr/orthogonalize.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/host/range_exponent.hpp>
#include <tesela/runtime/paused_workers.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/io/block_cyclic_files.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <algorithm>
#include <optional>

namespace tesela::cli {
namespace {

struct Options {
  CommonOptions common;
  index_t m = -1, n = -1;
  std::string a, out_r, out_q;
  std::string random = "uniform";
  std::string tile;
  QrMethod method;
  PlanOptions plan;
  bool full_q = false, positive = false;
  bool orthogonalizes() const { return find_named(orthogonalizations(), method.name).has_value(); }
};

/// Returns the number of Q's columns to form, or nothing if Q's product with random vectors is enough.
std::optional<index_t> wanted_columns(const Options& o) {
  if (o.full_q) return o.m;
  return o.out_q.empty() && !o.orthogonalizes() ? checked_columns({o.m, o.n}) : std::min(o.m, o.n);
}

/// Returns the Runtime's options. All ranks share the columns if a column has few tiles.
RuntimeOptions machine_of(const Options& o) {
  RuntimeOptions machine = o.common.runtime();
  constexpr index_t few = 4;
  if (!machine.grid && ceil_div(o.m, parse_tile(o.tile, tesela::qr_tile(WorkerCounts{1, 0}, o.m, o.n)).mb) < few)
    machine.grid = {1, 0};
  return machine;
}

/// Returns the algorithm's plan, with A itself for the checks.
template <class T>
MemoryPlan plan_of(const Options& o, const Runtime& runtime, Shape a) {
  const TileShape tile = qr_tile(o.method, o.tile, runtime, a, is_complex<T>);
  const WorkerCounts workers = workers_for<T>(runtime);
  const index_t columns = wanted_columns(o).value_or(3 * QrCheck<T>::vectors);
  MemoryPlan plan = givens_method(o.method.name)
                        ? plan_givens_qr(runtime, a, sizeof(T), tile.nb, columns, givens_options(o.method))
                        : plan_qr(workers, a, sizeof(T), tile, columns, qr_options(o.method));
  plan.hold({MemoryPlan::host, a, 1, 0, plan.last_stage()});
  // Code and libraries' buffers that are touched in the first run.
  plan.hold({MemoryPlan::host, {(3 << 20) / index_t{sizeof(T)}, 1}, 1, 0, plan.last_stage()});
  return plan;
}

/// `tesela qr --plan`; orders are compared by square matrices.
template <class T>
int run_plan(const Options& o) {
  require(!o.method.library(), "qr", "--plan", "what --method ", o.method.name, " takes is known to the library alone");
  require(!o.orthogonalizes(), "qr", "--plan", "--method ", o.method.name, " has none");
  const Runtime runtime(o.common.runtime());
  const MemoryRoom room = o.plan.room(runtime);
  const MemoryPlan plan = plan_of<T>(o, runtime, {o.m, o.n});
  nlohmann::ordered_json largest = nlohmann::ordered_json::array();
  for (const auto& name : {"tiles", "givens-stages", "givens-chain"}) {
    Options other = o;
    other.method.name = name;
    other.method.order.clear();
    const auto most = [&]<class P>(P) {
      return largest_order(room, [&](index_t n) {
        other.m = other.n = n;
        return plan_of<P>(other, runtime, {n, n});
      });
    };
    largest.push_back({{"method", name}, {"single", most(0.0F)}, {"double", most(0.0)}});
  }
  return finish_plan(
      o.common, runtime,
      {{"command", "qr"}, {"m", o.m}, {"n", o.n}, {"precision", o.common.precision}, {"method", o.method.name}}, plan,
      room, {{"largest", largest}});
}

void resolve(Options& o) {
  require_valid("qr", o.method, o.tile, o.common);
  if (!o.a.empty()) {
    const Shape shape = probe_matrix(o.a).shape;
    o.m = shape.rows;
    o.n = shape.cols;
  }
  if (o.n < 0) o.n = 2048;
  if (o.m < 0) o.m = o.n;
  if (!o.orthogonalizes()) return;
  require(o.m >= o.n, "qr", "--m", "--method ", o.method.name, " takes no fewer rows than columns");
  require(!o.full_q, "qr", "--full-q", "--method ", o.method.name, " makes the first n columns alone");
}

/// Reads or generates A, or this rank's part of it.
template <class T>
HostMatrix<T> operand(const Options& o, const Runtime* runtime, const std::optional<BlockCyclic>& part) {
  const RandomMatrix random = parse_random_kind(o.random);
  if (!part) return o.a.empty() ? generate<T>({o.m, o.n}, random, o.common.seed) : read_matrix<T>(o.a);
  return o.a.empty() ? generate<T>(*part, random, o.common.seed) : read_part<T>(*runtime, o.a, *part);
}

/// Writes the ranks' parts of R and Q. The factors are still mapped, and only read.
template <class T>
void report_parts(const Options& o, const QrProblem<T>& p, const BlockCyclic& part, HostMatrix<T>& r, HostMatrix<T>& q,
                  Report& report) {
  const TileShape tile{part.rows.block, part.columns.block};
  const BlockCyclic of_q(*p.runtime, {o.m, wanted_columns(o).value_or(3 * QrCheck<T>::vectors)}, tile);
  if (o.positive) make_diagonal_positive(*p.runtime, r, part, q, of_q);
  const index_t rows = o.full_q ? o.m : std::min(o.m, o.n);
  if (!o.out_r.empty())
    write_matrix_parts(report, *p.runtime, "R", o.out_r, upper_trapezoid(r, part, rows),
                       BlockCyclic(*p.runtime, {rows, o.n}, tile));
  write_matrix_parts(report, *p.runtime, "Q", o.out_q, q, of_q);
}

template <class T>
int run_qr(Options o) {
  Report report("qr", o.common);
  require_holds_numbers("qr", o.common, {{"--out-r", &o.out_r}, {"--out-q", &o.out_q}});
  parse_random_kind(o.random);
  resolve(o);
  if (o.plan.only) return run_plan<T>(o);
  const auto m = static_cast<double>(o.m), n = static_cast<double>(o.n);
  const double flops = flops_each<T> * (o.orthogonalizes() ? 2 : 1) * qr_flops(o.m, o.n);
  const std::optional<index_t> columns = wanted_columns(o);
  const auto method = find_method(qr_table<T>(), o.method.name);
  std::optional<Runtime> runtime;
  std::optional<MemoryPlan> plan;
  std::optional<BlockCyclic> part;  // of several ranks
  if (!method.library()) runtime.emplace(machine_of(o));
  if (runtime && !o.orthogonalizes()) {
    if (runtime->ranks() > 1)
      part.emplace(*runtime, Shape{o.m, o.n}, qr_tile(o.method, o.tile, *runtime, {o.m, o.n}, is_complex<T>));
    else
      plan = plan_of<T>(o, *runtime, {o.m, o.n});
  }
  if (plan) require_fit("qr", *plan, o.plan.room(*runtime));
  const auto q_columns = static_cast<double>(columns.value_or(3 * QrCheck<T>::vectors));
  require_memory("qr", "A, its factors and Q", (2 * m * n + m * q_columns) * sizeof(T) / (part ? runtime->ranks() : 1));

  const MemoryMeter meter;
  std::optional<PausedWorkers> paused(std::in_place);
  QrProblem<T> problem{o.method, o.tile, {o.m, o.n}, o.common.seed, runtime ? &*runtime : nullptr};
  problem.in_parts = part.has_value();
  problem.a = operand<T>(o, problem.runtime, part);
  problem.work = HostMatrix<T>(problem.a.rows(), problem.a.cols());
  if (!o.a.empty() && !part) problem.exponent = range_exponent(MatrixView<T>(problem.a));
  paused.reset();
  report.problem() = {{"m", o.m},
                      {"n", o.n},
                      {"method", o.method.name},
                      {"input", o.a.empty() ? o.random : o.a},
                      {"precision", o.common.precision},
                      {"seed", o.common.seed}};
  Status status;
  Timed library;
  HostMatrix<T>* r = nullptr;
  std::optional<QrCheck<T>> check;
  {
    const Solver<QrFactors<T>> solver = method.solver(problem);
    if (runtime)
      status = run_timed(o.common, *runtime, report, solver, flops);
    else
      library = time_library(o.common, method, solver);
    QrFactors<T> factors = solver.result();
    problem.unscale(factors);
    report.problem().update(factors.about);
    if (factors.rotations) {
      report.count("rotations", *factors.rotations);
      report.rate("rotations", flops_each<T> * givens_flops(o.m, o.n));
    }
    r = factors.r;
    if (factors.failure.empty())
      check.emplace(problem, factors, columns);
    else
      report.fail(factors.failure);
    if (part && check->error().finite) report_parts(o, problem, *part, *r, check->q(), report);
    if (plan) meter.measure(*plan, *runtime, report);
  }
  if (!runtime) report_library(o.common, report, library, flops);
  runtime.reset();  // its workers would take the checks' cores
  if (!report.good()) return report.finish();
  HostMatrix<T> no_columns;
  if (o.positive && !part) make_diagonal_positive(*r, check->sampled() ? no_columns : check->q());

  const QrError error = o.common.check ? check->error() : QrError{};
  if (check->sampled()) report.check("sampled_vectors", QrCheck<T>::vectors);
  if (!status.ok() || !error.finite) report.fail("not finite");
  const QrBounds most = qr_bounds<T>(o.m, o.n);
  report.check("backward_error", {error.backward, most.backward, error.lost});
  report.check("orthogonality", {error.orthogonality, most.orthogonality});
  if (!part) {
    HostMatrix<T> trapezoid;
    if (!o.out_r.empty()) trapezoid = upper_trapezoid(*r, o.full_q ? o.m : std::min(o.m, o.n));
    write_matrices(report, {{"R", o.out_r, trapezoid}, {"Q", o.out_q, check->q()}});
  }
  return report.finish();
}

const Command qr_command(Command::Group::top, "qr", "A = Q R over tiles or by rotations", [](App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("-m,--m", o->m, "rows of A (default: n)")->non_negative()->generates();
  app.add_option("-n,--n", o->n, "columns of A (default: 2048)")->non_negative()->generates();
  auto* random = add_random(app, o->random, random_kinds());
  add_input(app, "-a,--a", o->a, "read A from FILE (.mtx, .npy, .csv or .txt)")
      ->excludes(app.get_option("--m"))
      ->excludes(app.get_option("--n"))
      ->excludes(random);
  choices(qr_table<double>()).add_option(app, "--method", o->method.name);
  add_tile(app, o->tile, "MB or MBxNB");
  o->plan.add_to(app);
  add_to(app, o->method);
  add_output(app, Output::matrix, "--out-r", o->out_r, "write R, min(m, n) x n, to FILE (.mtx, .npy, .csv or .txt)");
  add_output(app, Output::matrix, "--out-q", o->out_q, "write Q, m x min(m, n), to FILE");
  app.add_flag("--full-q", o->full_q, "Q is m x m and R m x n");
  app.add_flag("--positive-diagonal", o->positive, "R's diagonal is positive: the factors of two methods compare");
  o->common.add_to(app, {.complex = true, .streams = 2});  // panels beside updates
  app.footer(
      "Examples:\n"
      "  tesela qr --m 1000 --n 517 --tile 96x64 --tree greedy --json -\n"
      "  tesela qr --a A.mtx --out-q Q.npy --out-r R.npy\n"
      "  tesela qr --n 1000 --tree greedy --precision z\n"
      "  tesela qr --n 4096 --method lapack --repeat 5");
  return std::function<int()>(
      [o] { return run_for_number_type(*o, []<class T>(Options& options) { return run_qr<T>(options); }); });
});

}  // namespace
}  // namespace tesela::cli
