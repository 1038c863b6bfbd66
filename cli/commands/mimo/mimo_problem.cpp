#include "cli/commands/mimo/mimo_problem.hpp"

#include "cli/app/numbers.hpp"
#include "cli/app/options.hpp"
#include "cli/app/sizes.hpp"
#include <tesela/algorithms/mimo/whiten.hpp>
#include <tesela/tiles/io/arrays.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tesela::cli {
namespace {

constexpr const char* command = "mimo";

std::string dims_of(const std::vector<index_t>& dims) { return fmt::format("{}", fmt::join(dims, " x ")); }

/// Nr x Nt, or blocks x Nr x Nt, to channels side by side.
template <class T>
void take_channels(const MimoInput& input, MimoData<T>& data) {
  const Array<std::complex<T>> h = read_complex_array<T>(input.h);
  const auto& dims = h.dims;
  if (dims.size() < 2 || dims.size() > 3)
    throw ArgumentError(command, "--h", fmt::format("{} is {}; Nr x Nt, or blocks x Nr x Nt", input.h, dims_of(dims)));
  const index_t count = dims.size() == 3 ? dims[0] : 1, m = dims[dims.size() - 2], n = dims[dims.size() - 1];
  data.shape.antennas = m, data.shape.streams = n;
  data.channels = HostMatrix<std::complex<T>>(m, n * count);
  for (index_t c = 0; c < count; ++c)
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < n; ++j)
        data.channels(i, c * n + j) = h.values[static_cast<std::size_t>((c * m + i) * n + j)];
  if (dims.size() == 2) {
    if (input.coherence > 0) throw ArgumentError(command, "--coherence", fmt::format("{} holds one channel", input.h));
    return;
  }
  index_t& coherence = data.shape.coherence;
  coherence = input.coherence >= 0 ? input.coherence : 1;
  if (data.shape.channels() != count)
    throw ArgumentError(command, "--h",
                        fmt::format("{} is {}: {} channels for {} signals of coherence {}", input.h, dims_of(dims),
                                    count, data.shape.signals, coherence));
}

template <class T>
void read_files(const MimoInput& input, MimoData<T>& data) {
  Array<std::complex<T>> y = read_complex_array<T>(input.y);
  if (y.dims.size() != 2)
    throw ArgumentError(command, "--y", fmt::format("{} is {}; signals x Nr", input.y, dims_of(y.dims)));
  data.shape.signals = y.dims[0];
  take_channels(input, data);
  if (y.dims[1] != data.shape.antennas)
    throw ArgumentError(
        command, "--y",
        fmt::format("{} is {}, and the channels have {} antennas", input.y, dims_of(y.dims), data.shape.antennas));
  data.y = HostMatrix<std::complex<T>>(y.dims[1], y.dims[0]);
  std::copy(y.values.begin(), y.values.end(), data.y.data());
}

template <class T>
void read_sent(const MimoInput& input, MimoData<T>& data) {
  const Array<int> sent = read_whole_array(input.sent);
  const std::vector<index_t> wanted{data.shape.signals, data.shape.streams};
  if (sent.dims != wanted)
    throw ArgumentError(command, "--sent",
                        fmt::format("{} is {}, not {}", input.sent, dims_of(sent.dims), dims_of(wanted)));
  data.sent = HostMatrix<int>(data.shape.streams, data.shape.signals);
  std::copy(sent.values.begin(), sent.values.end(), data.sent.data());
  for (index_t k = 0; k < data.shape.signals; ++k)
    for (index_t j = 0; j < data.shape.streams; ++j)
      if (data.sent(j, k) < 0 || data.sent(j, k) >= data.alphabets[static_cast<std::size_t>(j)].size())
        throw ArgumentError(command, "--sent",
                            fmt::format("label {} at [{}, {}] (from zero) is out of range", data.sent(j, k), k, j));
}

/// What is sent where the alphabet has no end: parts -8 … 7.
Constellation small_integers() {
  Constellation made{"integers", {}};
  for (int label = 0; label < 256; ++label) made.points.emplace_back(label / 16 - 8, label % 16 - 8);
  return made;
}

void check_limits(const MimoShape& shape) {
  if (shape.streams < 1 || shape.streams > 32)
    throw ArgumentError(command, "--nt", fmt::format("{} streams; 1 to 32", shape.streams));
  if (shape.antennas < 1 || shape.antennas > 128)
    throw ArgumentError(command, "--nr", fmt::format("{} antennas; 1 to 128", shape.antennas));
}

}  // namespace

void MimoInput::add_to(CLI::App& app) {
  auto* const of_h = add_input(app, "--h", h, "channels: .npy, Nr x Nt for all signals, or blocks x Nr x Nt");
  auto* const of_y = add_input(app, "--y", y, "signals: .npy, signals x Nr")->needs(of_h);
  of_h->needs(of_y);
  add_input(app, "--sent", sent, "labels that were sent, .npy, signals x Nt")->needs(of_h);
  const auto generated = [&](CLI::Option* option) { option->excludes(of_h)->capture_default_str(); };
  generated(app.add_option("--nt", streams, "streams")->transform(positive()));
  generated(app.add_option("--nr", antennas, "antennas (default: as many as streams)")->transform(positive()));
  generated(app.add_option("--signals", signals, "how many")->transform(non_negative()));
  app.add_option("--coherence", coherence,
                 "signals that share a channel, 0 all of them (default: as --h has it, else 1)")
      ->transform(non_negative());
  generated(app.add_option("--channel", channel, "rayleigh, correlated:R, kappa:K, rank:R or zero"));
  app.add_option(
         "--constellation", constellation,
         "bpsk, qpsk, 8psk, 16qam, 64qam, 256qam, 1024qam, or FILE of lines 're im label'; or a list by commas; "
         "integers: any Gaussian ones")
      ->capture_default_str();
  auto* const of_ebn0 = app.add_option("--ebn0", ebn0, "Eb/N0 = 1 / (N0 log2 |A|) in dB")->capture_default_str();
  of_ebn0->excludes(of_h);
  auto* const of_n0 = app.add_option("--n0", n0, "noise variance at a complex antenna (default: of --ebn0; of --h 0)")
                          ->excludes(of_ebn0);
  add_input(app, "--noise-cov", noise_cov, "the noise's covariance, .npy, Nr x Nr: H and y are whitened, N0 is 1")
      ->needs(of_h)
      ->excludes(of_n0);
}

template <class T>
MimoData<T> load_mimo(const MimoInput& input, std::uint64_t seed) {
  MimoData<T> data;
  if (input.n0 && (!(*input.n0 >= 0) || !std::isfinite(*input.n0)))
    throw ArgumentError(command, "--n0", fmt::format("{} is no variance", *input.n0));
  if (!std::isfinite(input.ebn0)) throw ArgumentError(command, "--ebn0", fmt::format("{} is not finite", input.ebn0));
  if (!input.h.empty()) {
    read_files(input, data);
  } else {
    data.shape = {input.streams, input.antennas > 0 ? input.antennas : input.streams, input.signals,
                  input.coherence >= 0 ? input.coherence : 1};
  }
  const MimoShape& shape = data.shape;
  check_limits(shape);
  data.integers = input.constellation == "integers";
  if (data.integers)
    data.alphabets.assign(static_cast<std::size_t>(shape.streams), small_integers());
  else
    data.alphabets = parse_constellations(command, input.constellation, shape.streams);
  data.n0 = input.n0 ? *input.n0 : input.h.empty() ? noise_variance(input.ebn0, data.alphabets) : 0;
  if (input.h.empty()) {
    const ChannelChoice choice = parse_channel(command, input.channel);
    const double numbers = static_cast<double>(shape.antennas) *
                           (static_cast<double>(shape.streams) * static_cast<double>(shape.channels()) +
                            static_cast<double>(shape.signals));
    require_memory(command, "channels and signals", numbers * sizeof(std::complex<T>));
    data.channels = random_channels<T>(shape, choice, seed);
    data.sent = random_labels(shape, data.alphabets, seed);
    data.y = received(shape, data.channels, data.alphabets, data.sent, data.n0, seed);
  } else if (!input.sent.empty()) {
    read_sent(input, data);
  }
  if (!input.noise_cov.empty()) {
    const Array<std::complex<double>> c = read_complex_array<double>(input.noise_cov);
    const index_t m = shape.antennas;
    if (c.dims != std::vector<index_t>{m, m})
      throw ArgumentError(command, "--noise-cov",
                          fmt::format("{} is {}, not {} x {}", input.noise_cov, dims_of(c.dims), m, m));
    HostMatrix<std::complex<double>> covariance(m, m);
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < m; ++j) covariance(i, j) = c.values[static_cast<std::size_t>(i * m + j)];
    whiten(covariance, data.channels, data.y);
    data.n0 = 1;
  }
  data.problem = {{"nt", shape.streams},
                  {"nr", shape.antennas},
                  {"signals", shape.signals},
                  {"coherence", shape.coherence},
                  {"channels", shape.channels()},
                  {"constellation", input.constellation},
                  {"n0", data.n0},
                  {"input", input.h.empty() ? input.channel : input.h}};
  if (input.h.empty()) data.problem["seed"] = seed;
  if (input.h.empty() && !input.n0) data.problem["ebn0_db"] = input.ebn0;
  return data;
}

void take_order(const std::string& order, const std::string& direction, MimoOptions& options) {
  const auto colon = order.find(':');
  const auto kind = find_named(column_orders(), std::string_view(order).substr(0, colon));
  const auto at = colon == std::string::npos
                      ? GradientAt::zero
                      : find_named(gradient_guesses(), std::string_view(order).substr(colon + 1));
  if (!kind || !at || (colon != std::string::npos && *kind != ColumnOrder::gradient))
    throw ArgumentError(command, "--order", fmt::format("'{}' is none of {}", order, order_names()));
  options.order = *kind;
  options.gradient_at = *at;
  if (direction != "up" && direction != "down")
    throw ArgumentError(command, "--direction", fmt::format("'{}' is neither up nor down", direction));
  options.up = direction == "up";
}

void report_nodes(const std::vector<SearchReport>& reports, Report& report) {
  std::vector<long long> nodes;
  double sum = 0;
  for (const SearchReport& r : reports) nodes.push_back(r.nodes), sum += static_cast<double>(r.nodes);
  if (nodes.empty()) return;
  std::sort(nodes.begin(), nodes.end());
  const auto at = [&](double part) {
    return static_cast<double>(nodes[static_cast<std::size_t>(part * static_cast<double>(nodes.size() - 1) + 0.5)]);
  };
  report.check("nodes_mean", sum / static_cast<double>(nodes.size()));
  report.check("nodes_median", at(0.5));
  report.check("nodes_p99", at(0.99));
  report.check("nodes_max", at(1));
}

std::string order_names() {
  std::string names;
  for (const auto& one : column_orders()) names += (names.empty() ? "" : ", ") + std::string(one.name);
  return names + "[:zero, :babai, :mmse]";
}

template MimoData<float> load_mimo(const MimoInput&, std::uint64_t);
template MimoData<double> load_mimo(const MimoInput&, std::uint64_t);

}  // namespace tesela::cli
