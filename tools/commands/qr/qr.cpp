#include "tools/app/choices.hpp"
#include "tools/app/command.hpp"
#include "tools/app/matrix_outputs.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/options.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/plan_report.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/checks/qr_parts_error.hpp"
#include "tools/commands/qr/qr_methods.hpp"
#include <tesela/algorithms/dense/random_matrix.hpp>
#include <tesela/algorithms/qr/orthogonalize.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/support/column_ends.hpp>
#include <tesela/runtime/paused_workers.hpp>
#include <tesela/tiles/io/block_cyclic_files.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <fmt/format.h>

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
};

/// Checks that would take longer than most factorizations are made on this many random vectors.
constexpr index_t sampled_vectors = 32;

/// The columns of Q that are wanted; none when its product with random vectors will do.
std::optional<index_t> wanted_columns(const Options& o) {
  const index_t k = std::min(o.m, o.n);
  if (o.full_q) return o.m;
  const double work = static_cast<double>(o.m) * static_cast<double>(o.n) * static_cast<double>(k);
  constexpr double checked_whole = 2560.0 * 2560.0 * 2560.0;
  if (!o.out_q.empty() || work <= checked_whole || find_named(orthogonalizations(), o.method.name)) return k;
  return std::nullopt;
}

/// A factorization and what its checks need: columns of Q, or the sample and Q's product with its block. Of graphs
/// among several ranks, what this rank has of them.
template <class T>
struct Result {
  HostMatrix<T> factors, q;
  std::optional<QrSample<T>> sample;
  std::optional<QrError> of_parts;  // of several ranks
  Status status = {};

  HostMatrix<T> sample_block(std::uint64_t seed) {
    sample.emplace(factors, sampled_vectors, seed);
    return sample->block().clone();
  }
};

TileShape tile_of(const Options& o, const WorkerCounts& workers) {
  return parse_tile(o.tile, suitable_qr_tile(workers, o.m, o.n));
}

/// Where the tiles of a column are few, all ranks share the columns.
RuntimeOptions machine_of(const Options& o) {
  RuntimeOptions machine = o.common.runtime();
  constexpr index_t few = 4;
  if (!machine.grid && ceil_div(o.m, tile_of(o, WorkerCounts{1, 0}).mb) < few) machine.grid = {1, 0};
  return machine;
}

/// What `tesela qr` holds: besides the algorithm's plan A itself, for the checks.
template <class T>
std::optional<MemoryPlan> plan_of(const Options& o, const WorkerCounts& workers, Shape a) {
  const auto method = make_qr_graph<T>(o.method);
  const TileShape tile = method->cut(parse_tile(o.tile, suitable_qr_tile(workers, a.rows, a.cols)), a.rows);
  auto plan = method->plan(workers, a, tile, wanted_columns(o).value_or(3 * sampled_vectors));
  if (!plan) return plan;
  plan->hold({MemoryPlan::host, a, 1, 0, plan->last_stage()});
  // Code and libraries' buffers that are touched in the first run.
  plan->hold({MemoryPlan::host, {(3 << 20) / index_t{sizeof(T)}, 1}, 1, 0, plan->last_stage()});
  return plan;
}

/// `tesela qr --plan`; orders are compared by square matrices.
template <class T>
int run_plan(const Options& o) {
  if (o.method.library())
    throw ArgumentError("qr", "--plan", "what --method " + o.method.name + " takes is known to the library alone");
  if (find_named(orthogonalizations(), o.method.name))
    throw ArgumentError("qr", "--plan", "--method " + o.method.name + " has none");
  const Runtime runtime(o.common.runtime());
  const MemoryRoom room = o.plan.room(runtime);
  const auto plan = plan_of<T>(o, runtime, {o.m, o.n});
  if (!plan) throw ArgumentError("qr", "--plan", "--method " + o.method.name + " has none");
  nlohmann::json largest = nlohmann::json::array();
  for (const auto& name : {"tiles", "givens-stages", "givens-chain"}) {
    Options other = o;
    other.method.name = name;
    other.method.order.clear();
    const auto most = [&]<class P>(P) {
      return largest_order(room, [&](index_t n) {
        other.m = other.n = n;
        return *plan_of<P>(other, runtime, {n, n});
      });
    };
    largest.push_back({{"method", name}, {"single", most(0.0F)}, {"double", most(0.0)}});
  }
  return finish_plan(
      o.common, runtime,
      {{"command", "qr"}, {"m", o.m}, {"n", o.n}, {"precision", o.common.precision}, {"method", o.method.name}}, *plan,
      room, {{"largest", largest}});
}

template <class T>
void factor_by_graph(const Options& o, Runtime& runtime, const HostMatrix<T>& a, Result<T>& result, Report& report) {
  const auto method = make_qr_graph<T>(o.method);
  const TileShape tile = method->cut(tile_of(o, runtime), o.m);
  const BlockCyclic part(runtime, {o.m, o.n}, tile);
  method->take_staircase(part.all_here() ? column_ends(a) : column_ends(runtime, a, part));
  const auto A =
      TileMatrix<T>::map_block_cyclic(runtime, result.factors.data(), o.m, o.n, result.factors.ld(), tile, "A");
  const auto prepare = [&] {
    if (part.all_here()) return A.copy_from(a.data(), a.ld());
    std::copy_n(a.data(), a.size(), result.factors.data());
    A.home_changed();
  };
  const auto factor = [&](Graph& g, bool) {
    method->factor(g, A);
    A.for_each_tile([&](const Tile<T>& t, index_t, index_t) { g.bring_home(t); });  // as soon as each is final
    result.status = wait_with_progress(g);
    A.bring_home();
    return 0.0;
  };
  run_timed(o.common, runtime, report, {prepare, factor, qr_flops(o.m, o.n)});
  report.problem()["mb"] = tile.mb;
  report.problem()["nb"] = tile.nb;
  method->describe(report.problem());
  if (const auto rotations = method->rotations()) {
    report.count("rotations", *rotations);
    report.rate("rotations", givens_flops(o.m, o.n));
  }

  const std::optional<index_t> columns = wanted_columns(o);
  std::optional<QrPartsSample<T>> sample;
  if (!part.all_here()) sample.emplace(runtime, part, result.factors, sampled_vectors, o.common.seed);
  const BlockCyclic of_q(runtime, {o.m, columns.value_or(3 * sampled_vectors)}, tile);
  if (columns)
    result.q = HostMatrix<T>(of_q.local().rows, of_q.local().cols);
  else
    result.q = sample ? sample->block(of_q) : result.sample_block(o.common.seed);
  const auto Q =
      TileMatrix<T>::map_block_cyclic(runtime, result.q.data(), o.m, of_q.columns.size, result.q.ld(), tile, "Q");
  Graph g(runtime);
  if (columns)
    method->form_q(g, Q);
  else
    method->multiply_q(g, Q);
  g.wait();
  Q.bring_home();
  if (!sample) return;
  report.check("sampled_vectors", sampled_vectors);
  result.of_parts = columns ? sample->error_of_columns(a, result.q, of_q) : sample->error_of_product(a, result.q, of_q);
  if (!result.of_parts->finite) return;
  // The factors are still mapped, and read only.
  if (o.positive) make_diagonal_positive(runtime, result.factors, part, result.q, of_q);
  const index_t rows = o.full_q ? o.m : std::min(o.m, o.n);
  if (!o.out_r.empty())
    write_matrix_parts(report, runtime, "R", o.out_r, upper_trapezoid(result.factors, part, rows),
                       BlockCyclic(runtime, {rows, o.n}, tile));
  write_matrix_parts(report, runtime, "Q", o.out_q, result.q, of_q);
}

/// A from its file, or generated: of a graph among several ranks, what this one has of it.
template <class T>
HostMatrix<T> operand(const Options& o, const Runtime* graph) {
  const RandomMatrix random = parse_random_kind(o.random);
  if (graph == nullptr) return o.a.empty() ? generate<T>({o.m, o.n}, random, o.common.seed) : read_matrix<T>(o.a);
  const BlockCyclic part(*graph, {o.m, o.n}, make_qr_graph<T>(o.method)->cut(tile_of(o, *graph), o.m));
  return o.a.empty() ? generate<T>(part, random, o.common.seed) : read_part<T>(*graph, o.a, part);
}

/// Q itself is what these make; R goes where other methods leave it.
template <class T>
void orthogonalize_by_graph(const Options& o, Runtime& runtime, Orthogonalization method, const HostMatrix<T>& a,
                            Result<T>& result, Report& report) {
  TileShape tile = parse_tile(o.tile, suitable_orthogonalization_tile(runtime, method, o.m, o.n));
  if (method == Orthogonalization::cholesky_qr2)
    tile.nb = std::max<index_t>(o.n, 1);
  else if (method != Orthogonalization::householder)
    tile.mb = std::max<index_t>(o.m, 1);
  result.q = HostMatrix<T>(o.m, o.n);
  const auto Q = TileMatrix<T>::map(runtime, result.q.data(), o.m, o.n, result.q.ld(), tile, "Q");
  index_t broken = 0;
  bool shifted = false;
  const auto run = [&](Graph& g, bool) {
    const Orthogonalized<T> found = orthogonalize(g, Q, method);
    Q.bring_home();
    broken = found.broken, shifted = found.shifted;
    if (broken == 0) found.R.copy_to(result.factors.data(), result.factors.ld());
    return 0.0;
  };
  run_timed(o.common, runtime, report, {[&] { Q.copy_from(a.data(), a.ld()); }, run, 2 * qr_flops(o.m, o.n)});
  report.problem().update({{"mb", tile.mb}, {"nb", tile.nb}});
  if (method == Orthogonalization::cholesky_qr2) report.problem()["shifted"] = shifted;
  if (broken > 0) report.fail(fmt::format("dependent column: {}", broken));
}

/// The library's call is timed before a Runtime exists, whose workers would take its cores.
template <class T>
void factor_by_library(const Options& o, const HostMatrix<T>& a, Result<T>& result, Report& report) {
  Timed runs;
  {
    const auto method = make_qr_library<T>(o.method, a.shape());
    runs = time_library(
        o.common, [&] { result.factors = a.clone(); }, [&] { method->factor(result.factors); }, o.method.gpus());
    const std::optional<index_t> columns = wanted_columns(o);
    result.q = columns ? identity<T>(o.m, *columns) : result.sample_block(o.common.seed);
    method->multiply_q(result.factors, result.q);
  }
  report_library(o.common, report, runs, qr_flops(o.m, o.n));
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
  if (!find_named(orthogonalizations(), o.method.name)) return;
  if (o.m < o.n) throw ArgumentError("qr", "--m", "--method " + o.method.name + " takes no fewer rows than columns");
  if (o.full_q) throw ArgumentError("qr", "--full-q", "--method " + o.method.name + " makes the first n columns alone");
}

template <class T>
int run_qr(Options o) {
  Report report("qr", o.common);
  parse_random_kind(o.random);
  resolve(o);
  const auto m = static_cast<double>(o.m), n = static_cast<double>(o.n);
  if (o.plan.only) return run_plan<T>(o);
  const auto q_columns = static_cast<double>(wanted_columns(o).value_or(3 * sampled_vectors));
  const auto orthogonalization = find_named(orthogonalizations(), o.method.name);
  std::optional<Runtime> runtime;
  std::optional<MemoryPlan> plan;
  if (!o.method.library()) runtime.emplace(machine_of(o));
  const bool parts = runtime && !orthogonalization && runtime->ranks() > 1;
  if (runtime && !orthogonalization && !parts) plan = plan_of<T>(o, *runtime, {o.m, o.n});
  if (plan) require_fit("qr", *plan, o.plan.room(*runtime));
  require_memory("qr", "A, its factors and Q",
                 (2 * m * n + m * q_columns) * sizeof(T) / (parts ? runtime->ranks() : 1));

  const MemoryMeter meter;
  std::optional<PausedWorkers> paused(std::in_place);
  const HostMatrix<T> a = operand<T>(o, parts ? &*runtime : nullptr);
  Result<T> result;
  HostMatrix<T> no_columns;
  result.factors = HostMatrix<T>(a.rows(), a.cols());
  paused.reset();
  report.problem() = {{"m", o.m},
                      {"n", o.n},
                      {"method", o.method.name},
                      {"input", o.a.empty() ? o.random : o.a},
                      {"precision", o.common.precision},
                      {"seed", o.common.seed}};
  if (orthogonalization)
    orthogonalize_by_graph(o, *runtime, *orthogonalization, a, result, report);
  else if (o.method.library())
    factor_by_library(o, a, result, report);
  else
    factor_by_graph(o, *runtime, a, result, report);
  if (plan) meter.measure(*plan, *runtime, report);
  runtime.reset();  // its workers would take the checks' cores
  if (!report.good()) return report.finish();
  if (o.positive && !parts) make_diagonal_positive(result.factors, result.sample ? no_columns : result.q);

  const QrError error = result.of_parts ? *result.of_parts
                        : result.sample ? result.sample->error(a, result.q)
                                        : qr_error(a, result.factors, result.q);
  if (result.sample) report.check("sampled_vectors", sampled_vectors);
  if (!result.status.ok() || !error.finite) report.fail("not finite");
  const QrBounds most = qr_bounds<T>(o.m, o.n);
  report.check("backward_error", {error.backward, most.backward});
  report.check("orthogonality", {error.orthogonality, most.orthogonality});
  if (!parts) {
    HostMatrix<T> r;
    if (!o.out_r.empty()) r = upper_trapezoid(result.factors, o.full_q ? o.m : std::min(o.m, o.n));
    write_matrices(report, {{"R", o.out_r, r}, {"Q", o.out_q, result.q}});
  }
  return report.finish();
}

const Command qr_command(Command::Group::top, "qr", "A = Q R over tiles or by rotations", [](CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("-m,--m", o->m, "rows of A (default: n)")->transform(cli::non_negative());
  app.add_option("-n,--n", o->n, "columns of A (default: 2048)")->transform(cli::non_negative());
  auto* random = add_random(app, o->random, random_kinds());
  add_input(app, "--a", o->a, "read A from FILE (Matrix Market or .npy)")
      ->excludes("--m")
      ->excludes("--n")
      ->excludes(random);
  Choices()
      .add("tiles", "Householder reflectors of tiles")
      .add(givens_methods())
      .add(orthogonalizations())
      .add("lapack", "the library's geqrf")
      .add("cusolver", "the library's geqrf on a GPU, transfers timed")
      .add_option(app, "--method", o->method.name);
  add_tile(app, o->tile, "MB or MBxNB");
  o->plan.add_to(app);
  add_to(app, o->method);
  add_output(app, Output::matrix, "--out-r", o->out_r, "write R, min(m, n) x n, to FILE (.mtx or .npy)");
  add_output(app, Output::matrix, "--out-q", o->out_q, "write Q, m x min(m, n), to FILE");
  app.add_flag("--full-q", o->full_q, "Q is m x m and R m x n");
  app.add_flag("--positive-diagonal", o->positive, "R's diagonal is positive: the factors of two methods compare");
  o->common.add_to(app, {.streams = 2});                           // panels beside updates
  app.get_option("--plan")->excludes(app.get_option("--energy"));  // nothing runs
  app.footer(
      "Examples:\n"
      "  tesela qr --m 1000 --n 517 --tile 96x64 --tree greedy --json -\n"
      "  tesela qr --a A.mtx --out-q Q.npy --out-r R.npy\n"
      "  tesela qr --n 4096 --method lapack --repeat 5");
  return std::function<int()>([o] { return o->common.precision == "s" ? run_qr<float>(*o) : run_qr<double>(*o); });
});

}  // namespace
}  // namespace tesela::cli
