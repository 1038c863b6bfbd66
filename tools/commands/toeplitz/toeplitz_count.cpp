#include "tools/app/command.hpp"
#include "tools/app/matrix_outputs.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/progress.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/problems/toeplitz/toeplitz_options.hpp"
#include <tesela/algorithms/toeplitz/levinson.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_inertia.hpp>

#include <fmt/format.h>

#include <cmath>

namespace tesela::cli {

using namespace kernels;
namespace {

struct Options {
  CommonOptions common;
  ToeplitzInput input;
  std::vector<double> sigma{0};
  index_t most = 64;
  std::string range, out;
  bool both = false;
};

/// Loads the matrix and runs `work(g, A, report)`, as often as is asked for; `report` is null but for the last time.
template <class T, class Work>
int with_matrix(Options o, const char* command, Work work) {
  Report report(command, o.common);
  o.input.resolve(2000);
  if (o.input.n < 1) throw ArgumentError(command, "--n", "a matrix of order 0 has no eigenvalues");
  require_memory(command, "t and what eliminates it", 100.0 * static_cast<double>(o.input.n) * sizeof(T));
  report.problem() = o.input.describe(o.common.seed);
  report.problem()["precision"] = o.common.precision;
  const HostMatrix<T> t = o.input.load<T>(o.common.seed);
  {
    Runtime runtime(o.common.runtime());
    const auto run = [&](Graph& g, bool last) {
      const SineToeplitz<T> A(g, std::span<const T>(t.data(), static_cast<std::size_t>(o.input.n)));
      work(o, g, t, A, last ? &report : nullptr);
      return 0.0;
    };
    run_timed(o.common, runtime, report, {{}, run});
  }
  return report.finish();
}

/// A table, row by row, to a file or, if the JSON does not go there, to standard output.
void write_rows(const Options& o, const std::vector<std::string>& names, const HostMatrix<double>& rows,
                Report& report) {
  if (!o.out.empty()) return write_matrices(report, {{"the table", o.out, rows}});
  if (o.common.json_path == "-" || o.common.quiet) return;
  end_progress();
  for (const std::string& name : names) fmt::print("{:>24}", name);
  fmt::print("\n");
  for (index_t i = 0; i < rows.rows(); ++i) {
    for (index_t j = 0; j < rows.cols(); ++j) fmt::print("{:>24.16g}", rows(i, j));
    fmt::print("\n");
  }
}

/// The same counts by the pivots of Durbin's recursion, which does not choose them: how many differ, and how many it
/// could not say because a leading minor vanished.
template <class T>
std::pair<double, double> compare_with_levinson(Graph& g, const HostMatrix<T>& t, const std::vector<Inertia>& counted) {
  constexpr index_t at_a_time = 16;
  const auto s = static_cast<index_t>(counted.size());
  const Toeplitz<T> A(g, t);
  const TileMatrix<T> shifts(g.runtime(), s, 1, {at_a_time, 1}, "shifts"),
      inverse(g.runtime(), t.rows(), s, {t.rows(), at_a_time}, "inverse");
  const TileMatrix<double> report(g.runtime(), levinson_report_rows, s, {levinson_report_rows, at_a_time}, "report");
  HostMatrix<T> at(s, 1);
  HostMatrix<double> said(levinson_report_rows, s);
  for (index_t i = 0; i < s; ++i) at(i, 0) = static_cast<T>(counted[static_cast<std::size_t>(i)].shift);
  shifts.copy_from(at.data(), at.ld());
  durbin(g, A, shifts, inverse, report);
  report.copy_to(said.data(), said.ld());
  double differ = 0, silent = 0;
  for (index_t i = 0; i < s; ++i) {
    if (said(levinson_breakdown, i) != 0)
      ++silent;
    else if (said(levinson_negative, i) != static_cast<double>(counted[static_cast<std::size_t>(i)].total()))
      ++differ;
  }
  return {differ, silent};
}

template <class T>
void count(const Options& o, Graph& g, const HostMatrix<T>& t, const SineToeplitz<T>& A, Report* report) {
  const std::vector<Inertia> counted = toeplitz_count<T>(g, A, o.sigma);
  if (report == nullptr) return;
  HostMatrix<double> rows(static_cast<index_t>(counted.size()), 4);
  double nudged = 0, doubtful = 0;
  for (index_t i = 0; i < rows.rows(); ++i) {
    const Inertia& c = counted[static_cast<std::size_t>(i)];
    rows(i, 0) = c.shift;
    rows(i, 1) = static_cast<double>(c.total());
    rows(i, 2) = static_cast<double>(c.below[0]);
    rows(i, 3) = static_cast<double>(c.below[1]);
    nudged += c.nudged;
    doubtful += c.doubtful;
  }
  if (counted.size() == 1) {
    report->check("below", rows(0, 1));
    report->check("below_symmetric", rows(0, 2));
    report->check("below_skew", rows(0, 3));
    report->check("shift", rows(0, 0));
  }
  report->check("nudged", nudged);
  report->check("doubtful", doubtful);
  double differ = 0;
  if (o.both) {
    double silent = 0;
    std::tie(differ, silent) = compare_with_levinson(g, t, counted);
    report->check("levinson_differs", differ);
    report->check("levinson_breakdowns", silent);
    if (differ > 0)
      report->fail("Levinson's pivots count otherwise: it met small leading minors, or an eigenvalue is near");
  }
  if (doubtful > 0) report->fail("doubtful: an eigenvalue is too near to a shift, and to what it was moved to");
  write_rows(o, {"sigma", "below", "symmetric", "skew"}, rows, *report);
}

template <class T>
void slice(const Options& o, Graph& g, const HostMatrix<T>&, const SineToeplitz<T>& A, Report* report) {
  double low = -std::numeric_limits<double>::infinity(), high = -low;
  if (!o.range.empty()) std::tie(low, high) = parse_range("toeplitz slice", o.range);
  index_t counts = 0;
  const std::vector<SpectrumInterval> intervals = toeplitz_slice<T>(g, A, o.most, low, high, &counts);
  if (report == nullptr) return;
  HostMatrix<double> rows(static_cast<index_t>(intervals.size()), 5);
  double total = 0, most = 0, clusters = 0;
  bool overflow = false;
  for (index_t i = 0; i < rows.rows(); ++i) {
    const SpectrumInterval& s = intervals[static_cast<std::size_t>(i)];
    rows(i, 0) = s.low;
    rows(i, 1) = s.high;
    rows(i, 2) = static_cast<double>(s.count[0]);
    rows(i, 3) = static_cast<double>(s.count[1]);
    rows(i, 4) = s.cluster;
    total += static_cast<double>(s.total());
    most = std::max(most, static_cast<double>(s.total()));
    clusters += s.cluster;
    overflow = overflow || !std::isfinite(s.low) || !std::isfinite(s.high);
  }
  report->count("shifts_counted", counts);
  report->check("intervals", static_cast<double>(intervals.size()));
  report->check("eigenvalues", total);
  report->check("most", most);
  report->check("clusters", clusters);
  if (o.range.empty() && total != static_cast<double>(A.n())) report->fail("the counts do not add up to n");
  if (overflow) return report->fail("overflow: an eigenvalue is larger than the largest number");
  write_rows(o, {"low", "high", "symmetric", "skew", "cluster"}, rows, *report);
}

const Command count_command(Command::Group::toeplitz, "count",
                            "eigenvalues below shifts, by the signs of an elimination's pivots", [](App& app) {
                              auto o = std::make_shared<Options>();
                              o->input.add_to(app);
                              app.add_list("--sigma", o->sigma, "shifts, several with commas")->show_default();
                              app.add_flag("--both", o->both, "count by Levinson's pivots as well, and compare");
                              add_output(
                                  app, Output::matrix, "-o,--out", o->out,
                                  "write shift, eigenvalues below, symmetric and skew ones, a row each, to FILE");
                              o->common.add_to(app);
                              app.footer(
                                  "An eigenvalue that is a shift to rounding is not below it. Example:\n"
                                  "  tesela toeplitz count --n 2000 --sigma=-10,0,10");
                              return std::function<int()>([o] {
                                for (const double sigma : o->sigma)
                                  if (!std::isfinite(sigma))
                                    throw ArgumentError("toeplitz count", "--sigma",
                                                        fmt::format("{} is not finite", sigma));
                                return run_single_or_wide(
                                    o->common, [&] { return with_matrix<float>(*o, "toeplitz count", count<float>); },
                                    [&] { return with_matrix<double>(*o, "toeplitz count", count<double>); });
                              });
                            });

const Command slice_command(
    Command::Group::toeplitz, "slice", "intervals with a limited number of eigenvalues each", [](App& app) {
      auto o = std::make_shared<Options>();
      o->input.add_to(app);
      app.add_option("--most", o->most, "eigenvalues in an interval")->positive()->show_default();
      app.add_option("--range", o->range, "A,B: only [A, B)");
      add_output(app, Output::matrix, "-o,--out", o->out,
                 "write low, high, symmetric and skew counts, and 1 for a cluster, a row each, to FILE");
      o->common.add_to(app);
      app.footer("Example:\n  tesela toeplitz slice --n 2000 --most 100");
      return std::function<int()>([o] {
        return run_single_or_wide(
            o->common, [&] { return with_matrix<float>(*o, "toeplitz slice", slice<float>); },
            [&] { return with_matrix<double>(*o, "toeplitz slice", slice<double>); });
      });
    });

}  // namespace
}  // namespace tesela::cli
