#include "tools/app/numbers.hpp"
#include "tools/app/sizes.hpp"
#include "tools/bench/harness/published.hpp"
#include "tools/bench/harness/report.hpp"
#include "tools/checks/ordering_error.hpp"
#include <tesela/algorithms/mimo/mimo_channel.hpp>
#include <tesela/algorithms/mimo/orderings.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tesela::bench {
namespace {

/// Returns a time of Ramiro Sánchez 2010; 0 without one.
double published_seconds(std::string_view table, const std::string& column, index_t n) {
  return published_value({.source = "ramiro-2010", .table = table, .column = column, .n = n});
}

/// Returns the times of a table for a note: "COLUMN: seconds by n; …".
std::string published_times(std::string_view table) {
  std::string lines;
  for (const Figure& f : published_figures()) {
    if (f.source != "ramiro-2010" || f.table != table || f.quantity != "time" || f.n != 4) continue;
    lines += fmt::format("{}{}:", lines.empty() ? "" : "; ", f.column);
    for (const index_t n : {4, 6, 8, 10})
      lines += fmt::format(" {:g}", published_seconds(table, std::string(f.column), n));
  }
  return lines;
}

struct OrderingsBench : Options {
  std::vector<index_t> n{4, 6, 8, 10};
  std::vector<std::string> buffers{"64", "512", "inf"};
  index_t signals = 100000;
  double ebn0 = 7;
};

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

class Orderings {
 public:
  Orderings(Runtime& runtime, const OrderingsBench& o, Report& report)
      : runtime_(runtime), o_(o), report_(report), alphabet_(constellation(ConstellationKind::qam16)) {}

  void operator()(index_t n) {
    cli::require_memory("bench mimo-orderings", fmt::format("all factorizations of {} columns", n),
                        2.5 * ordering_bytes(n, OrderingBuild::neighbour));
    data_ = random_real_signals(n, o_.signals, alphabet_, noise_variance(o_.ebn0, {alphabet_}), o_.common.seed);
    const double built = builds(n);
    nodes_.clear(), right_ = {};
    for (const std::string& buffer : o_.buffers) signals(n, buffer);
    verdict(n, built);
  }

 private:
  double builds(index_t n) {
    std::vector<Peer> peers;
    std::vector<std::shared_ptr<OrderedDetector>> detectors;
    for (const OrderingBuild build : {OrderingBuild::prefix, OrderingBuild::neighbour, OrderingBuild::full}) {
      const auto detector = std::make_shared<OrderedDetector>(runtime_, data_.h.clone(), alphabet_,
                                                              OrderingOptions{build, OrderingStrategy::owner, 0});
      const auto run = [this, detector] {
        return seconds_of([&] {
          Graph g(runtime_);
          detector->prepare(g);
        });
      };
      peers.push_back(checked(name_of(ordering_builds(), build), run, [this, detector] { return within(*detector); }));
    }
    const bool gpu = runtime_.gpus() > 0;
    double all = 1;
    for (index_t k = 2; k <= n; ++k) all *= static_cast<double>(k);
    report_.add({fmt::format("all {:.0f} QRs, n = {}", all, n), n, n, 0, "", gpu ? "device" : "host", "QR/s", "d"},
                alternate(peers, o_.common.repeat), 0, [all](double seconds) { return all / seconds; });
    // The source factors each permuted matrix from its first column on.
    mark("full", 3, published_seconds("4.3", gpu ? "CUDA computing" : "UPC 8 threads", n));
    return report_.rows()[report_.rows().size() - 3].timing.median();
  }

  void signals(index_t n, const std::string& buffer) {
    const OrderingOptions base{OrderingBuild::prefix, OrderingStrategy::owner,
                               buffer == "inf" ? 0 : static_cast<index_t>(std::stol(buffer))};
    std::vector<Peer> peers;
    const auto best = std::make_shared<Detection>();
    const auto form = std::make_shared<ComplexSignals>(complex_form(data_));
    const auto add = [&](const std::string& name, const std::function<Detection(Graph&)>& detect) {
      const auto found = std::make_shared<Detection>();
      peers.push_back(checked(
          name,
          [this, found, detect] {
            return seconds_of([&] {
              Graph g(runtime_);
              *found = detect(g);
            });
          },
          [this, name, found] {
            nodes_[name] = mean_nodes(*found);
            if (found->labels.rows() != data_.h.rows()) return 0.0;  // complex: ordering_mismatches has it
            const auto& labels = found->labels;
            if (right_.shape() == labels.shape() &&
                std::equal(labels.data(), labels.data() + labels.size(), right_.data()))
              return 0.0;
            Graph g(runtime_);
            if (const index_t wrong = ordering_mismatches(g, data_.h, data_.x, alphabet_, *found); wrong > 0)
              throw WrongResult(fmt::format("bench mimo-orderings: {} finds {} other symbols", name, wrong));
            right_ = labels.clone();
            return 0.0;
          }));
    };
    add("sd, a QR a channel", [this, form](Graph& g) {
      const index_t half = data_.h.rows() / 2;
      return mimo_detect(g, {half, half, data_.x.cols(), 0}, form->h, form->y,
                         std::vector<Constellation>(static_cast<std::size_t>(half), alphabet_),
                         {.n0 = noise_variance(o_.ebn0, {alphabet_})});
    });
    std::vector<std::shared_ptr<OrderedDetector>> detectors;
    for (const auto& strategy : ordering_strategies()) {
      OrderingOptions options = base;
      options.strategy = strategy.value;
      const auto detector = std::make_shared<OrderedDetector>(runtime_, data_.h.clone(), alphabet_, options);
      Graph g(runtime_);
      detector->prepare(g);
      const bool fresh = strategy.value == OrderingStrategy::cache;  // a cache begins empty
      add(strategy.name, [this, detector, options, fresh](Graph& graph) {
        if (!fresh) return detector->detect(graph, data_.x);
        return OrderedDetector(runtime_, data_.h.clone(), alphabet_, options).detect(graph, data_.x);
      });
    }
    report_.add({fmt::format("{} signals, n = {}, buffer {}", o_.signals, n, buffer), n, n, o_.signals, "", "host",
                 "signals/s", "d"},
                alternate(peers, o_.common.repeat), 0,
                [this](double seconds) { return static_cast<double>(o_.signals) / seconds; });
    if (o_.signals == 100000) mark("owner", peers.size(), published_seconds("4.4", "buffer " + buffer, n));
    for (std::size_t k = 0; k < peers.size(); ++k)
      report_.rows()[report_.rows().size() - peers.size() + k].more.emplace_back("nodes", nodes_[peers[k].name]);
    if (buffer != o_.buffers.back()) return;
    for (std::size_t k = 0; k < peers.size(); ++k)
      seconds_[peers[k].name] = report_.rows()[report_.rows().size() - peers.size() + k].timing.median();
  }

  /// Sets the time of Ramiro Sánchez 2010 of the peer of the source's method, among the last rows.
  void mark(std::string_view peer, std::size_t count, double seconds) {
    auto& rows = report_.rows();
    for (std::size_t k = rows.size() - count; k < rows.size(); ++k)
      if (rows[k].timing.peer == peer) rows[k].published_s = seconds;
  }

  /// How many signals one channel must last for its table to pay, against a QR a signal and against one a channel.
  void verdict(index_t n, double built) {
    const double each = static_cast<double>(o_.signals), owner = seconds_["owner"] / each,
                 signal = seconds_["per-signal"] / each, sd = seconds_["sd, a QR a channel"] / each;
    const auto pays = [&](double other) {
      return other > owner ? fmt::format("after {:.3g} signals", built / (other - owner)) : std::string("never");
    };
    report_.note(
        fmt::format("n = {}: the table takes {:.3g} s and {:.4g} bytes, a signal of it {:.3g} s ({:.1f} nodes); a QR a "
                    "signal {:.3g} "
                    "s: the table pays {}; one sorted QR a channel {:.3g} s ({:.1f} nodes): it pays {}",
                    n, built, ordering_bytes(n, OrderingBuild::prefix), owner, nodes_["owner"], signal, pays(signal),
                    sd, nodes_["sd, a QR a channel"], pays(sd)));
  }

  double within(const OrderedDetector& detector) const {
    const double error = ordering_error(detector, data_.h, 2000);
    if (!(error <= 1e-13)) throw WrongResult(fmt::format("bench mimo-orderings: an error of {:.2e}", error));
    return error / 1e-13;
  }

  Runtime& runtime_;
  const OrderingsBench& o_;
  Report& report_;
  Constellation alphabet_;
  RealSignals data_;
  HostMatrix<int> right_;  ///< symbols that were compared with sd's
  std::map<std::string, double> nodes_, seconds_;
};

void run(const OrderingsBench& o) {
  for (const index_t n : o.n)
    if (n % 2 != 0 || n < 2 || n > 11)
      throw ArgumentError("bench mimo-orderings", "--n", fmt::format("{}; 2, 4, 6, 8 or 10", n));
  for (const std::string& b : o.buffers)
    if (b != "inf" && (b.empty() || b.size() > 9 || b.find_first_not_of("0123456789") != std::string::npos || b == "0"))
      throw ArgumentError("bench mimo-orderings", "--buffers", fmt::format("'{}' is neither a number nor inf", b));
  Runtime runtime(o.runtime());
  Report report("mimo-orderings", o, &runtime);
  Orderings each(runtime, o, report);
  for (const index_t n : o.n) each(n);
  report.note("Ramiro Sánchez 2010, Table 4.3, seconds for all QRs of n = 4, 6, 8, 10: " + published_times("4.3"));
  report.note("the same, Table 4.4, 100,000 signals, UPC but for the last: " + published_times("4.4"));
  report.note(
      "16-QAM, one channel, all signals there from the beginning; a table's memory is there before its time begins");
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
      app.add_option("-n,--n", o->n, "columns in real form")
          ->delimiter(',')
          ->transform(cli::positive())
          ->capture_default_str();
      app.add_option("--buffers", o->buffers, "signals at a time, or inf")->delimiter(',')->capture_default_str();
      app.add_option("--signals", o->signals, "how many")->transform(cli::positive())->capture_default_str();
      app.add_option("--ebn0", o->ebn0, "in dB")->capture_default_str();
      return std::function<int()>([o] { return guarded([&] { run(*o); }); });
    });

}  // namespace
}  // namespace tesela::bench
