#include "tools/app/numbers.hpp"
#include "tools/app/sizes.hpp"
#include "tools/bench/harness/report.hpp"
#include "tools/checks/ordering_error.hpp"
#include <tesela/algorithms/mimo/mimo_channel.hpp>
#include <tesela/algorithms/mimo/orderings.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace tesela::bench {
namespace {

/// The published times for these n: all QRs on one core, by UPC on 4 and 8 threads, by OpenMP on 8, by a GPU with and
/// without transfers; and 100,000 signals by the buffer's size, and on one core.
constexpr std::array<index_t, 4> published_n{4, 6, 8, 10};
struct PublishedTime {
  const char* how;
  std::array<double, 4> seconds;
};
constexpr std::array<PublishedTime, 6> published_builds{{{"one core", {1e-5, 6.9e-4, 0.0545, 5.66}},
                                                         {"UPC, 4 threads", {3e-5, 1.6e-4, 0.017, 1.42}},
                                                         {"UPC, 8 threads", {4e-5, 1e-4, 7.8e-3, 1.14}},
                                                         {"OpenMP, 8 threads", {0.064, 0.12, 0.14, 1.33}},
                                                         {"GPU", {1e-4, 3.7e-4, 0.0132, 2.64}},
                                                         {"GPU, with transfers", {1.5e-4, 4.4e-4, 0.0149, 2.86}}}};
constexpr std::array<PublishedTime, 6> published_signals{{{"64", {0.13, 1.17, 3.06, 4.42}},
                                                          {"128", {0.23, 0.41, 2.84, 4.03}},
                                                          {"256", {0.19, 0.39, 1.23, 3.30}},
                                                          {"512", {0.09, 0.57, 1.09, 3.24}},
                                                          {"inf", {0.12, 0.36, 1.02, 2.98}},
                                                          {"one core", {0.36, 1.63, 5.51, 34.54}}}};

template <class Table>
double published(const Table& table, const std::string& how, index_t n) {
  for (const PublishedTime& row : table)
    for (std::size_t k = 0; k < published_n.size(); ++k)
      if (row.how == how && published_n[k] == n) return row.seconds[k];
  return 0;
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
    mark(3, published(published_builds, gpu ? "GPU" : "UPC, 8 threads", n));
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
    if (o_.signals == 100000) mark(peers.size(), published(published_signals, buffer, n));
    for (std::size_t k = 0; k < peers.size(); ++k)
      report_.rows()[report_.rows().size() - peers.size() + k].more.emplace_back("nodes", nodes_[peers[k].name]);
    if (buffer != o_.buffers.back()) return;
    for (std::size_t k = 0; k < peers.size(); ++k)
      seconds_[peers[k].name] = report_.rows()[report_.rows().size() - peers.size() + k].timing.median();
  }

  void mark(std::size_t count, double seconds) {
    auto& rows = report_.rows();
    for (std::size_t k = rows.size() - count; k < rows.size(); ++k) rows[k].published_s = seconds;
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
  for (const PublishedTime& row : published_builds)
    report.note(fmt::format("published, all QRs for n = 4 6 8 10, {}: {:g} s", row.how, fmt::join(row.seconds, " ")));
  for (const PublishedTime& row : published_signals)
    report.note(fmt::format("published, 100,000 signals, buffer {}: {:g} s", row.how, fmt::join(row.seconds, " ")));
  report.note(
      "16-QAM, one channel, all signals there from the beginning; a table's memory is there before its time begins");
  report.finish();
}

const cli::Command command(
    cli::Command::Group::bench, "mimo-orderings", "tables of QRs for all orders of columns, and their uses",
    [](CLI::App& app) {
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
