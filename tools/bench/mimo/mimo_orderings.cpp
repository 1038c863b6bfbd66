#include "tools/app/sizes.hpp"
#include "tools/bench/harness/published.hpp"
#include "tools/bench/harness/report.hpp"
#include "tools/bench/mimo/mimo_rows.hpp"
#include "tools/checks/mimo/mimo_error.hpp"
#include <tesela/algorithms/mimo/mimo_channel.hpp>
#include <tesela/algorithms/mimo/orderings.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

namespace tesela::bench {
namespace {

constexpr const char *source = "ramiro-2010", *one_core = "sequential";

struct OrderingsBench : Options {
  std::vector<index_t> n{4, 6, 8, 10};
  std::vector<std::string> buffers{"64", "128", "256", "512", "inf"};
  std::string table = "all";
  index_t signals = 100000;
  double ebn0 = 7;
  bool wants(const char* one) const { return table == "all" || table == one; }
};

index_t signals_of(const std::string& buffer) { return buffer == "inf" ? 0 : std::stol(buffer); }

double factorial(index_t n) {
  double product = 1;
  for (index_t k = 2; k <= n; ++k) product *= static_cast<double>(k);
  return product;
}

/// n = 2 Nt real columns back to Nt complex ones.
struct ComplexSignals {
  HostMatrix<std::complex<double>> h, y;
};
ComplexSignals complex_form(const RealSignals& real) {
  const index_t half = real.h.rows() / 2;
  ComplexSignals made{HostMatrix<std::complex<double>>(half, half),
                      HostMatrix<std::complex<double>>(half, real.x.cols())};
  for (index_t j = 0; j < half; ++j)
    for (index_t i = 0; i < half; ++i) made.h(i, j) = {real.h(i, j), real.h(i + half, j)};
  for (index_t k = 0; k < real.x.cols(); ++k)
    for (index_t i = 0; i < half; ++i) made.y(i, k) = {real.x(i, k), real.x(i + half, k)};
  return made;
}

double mean_nodes(const Detection& found) {
  double sum = 0;
  for (const SearchReport& r : found.reports) sum += static_cast<double>(r.nodes);
  return found.reports.empty() ? 0 : sum / static_cast<double>(found.reports.size());
}

/// The tables of one Runtime. It holds one table at a time: 2.9 GB for n = 10.
class Orderings {
 public:
  Orderings(Runtime& runtime, const OrderingsBench& o, index_t n)
      : runtime_(runtime),
        o_(o),
        n_(n),
        alphabet_(constellation(ConstellationKind::qam16)),
        data_(random_real_signals(n, o.signals, alphabet_, noise_variance(o.ebn0, {alphabet_}), o.common.seed)) {}

  /// Times all n! QRs: by each build on the workers, and by reflectors and rotations on the calling thread.
  std::vector<Timing> builds() {
    std::vector<Peer> peers;
    std::vector<double> packed;
    const HostMatrix<double> r = triangle();
    constexpr index_t group = kernels::OrderedQrs::together;
    const index_t all = static_cast<index_t>(factorial(n_)), groups = ceil_div(all, group), rows = n_ * n_ * group;
    // `each` factorizations follow one another element by element.
    const auto alone = [&](const char* name, index_t each, const auto& factor) {
      const auto run = [this, &packed, rows, groups, factor] {
        detector_.reset();
        packed.resize(static_cast<std::size_t>(rows * groups));
        const PausedWorkers paused;
        return seconds_of(factor);
      };
      peers.push_back(checked(name, run, [this, &packed, &r, each] {
        return relative(triangles_error(
            [&](index_t k, index_t i, index_t j) {
              return packed[static_cast<std::size_t>((k / each * n_ * n_ + i + j * n_) * each + k % each)];
            },
            r, most_checked));
      }));
    };
    alone(one_core, group, [&] {
      kernels::OrderedQr::cpu({n_, OrderingBuild::full, 0, all}, {{r.data(), n_, n_, n_}},
                              {{packed.data(), rows, groups, rows}});
    });
    alone("rotations, sequential", 1, [&] { rotation_table(r, packed.data()); });
    for (const OrderingBuild build : {OrderingBuild::full, OrderingBuild::prefix}) {
      const auto run = [this, build, &packed] {
        packed = {};
        return prepare(held({build, OrderingStrategy::owner, 0}));
      };
      peers.push_back(checked(name_of(ordering_builds(), build), run,
                              [this] { return relative(ordering_error(*detector_, data_.h, most_checked)); }));
    }
    return alternate(peers, o_.common.repeat);
  }

  /// Times the signals by `owner`, a peer for each buffer.
  std::vector<Timing> buffers(const std::vector<std::string>& sizes) {
    std::vector<Peer> peers;
    for (const std::string& size : sizes)
      peers.push_back(table_peer("buffer " + size, OrderingStrategy::owner, signals_of(size)));
    return alternate(peers, o_.common.repeat);
  }

  /// Times the signals by each strategy, and by mimo_detect.
  std::vector<Timing> strategies() {
    const ComplexSignals form = complex_form(data_);
    const index_t half = n_ / 2;
    const std::vector<Constellation> alphabets(static_cast<std::size_t>(half), alphabet_);
    std::vector<Peer> peers{signals_peer("sd, a QR a channel", [&](Graph& g, Detection& found) {
      return seconds_of([&] {
        found = mimo_detect(g, {half, half, data_.x.cols(), 0}, form.h, form.y, alphabets,
                            {.n0 = noise_variance(o_.ebn0, {alphabet_})});
      });
    })};
    for (const auto& strategy : ordering_strategies()) peers.push_back(table_peer(strategy.name, strategy.value, 0));
    return alternate(peers, o_.common.repeat);
  }

  double nodes(const std::string& peer) const { return nodes_.contains(peer) ? nodes_.at(peer) : 0; }

 private:
  /// Returns the detector with these options and its table.
  OrderedDetector& held(const OrderingOptions& options) {
    const bool same = detector_ && options.build == options_.build && options.strategy == options_.strategy;
    if (!same) {
      detector_.reset();
      options_ = options;
      detector_.emplace(runtime_, data_.h.clone(), alphabet_, options);
      prepare(*detector_);
    }
    detector_->set_buffer(options.buffer);
    return *detector_;
  }

  double prepare(OrderedDetector& detector) {
    Graph g(runtime_);
    return seconds_of([&] { detector.prepare(g); });
  }

  /// Returns R of H = Q R.
  HostMatrix<double> triangle() {
    std::vector<int> order(static_cast<std::size_t>(n_));
    std::iota(order.begin(), order.end(), 0);
    const OrderedDetector detector(runtime_, data_.h.clone(), alphabet_,
                                   {OrderingBuild::full, OrderingStrategy::per_signal, 0});
    HostMatrix<double> r(n_, n_);
    std::copy_n(detector.factors(order).data(), n_ * n_, r.data());
    return r;
  }

  Peer table_peer(const std::string& name, OrderingStrategy strategy, index_t buffer) {
    return signals_peer(name, [this, strategy, buffer](Graph& g, Detection& found) {
      OrderedDetector& detector = held({OrderingBuild::prefix, strategy, buffer});
      return seconds_of([&] { found = detector.detect(g, data_.x); });
    });
  }

  Peer signals_peer(const std::string& name, const std::function<double(Graph&, Detection&)>& detect) {
    const auto found = std::make_shared<Detection>();
    const auto run = [this, found, detect] {
      Graph g(runtime_);
      return detect(g, *found);
    };
    return checked(name, run, [this, name, found] { return check_signals(name, *found); });
  }

  double check_signals(const std::string& name, const Detection& found) {
    nodes_[name] = mean_nodes(found);
    const auto& labels = found.labels;
    if (labels.rows() != n_) return 0;  // complex: ordering_mismatches has it
    if (right_.shape() == labels.shape() && std::equal(labels.data(), labels.data() + labels.size(), right_.data()))
      return 0;
    Graph g(runtime_);
    if (const index_t wrong = ordering_mismatches(g, data_.h, data_.x, alphabet_, found); wrong > 0)
      throw WrongResult(fmt::format("bench mimo-orderings: {} finds {} other symbols", name, wrong));
    right_ = labels.clone();
    return 0;
  }

  /// Returns an error relative to its bound. Throws WrongResult beyond it.
  static double relative(double error) {
    if (!(error <= 1e-13)) throw WrongResult(fmt::format("bench mimo-orderings: an error of {:.2e}", error));
    return error / 1e-13;
  }

  static constexpr index_t most_checked = 2000;  ///< factorizations of a table

  Runtime& runtime_;
  const OrderingsBench& o_;
  index_t n_;
  Constellation alphabet_;
  RealSignals data_;
  OrderingOptions options_;
  std::optional<OrderedDetector> detector_;
  HostMatrix<int> right_;  ///< symbols that were compared with sd's
  std::map<std::string, double> nodes_;
};

/// Adds rows of the source's figures that no peer has.
void add_source(Report& report, const Case& what, const char* table, index_t n, const std::vector<std::string>& shown) {
  for (const Figure& f : published_figures()) {
    if (f.source != source || f.table != table || f.quantity != "time" || f.n != n) continue;
    const std::string column(f.column);
    if (std::find(shown.begin(), shown.end(), column) != shown.end()) continue;
    Timing timing{column, {}};
    timing.remark = fmt::format("source: {:.4g} ms", f.value * 1e3);
    report.add(what, {timing}, 0, [](double) { return 0.0; });
    report.rows().back().published_s = f.value;
  }
}

/// Tables 4.1 and 4.2: bytes here, bytes by the source's rule, and its printed figures.
void memory(const OrderingsBench& o, Report& report) {
  for (const char* const table : {"4.1", "4.2"})
    for (const index_t n : o.n) {
      const auto printed = [&](const char* row) {
        return published_value({.source = source, .table = table, .row = row, .n = n, .quantity = "memory"});
      };
      const double square = static_cast<double>(n * n), all = factorial(n), workspace = printed("workspace");
      const bool whole = std::string_view(table) == "4.1";  // Table 4.2: the QRs are on the GPU
      struct Line {
        const char* row;
        double here, rule;  // numbers of 8 bytes
      };
      std::vector<Line> lines{{"Q0 R0", square + static_cast<double>(n), square},
                              {"P", 0, all * static_cast<double>(n)}};
      if (whole) lines.push_back({"Qi Ri", ordering_bytes(n) / 8, all * square});
      lines.push_back({"workspace", 2 * square, workspace});
      Line total{"total", 0, 0};
      for (const Line& line : lines) total.here += line.here, total.rule += line.rule;
      lines.push_back(total);
      for (const Line& line : lines) {
        Timing timing{line.row, {}};
        timing.remark = fmt::format("{:.4g} numbers of 8 bytes; by the source's rule {:.4g}; source {:.4g}", line.here,
                                    line.rule, printed(line.row));
        report.add({fmt::format("memory, n = {}, Table {}", n, table), n, n, 0, "", "", "numbers", "d"}, {timing}, 0,
                   [](double) { return 0.0; });
        Row& row = report.rows().back();
        row.rate = line.here, row.published_rate = printed(line.row);
        row.more = {{"nodes", 0}, {"by_rule", line.rule}};
      }
    }
}

void run(const OrderingsBench& o) {
  for (const index_t n : o.n)
    if (n % 2 != 0 || n < 2 || n > 10)
      throw ArgumentError("bench mimo-orderings", "--n", fmt::format("{}; 2, 4, 6, 8 or 10", n));
  for (const std::string& b : o.buffers)
    if (b != "inf" && (b.empty() || b.size() > 9 || b.find_first_not_of("0123456789") != std::string::npos || b == "0"))
      throw ArgumentError("bench mimo-orderings", "--buffers", fmt::format("'{}' is neither a number nor inf", b));
  const double largest = ordering_bytes(*std::max_element(o.n.begin(), o.n.end()));
  cli::require_memory("bench mimo-orderings", "the table of the largest n", 1.2 * largest);
  std::map<index_t, Timing> sequential;
  if (o.wants("signals")) {
    Runtime one(RuntimeOptions{.cpus = 1, .gpus = 0});
    for (const index_t n : o.n) {
      sequential[n] = Orderings(one, o, n).buffers({"inf"}).front();
      sequential[n].peer = one_core;
    }
  }
  Runtime runtime(o.runtime());
  const bool gpu = runtime.gpus() > 0;
  Report report("mimo-orderings", o, &runtime);
  if (o.wants("memory")) memory(o, report);
  for (const index_t n : o.n) {
    Orderings here(runtime, o, n);
    const auto rate = [&](double count) { return [count](double seconds) { return count / seconds; }; };
    const auto add = [&](const Case& what, const std::vector<Timing>& timings, double count, const char* table,
                         const std::map<std::string, std::string>& columns) {
      const std::size_t before = report.rows().size();
      report.add(what, timings, 0, rate(count));
      std::vector<std::string> shown;
      for (std::size_t k = before; k < report.rows().size(); ++k) {
        Row& row = report.rows()[k];
        row.more = {{"nodes", here.nodes(row.timing.peer)}, {"by_rule", 0}};
        const auto column = columns.find(row.timing.peer);
        const std::string name = column != columns.end() ? column->second : row.timing.peer;
        row.published_s = published_value({.source = source, .table = table, .column = name, .n = n});
        if (row.published_s > 0) shown.push_back(name);
      }
      add_source(report, what, table, n, shown);
    };
    const auto signals = static_cast<double>(o.signals);
    const std::string of_signals = fmt::format("{} signals, n = {}", o.signals, n);
    if (o.wants("qrs"))
      add({fmt::format("all {:.0f} QRs, n = {}, Table 4.3", factorial(n), n), n, n, 0, "", gpu ? "device" : "host",
           "QR/s", "d"},
          here.builds(), factorial(n), "4.3", {{"full", gpu ? "CUDA total" : "UPC 8 threads"}});
    if (o.wants("signals")) {
      std::vector<Timing> timings = here.buffers(o.buffers);
      timings.insert(timings.begin(), sequential[n]);
      add({of_signals + ", Table 4.4", n, n, o.signals, "", "host", "signals/s", "d"}, timings, signals,
          o.signals == 100000 ? "4.4" : "none", {});
    }
    if (o.wants("strategies"))
      add({of_signals + ", strategies", n, n, o.signals, "", "host", "signals/s", "d"}, here.strategies(), signals,
          "none", {});
  }
  for (Row& row : report.rows())
    if (row.more.empty()) row.more = {{"nodes", 0}, {"by_rule", 0}};
  report.note(
      "source: Ramiro Sánchez 2010, a Core i7 950 with 8 threads and a GPU of Locomotora; its rule: n^2 for Q0 R0, n "
      "n! "
      "for P, n^2 n! for Qi Ri, and the workspace as printed");
  report.note(
      "16-QAM, one channel, all signals exist at the beginning; the memory of a table exists before its time begins; "
      "sequential: one core");
  report.finish();
}

const cli::Command command(
    cli::Command::Group::bench, "mimo-orderings", "tables of QRs for all orders of columns, and their uses",
    [](cli::App& app) {
      auto o = std::make_shared<OrderingsBench>();
      o->common.repeat = 3;
      cli::CommonOptions::Taken taken;
      taken.precision = false;
      o->add_to(app, "mimo-orderings", taken);
      app.add_option("--table", o->table,
                     "memory: bytes of a table (Ramiro Sánchez 2010, Tables 4.1 and 4.2); qrs: all n! QRs (4.3); "
                     "signals: by owner, a peer for each buffer (4.4); strategies: by all strategies; or all")
          ->check(cli::one_of({"all", "memory", "qrs", "signals", "strategies"}))
          ->show_default();
      app.add_list("-n,--n", o->n, "columns in real form")->positive()->show_default();
      app.add_list("--buffers", o->buffers, "signals at a time, or inf")->show_default();
      app.add_option("--signals", o->signals, "how many")->positive()->show_default();
      app.add_option("--ebn0", o->ebn0, "in dB")->show_default();
      return std::function<int()>([o] { return guarded([&] { run(*o); }); });
    });

}  // namespace
}  // namespace tesela::bench
