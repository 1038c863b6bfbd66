#include "tools/problems/mimo/mimo_problem.hpp"

#include "tools/app/arguments.hpp"
#include "tools/app/standard_streams.hpp"
#include "tools/problems/mimo/mimo_files.hpp"
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/io/arrays.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace tesela::cli {
namespace {

constexpr const char* command = "mimo";

/// Returns the symbols to send for an unbounded alphabet: parts -8 … 7.
Constellation small_integers() {
  Constellation made{"integers", {}};
  for (int label = 0; label < 256; ++label) made.points.emplace_back(label / 16 - 8, label % 16 - 8);
  return made;
}

void check_limits(const MimoShape& shape) {
  require(shape.streams >= 1 && shape.streams <= 32, command, "--nt", shape.streams, " streams; 1 to 32");
  require(shape.antennas >= 1 && shape.antennas <= 128, command, "--nr", shape.antennas, " antennas; 1 to 128");
}

}  // namespace

void MimoInput::add_to(App& app) {
  auto* const of_h = add_input(app, "--h", h,
                               "channels: .npy, Nr x Nt for all signals, or blocks x Nr x Nt; or Matrix Market, Nr x "
                               "Nt");
  auto* const of_y = add_input(app, "--y", y, "signals: .npy, signals x Nr, or Nr x signals")->needs(of_h);
  of_h->needs(of_y);
  add_input(app, "--sent", sent, "labels that were sent, .npy, signals x Nt, or Nt x signals")->needs(of_h);
  app.add_option("--layout", layout,
                 "of the files with a row or a column per signal: signals-rows, antennas-rows (as in Python), or auto, "
                 "which selects by shape; a square --y needs a name")
      ->check(one_of({"auto", "signals-rows", "antennas-rows"}))
      ->show_default();
  const auto generated = [&](Option* option) { return option->excludes(of_h)->generates(); };
  generated(app.add_option("--nt", streams, "streams")->positive())->show_default();
  generated(app.add_option("--nr", antennas, "antennas (default: as many as streams)")->positive());
  generated(app.add_option("--signals", signals, "how many")->non_negative())->show_default();
  app.add_option("--coherence", coherence,
                 "signals that share a channel, 0 all of them (default: as --h has it, else 1)")
      ->non_negative();
  generated(app.add_option("--channel", channel, "rayleigh, correlated:R, kappa:K, rank:R or zero"))->show_default();
  app.add_option("--constellation", constellation,
                 "bpsk, pi/2-bpsk, qpsk, 8psk, 16qam, 64qam, 256qam, 1024qam, or FILE of lines 're im label'; or a "
                 "list by commas; "
                 "integers (Gaussian); required with --h")
      ->transform(dash_is("/dev/stdin"))
      ->show_default()
      ->generates();
  auto* const of_ebn0 = app.add_option("--ebn0", ebn0, "Eb/N0 = 1 / (N0 log2 |A|) in dB")->show_default();
  of_ebn0->excludes(of_h)->generates();
  auto* const of_n0 = app.add_option("--n0", n0, "noise variance at a complex antenna (default: of --ebn0; of --h 0)")
                          ->excludes(of_ebn0);
  add_input(app, "--noise-cov", noise_cov,
            "the noise's covariance, .npy or Matrix Market, Nr x Nr: H and y are whitened, N0 is 1")
      ->needs(of_h)
      ->excludes(of_n0);
}

template <class T>
MimoSource<T>::MimoSource(const MimoInput& input, std::uint64_t seed) : input_(input), seed_(seed) {
  const double n0 = input.n0.value_or(0);
  require(n0 >= 0 && std::isfinite(n0), command, "--n0", fmt::format("{} is no variance", n0));
  require(std::abs(input.ebn0) <= 1000, command, "--ebn0", fmt::format("{}; -1000 to 1000", input.ebn0));
  if (!input.h.empty()) files_ = std::make_unique<MimoFiles<T>>(input_);
  shape_ = files_ ? files_->shape()
                  : MimoShape{input.streams, input.antennas > 0 ? input.antennas : input.streams, input.signals,
                              input.coherence >= 0 ? input.coherence : 1};
  antennas_rows_ = files_ ? files_->antennas_rows() : input.layout == "antennas-rows";
  check_limits(shape_);
  integers_ = input.constellation == "integers";
  if (integers_)
    alphabets_.assign(static_cast<std::size_t>(shape_.streams), small_integers());
  else
    alphabets_ = parse_constellations(command, input.constellation, shape_.streams);
  turned_ = alternates(alphabets_);
  if (turned_) alphabets_ = constant_of(std::move(alphabets_));
  n0_ = input.n0 ? *input.n0 : files_ ? 0 : noise_variance(input.ebn0, alphabets_);
  if (!input.noise_cov.empty()) {
    const Array<std::complex<double>> c = read_complex_array<double>(input.noise_cov);
    const index_t m = shape_.antennas;
    require(c.dims == std::vector<index_t>{m, m}, command, "--noise-cov",
            fmt::format("{} is {}, not {} x {}", input.noise_cov, fmt::join(c.dims, " x "), m, m));
    covariance_ = HostMatrix<std::complex<double>>(m, m);
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < m; ++j) covariance_(i, j) = c.values[static_cast<std::size_t>(i * m + j)];
    n0_ = 1;
  }
  if (!input.prior.empty()) {
    index_t bits = 0;
    for (const Constellation& c : alphabets_) bits += c.bits();
    priors_ = std::make_unique<MimoPriors<T>>(input.prior, shape_.signals, bits, antennas_rows_);
  }
}

template <class T>
MimoSource<T>::~MimoSource() = default;

template <class T>
nlohmann::json MimoSource<T>::problem() const {
  nlohmann::json problem = {{"nt", shape_.streams},
                            {"nr", shape_.antennas},
                            {"signals", shape_.signals},
                            {"coherence", shape_.coherence},
                            {"channels", shape_.channels()},
                            {"constellation", input_.constellation},
                            {"n0", n0_},
                            {"input", files_ ? input_.h : input_.channel}};
  if (!files_) problem["seed"] = seed_;
  if (!files_ && !input_.n0) problem["ebn0_db"] = input_.ebn0;
  if (files_) problem["layout"] = antennas_rows_ ? "antennas-rows" : "signals-rows";
  if (priors_) problem["prior"] = input_.prior;
  return problem;
}

template <class T>
index_t MimoSource<T>::together(index_t first, index_t most) const {
  return files_ ? files_->together(first, most) : shape_.signals - first;
}

template <class T>
double MimoSource<T>::bytes(index_t most) const {
  MimoShape part = shape_;
  if (most > 0) part.signals = files_ ? std::min(most, shape_.signals) : most;
  const auto antennas = static_cast<double>(part.antennas), streams = static_cast<double>(part.streams),
             signals = static_cast<double>(part.signals);
  return antennas * (streams * static_cast<double>(part.channels()) + signals) * sizeof(std::complex<T>) +
         2 * streams * signals * sizeof(int);  // labels that were sent, and found
}

template <class T>
MimoData<T> MimoSource<T>::signals(index_t first, index_t count) const {
  MimoData<T> data;
  data.alphabets = alphabets_;
  data.n0 = n0_;
  data.integers = integers_;
  data.first = first;
  data.turned = turned_;
  if (files_) {
    files_->read(first, count, data);
    if (turned_) data.y = turned_back(data.y, first);
  } else {
    generate(data);  // of bpsk: signals that were turned and turned back
  }
  if (covariance_.size() > 0) whiten(covariance_, data.channels, data.y);
  if (priors_) data.priors = priors_->read(first, count);
  return data;
}

template <class T>
void MimoSource<T>::generate(MimoData<T>& data) const {
  const ChannelChoice choice = parse_channel(command, input_.channel);
  data.shape = shape_;
  data.channels = random_channels<T>(shape_, choice, seed_);
  data.sent = random_labels(shape_, alphabets_, seed_);
  data.y = received(shape_, data.channels, alphabets_, data.sent, n0_, seed_);
}

void take_order(const std::string& order, const std::string& direction, MimoOptions& options) {
  const auto kind = find_named(column_orders(), order);
  require(kind.has_value(), command, "--order", "'", order, "' is none of ", order_names());
  options.order = *kind;
  require(direction == "up" || direction == "down", command, "--direction", "'", direction, "' is neither up nor down");
  options.up = direction == "up";
}

void NodeCounts::add(const std::vector<SearchReport>& reports) {
  for (const SearchReport& r : reports) {
    ++counts_[r.nodes], ++signals_;
    sum_ += static_cast<double>(r.nodes);
  }
}

void NodeCounts::print_error(Report& report) const {
  if (signals_ == 0) return;
  const auto at = [&](double part) {
    auto left = static_cast<index_t>(part * static_cast<double>(signals_ - 1) + 0.5);
    for (const auto& [nodes, count] : counts_)
      if ((left -= count) < 0) return static_cast<double>(nodes);
    return 0.0;
  };
  report.check("nodes_mean", sum_ / static_cast<double>(signals_));
  report.check("nodes_median", at(0.5));
  report.check("nodes_p99", at(0.99));
  report.check("nodes_max", at(1));
  // 1, 2 to 3, 4 to 7, …
  std::map<int, index_t> powers;
  for (const auto& [nodes, count] : counts_)
    powers[static_cast<int>(std::bit_width(static_cast<unsigned long long>(nodes)))] += count;
  nlohmann::json histogram = nlohmann::json::array();
  for (const auto& [width, count] : powers)
    histogram.push_back({{"least", width == 0 ? 0 : 1LL << (width - 1)}, {"signals", count}});
  report.section("nodes_histogram", histogram);
}

void report_nodes(const std::vector<SearchReport>& reports, Report& report) {
  NodeCounts counts;
  counts.add(reports);
  counts.print_error(report);
}

std::string order_names() {
  std::string names;
  for (const auto& one : column_orders()) names += fmt::format("{}{}", names.empty() ? "" : ", ", one.name);
  return names;
}

TESELA_CLASSES_FOR_REALS(MimoSource)

}  // namespace tesela::cli
