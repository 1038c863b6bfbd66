#include "tools/bench/harness/published.hpp"
#include "tools/bench/harness/report.hpp"
#include "tools/checks/toeplitz_spectrum_error.hpp"
#include <tesela/algorithms/toeplitz/toeplitz_matrices.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_spectrum.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace tesela::bench {
namespace {

struct StudyOptions : Options {
  std::vector<index_t> n, per_interval{2, 5, 10, 50, 100};
  std::string table = "sizes";
  std::vector<std::string> peers{"published", "published-cauchy", "ours"};
  bool both_precisions = true, cores = true, gpus = true;
  bool wants(const char* peer) const { return std::find(peers.begin(), peers.end(), peer) != peers.end(); }
};

/// One way of going about one matrix.
struct Cell {
  std::string title;
  index_t n;
  SpectrumOptions spectrum;
  std::string who;
  bool single_alone = false;  ///< not measured in double precision
  bool in_table_5 = false;    ///< the source prints its time
};

/// Returns the choices of Graciá Gil 2010 with this solver, which is Levinson's recursion there.
SpectrumOptions published(ToeplitzSolver solver) {
  SpectrumOptions o = SpectrumOptions::published();
  o.solver = o.counter = solver;
  return o;
}

/// Returns the cells of Table 5 of Graciá Gil 2010; our choices divide an interval that is short of eigenvalues.
std::vector<Cell> cells_of_sizes(const StudyOptions& o) {
  std::vector<Cell> cells;
  for (const index_t n : o.n)
    for (const index_t m : o.per_interval) {
      const auto add = [&](const char* peer, SpectrumOptions spectrum, const char* who) {
        spectrum.per_interval = m;
        if (o.wants(peer)) cells.push_back({fmt::format("n = {}, {} an interval", n, m), n, spectrum, who});
      };
      add("published", published(ToeplitzSolver::levinson), "as in the source");
      if (o.wants("published")) cells.back().in_table_5 = true;
      add("published-cauchy", published(ToeplitzSolver::cauchy), "the source's choices, our solver");
      add("ours", {}, "ours");
    }
  return cells;
}

/// Returns the choices of Graciá Gil 2010 at each tolerance, by both solvers and, in the third, by one's solves and the
/// other's counts.
std::vector<Cell> cells_of_tolerances(const StudyOptions& o) {
  std::vector<Cell> cells;
  for (const index_t n : o.n)
    for (const double tolerance : {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10}) {
      const auto add = [&](ToeplitzSolver solver, ToeplitzSolver counter, const char* who) {
        SpectrumOptions spectrum = SpectrumOptions::published();
        spectrum.solver = solver;
        spectrum.counter = counter;
        spectrum.tolerance = tolerance;
        cells.push_back({fmt::format("n = {}, tolerance {:.0e}", n, tolerance), n, spectrum, who});
      };
      add(ToeplitzSolver::levinson, ToeplitzSolver::levinson, "levinson");
      add(ToeplitzSolver::levinson, ToeplitzSolver::cauchy, "levinson, counts by cauchy");
      add(ToeplitzSolver::cauchy, ToeplitzSolver::cauchy, "cauchy");
    }
  return cells;
}

/// Returns the cells of Figure 12 of Graciá Gil 2010: its choices at each tolerance.
std::vector<Cell> cells_of_figure_12(const StudyOptions& o) {
  std::vector<Cell> cells = cells_of_tolerances(o);
  std::erase_if(cells, [](const Cell& cell) { return cell.who != "levinson"; });
  for (Cell& cell : cells) cell.single_alone = true;
  return cells;
}

/// Returns cells that differ from Graciá Gil 2010 in one choice, with two eigenvalues per interval.
std::vector<Cell> cells_of_choices(const StudyOptions& o) {
  std::vector<Cell> cells;
  for (const index_t n : o.n) {
    const SpectrumOptions base = SpectrumOptions::published();
    const auto add = [&](const std::string& choice, const std::string& value, auto change) {
      SpectrumOptions changed = base;
      change(changed);
      cells.push_back({fmt::format("n = {}, {}", n, choice), n, changed, value});
    };
    for (const index_t f : {2, 5, 10, 15, 20})
      add("Krylov factor", std::to_string(f), [&](auto& s) { s.krylov_factor = static_cast<double>(f); });
    for (const index_t a : {1, 2, 5, 10}) add("attempts", std::to_string(a), [&](auto& s) { s.max_attempts = a; });
    for (const index_t k : {1, 2, 4, 8, 16}) add("dk", std::to_string(k), [&](auto& s) { s.dk = k; });
    for (const bool midpoint : {true, false})
      add("first shift", midpoint ? "midpoint" : "random", [&](auto& s) { s.midpoint = midpoint; });
    for (const bool fixed : {true, false})
      add("start", fixed ? "fixed" : "random", [&](auto& s) { s.fixed_start = fixed; });
    for (const bool disc : {true, false})
      add("divided first", disc ? "disc" : "near", [&](auto& s) { s.gershgorin = disc; });
    for (const bool divide : {false, true}) add("divide", divide ? "yes" : "no", [&](auto& s) { s.divide = divide; });
  }
  return cells;
}

/// The results, compared with all eigenvalues by LAPACK in double precision.
struct Outcome {
  double found = 0;  ///< per cent; more than 100 where counts were wrong
  double right = 0;  ///< per cent that a value is near to: a tenth of the mean spacing, each value serving once
  double error = 0;  ///< the largest distance of a value from the nearest eigenvalue, over the largest
};

Outcome compare(const std::vector<double>& found, const std::vector<double>& all) {
  const auto n = static_cast<double>(all.size());
  const double near = 0.1 * (all.back() - all.front()) / n;
  Outcome outcome{100 * static_cast<double>(found.size()) / n, 0, 0};
  std::size_t matched = 0;
  for (std::size_t i = 0, j = 0; i < all.size() && j < found.size();) {
    if (std::abs(found[j] - all[i]) <= near)
      ++matched, ++i, ++j;
    else
      found[j] < all[i] ? ++j : ++i;
  }
  for (const double value : found) {
    const auto above = std::lower_bound(all.begin(), all.end(), value);
    const double up = above == all.end() ? std::numeric_limits<double>::infinity() : *above - value,
                 down = above == all.begin() ? std::numeric_limits<double>::infinity() : value - *std::prev(above);
    outcome.error = std::max(outcome.error, std::min(up, down));
  }
  outcome.error /= std::max(std::abs(all.front()), std::abs(all.back()));
  outcome.right = 100 * static_cast<double>(matched) / n;
  return outcome;
}

/// Runs the cells on this runtime; a row each, whose rate is the percentage that was found.
template <class T>
void run_cells(const StudyOptions& o, Runtime& runtime, const std::vector<Cell>& cells, Report& report) {
  const bool gpu = runtime.gpus() > 0;
  const std::string where = gpu ? "GPU" : "cores", precision = sizeof(T) == 4 ? "s" : "d";
  std::map<index_t, std::vector<double>> right;
  for (const Cell& cell : cells) {
    if (cell.single_alone && sizeof(T) != 4) continue;
    const bool first = !right.contains(cell.n);
    const HostMatrix<T> t = toeplitz_column<T>({ToeplitzKind::random, 0, o.common.seed}, cell.n);
    if (first) {
      const PausedWorkers paused;
      right[cell.n] = toeplitz_dense_values(cell.n, t.data());
    }
    Spectrum<T> s;
    const Peer peer{fmt::format("{}, {}", where, cell.who), [&] {
                      Graph g(runtime);
                      return seconds_of([&] {
                        s = toeplitz_spectrum<T>(g, std::span<const T>(t.data(), static_cast<std::size_t>(cell.n)),
                                                 cell.spectrum);
                      });
                    }};
    // Levinson's runs take seconds to minutes: no warm-up, except for the first cell of an order on a GPU.
    const bool cold = (!gpu || !first) && o.common.repeat == 1 && cell.spectrum.solver == ToeplitzSolver::levinson;
    const auto timings = cold ? std::vector<Timing>{{peer.name, {peer.run()}}} : alternate({peer}, o.common.repeat);
    const Outcome outcome = compare(s.values, right[cell.n]);
    report.add({cell.title + (sizeof(T) == 4 ? ", single" : ", double"), 0, cell.n, cell.spectrum.per_interval, "",
                where, "% found", precision},
               timings, 0, [&](double) { return outcome.found; });
    Row& row = report.rows().back();
    // The GPU of Table 5 has single precision alone; its processor's precision is not stated.
    if (cell.in_table_5 && precision == "s")
      row.published_s = published_value({.source = "gracia-gil-2010",
                                         .row = fmt::format("{} per interval", cell.spectrum.per_interval),
                                         .column = gpu ? "GPU" : "CPU",
                                         .n = cell.n});
    const auto count = [](index_t k) { return static_cast<double>(k); };
    row.more = {{"tolerance", s.tolerance},
                {"right_percent", outcome.right},
                {"max_error", outcome.error},
                {"intervals", count(s.intervals)},
                {"converged", count(s.intervals) - static_cast<double>(s.shortages.size())},
                {"relaunched", count(s.relaunched)},
                {"mean_attempts", s.intervals > 0 ? count(s.inversions) / count(s.intervals) : 0},
                {"steps", count(s.steps)},
                {"counts", count(s.counts)}};
  }
}

void run_where(const StudyOptions& o, RuntimeOptions options, const std::vector<Cell>& cells, Report& report) {
  Runtime runtime(options);
  if (o.both_precisions || o.common.precision == "s") run_cells<float>(o, runtime, cells, report);
  if (o.both_precisions || o.common.precision == "d") run_cells<double>(o, runtime, cells, report);
}

void run(StudyOptions o) {
  if (o.n.empty())
    o.n = o.table == "sizes" || o.table == "all" ? std::vector<index_t>{600, 800, 1000, 1200, 1400, 1600, 1800, 2000}
                                                 : std::vector<index_t>{1000};
  const bool gpu = o.gpu() && o.gpus;
  Report report("toeplitz-study", o, nullptr);
  std::vector<Cell> cells = o.table == "choices"     ? cells_of_choices(o)
                            : o.table == "tolerance" ? cells_of_tolerances(o)
                                                     : cells_of_sizes(o);
  RuntimeOptions options = o.runtime();
  const auto add_figure_12 = [&] {
    const std::vector<Cell> more = cells_of_figure_12(o);
    if (o.table == "all") cells.insert(cells.end(), more.begin(), more.end());
  };
  if (!gpu) add_figure_12();
  if (o.cores) {
    options.gpus = 0;
    run_where(o, options, cells, report);
  }
  if (gpu) {
    options.gpus = o.common.ncuda > 0 ? o.common.ncuda : 1;
    add_figure_12();
    run_where(o, options, cells, report);
  }
  report.note("% found: of the eigenvalues, as many as the inertia of each interval said, or fewer");
  report.note(
      "in the CSV, right_percent: eigenvalues with a separate value within a tenth of the mean spacing; max_error: "
      "the largest distance of a value from the nearest eigenvalue, over the largest; both by LAPACK in double "
      "precision");
  report.note(
      "as in the source: Levinson's recursion solves and counts, a tolerance of 0.1, tests every 2 steps, 5 steps an "
      "eigenvalue at most, 5 shifts, (e_1 +- e_n) / sqrt(2) first");
  report.note(
      "source: Graciá Gil 2010, Table 5, a GeForce 9800 GX2 and a core at 2.33 GHz; the GPU was at best 1.47 times "
      "as "
      "fast, and about 30 % of the eigenvalues were found at n = 2000");
  report.finish();
}

const cli::Command toeplitz_study_command(
    cli::Command::Group::bench, "toeplitz-study",
    "spectra of Toeplitz matrices by two-way Lanczos: Graciá Gil 2010, Table 5", [](cli::App& app) {
      auto o = std::make_shared<StudyOptions>();
      o->common.repeat = 1;
      o->add_to(app, "toeplitz-study");
      app.add_option("--table", o->table,
                     "sizes: orders by eigenvalues an interval; tolerance: 1e-1 to 1e-10 by both solvers; choices: one "
                     "choice at a time; all: sizes, and the tolerances by the source's solver in single precision, on "
                     "the GPU if there is one")
          ->check(cli::one_of({"all", "sizes", "tolerance", "choices"}))
          ->show_default();
      app.add_list("-n,--n", o->n, "orders (default: the table's)")->positive();
      app.add_list("--per-interval", o->per_interval, "eigenvalues an interval, of the table of sizes")->positive();
      app.add_list("--peers", o->peers,
                   "of the table of sizes: published (the choices of Graciá Gil 2010), published-cauchy (our solver "
                   "with them), ours")
          ->check(cli::one_of({"published", "published-cauchy", "ours"}))
          ->show_default();
      app.add_flag("!--no-cores", o->cores, "only the GPU");
      app.add_flag("!--no-gpu", o->gpus, "only the cores");
      app.footer(
          "Both precisions in one run, unless --precision chooses. Rows that have the values of Figures 11 to 14 of "
          "Graciá Gil 2010 are drawn as NAME-figure-11.svg and so on; `bench plot` draws a CSV joined from several "
          "runs.");
      return std::function<int()>([o, &app] {
        o->both_precisions = app.get_option("--precision")->count() == 0;
        return guarded([&] { run(*o); });
      });
    });

}  // namespace
}  // namespace tesela::bench
