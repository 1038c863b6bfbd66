#include "tools/app/arguments.hpp"
#include "tools/app/choices.hpp"
#include "tools/app/command.hpp"
#include "tools/app/matrix_outputs.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/checks/glm_error.hpp"
#include "tools/checks/qr_error.hpp"
#include "tools/problems/qr/qr_method.hpp"
#include "tools/problems/support/symmetric_input.hpp"
#include <tesela/algorithms/dense/random_matrix.hpp>
#include <tesela/algorithms/qr/generalized_qr.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <cmath>
#include <memory>
#include <optional>

namespace tesela::cli {

using namespace kernels;
namespace {

struct Options {
  CommonOptions common;
  index_t m = -1, n = -1, p = -1;
  std::string a, factor, out_q, out_r, out_s, out_v;
  std::string random = "uniform", random_b = "uniform";
  std::string tile;
  QrMethod method;
};

/// Q is m x m, R min(m, n) x n, S m x k and V, its last columns, p x k, k = min(m, p).
template <class T>
struct Result {
  HostMatrix<T> q, r, s, v;
};

double gqr_flops(const Options& o) {
  const auto m = static_cast<double>(o.m), p = static_cast<double>(o.p), k = static_cast<double>(std::min(o.m, o.n));
  return (o.common.complex() ? 4 : 1) * (qr_flops(o.m, o.n) + 2 * k * p * (2 * m - k) + qr_flops(o.p, o.m));
}

template <class T>
Result<T> factor_by_graph(const Options& o, const HostMatrix<T>& a, const HostMatrix<T>& b, Report& report) {
  Runtime runtime(o.common.runtime());
  const index_t k = std::min(o.m, o.p);
  const TileShape tile = parse_tile(o.tile, qr_tile(runtime, o.m, o.n)),
                  of_b = parse_tile(o.tile, qr_tile(runtime, o.p, o.m));
  report.problem()["mb"] = tile.mb;
  report.problem()["nb"] = tile.nb;
  HostMatrix<T> factors(o.m, o.n), work(o.m, o.p);
  const auto A = TileMatrix<T>::map(runtime, factors.data(), o.m, o.n, factors.ld(), tile, "A");
  const auto B = TileMatrix<T>::map(runtime, work.data(), o.m, o.p, work.ld(), {tile.mb, of_b.nb}, "B");
  std::optional<GeneralizedQr<T>> found;
  const auto prepare = [&] {
    A.copy_from(a.data(), a.ld());
    B.copy_from(b.data(), b.ld());
  };
  const auto run = [&](Graph& g, bool) {
    found.reset();
    found.emplace(gqr(g, A, B, {.qr = qr_options(o.method), .tile = of_b}));
    wait_with_progress(g);
    return 0.0;
  };
  run_timed(o.common, runtime, report, {prepare, run, gqr_flops(o)});

  Result<T> result{HostMatrix<T>(o.m, o.m), HostMatrix<T>(std::min(o.m, o.n), o.n), HostMatrix<T>(o.m, k),
                   HostMatrix<T>(o.p, k)};
  Graph g(runtime);
  const auto at_home = [&](HostMatrix<T>& x, const char* name) {
    return TileMatrix<T>::map(runtime, x.data(), x.rows(), x.cols(), x.ld(), tile, name);
  };
  const auto Q = at_home(result.q, "Q"), R = at_home(result.r, "R"), S = at_home(result.s, "S"),
             V = at_home(result.v, "V");
  found->of_a.form_q(g, Q);
  found->of_a.extract_r(g, R);
  found->of_qb.extract(g, S);
  found->form_v(g, V);
  g.wait();
  for (const auto& matrix : {Q, R, S, V}) matrix.bring_home();
  return result;
}

/// The library's call is timed before a Runtime exists, whose workers would take its cores.
template <class T>
Result<T> factor_by_library(const Options& o, const HostMatrix<T>& a, const HostMatrix<T>& b, Report& report) {
  const index_t k = std::min(o.m, o.p), of_a = std::min(o.m, o.n);
  HostMatrix<T> fa, fb;
  std::vector<T> tau_a(static_cast<std::size_t>(of_a) + 1), tau_b(static_cast<std::size_t>(k) + 1);
  const auto prepare = [&] {
    fa = a.clone();
    fb = b.clone();
  };
  const Timed runs = time_library(o.common, prepare, [&] {
    const blas::Threads threads(blas::all_cores());
    lapack::ggqrf(o.m, o.n, o.p, fa.data(), fa.ld(), tau_a.data(), fb.data(), fb.ld(), tau_b.data());
  });
  report_library(o.common, report, runs, gqr_flops(o));
  const blas::Threads threads(blas::all_cores());
  Result<T> result{identity<T>(o.m, o.m), upper_trapezoid(fa, of_a), HostMatrix<T>(o.m, k),
                   HostMatrix<T>::zeros(o.p, k)};
  lapack::ormqr(Op::none, o.m, o.m, of_a, fa.data(), fa.ld(), tau_a.data(), result.q.data(), result.q.ld());
  for (index_t j = 0; j < k; ++j) {
    for (index_t i = 0; i < o.m; ++i) result.s(i, j) = i - (o.m - k) <= j ? fb(i, o.p - k + j) : T(0);
    result.v(o.p - k + j, j) = T(1);
  }
  // The last k rows of B contain V^H's vectors.
  if (k > 0)
    lapack::ormrq(adjoint<T>, o.p, k, k, fb.data() + (o.m - k), fb.ld(), tau_b.data(), result.v.data(), result.v.ld());
  return result;
}

void resolve(Options& o) {
  require_valid("gqr", o.method, o.tile, o.common);
  require_holds_numbers("gqr", o.common,
                        {{"--out-q", &o.out_q}, {"--out-r", &o.out_r}, {"--out-s", &o.out_s}, {"--out-v", &o.out_v}});
  std::vector<InputFile> files{{"--a", o.a}, {"--factor", o.factor}};
  if (probe_all("gqr", files)) {
    require_rows_of("gqr", files[0], files[1]);
    o.m = files[0].shape.rows;
    o.n = files[0].shape.cols;
    o.p = files[1].shape.cols;
  }
  if (o.n < 0) o.n = 256;
  if (o.m < 0) o.m = 2 * o.n;
  if (o.p < 0) o.p = o.m;
}

template <class T>
int run_gqr(Options o) {
  Report report("gqr", o.common);
  resolve(o);
  const auto m = static_cast<double>(o.m), n = static_cast<double>(o.n), p = static_cast<double>(o.p);
  require_memory("gqr", "A, B, their factors, Q and V", (3 * m * n + 5 * m * p + m * m) * sizeof(T));
  const HostMatrix<T> a = o.a.empty() ? generate<T>({o.m, o.n}, parse_random_kind(o.random), o.common.seed)
                                      : read_matrix<T>(o.a),
                      b = o.a.empty()
                              ? generate<T>({o.m, o.p}, parse_random_kind(o.random_b, "--random-b"), o.common.seed + 1)
                              : read_matrix<T>(o.factor);
  report.problem() = {{"m", o.m},
                      {"n", o.n},
                      {"p", o.p},
                      {"method", o.method.name},
                      {"input", o.a.empty() ? o.random : o.a},
                      {"factor", o.a.empty() ? o.random_b : o.factor},
                      {"precision", o.common.precision},
                      {"seed", o.common.seed}};
  const Result<T> result = o.method.library() ? factor_by_library(o, a, b, report) : factor_by_graph(o, a, b, report);
  if (!all_finite(result.r) || !all_finite(result.s) || !all_finite(result.q) || !all_finite(result.v)) {
    report.fail("not finite");
    return report.finish();
  }
  const GqrError error = o.common.check ? gqr_error(a, b, result.q, result.r, result.s, result.v) : GqrError{};
  const auto most = static_cast<double>(std::max<index_t>({o.m, o.n, o.p, 1}));
  const double bound = rounding_bound<T>(std::max({o.m, o.n, o.p}));
  report.check("backward_error_a", {error.backward_a, bound});
  report.check("backward_error_b", {error.backward_b, bound});
  const double of_orthogonality = std::min(bound * std::sqrt(most), useful_bound);
  report.check("orthogonality_q", {error.orthogonality_q, of_orthogonality});
  report.check("orthogonality_v", {error.orthogonality_v, of_orthogonality});
  write_matrices(
      report, {{"Q", o.out_q, result.q}, {"R", o.out_r, result.r}, {"S", o.out_s, result.s}, {"V", o.out_v, result.v}});
  return report.finish();
}

const Command gqr_command(
    Command::Group::top, "gqr", "Q'A = [R; 0] and Q'BV = S, generalized QR (' conjugates, too)", [](App& app) {
      auto o = std::make_shared<Options>();
      auto* a = add_input(app, "-a,--a", o->a, "read A from FILE (.mtx, .npy, .csv or .txt)");
      add_input(app, "--factor", o->factor, "read B, which has A's rows, from FILE");
      app.add_option("-m,--m", o->m, "rows (default: 2n)")->non_negative()->excludes(a)->generates();
      app.add_option("-n,--n", o->n, "columns of a generated A (default: 256)")
          ->non_negative()
          ->excludes(a)
          ->generates();
      app.add_option("--columns-b", o->p, "columns p of a generated B (default: m)")
          ->non_negative()
          ->excludes(a)
          ->generates();
      add_random(app, o->random, random_kinds())->excludes(a);
      app.add_option("--random-b", o->random_b, "generate B as --random does A")
          ->type_name("KIND")
          ->excludes(a)
          ->show_default()
          ->generates();
      add_output(app, Output::matrix, "--out-q", o->out_q, "write Q, m x m, to FILE (.mtx, .npy, .csv or .txt)");
      add_output(app, Output::matrix, "--out-r", o->out_r, "write R, min(m, n) x n, to FILE");
      add_output(app, Output::matrix, "--out-s", o->out_s,
                 "write the last min(m, p) columns of S to FILE: others are zero");
      add_output(app, Output::matrix, "--out-v", o->out_v, "write the last min(m, p) columns of V to FILE");
      Choices()
          .add("tiles", "Householder reflectors of tiles")
          .add("lapack", "the library's ggqrf")
          .add_option(app, "--method", o->method.name);
      add_tile(app, o->tile, "MB or MBxNB");
      add_to(app, o->method);
      o->common.add_to(app, {.complex = true, .streams = 2});  // panels beside updates
      app.footer(
          "Examples:\n"
          "  tesela gqr --a A.mtx --factor B.mtx --out-r R.mtx --out-s S.mtx\n"
          "  tesela gqr --m 300 --n 90 --columns-b 400 --json -");
      return std::function<int()>(
          [o] { return run_for_number_type(*o, []<class T>(Options& options) { return run_gqr<T>(options); }); });
    });

}  // namespace
}  // namespace tesela::cli
