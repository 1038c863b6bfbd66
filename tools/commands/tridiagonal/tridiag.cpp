#include "tools/app/arguments.hpp"
#include "tools/app/choices.hpp"
#include "tools/app/command.hpp"
#include "tools/app/help.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/commands/tridiagonal/tridiag_solver.hpp"
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace tesela::cli {

using namespace kernels;
using namespace tridiag;
namespace {

std::vector<index_t> parse_list(const std::string& text) {
  std::vector<index_t> sizes;
  for (const char *at = text.data(), *const end = at + text.size();;) {
    index_t size = 0;
    const auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc() || size < 0 || (next != end && *next != ',')) break;
    sizes.push_back(size);
    if (next == end) return sizes;
    at = next + 1;
  }
  throw ArgumentError("tridiag", "--sizes", "'" + text + "' is no list of sizes like 100,200,50");
}

void resolve(Options& o) {
  TridiagInput& input = o.input;
  input.seed = o.common.seed;
  if (!o.tile.empty()) parse_sizes("--tile", o.tile, "MB or MBxNB", 2);
  if (!o.sizes.empty()) input.sizes = parse_list(o.sizes);
  require(o.automatic() || !input.interleaved, "tridiag", "--interleaved",
          "only --method auto solves systems that lie in rows");
  require(o.automatic() || !input.periodic, "tridiag", "--periodic", "only --method auto solves periodic systems");
  require(o.automatic() || !o.refines(), "tridiag", o.mixed() ? "--precision" : "--refine",
          "only --method auto refines");
  require(o.automatic() || !input.equilibrate, "tridiag", "--equilibrate",
          "only --method auto scales rows and columns");
  require_holds_numbers("tridiag", o.common, {{"--out", &o.out}});
  require(!o.refines() || !input.equilibrate, "tridiag", "--equilibrate",
          "--refine and --precision mixed do not scale columns");
  require(o.cut < 0 || o.method == "cr-hybrid" || o.method == "cr-pcr" || o.method == "cr-rd", "tridiag", "--cut",
          "is where cyclic reduction ends in --method cr-hybrid, cr-pcr and cr-rd, and the method is ", o.method);
  if (!input.d.empty()) input.take_sizes_from_files();
  if (input.n < 0) input.n = 1 << 20;
}

void describe(Report& report, const Options& o) {
  const TridiagInput& input = o.input;
  report.problem() = {{"rhs", input.rhs},
                      {"layout", input.interleaved ? "interleaved" : "contiguous"},
                      {"periodic", input.periodic},
                      {"method", o.method},
                      {"equilibrate", input.equilibrate},
                      {"input", input.d.empty() ? input.random : input.d},
                      {"precision", o.precision()},
                      {"seed", o.common.seed}};
  if (input.sizes.empty()) {
    report.problem()["n"] = input.n;
    report.problem()["batch"] = input.batch;
  } else {
    report.problem()["sizes"] = input.sizes;
  }
}

template <class T>
int run_tridiag(Options o) {
  Report report("tridiag", o.common);
  resolve(o);
  auto blocks = load<T>(o.input);
  describe(report, o);
  std::optional<Failure> failure;
  Refined refined;
  Condition condition;
  {
    SystemsSolver<T> solver(o, blocks);
    report.problem()["mb"] = solver.plan().along;
    report.problem()["nb"] = solver.plan().across;
    report.check("levels", static_cast<double>(solver.plan().levels));
    failure = solver.run(report);
    refined = solver.refined();
    if (!failure) condition = solver.condition();
    if (o.is_checked()) {
      const Mended& mended = solver.mended();
      if (!o.input.equilibrate) report.problem()["equilibrate"] = mended.equilibrated > 0 ? "auto: yes" : "auto: no";
      report.count(o.input.equilibrate ? "systems_not_equilibrated" : "systems_equilibrated", mended.equilibrated);
      report.count("systems_corrected", mended.corrected);
    }
  }

  if (o.refines()) {
    report.check("iterations", refined.iterations);
    report.check("converged", failure ? 0 : 1);
    report.check("backward_error", refined.backward_error);
  }
  const bool several = blocks.size() > 1 || blocks.front().batch > 1;
  if (failure) {
    const bool whole = failure->row < 0;
    if (!whole) report.check("row", static_cast<double>(failure->row));
    if (several) report.check("matrix", static_cast<double>(failure->matrix));
    report.fail(failure->what + (whole ? "" : fmt::format(" at row {}", failure->row)) +
                (several ? fmt::format("{} matrix {}", whole ? ":" : " of", failure->matrix) : ""));
  } else {
    const TridiagChecks checks = o.common.check ? measure(o.input, blocks) : TridiagChecks{};
    const auto check = [&](const char* name, const Measured& measured, index_t matrix) {
      if (several && !measured.good() && report.good()) {
        report.check("matrix", static_cast<double>(matrix));
        report.fail(fmt::format("inaccurate: {} {:.2g} of matrix {}, at most {:.2g}", name, measured.error, matrix,
                                measured.limit()));
      }
      report.check(name, measured);
    };
    check("residual", {checks.residual, tridiagonal_residual_bound<T>}, checks.matrix_of_residual);
    check("residual_equilibrated", {checks.residual_equilibrated, tridiagonal_equilibrated_bound<T>},
          checks.matrix_of_equilibrated);
    if (o.common.check) report.check("residual_componentwise", checks.residual_componentwise);
    report.check("condition", condition.worst.value);
    if (report.good() && condition.worst.singular<T>())
      report.fail("singular to working precision" + (several ? fmt::format(": matrix {}", condition.matrix) : ""));
    if (o.input.known && o.common.check) report.check("forward_error", checks.forward_error);
    write_solution(o.out, blocks, report);
  }
  return report.finish();
}

const Command tridiag_command(
    Command::Group::top, "tridiag", "A X = B, A tridiagonal: one system or many", [](App& app) {
      auto o = std::make_shared<Options>();
      TridiagInput& input = o->input;
      auto* n =
          app.add_option("-n,--n", input.n, "unknowns of a system (default: 1048576)")->non_negative()->generates();
      auto* batch =
          app.add_option("--batch", input.batch, "matrices of this size")->non_negative()->show_default()->generates();
      auto* sizes = app.add_option("--sizes", o->sizes, "matrices of different sizes: N1,N2,...")
                        ->excludes(n)
                        ->excludes(batch)
                        ->generates();
      app.add_flag("--interleaved", input.interleaved, "systems lie in rows of the arrays, not in columns")
          ->excludes(sizes);
      auto* rhs = app.add_option("--rhs", input.rhs, "right-hand sides of each matrix, uniform random numbers")
                      ->non_negative()
                      ->show_default()
                      ->group(more_options);
      Choices().add(tridiagonal_methods()).add_option(app, "--method", o->method);
      app.add_option("--cut", o->cut,
                     "unknowns that cr-hybrid, cr-pcr and cr-rd leave to another method (default: 256)")
          ->positive();
      auto* random =
          Choices().add(tridiagonal_kinds()).add_option(app, "--random", input.random)->type_name("KIND")->generates();
      app.add_flag("--periodic", input.periodic,
                   "dl of the first row couples to the last unknown, du of the last row to the first");
      app.add_flag("--equilibrate", input.equilibrate,
                   "scale columns, then rows, by powers of two before pivots are chosen, for units that differ by far "
                   "(auto does it where the residual of its X is large)");
      auto* known =
          app.add_flag("--known", input.known, "make B from a known X, and report the forward error")->generates();
      auto* d = add_input(app, "--d", input.d,
                          "read the diagonal from FILE (.mtx, .npy, .csv or .txt; of a batch: the diagonals)");
      auto* dl = add_input(app, "--dl", input.dl,
                           "read the lower off-diagonal from FILE (n entries, the first for periodic systems, or "
                           "LAPACK's n - 1)");
      auto* du = add_input(app, "--du", input.du,
                           "read the upper off-diagonal from FILE (n entries, the last for periodic systems, or "
                           "LAPACK's n - 1)");
      auto* b = add_input(app, "-b,--b", input.b, "read the right-hand sides from FILE (side by side for one matrix)");
      for (auto* one : {d, dl, du}) {
        if (one != d) one->needs(d);
        for (auto* other : {n, batch, sizes, random}) one->excludes(other);
      }
      b->needs(d)->excludes(rhs)->excludes(known)->belongs_to_files({"--rhs", "--known"},
                                                                    "--rhs K for K random right-hand sides");
      add_output(app, Output::matrix, "-o,--out", o->out,
                 "write X to FILE (.mtx, .npy, .csv or .txt, in the shape of B; different sizes one below the other)");
      add_tile(app, o->tile, "MB or MBxNB", "equations and systems a tile; default: what suits the workers")
          ->group(more_options);
      app.add_option("--refine", o->refine,
                     "correct X by its residual at most K times, until the backward error is a rounding error "
                     "(default: not at all; in mixed precision 30 times)")
          ->non_negative();
      o->common.add_to(app, {.mixed = true, .complex = true});
      app.footer(
          "If a matrix is singular, the status and the checks name its row, and its number in a batch, both from\n"
          "0; X is not written.\n"
          "Examples:\n"
          "  tesela tridiag --n 1000000 --known --json -\n"
          "  tesela tridiag --n 512 --batch 65536 --interleaved --precision s\n"
          "  tesela tridiag --n 100000 --random uniform --precision z\n"
          "  tesela tridiag --dl dl.npy --d d.npy --du du.npy --b b.npy --out x.npy");
      return std::function<int()>([o] {
        o->choose_precision();
        return run_for_number_type(*o, []<class T>(Options& options) { return run_tridiag<T>(options); });
      });
    });

}  // namespace
}  // namespace tesela::cli
