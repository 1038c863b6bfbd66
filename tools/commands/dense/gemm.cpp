#include "tools/app/arguments.hpp"
#include "tools/app/choices.hpp"
#include "tools/app/command.hpp"
#include "tools/app/matrix_outputs.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/checks/reference.hpp"
#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/dense/random_matrix.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/paused_workers.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/io/block_cyclic_files.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <optional>

namespace tesela::cli {

using namespace kernels;
namespace {

struct Options {
  CommonOptions common;
  index_t m = -1, n = -1, k = -1;
  std::string tile;
  std::string op_a = "n", op_b = "n";
  double alpha = 1, beta = 0;
  std::string a, b, c, out;
  std::string kernel = "cublas";
  int block = 32;
  std::string random = "uniform", pattern;
};

Op to_op(const std::string& name) { return name == "n" ? Op::none : Op::transpose; }

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
  /// Without elements yet.
  Operand(const Runtime& runtime, Shape shape, Shape tile)
      : part(runtime, shape, {tile.rows, tile.cols}), local(part.local().rows, part.local().cols) {}

  TileMatrix<T> map(Runtime& runtime, const char* name) {
    const auto [m, n] = part.whole();
    return TileMatrix<T>::map_block_cyclic(runtime, local.data(), m, n, local.ld(),
                                           {part.rows.block, part.columns.block}, name);
  }
};

/// m, n and k as far as options and files say; a contradiction is found when the shapes are compared.
void settle_sizes(Options& o) {
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

template <class T>
int run_gemm(Options o) {
  const Op op_a = to_op(o.op_a), op_b = to_op(o.op_b);
  const T alpha = in_precision<T>("gemm", "--alpha", o.alpha), beta = in_precision<T>("gemm", "--beta", o.beta);
  Report report("gemm", o.common);
  if (!o.pattern.empty()) o.random = o.pattern == "random" ? "uniform" : o.pattern;
  parse_random_kind(o.random);
  settle_sizes(o);
  const auto m = static_cast<double>(o.m), n = static_cast<double>(o.n), k = static_cast<double>(o.k);
  const double copies_of_c = o.beta != 0 ? 2 : 1;
  std::optional<Runtime> machine(std::in_place, o.common.runtime());
  Runtime& runtime = *machine;
  if (o.kernel != "cublas" && runtime.gpus() == 0)
    throw EnvironmentError(fmt::format("gemm: --kernel {} is what GPUs run, and this run has none", o.kernel));
  const auto [mb, nb, kb] = parse_gemm_tile(o.tile, gemm_tile(runtime, o.m, o.n, o.k));
  require_memory("gemm", "A, B and C", (m * k + k * n + copies_of_c * m * n) * sizeof(T) / runtime.ranks());
  std::optional<PausedWorkers> paused(std::in_place);
  const Shape of_c{o.m, o.n}, in_file = o.c.empty() ? of_c : probe_matrix(o.c).shape;
  require(in_file == of_c, "gemm", "--c", o.c, " is ", in_file, ", C is ", of_c);
  Operand<T> a(o, runtime, o.a, apply(op_a, {o.m, o.k}), apply(op_a, {mb, kb}), 0, alpha != T(0));
  Operand<T> b(o, runtime, o.b, apply(op_b, {o.k, o.n}), apply(op_b, {kb, nb}), 1, alpha != T(0));
  Operand<T> c(runtime, {o.m, o.n}, {mb, nb});
  const HostMatrix<T> c_before =
      beta != T(0) ? Operand<T>(o, runtime, o.c, {o.m, o.n}, {mb, nb}, 2, true).local : HostMatrix<T>();
  if (beta == T(0)) std::fill_n(c.local.data(), c.local.size(), T(0));
  paused.reset();

  Status status;
  {
    const auto A = a.map(runtime, "A"), B = b.map(runtime, "B"), C = c.map(runtime, "C");
    report.problem() = {{"m", o.m},
                        {"n", o.n},
                        {"k", o.k},
                        {"mb", mb},
                        {"nb", nb},
                        {"kb", kb},
                        {"op_a", o.op_a},
                        {"op_b", o.op_b},
                        {"alpha", o.alpha},
                        {"beta", o.beta},
                        {"kernel", o.kernel},
                        {"block", o.block},
                        {"input", o.a.empty() && o.b.empty() ? o.random
                                  : o.a.empty()              ? o.b
                                                             : o.a},
                        {"precision", o.common.precision},
                        {"seed", o.common.seed}};
    const auto prepare = [&] {
      if (beta != T(0)) {
        std::copy_n(c_before.data(), c_before.size(), c.local.data());
        C.home_changed();
      }
      A.home_changed();  // so that every run sends its operands to the GPUs again
      B.home_changed();
    };
    run_timed(o.common, runtime, report,
              {prepare, [&](Graph& g, bool) {
                 gemm(g, op_a, op_b, alpha, A, B, beta, C, {*find_named(gemm_kernels(), o.kernel), o.block, true});
                 status = wait_with_progress(g);
                 C.bring_home();
                 return 0.0;
               }});
  }

  constexpr index_t checked_whole = 4096, sampled = 64;
  const bool alone = runtime.ranks() == 1;
  const bool sample = o.m > sampled && (!alone || std::max({o.m, o.n, o.k}) > checked_whole);
  const std::vector<index_t> rows = sample_rows(o.m, sample ? sampled : o.m, o.common.seed);
  if (alone) machine.reset();  // its workers would take the check's cores
  const ProductError error =
      alone
          ? product_error<T>({op_a, op_b, o.m, o.n, o.k, alpha, beta, a.local.data(), b.local.data(), c_before.data(),
                              c.local.data()},
                             rows)
          : product_error<T>(
                runtime, {op_a, op_b, alpha, beta, a.local, b.local, c_before, c.local, a.part, b.part, c.part}, rows);
  if (sample) report.check("sampled_rows", static_cast<double>(rows.size()));
  if (!status.ok() || !error.finite) report.fail("not finite");
  report.check("error", error.relative);
  report.check("scaled_error", {error.scaled, product_bound<T>(o.k)});
  if (alone)
    write_matrices(report, {{"C", o.out, c.local}});
  else
    write_matrix_parts(report, runtime, "C", o.out, c.local, c.part);
  machine.reset();  // the trace is complete then
  return report.finish();
}

const Command gemm_command(Command::Group::top, "gemm", "C = alpha op(A) op(B) + beta C over tiles", [](App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("-m,--m", o->m, "rows of op(A) and C (or as in the files) (default: n)")
      ->transform(cli::non_negative());
  app.add_option("-n,--n", o->n, "columns of op(B) and C (or as in the files) (default: 2048)")
      ->transform(cli::non_negative());
  app.add_option("-k,--k", o->k, "columns of op(A), rows of op(B) (or as in the files) (default: n)")
      ->transform(cli::non_negative());
  add_tile(app, o->tile, "MB, MBxNB or MBxNBxKB",
           "C's tiles are MB x NB, op(A)'s MB x KB, op(B)'s KB x NB; KB is NB unless given; default: what suits the "
           "workers");
  app.add_option("--op-a", o->op_a, "n (A) or t (its transpose)")->check(one_of({"n", "t"}))->capture_default_str();
  app.add_option("--op-b", o->op_b, "n (B) or t (its transpose)")->check(one_of({"n", "t"}))->capture_default_str();
  app.add_option("--alpha", o->alpha, "factor of op(A) op(B)")->capture_default_str();
  app.add_option("--beta", o->beta, "factor of C")->capture_default_str();
  add_input(app, "--a", o->a, "read A from FILE (Matrix Market or .npy; with alpha = 0 its shape alone)");
  add_input(app, "--b", o->b, "read B from FILE");
  add_input(app, "--c", o->c, "read C from FILE (with beta = 0 its shape alone; otherwise generated)");
  add_output(app, Output::matrix, "-o,--out", o->out, "write C to FILE (.mtx or .npy)");
  Choices().add(gemm_kernels()).add_option(app, "--kernel", o->kernel, "what GPUs run: ");
  app.add_option("--block", o->block, "thread-block edge of naive, shared and coarse")
      ->check(one_of({"16", "32"}))
      ->capture_default_str();
  auto* random = add_random(app, o->random, std::string("matrices without a file: ") + random_kinds());
  // Earlier versions had --random without a KIND.
  random->expected(0, 1)->transform({[](std::string& kind) {
                                       if (kind == "true") kind = "uniform";
                                       return std::string();
                                     },
                                     ""});
  add_deprecated_alias(app, "--pattern", o->pattern, random)->check(one_of({"random", "index"}));
  o->common.add_to(app);
  app.footer(
      "Examples:\n"
      "  tesela gemm --n 10 --random index --out C.mtx\n"
      "  tesela gemm --a A.mtx --b B.npy --op-b t --out C.npy --json -\n"
      "  tesela gemm --n 8192 --tile 2048 --kernel tuned --precision s --repeat 5 --ncpu 0");
  return std::function<int()>([o] { return o->common.precision == "s" ? run_gemm<float>(*o) : run_gemm<double>(*o); });
});

}  // namespace
}  // namespace tesela::cli
