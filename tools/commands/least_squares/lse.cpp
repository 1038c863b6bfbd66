#include "tools/app/choices.hpp"
#include "tools/app/command.hpp"
#include "tools/app/matrix_outputs.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/options.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/checks/lse_error.hpp"
#include "tools/commands/least_squares/distances.hpp"
#include "tools/problems/least_squares/ols.hpp"
#include "tools/problems/qr/qr_method.hpp"
#include "tools/problems/support/input_files.hpp"
#include <tesela/algorithms/dense/random_matrix.hpp>
#include <tesela/algorithms/least_squares/constrained_least_squares.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/io/matrix_rows.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace tesela::cli {

using namespace kernels;
namespace {

struct Options {
  CommonOptions common;
  index_t m = -1, n = -1, p = -1, rhs = 1;
  std::string a, b, c, d, out, out_multipliers;
  std::string random = "uniform", random_b = "uniform";
  std::string tile;
  double rcond = 0;
  bool inconsistent = false;
  QrMethod method;
  bool streamed = false;  ///< A stays in its file
};

template <class T>
struct Problem {
  HostMatrix<T> a, b, c, d;
  std::unique_ptr<MatrixRows<T>> rows = {};
};

/// R of [A | B]; of C^T; R times its Q; and what that leaves of R.
double lse_flops(const Options& o) {
  const auto m = static_cast<double>(o.m), n = static_cast<double>(o.n), r = static_cast<double>(o.rhs);
  const index_t p = std::min(o.p, o.n), rows = std::min(o.m, o.n);
  const auto k = static_cast<double>(p);
  return qr_flops(std::max(o.m, o.n), rows) + 4 * m * n * r + qr_flops(o.n, p) +
         2 * static_cast<double>(rows) * k * (2 * n - k) + qr_flops(std::max(rows, o.n - p), std::min(rows, o.n - p));
}

/// Without a report the problem is solved once.
template <class T>
ConstrainedLeastSquares<T> solve_by_graph(const Options& o, const Problem<T>& p, Report* report) {
  Runtime runtime(o.common.runtime());
  const OlsOptions options = ols_options(o.method, o.rcond, {o.m, o.n}, o.rhs);
  if (report != nullptr) report->problem()["method"] = method_name(o.method, options);
  ConstrainedLeastSquares<T> answer;
  if (o.streamed) {
    const auto once = [&](Graph& g, bool) {
      return answer = lse(g, triangle_of(g, *p.rows, p.b, options), p.c, p.d, options), 0.0;
    };
    run_timed(o.common, runtime, *report, {{}, once, lse_flops(o)});  // a library reads the whole file
    return answer;
  }
  const TileShape wanted = parse_tile(o.tile, suitable_ols_tile(runtime, options.method, o.m, o.n)),
                  tile = possible_ols_tile(options.method, wanted, o.m, o.n);
  HostMatrix<T> a(o.m, o.n), b(o.m, o.rhs);
  const auto A = TileMatrix<T>::map(runtime, a.data(), o.m, o.n, a.ld(), tile, "A");
  const auto B = TileMatrix<T>::map(runtime, b.data(), o.m, o.rhs, b.ld(), {tile.mb, tile.nb}, "B");
  const auto prepare = [&] {
    A.copy_from(p.a.data(), p.a.ld());
    B.copy_from(p.b.data(), p.b.ld());
  };
  const auto run = [&](Graph& g, bool) { return answer = lse(g, A, B, p.c, p.d, options), 0.0; };
  if (report == nullptr) {
    prepare();
    Graph g(runtime);
    run(g, true);
    return answer;
  }
  report->problem()["mb"] = tile.mb;
  report->problem()["nb"] = tile.nb;
  run_timed(o.common, runtime, *report, {prepare, run, lse_flops(o)});
  return answer;
}

/// Times the library's calls, one per right-hand side, before a Runtime exists, whose workers would take its cores.
/// Returns the library's X, checked by Tesela's ranks, conditions, distances and multipliers: gglse determines no rank.
template <class T>
ConstrainedLeastSquares<T> solve_by_library(const Options& o, const Problem<T>& p, Report& report) {
  if (o.p > o.n || o.n > o.m + o.p)
    throw ArgumentError("lse", "--method", "lapack solves problems with p <= n <= m + p only");
  report.problem()["method"] = o.method.name;
  HostMatrix<T> X = HostMatrix<T>::zeros(o.n, o.rhs);
  int info = 0;
  const Timed runs = time_library(
      o.common, [] {},
      [&] {
        const blas::Threads threads(blas::all_cores());
        for (index_t k = 0; k < o.rhs && o.n > 0; ++k) {
          HostMatrix<T> a = p.a.clone(), c = p.c.clone(), b(o.m, 1), d(o.p, 1);
          std::copy_n(p.b.data() + k * p.b.ld(), o.m, b.data());
          std::copy_n(p.d.data() + k * p.d.ld(), o.p, d.data());
          const int failed =
              lapack::gglse(o.m, o.n, o.p, a.data(), a.ld(), c.data(), c.ld(), b.data(), d.data(), X.data() + k * o.n);
          if (info == 0) info = failed;
        }
      });
  report_library(o.common, report, runs, lse_flops(o));
  ConstrainedLeastSquares<T> answer = solve_by_graph(o, p, nullptr);
  if (answer.status == SolveStatus::ok && (info != 0 || answer.constraint_rank < o.p))
    answer.status = SolveStatus::rank_deficient;
  if (!all_finite(X)) answer.status = SolveStatus::not_finite;
  answer.X = std::move(X);
  return answer;
}

void resolve(Options& o) {
  settle_automatic(o.method);
  require_valid("lse", o.method, o.tile, o.common);
  if (o.method.library() && !o.out_multipliers.empty())
    throw ArgumentError("lse", "--out-multipliers", "gglse has none");
  if (o.method.library() && o.rcond > 0) throw ArgumentError("lse", "--rcond", "gglse decides no rank");
  require_rcond("lse", o.rcond);
  std::vector<InputFile> files{{"--a", o.a}, {"--b", o.b}, {"--c", o.c}, {"--d", o.d}};
  if (probe_all("lse", files)) {
    require_rows_of("lse", files[0], files[1]);
    require_columns_of("lse", files[0], files[2]);
    require_rows_of("lse", files[2], files[3]);
    require_columns_of("lse", files[1], files[3]);
    o.m = files[0].shape.rows;
    o.n = files[0].shape.cols;
    o.p = files[2].shape.rows;
    o.rhs = files[1].shape.cols;
    o.streamed = can_stream(o.method, o.a, files[0].shape, o.rhs);
  }
  if (o.n < 0) o.n = 256;
  if (o.m < 0) o.m = 4 * o.n;
  if (o.p < 0) o.p = o.n / 4;
}

template <class T>
Problem<T> load(const Options& o) {
  if (!o.a.empty())
    return {o.streamed ? HostMatrix<T>() : read_matrix<T>(o.a), read_matrix<T>(o.b), read_matrix<T>(o.c),
            read_matrix<T>(o.d), o.streamed ? std::make_unique<MatrixRows<T>>(o.a) : nullptr};
  const auto uniform = [&](index_t rows, std::uint64_t seed) {
    return generate<T>({rows, o.rhs}, Generator<T>{Pattern::uniform, T(0), 0, o.common.seed + seed});
  };
  Problem<T> p{generate<T>({o.m, o.n}, parse_random_kind(o.random), o.common.seed), uniform(o.m, 1),
               generate<T>({o.p, o.n}, parse_random_kind(o.random_b, "--random-b"), o.common.seed + 2),
               uniform(o.p, 3)};
  if (o.inconsistent) return p;
  const HostMatrix<T> x = uniform(o.n, 4);
  const blas::Threads threads(blas::all_cores());
  if (p.d.size() > 0 && o.n > 0)
    blas::gemm(Op::none, Op::none, o.p, o.rhs, o.n, T(1), p.c.data(), p.c.ld(), x.data(), x.ld(), T(0), p.d.data(),
               p.d.ld());
  else
    std::fill_n(p.d.data(), p.d.size(), T(0));
  return p;
}

/// The given A, for the errors.
template <class T>
RowBlocks<T> rows_of_a(const Options& o, const Problem<T>& p) {
  return [&](const auto& use) {
    constexpr index_t most = 16384;
    HostMatrix<T> block(o.streamed ? std::min(most, o.m) : 0, o.streamed ? o.n : 0);
    for (index_t first = 0; o.streamed && first < o.m; first += most) {
      const index_t count = std::min(most, o.m - first);
      p.rows->read(first, {block.data(), count, o.n, block.ld()});
      use(first, {block.data(), count, o.n, block.ld()});
    }
    if (!o.streamed) use(0, {p.a.data(), o.m, o.n, p.a.ld()});
  };
}

template <class T>
void print_error(const ConstrainedLeastSquares<T>& answer, Report& report) {
  report.check("constraint_rank", static_cast<double>(answer.constraint_rank));
  report.check("rank", static_cast<double>(answer.rank));
  report.check("constraint_condition", answer.constraint_condition);
  report.check("condition", answer.condition);
  report.dropped_rows(answer.dropped_rows);
  report_distances(answer.distances, answer.status == SolveStatus::inconsistent, report,
                   [&](std::size_t j) { return !(answer.distances[j] > 0); });
}

template <class T>
int run_lse(Options o) {
  Report report("lse", o.common);
  resolve(o);
  const auto m = static_cast<double>(o.m), n = static_cast<double>(o.n), p = static_cast<double>(o.p),
             r = static_cast<double>(o.rhs);
  require_memory("lse", "A, C and their factors",
                 ((o.streamed ? 0 : 2 * m * n) + 3 * n * (n + p) + 2 * (m + n + p) * r) * sizeof(T));
  const Problem<T> problem = load<T>(o);
  report.problem() = {{"m", o.m},
                      {"n", o.n},
                      {"p", o.p},
                      {"rhs", o.rhs},
                      {"input", o.a.empty() ? o.random : o.a},
                      {"constraints", o.a.empty() ? o.random_b : o.c},
                      {"precision", o.common.precision},
                      {"seed", o.common.seed}};
  if (o.streamed) report.problem()["streamed"] = true;
  const bool library = o.method.library();
  const ConstrainedLeastSquares<T> answer =
      library ? solve_by_library(o, problem, report) : solve_by_graph(o, problem, &report);
  print_error(answer, report);
  if (answer.status == SolveStatus::rank_deficient && !library)
    report.remark(description(answer.status));
  else if (answer.status != SolveStatus::ok)
    report.fail(description(answer.status));
  if (answer.X.cols() == o.rhs && answer.status != SolveStatus::not_finite &&
      answer.status != SolveStatus::inconsistent) {
    const LseError error =
        lse_error<T>(rows_of_a(o, problem), problem.b, problem.c, problem.d, answer.X, answer.multipliers,
                     answer.multiplier_exponents, answer.multiplier_row_exponents);
    const double rounding = rounding_bound<T>(std::max({o.m, o.n, o.p}));
    report.check("residual_norm", error.residual_norm);
    report.check("constraint_residual", {error.constraint, answer.constraint_error.bound, 2 * answer.cut});
    // Of least norm in the unknowns' own units: errors are of the size of A's largest column.
    const double size = answer.status == SolveStatus::rank_deficient && answer.original_units ? error.column_ratio : 1;
    report.check("optimality", {error.optimality / size, rounding, 2 * answer.cut});
    report.check("solution_norm", static_cast<double>(euclidean_norm(answer.X.size(), answer.X.data())));
    note_least_norm(answer.constraint_rank + answer.rank == o.n, answer.original_units, report);
    HostMatrix<T> multipliers;
    if (!o.out_multipliers.empty()) {
      multipliers = answer.multipliers.clone();
      for (index_t k = 0; k < multipliers.cols(); ++k)
        for (index_t i = 0; i < multipliers.rows(); ++i)
          multipliers(i, k) =
              std::ldexp(multipliers(i, k), answer.multiplier_exponents[static_cast<std::size_t>(k)] +
                                                answer.multiplier_row_exponents[static_cast<std::size_t>(i)]);
    }
    write_matrices(report, {{"X", o.out, answer.X}, {"multipliers", o.out_multipliers, multipliers}});
  }
  return report.finish();
}

const Command lse_command(
    Command::Group::top, "lse", "min ||A x - b|| with C x = d, any shape and rank", [](CLI::App& app) {
      auto o = std::make_shared<Options>();
      o->method.name = "auto";
      auto* a =
          add_input(app, "--a", o->a, "read A from FILE (Matrix Market or .npy; a tall and skinny .npy stays in it)");
      auto* b = add_input(app, "--b", o->b, "read the right-hand sides, the columns of b, from FILE");
      add_input(app, "--c", o->c, "read the constraints' C from FILE");
      add_input(app, "--d", o->d, "read the constraints' right-hand sides, as many columns as b, from FILE");
      app.add_option("-m,--m", o->m, "rows of a generated A (default: 4n)")
          ->transform(cli::non_negative())
          ->excludes(a);
      app.add_option("-n,--n", o->n, "columns of a generated A (default: 256)")
          ->transform(cli::non_negative())
          ->excludes(a);
      app.add_option("--rows-c", o->p, "rows p of a generated C (default: n/4)")
          ->transform(cli::non_negative())
          ->excludes(a);
      app.add_option("--rhs", o->rhs, "right-hand sides: uniform b, and d = C x of a random x")
          ->transform(cli::non_negative())
          ->excludes(b)
          ->capture_default_str();
      add_random(app, o->random, random_kinds())->excludes(a);
      app.add_option("--random-b", o->random_b, "generate C as --random does A")
          ->type_name("KIND")
          ->excludes(a)
          ->capture_default_str();
      app.add_flag("--inconsistent", o->inconsistent, "a generated d is uniform: with p > n there is no solution")
          ->excludes(a);
      add_output(app, Output::matrix, "-o,--out", o->out, "write X, n x rhs, to FILE (.mtx or .npy)");
      add_output(app, Output::matrix, "--out-multipliers", o->out_multipliers,
                 "write lambda, p x rhs, with A'(b - A x) = C' lambda, to FILE");
      Choices()
          .add(ols_methods())
          .add(givens_methods())
          .add("lapack", "gglse, full rank only, a call for each right-hand side")
          .add_option(app, "--method", o->method.name, "of A's reduction to a triangle: ");
      app.add_option("--rcond", o->rcond,
                     "singular values up to this times the largest count as zero, of C with rows of one size and of A "
                     "on C's null space (default: max(m, n, p) eps)");
      add_tile(app, o->tile, "MB or MBxNB");
      add_to(app, o->method);
      o->common.add_to(app, {.streams = 2});  // panels beside updates
      app.footer(
          "Rows of C that others imply are dropped and named; a d that contradicts them ends as inconsistent.\n"
          "Examples:\n"
          "  tesela lse --a A.mtx --b b.mtx --c C.mtx --d d.mtx --out x.mtx\n"
          "  tesela lse --m 4000 --n 300 --rows-c 80 --random-b rank:60 --json -");
      return std::function<int()>(
          [o] { return o->common.precision == "s" ? run_lse<float>(*o) : run_lse<double>(*o); });
    });

}  // namespace
}  // namespace tesela::cli
