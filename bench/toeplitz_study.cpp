#include "algorithms/toeplitz_matrices.hpp"
#include "algorithms/toeplitz_spectrum.hpp"
#include "bench/report.hpp"
#include "runtime/config.hpp"
#include "runtime/topology.hpp"

#include <fmt/format.h>

namespace tesela::bench {
namespace {

struct StudyOptions : Options {
  std::vector<index_t> n, per_interval{2, 5, 10, 50, 100};
  std::string table = "sizes";
  bool both_precisions = true, cores = true, gpus = true;
};

/// One way of going about one matrix.
struct Cell {
  std::string title;
  index_t n;
  SpectrumOptions spectrum;
  std::string who;
};

/// The published code's choices but for the eigenvalues an interval; ours divide an interval that is short of some.
std::vector<Cell> cells_of_sizes(const StudyOptions& o) {
  std::vector<Cell> cells;
  for (const index_t n : o.n)
    for (const index_t m : o.per_interval) {
      SpectrumOptions published = SpectrumOptions::published(), ours;
      published.per_interval = ours.per_interval = m;
      const std::string title = fmt::format("n = {}, {} an interval", n, m);
      cells.push_back({title, n, published, "published choices"});
      cells.push_back({title, n, ours, "ours"});
    }
  return cells;
}

/// One choice at a time differs from the published ones, at two eigenvalues an interval as they are.
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
    for (const bool divide : {false, true}) add("divide", divide ? "yes" : "no", [&](auto& s) { s.divide = divide; });
  }
  return cells;
}

/// Runs the cells on this runtime; a row each, whose rate is the percentage that was found.
template <class T>
void run_cells(const StudyOptions& o, Runtime& runtime, const std::vector<Cell>& cells, Report& report) {
  const std::string where = runtime.gpus() > 0 ? "GPU" : "cores";
  for (const Cell& cell : cells) {
    const HostMatrix<T> t = toeplitz_column<T>({ToeplitzKind::random, 0, o.common.seed}, cell.n);
    double percent = 0;
    const Peer peer{fmt::format("{}, {}", where, cell.who), [&] {
                      Graph g(runtime);
                      std::size_t found = 0;
                      const double seconds = seconds_of([&] {
                        found = toeplitz_spectrum<T>(g, std::span<const T>(t.data(), static_cast<std::size_t>(cell.n)),
                                                     cell.spectrum)
                                    .values.size();
                      });
                      percent = 100 * static_cast<double>(found) / static_cast<double>(cell.n);
                      return seconds;
                    }};
    report.add({cell.title + (sizeof(T) == 4 ? ", single" : ", double"), 0, cell.n, cell.spectrum.per_interval, "",
                where, "% found", sizeof(T) == 4 ? "s" : "d"},
               alternate({peer}, o.common.repeat), 0, [&](double) { return percent; });
  }
}

void run_where(const StudyOptions& o, RuntimeOptions options, const std::vector<Cell>& cells, Report& report) {
  Runtime runtime(options);
  if (o.both_precisions || o.common.precision == "s") run_cells<float>(o, runtime, cells, report);
  if (o.both_precisions || o.common.precision == "d") run_cells<double>(o, runtime, cells, report);
}

void run(StudyOptions o) {
  if (o.n.empty())
    o.n = o.table == "choices" ? std::vector<index_t>{1000}
                               : std::vector<index_t>{600, 800, 1000, 1200, 1400, 1600, 1800, 2000};
  const bool gpu = config::have_cuda && count_cuda_devices() > 0 && o.common.ncuda != 0 && o.gpus;
  Report report("toeplitz-study", o, nullptr);
  const std::vector<Cell> cells = o.table == "choices" ? cells_of_choices(o) : cells_of_sizes(o);
  RuntimeOptions options = o.runtime();
  if (o.cores) {
    options.gpus = 0;
    run_where(o, options, cells, report);
  }
  if (gpu) {
    options.gpus = o.common.ncuda > 0 ? o.common.ncuda : 1;
    run_where(o, options, cells, report);
  }
  report.note("% found: of the eigenvalues, and each was told apart by its interval's inertia");
  report.note(
      "published choices: tests every 2 steps, 5 steps an eigenvalue at most, 5 shifts, (e_1 +- e_n) / sqrt(2) first");
  report.note(
      "the published code, single precision, a GPU: n = 2000 took 1409 s at 2 an interval and 50.6 s at 100, at best "
      "1.47 times as fast as on its cores, and about 30 % of the eigenvalues were found");
  report.finish({"Spectra of random symmetric Toeplitz matrices", "eigenvalues found, %"});
}

const cli::Command toeplitz_study_command(
    cli::Command::Group::bench, "toeplitz-study", "spectra of Toeplitz matrices by two-way Lanczos: a published table",
    [](CLI::App& app) {
      auto o = std::make_shared<StudyOptions>();
      o->common.repeat = 1;
      o->add_to(app, "toeplitz-study");
      app.add_option("--table", o->table, "sizes: orders by eigenvalues an interval; choices: one choice at a time")
          ->check(CLI::IsMember({"sizes", "choices"}))
          ->capture_default_str();
      app.add_option("--n", o->n, "orders (default: the table's)")->delimiter(',')->check(CLI::PositiveNumber);
      app.add_option("--per-interval", o->per_interval, "eigenvalues an interval")
          ->delimiter(',')
          ->check(CLI::PositiveNumber);
      app.add_flag("!--no-cores", o->cores, "only the GPU");
      app.add_flag("!--no-gpu", o->gpus, "only the cores");
      app.footer("Both precisions in one run, unless --precision chooses.");
      return std::function<int()>([o, &app] {
        o->both_precisions = app.count("--precision") == 0;
        return guarded([&] { run(*o); });
      });
    });

}  // namespace
}  // namespace tesela::bench
