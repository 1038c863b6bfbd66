#include "tools/problems/dense/gemm.hpp"

#include "tools/app/arguments.hpp"
#include "tools/app/choices.hpp"
#include "tools/app/command.hpp"
#include "tools/app/matrix_outputs.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/checks/reference.hpp"
#include <tesela/algorithms/dense/random_matrix.hpp>
#include <tesela/codelets/dense/int8_gemm.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/paused_workers.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/io/block_cyclic_files.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <fmt/format.h>

#include <cmath>
#include <optional>

namespace tesela::cli {

using namespace kernels;
namespace {

struct Options {
  CommonOptions common;
  index_t m = -1, n = -1, k = -1;
  std::string op_a = "n", op_b = "n";
  double alpha = 1, beta = 0;
  std::string a, b, c, out;
  GemmMethod method;
  std::string random = "uniform", pattern;
};

Op to_op(const std::string& name) { return name == "n" ? Op::none : name == "t" ? Op::transpose : Op::conjugate; }

/// An operand from its file, or generated in the shape that the options and the other operand imply: what this rank
/// has of it. An operand that does not count, as A with alpha = 0, is zero, whatever its file holds.
template <class T>
struct Operand {
  BlockCyclic part;
  HostMatrix<T> local;

  Operand(const Options& o, const Runtime& runtime, const std::string& path, Shape shape, Shape tile,
          std::uint64_t stream, bool counts)
      : part(runtime, path.empty() ? shape : probe_matrix(path).shape, {tile.rows, tile.cols}),
        local(!counts        ? HostMatrix<T>::zeros(part.local().rows, part.local().cols)
              : path.empty() ? generate<T>(part, parse_random_kind(o.random), o.common.seed * 3 + stream)
                             : read_part<T>(runtime, path, part)) {}
};

/// m, n and k as far as options and files say; require_shape() finds contradictions.
void complete_sizes(Options& o) {
  const auto take = [](index_t& size, index_t from_file) {
    if (size < 0) size = from_file;
  };
  if (!o.a.empty()) {
    const Shape a = apply(to_op(o.op_a), probe_matrix(o.a).shape);
    take(o.m, a.rows);
    take(o.k, a.cols);
  }
  if (!o.b.empty()) {
    const Shape b = apply(to_op(o.op_b), probe_matrix(o.b).shape);
    take(o.k, b.rows);
    take(o.n, b.cols);
  }
  if (!o.c.empty()) {
    const Shape c = probe_matrix(o.c).shape;
    take(o.m, c.rows);
    take(o.n, c.cols);
  }
  take(o.n, 2048);
  take(o.m, o.n);
  take(o.k, o.n);
}

void require_shape(const char* option, const std::string& file, Shape shape) {
  if (file.empty()) return;
  const Shape found = probe_matrix(file).shape;
  require(found == shape, "gemm", option, file, " is ", found, "; the shapes of the others ask for ", shape);
}

template <class T>
int run_gemm(Options o) {
  const Op op_a = to_op(o.op_a), op_b = to_op(o.op_b);
  const T alpha = in_precision<T>("gemm", "--alpha", o.alpha), beta = in_precision<T>("gemm", "--beta", o.beta);
  Report report("gemm", o.common);
  require_holds_numbers("gemm", o.common, {{"--out", &o.out}});
  require(!is_complex<T> || o.method.kernel == "automatic" || o.method.kernel == "cublas", "gemm", "--kernel",
          o.method.kernel, " has no complex numbers: use cublas");
  if (!o.pattern.empty()) o.random = o.pattern == "random" ? "uniform" : o.pattern;
  parse_random_kind(o.random);
  complete_sizes(o);
  const auto m = static_cast<double>(o.m), n = static_cast<double>(o.n), k = static_cast<double>(o.k);
  const double copies_of_c = o.beta != 0 ? 2 : 1;
  std::optional<Runtime> machine(std::in_place, o.common.runtime());
  Runtime& runtime = *machine;
  GemmProblem<T> p{op_a, op_b, o.m, o.n, o.k, alpha, beta, o.method.options("gemm", runtime, o.m, o.n, o.k)};
  p.runtime = &runtime;
  const auto [mb, nb, kb] = p.options.tile;
  require_memory("gemm", "A, B and C", (m * k + k * n + copies_of_c * m * n) * sizeof(T) / runtime.ranks());
  std::optional<PausedWorkers> paused(std::in_place);
  const Shape of_c{o.m, o.n};
  require_shape("--a", o.a, apply(op_a, {o.m, o.k}));
  require_shape("--b", o.b, apply(op_b, {o.k, o.n}));
  require_shape("--c", o.c, of_c);
  Operand<T> a(o, runtime, o.a, apply(op_a, {o.m, o.k}), apply(op_a, {mb, kb}), 0, alpha != T(0));
  Operand<T> b(o, runtime, o.b, apply(op_b, {o.k, o.n}), apply(op_b, {kb, nb}), 1, alpha != T(0));
  const BlockCyclic of_result(runtime, of_c, {mb, nb});
  p.c = HostMatrix<T>::zeros(of_result.local().rows, of_result.local().cols);
  if (beta != T(0)) p.before = std::move(Operand<T>(o, runtime, o.c, of_c, {mb, nb}, 2, true).local);
  p.a = std::move(a.local);
  p.b = std::move(b.local);
  paused.reset();

  report.problem() = {
      {"m", o.m},
      {"n", o.n},
      {"k", o.k},
      {"mb", mb},
      {"nb", nb},
      {"kb", kb},
      {"op_a", o.op_a},
      {"op_b", o.op_b},
      {"alpha", o.alpha},
      {"beta", o.beta},
      {"kernel",
       is_complex<T> ? "openblas" : name_of(gemm_kernels(), gemm_kernel(runtime, p.options.kernel, mb, nb, kb))},
      {"accuracy", o.method.accuracy},
      {"block", o.method.block},
      {"input", o.a.empty() && o.b.empty() ? o.random
                : o.a.empty()              ? o.b
                                           : o.a},
      {"precision", o.common.precision},
      {"seed", o.common.seed}};
  const Status status = run_timed(o.common, runtime, report, find_method(gemm_table<T>(), "tiles").solver(p));
  for (const auto& [moduli, pieces] : componentwise_pieces())
    report.note(fmt::format("componentwise: {} pieces by {}", pieces,
                            moduli > 0 ? fmt::format("{} moduli", moduli) : "cuBLAS, since their spread is too wide"));
  p.tiles.reset();

  constexpr index_t checked_whole = 4096, sampled = 64;
  const bool alone = runtime.ranks() == 1;
  const bool sample = o.m > sampled && (!alone || std::max({o.m, o.n, o.k}) > checked_whole);
  const std::vector<index_t> rows = sample_rows(o.m, sample ? sampled : o.m, o.common.seed);
  if (alone) machine.reset();  // its workers would take the check's cores
  const ProductError error =
      !o.common.check ? ProductError{}
      : alone         ? product_error<T>(
                    {op_a, op_b, o.m, o.n, o.k, alpha, beta, p.a.data(), p.b.data(), p.before.data(), p.c.data()}, rows)
              : product_error<T>(runtime, {op_a, op_b, alpha, beta, p.a, p.b, p.before, p.c, a.part, b.part, of_result},
                                 rows);
  if (sample && o.common.check) report.check("sampled_rows", static_cast<double>(rows.size()));
  if (!status.ok() || !error.finite) report.fail("not finite");
  if (o.common.check) report.check("error", error.relative);
  report.check("scaled_error", {error.scaled, product_bound<T>(o.k)});
  if (alone)
    write_matrices(report, {{"C", o.out, p.c}});
  else
    write_matrix_parts(report, runtime, "C", o.out, p.c, of_result);
  machine.reset();  // the trace is complete then
  return report.finish();
}

const Command gemm_command(Command::Group::top, "gemm", "C = alpha op(A) op(B) + beta C over tiles", [](App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("-m,--m", o->m, "rows of op(A) and C (or as in the files) (default: n)")->non_negative()->generates();
  app.add_option("-n,--n", o->n, "columns of op(B) and C (or as in the files) (default: 2048)")
      ->non_negative()
      ->generates();
  app.add_option("-k,--k", o->k, "columns of op(A), rows of op(B) (or as in the files) (default: n)")
      ->non_negative()
      ->generates();
  o->method.add_to(app);
  app.add_option("--op-a", o->op_a, "n (A), t (its transpose) or c (its conjugate transpose)")
      ->check(one_of({"n", "t", "c"}))
      ->show_default();
  app.add_option("--op-b", o->op_b, "n (B), t (its transpose) or c (its conjugate transpose)")
      ->check(one_of({"n", "t", "c"}))
      ->show_default();
  app.add_option("--alpha", o->alpha, "factor of op(A) op(B)")->show_default();
  app.add_option("--beta", o->beta, "factor of C")->show_default();
  add_input(app, "-a,--a", o->a, "read A from FILE (.mtx, .npy, .csv or .txt; with alpha = 0 its shape alone)")
      ->belongs_to_files({"--m", "--random", "--pattern"}, "--m M or --random KIND for random numbers");
  add_input(app, "-b,--b", o->b, "read B from FILE")
      ->belongs_to_files({"--n", "--random", "--pattern"}, "--n N or --random KIND for random numbers");
  add_input(app, "-c,--c", o->c, "read C from FILE (with beta = 0 its shape alone)")
      ->belongs_to_files({"--random", "--pattern"}, "--random KIND for random numbers", [o] { return o->beta != 0; });
  add_output(app, Output::matrix, "-o,--out", o->out, "write C to FILE (.mtx, .npy, .csv or .txt)");
  auto* random = add_random(app, o->random, std::string("matrices without a file: ") + random_kinds());
  // Earlier versions had --random without a KIND.
  random->expected(0, 1)->transform({[](std::string& kind) {
                                       if (kind == "true") kind = "uniform";
                                       return std::string();
                                     },
                                     ""});
  add_deprecated_alias(app, "--pattern", o->pattern, random)->check(one_of({"random", "index"}))->generates();
  o->common.add_to(app, {.complex = true});
  app.footer(
      "Examples:\n"
      "  tesela gemm --n 10 --random index --out C.mtx\n"
      "  tesela gemm --a A.mtx --b B.npy --op-b t --out C.npy --json -\n"
      "  tesela gemm --n 1000 --op-a c --precision z\n"
      "  tesela gemm --n 8192 --tile 2048 --kernel tuned --precision s --repeat 5 --ncpu 0");
  return std::function<int()>(
      [o] { return run_for_number_type(*o, []<class T>(Options& options) { return run_gemm<T>(options); }); });
});

}  // namespace
}  // namespace tesela::cli
