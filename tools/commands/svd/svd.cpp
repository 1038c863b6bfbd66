#include "tools/problems/svd/svd.hpp"

#include "tools/app/arguments.hpp"
#include "tools/app/choices.hpp"
#include "tools/app/command.hpp"
#include "tools/app/matrix_outputs.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/commands/svd/svd_parts.hpp"
#include <tesela/algorithms/svd/svd_matrices.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <algorithm>
#include <limits>

namespace tesela::cli {
namespace {

using Options = SvdCommandOptions;

void require_valid(const Options& o) {
  require(o.largest <= std::min(o.m, o.n), "svd", "--largest", o.largest, " of ", std::min(o.m, o.n), " values");
  require(!o.values || (o.out_u.empty() && o.out_v.empty()), "svd", "--values", "contradicts --out-u and --out-v");
  require(o.band == 0 || o.method != "lapack", "svd", "--band", "belongs to --method two-stage, not to lapack");
}

/// Returns the largest error of the values relative to the largest one of the reference. With --range they are compared
/// with the nearest part of it, since a value near an end may belong to either side.
double selected_value_error(const Options& o, const std::vector<double>& values, const std::vector<double>& reference) {
  if (o.range.empty() || reference.empty()) return singular_value_error(values, reference);
  const double norm = reference.front() > 0 ? reference.front() : 1;
  const auto [low, high] = parse_range("svd", o.range);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t first = 0; first + values.size() <= reference.size(); ++first) {
    double worst = 0;
    for (std::size_t i = 0; i < reference.size(); ++i) {
      const double r = reference[i];
      const bool chosen = i >= first && i < first + values.size();
      // The distance to the found value, or from the range to a value that was not found.
      const double off = chosen ? std::abs(values[i - first] - r) : std::max(0.0, std::min(r - low, high - r));
      worst = std::max(worst, off / norm);
    }
    least = std::min(least, worst);
  }
  return least;
}

/// Reports the numerical rank by all values, with the condition and, below full rank, the gap between the last value
/// that counts and the next one.
template <class T>
void report_rank(const Options& o, const std::vector<double>& values, Report& report) {
  if (values.empty()) return;
  const double least =
      static_cast<double>(std::max(o.m, o.n)) * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
  const auto below =
      std::find_if(values.begin(), values.end(), [&](double s) { return !(s / values.front() > least); });
  report.check("rank", static_cast<double>(below - values.begin()));
  report.check("condition",
               values.back() > 0 ? values.front() / values.back() : std::numeric_limits<double>::infinity());
  if (below != values.begin() && below != values.end())
    report.check("gap", *below > 0 ? *(below - 1) / *below : std::numeric_limits<double>::infinity());
}

/// Reports the measured errors.
template <class T>
void report_errors(const Options& o, const SvdProblem<T>& problem, const Svd<T>& found, Report& report) {
  const index_t k = std::min(o.m, o.n), count = std::ssize(found.values);
  const double rounding = value_rounding(found.norm);
  const SvdBounds bounds = svd_bounds<T>(o.m, o.n);
  std::vector<double> reference;
  if (o.compare && k <= most_compared) {
    reference = reference_singular_values(problem.a);
    report.check("max_error", Measured{selected_value_error(o, found.values, reference), bounds.value + rounding});
  }
  if (!o.range.empty()) {
    const auto doubtful = values_near_ends(reference.empty() ? found.values : reference, parse_range("svd", o.range),
                                           bounds.value * found.norm);
    if (doubtful > 0) report.check("doubtful", static_cast<double>(doubtful));
  }
  if (count == k) report.check("norm_drift", Measured{norm_drift(problem.a, found.values), bounds.value + rounding});
  if (o.values) return;
  const SvdError error = svd_error(problem.a, found.values, *found.u, *found.v, o.m + o.n, found.norm);
  report.check("residual", Measured{error.residual, bounds.value + rounding});
  report.check("orthogonality_u", Measured{error.orthogonality_u, bounds.orthogonality});
  report.check("orthogonality_v", Measured{error.orthogonality_v, bounds.orthogonality});
}

template <class T>
int run(Options o) {
  Report report("svd", o.common);
  if (o.a.empty()) static_cast<void>(svd_matrix<T>({0, 0}, o.random, 1));  // throws for a wrong kind
  resolve_svd_shape(o);
  require_valid(o);
  const auto m = static_cast<double>(o.m), n = static_cast<double>(o.n), k = std::min(m, n);
  require_memory("svd", "A, its copies and the vectors",
                 (2 * m * n + (o.values ? 2 * k * k : 5 * k * k + (o.full ? m * m + n * n : k * (m + n)))) * sizeof(T));
  SvdProblem<T> problem{{o.m, o.n}, o.svd(), o.a, o.random, o.scale, o.common.seed};
  describe_svd(o, report);
  if (o.largest >= 0) report.problem()["largest"] = o.largest;
  if (!o.range.empty()) report.problem()["range"] = o.range;
  Svd<T> found;
  {
    Runtime runtime(o.common.runtime());
    problem.runtime = &runtime;
    problem.load();
    const auto solver = find_method(svd_table<T>(false), o.method).solver(problem);
    run_timed(o.common, runtime, report, solver, flops_each<T> * svd_flops(o.m, o.n, problem.options.vectors));
    found = solver.result();
  }
  report.problem()["method"] = name_of(svd_methods(), found.method);
  if (found.half_width > 0) report.problem()["band"] = found.half_width;
  if (!found.status.ok()) {
    report.fail(to_string(found.status));
    return report.finish();
  }
  report.check("found", static_cast<double>(found.values.size()));
  if (std::ssize(found.values) == std::min(o.m, o.n)) report_rank<T>(o, found.values, report);
  if (o.common.check) report_errors(o, problem, found, report);
  HostMatrix<double> values(std::ssize(found.values), 1);
  std::copy(found.values.begin(), found.values.end(), values.data());
  const HostMatrix<T> none;
  write_matrices(report, {{"singular values", o.out, values, OneColumn::vector},
                          {"U", o.out_u, found.u ? *found.u : none},
                          {"V", o.out_v, found.v ? *found.v : none}});
  return report.finish();
}

int run_command(Options o) {
  require_holds_numbers("svd", o.common, {{"--out-u", &o.out_u}, {"--out-v", &o.out_v}});
  if (o.batch >= 0) return run_svd_batch(o);
  if (o.rank >= 0) return run_svd_rank(o);
  if (o.stream) return run_svd_stream(o);
  return run_for_number_type(o, []<class T>(Options& options) { return run<T>(options); });
}

/// Excludes options that do not belong together.
void exclude(App& app) {
  const auto each = [&app](const std::vector<const char*>& options, const std::vector<const char*>& others) {
    for (const char* option : options)
      for (const char* other : others) app.get_option(option)->excludes(app.get_option(other));
  };
  each({"--values"}, {"--full"});
  each({"--largest", "--range"}, {"--full"});
  each({"--largest"}, {"--range"});
  each({"--batch"}, {"--method", "--largest", "--range", "--band", "--rank"});
  each({"--rank"}, {"--method", "--largest", "--range", "--band", "--full", "--values"});
  each({"--stream"}, {"--batch", "--rank", "--full", "--method", "--band"});
  app.get_option("--stream")->needs(app.get_option("--a"));
  app.get_option("--power")->needs(app.get_option("--rank"));
  app.get_option("--oversampling")->needs(app.get_option("--rank"));
}

const Command svd_command(Command::Group::top, "svd", "singular value decomposition A = U S V^H", [](App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("-m,--m", o->m, "rows of A (default: n)")->non_negative()->generates();
  app.add_option("-n,--n", o->n, "columns of A (default: 1000)")->non_negative()->generates();
  auto* random = add_random(app, o->random, svd_kinds());
  auto* scale = app.add_option("--scale", o->scale, "generated elements are multiplied by this")->show_default();
  add_input(app, "-a,--a", o->a, "read A from FILE (.mtx, .npy, .csv or .txt)")
      ->excludes(app.get_option("--m"))
      ->excludes(app.get_option("--n"))
      ->excludes(random)
      ->excludes(scale);
  choices(svd_table<double>(false)).add_option(app, "--method", o->method);
  app.add_flag("--values", o->values, "singular values only");
  app.add_flag("--full", o->full, "square U and V, m x m and n x n");
  app.add_option("--largest", o->largest, "the K largest values and their vectors")->positive();
  app.add_option("--range", o->range, "LOW,HIGH: only the values in [LOW, HIGH) and their vectors");
  app.add_option("--rank", o->rank, "K values and vectors by random products (Halko, Martinsson, Tropp)")->positive();
  app.add_option("--power", o->power, "of --rank: power iterations")->non_negative()->show_default();
  app.add_option("--oversampling", o->oversampling, "of --rank: additional dimensions of the range")
      ->non_negative()
      ->show_default();
  app.add_flag("--stream", o->stream, "read a .npy file in blocks of rows: it may be larger than memory; m >= n");
  app.add_option("--batch", o->batch, "K matrices with min(m, n) up to 64: seeds from --seed on, or m x Kn in -a")
      ->non_negative()
      ->generates();
  app.add_option("--band", o->band, "half-width of the band between the stages (default: what suits)")->positive();
  app.add_flag("!--no-compare", o->compare, "do not compare with LAPACK's gesdd (done up to min(m, n) = 2048)");
  add_output(app, Output::matrix, "-o,--out", o->out, "write the singular values to FILE (.mtx, .npy, .csv or .txt)");
  add_output(app, Output::matrix, "--out-u", o->out_u, "write U to FILE, a column for each value");
  add_output(app, Output::matrix, "--out-v", o->out_v, "write V to FILE, a column for each value");
  o->common.add_to(app, {.complex = true});
  exclude(app);
  app.footer(
      "Examples:\n"
      "  tesela svd -a A.mtx --out-u U.npy -o s.npy --out-v V.npy\n"
      "  tesela svd -m 3000 -n 500 --largest 10 --json -");
  return std::function<int()>([o] { return run_command(*o); });
});

}  // namespace

SvdOptions SvdCommandOptions::svd() const {
  SvdOptions options{
      .method = find_named(svd_methods(), method).value_or(SvdMethod::automatic), .vectors = vectors(), .band = band};
  if (largest >= 0) options.largest = largest;
  if (!range.empty()) options.range = parse_range("svd", range);
  return options;
}

void resolve_svd_shape(SvdCommandOptions& o) {
  if (!o.a.empty()) {
    const Shape shape = probe_matrix(o.a).shape;
    o.m = shape.rows, o.n = shape.cols;
  }
  if (o.n < 0) o.n = o.m < 0 ? 1000 : o.m;
  if (o.m < 0) o.m = o.n;
}

void describe_svd(const SvdCommandOptions& o, Report& report) {
  report.problem() = {{"m", o.m},
                      {"n", o.n},
                      {"input", o.a.empty() ? o.random : o.a},
                      {"vectors", o.values ? "none"
                                  : o.full ? "all"
                                           : "economic"},
                      {"precision", o.common.precision},
                      {"seed", o.common.seed}};
  if (o.scale != 1) report.problem()["scale"] = o.scale;
}

}  // namespace tesela::cli
