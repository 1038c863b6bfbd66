#include "tools/app/numbers.hpp"
#include "tools/app/sizes.hpp"
#include "tools/bench/givens/givens_rows.hpp"
#include "tools/bench/harness/published.hpp"
#include "tools/bench/harness/report.hpp"
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/machine/topology.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace tesela::bench {
namespace {

constexpr std::string_view source = "cinvestav-2014";

struct StudyOptions : Options {
  std::vector<std::string> tables{"all"}, peers{"chain", "band", "lapack", "sequential"};
  std::vector<index_t> n;
  std::vector<int> threads;
  std::string mkl;
  double limit = 300;
  bool wants(const char* peer) const { return std::find(peers.begin(), peers.end(), peer) != peers.end(); }
};

/// A table of the Cinvestav thesis.
struct Table {
  std::string name;               ///< "6.2"
  std::string matrix;             ///< "tridiagonal"
  std::string precision;          ///< "s" or "d"
  std::string gpu;                ///< its column of the GPUs that ours are compared with
  int gpus = 1;                   ///< number of these
  index_t half_width = -1;        ///< -1: dense
  std::set<std::string> columns;  ///< all columns
  std::set<index_t> orders;
};

/// Returns the tables of times of R and Q, in their order.
std::vector<Table> tables() {
  std::vector<Table> all;
  for (const Figure& f : published_figures()) {
    if (f.source != source || !f.table.starts_with("6.") || f.table == "6.8") continue;
    const auto known = std::find_if(all.begin(), all.end(), [&](const Table& t) { return t.name == f.table; });
    Table& t = known == all.end() ? all.emplace_back() : *known;
    t.name = f.table;
    t.matrix = f.row;
    t.half_width = f.row == "tridiagonal" ? 1 : f.row == "pentadiagonal" ? 2 : f.row == "heptadiagonal" ? 3 : -1;
    // Table 6.1 names no precision. Its orders reach 20000, which only single precision reached (section 6.2).
    t.precision = f.precision == "d" ? "d" : "s";
    t.columns.emplace(f.column);
    t.orders.insert(f.n);
    for (const auto& [column, gpus] : {std::pair{"K20X", 1}, std::pair{"2 K20X", 2}, std::pair{"C2070 and GTX 640", 2}})
      if (f.column == column) t.gpu = column, t.gpus = gpus;
  }
  return all;
}

double figure_of(const Table& table, const std::string& column, index_t n) {
  return published_value({.source = source, .table = table.name, .column = column, .n = n});
}

/// Returns the source's column with the figure of a peer's case; empty without one.
std::string column_of(const Table& table, const std::string& peer, bool gpu) {
  if (peer == "chain") return gpu ? table.gpu : "";
  if (peer == "one core") return "sequential";
  for (const std::string threads : {"6 threads", "12 threads"})
    if (peer.ends_with(", " + threads)) return "MKL " + threads;
  return {};
}

/// Returns the peer with these seconds added to each run.
Peer with_transfers(Peer peer, double transfers) {
  peer.run = [run = peer.run, transfers] { return run() + transfers; };
  peer.verify = [verify = peer.verify, seconds = peer.verified_seconds, transfers] {
    const double error = verify();
    *seconds += transfers;
    return error;
  };
  return peer;
}

/// Runs the rows of one table.
template <class T>
class TableRun {
 public:
  TableRun(const StudyOptions& o, const Table& table, Runtime& runtime, bool too_few_gpus, Report& report)
      : o_(o), table_(table), runtime_(runtime), too_few_gpus_(too_few_gpus), report_(report) {}

  void run(index_t n) {
    const bool gpu = runtime_.gpus() > 0;
    const index_t wide = gpu ? ceil_div(n, runtime_.gpus()) : 64, tall = gpu ? wide : 256;
    tile_ = {tall, wide};
    const std::string title = fmt::format("Table {}: {} {}", table_.name, table_.matrix, n);
    const Case where{title, n, n, 0, fmt::format("{}x{}", n, wide), gpu ? "GPU" : "cores", "Melement/s"};
    std::vector<Timing> timings;
    if (const std::string reason = lacks_room(n); !reason.empty())
      timings.push_back({"chain", {}, 0, reason});
    else
      timings = alternate(peers(n), o_.common.repeat);
    for (const Timing& t : timings)
      if (!t.seconds.empty()) last_[t.peer] = {n, t.median()};
    const auto elements = 2 * static_cast<double>(n) * static_cast<double>(n);
    report_.add(
        where, timings, 0, [&](double seconds) { return elements / seconds * 1e-6; },
        [&](Row& row) { compare(row, n, gpu); });
  }

 private:
  /// Returns why the matrices do not fit; empty if they do. A, R and Q are on the host, ours once more where they are
  /// factored.
  std::string lacks_room(index_t n) const {
    const double gib = static_cast<double>(n) * static_cast<double>(n) * sizeof(T) / (1 << 30);
    const Machine machine = describe_machine();
    const auto missing = [](const char* place, double wanted, index_t there) {
      const double room = 0.9 * static_cast<double>(there) / (1 << 30);
      return wanted > room ? fmt::format("needs {:.3g} GiB of {}, which has {:.3g}", wanted, place, room) : "";
    };
    std::string reason = missing("host memory", (runtime_.gpus() > 0 ? 3 : 5) * gib, machine.memory_bytes);
    if (reason.empty() && runtime_.gpus() > 0 && !machine.gpus.empty())
      reason = missing("a GPU's memory", 2.2 * gib / runtime_.gpus(), machine.gpus.front().memory_bytes);
    return reason;
  }

  /// Makes a peer absent whose time, extrapolated from its last order, is above the limit.
  Peer limited(Peer peer, index_t n) const {
    const auto last = last_.find(peer.name);
    if (last == last_.end()) return peer;
    const double ratio = static_cast<double>(n) / static_cast<double>(last->second.first);
    const double expected = last->second.second * ratio * ratio * (table_.half_width < 0 ? ratio : 1);
    if (expected > o_.limit) peer.absent = fmt::format("about {:.0f} s: above --limit", expected);
    return peer;
  }

  std::vector<Peer> peers(index_t n) {
    problem_.reset();  // before the next matrices
    problem_ = std::make_unique<cli::QrProblem<T>>(cli::QrProblem<T>{
        {}, fmt::format("{}x{}", tile_.mb, tile_.nb), {n, n}, o_.common.seed, &runtime_, true, table_.half_width});
    problem_->generate_uniform(runtime_.gpus() > 0);
    std::vector<Peer> all;
    std::optional<double> transfers;  // of A, R and Q
    const auto add = [&](const QrRow<T>& row) { all.push_back(limited(make_peer(row.name, row, *problem_), n)); };
    const auto ours = [&](QrRow<T> row, const char* name) {
      row.name = name;
      add(row);
      if (too_few_gpus_) all.back().absent = fmt::format("needs {} GPUs", table_.gpus);
      if (runtime_.gpus() == 0 || !all.back().absent.empty()) return;
      if (!transfers) {  // the same for all rows
        transfers = 0;
        for (const Timing& t : time_transfers(*problem_, {n, tile_.nb}, tile_.mb, 1)) *transfers += t.median();
      }
      all.back() = with_transfers(all.back(), *transfers);
    };
    if (o_.wants("chain")) ours(rotation_row<T>({.method = GivensMethod::chain, .window = 32, .block = 128}), "chain");
    if (o_.wants("band") && table_.half_width >= 0) ours(band_row<T>(), "chain, band");
    for (const int threads : o_.threads) {
      if (o_.wants("lapack")) add(threads_row<T>(fmt::format("OpenBLAS, {} threads", threads), threads));
      if (!o_.mkl.empty()) add(threads_row<T>(fmt::format("MKL, {} threads", threads), threads, o_.mkl));
    }
    if (o_.wants("sequential")) {
      QrRow<T> one = sequential_row<T>();
      one.name = "one core";
      add(one);
    }
    return all;
  }

  /// Sets the source's figures of the same case and of all columns.
  void compare(Row& row, index_t n, bool gpu) const {
    if (const std::string column = column_of(table_, row.timing.peer, gpu); table_.columns.contains(column))
      row.published_s = figure_of(table_, column, n);
    for (std::string column : table_.columns) {
      const double seconds = figure_of(table_, column, n);
      std::replace(column.begin(), column.end(), ' ', '_');
      row.more.emplace_back(column + "_s", seconds > 0 ? seconds : std::numeric_limits<double>::quiet_NaN());
    }
  }

  const StudyOptions& o_;
  const Table& table_;
  Runtime& runtime_;
  bool too_few_gpus_;
  Report& report_;
  TileShape tile_;
  std::unique_ptr<cli::QrProblem<T>> problem_;
  std::map<std::string, std::pair<index_t, double>> last_;  // order and seconds of a peer's last case
};

void run_table(StudyOptions o, const Table& table) {
  const int devices = config::have_cuda ? count_cuda_devices() : 0,
            there = o.common.ncuda < 0 ? devices : std::min(devices, o.common.ncuda);
  o.common.precision = table.precision;
  o.name += "-" + table.name;
  RuntimeOptions options = o.runtime();
  options.gpus = std::min(there, table.gpus);
  // The source's times are GPUs'; a core would only fetch tiles.
  if (there > 0 && o.common.ncpu < 0) options.cpus = 0;
  Runtime runtime(options);
  Report report("givens-study", o, &runtime);
  const auto orders = o.n.empty() ? std::vector<index_t>(table.orders.begin(), table.orders.end()) : o.n;
  const auto run = [&]<class T>(T) {
    TableRun<T> rows(o, table, runtime, there > 0 && there < table.gpus, report);
    for (const index_t n : orders) rows.run(n);
  };
  table.precision == "s" ? run(float()) : run(double());
  for (const index_t n : orders) {
    std::string printed;
    for (const std::string& column : table.columns)
      if (const double seconds = figure_of(table, column, n); seconds > 0)
        printed += fmt::format("{} {} {:.6g} s", printed.empty() ? "" : ",", column, seconds);
    if (!printed.empty()) report.note(fmt::format("the source, n = {}:{}", n, printed));
  }
  report.note(
      fmt::format("source: Cinvestav thesis, Table {}: R and Q of a {} matrix in full storage, transfers "
                  "included{}",
                  table.name, table.matrix, table.matrix == "dense" ? "; precision not stated" : ""));
  if (table.gpu == "C2070 and GTX 640")
    report.note("the source's GPUs are a C2070 and a GTX; ours, if any, are two equal ones");
  report.finish();
}

void run(StudyOptions o) {
  const std::vector<Table> all = tables();
  if (o.threads.empty()) {
    const int cores = describe_machine().cores;
    o.threads = cores >= 12 ? std::vector{6, 12} : std::vector{cores};
  }
  std::vector<Table> chosen;
  for (const Table& table : all)
    if (std::find(o.tables.begin(), o.tables.end(), table.name) != o.tables.end() || o.tables.front() == "all")
      chosen.push_back(table);
  if (chosen.size() > 1 && !o.common.json_path.empty())
    throw ArgumentError("bench givens-study", "--json",
                        "belongs to one table; " + std::to_string(chosen.size()) + " are chosen");
  for (const Table& table : chosen) run_table(o, table);
}

const cli::Command givens_study_command(
    cli::Command::Group::bench, "givens-study",
    "R and Q by chains of rotations: the Cinvestav thesis, Tables 6.1 to 6.17", [](cli::App& app) {
      auto o = std::make_shared<StudyOptions>();
      o->common.repeat = 1;
      o->add_to(app, "givens", {.precision = false});
      std::vector<std::string> names{"all"};
      for (const Table& table : tables()) names.push_back(table.name);
      app.add_list("--table", o->tables, "tables of the Cinvestav thesis (docs/sources.md), several with commas")
          ->check(cli::one_of(names))
          ->show_default();
      app.add_list("-n,--n", o->n, "orders (default: the table's)")->positive();
      app.add_list("--peers", o->peers,
                   "chain: full storage; band: band storage; lapack: geqrf and orgqr; sequential: rotations on one "
                   "core")
          ->check(cli::one_of({"chain", "band", "lapack", "sequential"}))
          ->show_default();
      app.add_list("--threads", o->threads, "of LAPACK, several with commas (default: 6 and 12, or all cores)")
          ->positive();
      app.add_option("--mkl", o->mkl, "libmkl_rt.so: MKL is a peer as well")->type_name("FILE");
      app.add_option("--limit", o->limit,
                     "seconds: a peer is skipped if its time, from its last order, would be longer")
          ->check(cli::positive_up_to(1e9))
          ->show_default();
      app.footer(
          "One CSV for each table, NAME-6.2.csv and so on, in the table's precision, on as many GPUs; without a GPU on "
          "cores. Rows that do not fit have a remark. Figures 6.1 to 6.16 are drawn next to it; `bench plot` draws "
          "them "
          "from the CSV. Table 6.8 belongs to bench eig-study.");
      return std::function<int()>([o] { return guarded([&] { run(*o); }); });
    });

}  // namespace
}  // namespace tesela::bench
