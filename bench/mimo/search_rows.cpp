#include "bench/mimo/mimo_rows.hpp"
#include <tesela/algorithms/mimo/mimo_detect.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace tesela::bench {
namespace {

struct SearchCase {
  std::string title;
  MimoShape shape;
  const char* constellation;
  double ebn0;
  long long max_nodes = 0;
};

constexpr index_t slot = 273 * 12 * 14;

std::vector<SearchCase> cases_of(const MimoBench& o, const std::string& rows) {
  std::vector<SearchCase> all;
  const auto slots = [&](index_t n, const char* constellation, const std::vector<double>& decibels) {
    for (const double db : decibels) {
      all.push_back(
          {fmt::format("a slot of {0}x{0}, {1}, {2:g} dB", n, constellation, db), {n, n, slot, 1}, constellation, db});
      if (o.max_nodes == 0) continue;
      all.push_back(all.back());
      all.back().max_nodes = o.max_nodes;
      all.back().title += fmt::format(", at most {} nodes", o.max_nodes);
    }
  };
  if (rows == "one-channel" || rows == "channel-each") {
    const bool one = rows == "one-channel";
    for (const index_t streams : {2, 3, 4, 5})
      all.push_back(
          {fmt::format("{} signals, n = {}, {}", o.signals, 2 * streams, one ? "one channel" : "a channel each"),
           {streams, streams, o.signals, one ? 0 : 1},
           "16qam",
           7});
  } else if (rows == "many") {
    all.push_back({fmt::format("{} signals, n = 10, a channel each", o.many), {5, 5, o.many, 1}, "16qam", 7});
  } else if (rows == "slot4") {
    slots(4, "64qam", {14, 18});
  } else if (rows == "slot8") {
    slots(8, "256qam", {22});
  }
  return all;
}

/// One detector on one case's data.
template <class T>
struct Searched {
  MimoShape shape;
  std::vector<Constellation> alphabets;
  HostMatrix<std::complex<T>> h, y;
  double n0 = 0;
  std::vector<PinnedMemory> pinned;

  Searched(Runtime& runtime, const SearchCase& what, std::uint64_t seed)
      : shape(what.shape), alphabets(parse_constellations("bench mimo", what.constellation, what.shape.streams)) {
    n0 = noise_variance(what.ebn0, alphabets);
    h = random_channels<T>(shape, {}, seed);
    y = received(shape, h, alphabets, random_labels(shape, alphabets, seed), n0, seed);
    for (auto* const a : {&h, &y})
      pinned.emplace_back(runtime, a->data(), static_cast<std::size_t>(a->size()) * sizeof(std::complex<T>));
  }
  Detection operator()(Graph& g, const std::string& method, ColumnOrder order, long long max_nodes) const {
    MimoOptions options{.order = order, .n0 = n0, .max_nodes = max_nodes};
    parse_mimo_method("bench mimo", method, options);
    return mimo_detect(g, shape, h, y, alphabets, options);
  }
};

index_t differences(const Detection& a, const Detection& b) {
  index_t count = 0;
  for (index_t k = 0; k < a.labels.cols(); ++k) {
    const int flags = a.reports[static_cast<std::size_t>(k)].flags | b.reports[static_cast<std::size_t>(k)].flags;
    const bool same = std::equal(&a.labels(0, k), &a.labels(0, k) + a.labels.rows(), &b.labels(0, k));
    count += same || (flags & SearchReport::uncertified) != 0 ? 0 : 1;
  }
  return count;
}

}  // namespace

double kernel_seconds(Runtime& runtime, const std::string& kernel) {
  double gpus = 0, cores = 0;
  for (const WorkerUse& worker : runtime.statistics().workers)
    for (const KernelUse& use : worker.kernels)
      if (use.kernel == kernel) (worker.worker.is_gpu ? gpus : cores) += use.busy_seconds;
  return gpus > 0 ? gpus : cores;
}

template <class T>
void add_search_rows(Report& report, Runtime& runtime, const MimoBench& o, const std::string& rows) {
  for (const SearchCase& what : cases_of(o, rows)) {
    const auto data = std::make_shared<Searched<T>>(runtime, what, o.common.seed);
    const auto kernel = std::make_shared<double>(0);
    const auto found = std::make_shared<Detection>();
    const auto run = [&runtime, data, kernel, found, what] {
      runtime.reset_statistics();
      const double seconds = seconds_of([&] {
        Graph g(runtime);
        *found = (*data)(g, "sd", ColumnOrder::mmse_vblast, what.max_nodes);
      });
      *kernel = kernel_seconds(runtime, "sphere_search");
      return seconds;
    };
    const auto check = [&runtime, data, found, what] {
      Graph g(runtime);
      const Detection other = (*data)(g, "sd", ColumnOrder::sqrd, what.max_nodes);
      const index_t wrong = differences(*found, other);
      if (wrong > 0)
        throw WrongResult(fmt::format("bench mimo: {}: {} signals differ by a second order", what.title, wrong));
      return 0.0;
    };
    const auto signals = static_cast<double>(what.shape.signals);
    report.add({what.title, what.shape.antennas, what.shape.streams, what.shape.signals, "", "host", "signals/s"},
               alternate({checked("sd", run, check)}, o.common.repeat), 0,
               [signals](double seconds) { return signals / seconds; });
    double nodes = 0, most = 0;
    for (const SearchReport& r : found->reports)
      nodes += static_cast<double>(r.nodes), most = std::max(most, static_cast<double>(r.nodes));
    report.rows().back().more = {{"kernel_s", *kernel},
                                 {"nodes", nodes / signals},
                                 {"most_nodes", most},
                                 {"uncertified", static_cast<double>(found->uncertified())}};
    report.note(fmt::format("{}: the kernel {:.4g} s, {:.1f} nodes in the mean, {:.0f} at most, {} uncertified",
                            what.title, *kernel, nodes / signals, most, found->uncertified()));
  }
}

template void add_search_rows<float>(Report&, Runtime&, const MimoBench&, const std::string&);
template void add_search_rows<double>(Report&, Runtime&, const MimoBench&, const std::string&);

}  // namespace tesela::bench
