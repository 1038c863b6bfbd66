#include "tools/bench/mimo/mimo_rows.hpp"
#include <tesela/algorithms/mimo/mimo_detect.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <tuple>

namespace tesela::bench {
namespace {

struct SearchCase {
  std::string title;
  MimoShape shape;
  const char* constellation;
  double ebn0;
  long long max_nodes = 0;
  bool slot = false;
};

constexpr index_t slot = 273 * 12 * 14;

std::vector<SearchCase> cases_of(const MimoBench& o, const std::string& rows) {
  std::vector<SearchCase> all;
  const auto slots = [&](index_t n, const char* constellation, const std::vector<double>& decibels) {
    for (const double db : decibels) {
      all.push_back({fmt::format("a slot of {0}x{0}, {1}, {2:g} dB", n, constellation, db),
                     {n, n, slot, 1},
                     constellation,
                     db,
                     0,
                     true});
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
    std::tie(h, y) = generate(seed);
    for (auto* const a : {&h, &y})
      pinned.emplace_back(runtime, a->data(), static_cast<std::size_t>(a->size()) * sizeof(std::complex<T>));
  }
  using Signals = std::pair<HostMatrix<std::complex<T>>, HostMatrix<std::complex<T>>>;
  Signals generate(std::uint64_t seed) const {
    Signals made;
    made.first = random_channels<T>(shape, {}, seed);
    made.second = received(shape, made.first, alphabets, random_labels(shape, alphabets, seed), n0, seed);
    return made;
  }
  /// Calls f() with the channels and signals of `count` other seeds, one after the other. All cores generate a batch
  /// of them before, which takes longer than f().
  void with_others(std::uint64_t seed, index_t count, const std::function<void()>& f) {
    for (index_t first = 0; first < count; first += all_cores()) {
      std::vector<Signals> batch(static_cast<std::size_t>(std::min(count - first, all_cores())));
      parallel_for(std::ssize(batch), [&](index_t k) {
        batch[static_cast<std::size_t>(k)] = generate(seed + static_cast<std::uint64_t>(first + k));
      });
      for (const Signals& made : batch) {
        std::copy_n(made.first.data(), h.size(), h.data());
        std::copy_n(made.second.data(), y.size(), y.data());
        f();
      }
    }
  }
  void operator()(Graph& g, ColumnOrder order, long long max_nodes, Detection& found) const {
    mimo_detect(g, shape, h, y, alphabets, {.order = order, .n0 = n0, .max_nodes = max_nodes}, found);
  }
};

/// The times of different slots: the 99th percentile over the median.
struct Spread {
  std::vector<double> seconds;
  double at(double part) {
    std::sort(seconds.begin(), seconds.end());
    return seconds[static_cast<std::size_t>(part * static_cast<double>(seconds.size() - 1) + 0.5)];
  }
  double ratio() { return at(0.99) / at(0.5); }
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
    found->labels = HostMatrix<int>(what.shape.streams, what.shape.signals);
    found->reports.resize(static_cast<std::size_t>(what.shape.signals));
    const PinnedMemory labels(runtime, found->labels.data(),
                              static_cast<std::size_t>(found->labels.size()) * sizeof(int));
    const PinnedMemory reports(runtime, found->reports.data(), found->reports.size() * sizeof(SearchReport));
    const auto run = [&runtime, data, kernel, found, what] {
      runtime.reset_statistics();
      const double seconds = seconds_of([&] {
        Graph g(runtime);
        (*data)(g, ColumnOrder::mmse_vblast, what.max_nodes, *found);
      });
      *kernel = kernel_seconds(runtime, "sphere_search");
      return seconds;
    };
    const auto check = [&runtime, data, found, what] {
      Graph g(runtime);
      Detection other;
      (*data)(g, ColumnOrder::sqrd, what.max_nodes, other);
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
    if (!what.slot || o.slots == 0) continue;
    Spread kernels, calls;
    data->with_others(o.common.seed + 1, o.slots, [&] {
      calls.seconds.push_back(run());
      kernels.seconds.push_back(*kernel);
    });
    report.rows().back().more.emplace_back("slots_p99_over_median", kernels.ratio());
    report.note(
        fmt::format("{}: of {} slots the kernel has a median of {:.4g} s and p99 / median {:.3f}, the call {:.4g} s "
                    "and {:.3f}",
                    what.title, o.slots, kernels.at(0.5), kernels.ratio(), calls.at(0.5), calls.ratio()));
  }
}

TESELA_FUNCTIONS_FOR_REALS(add_search_rows)

}  // namespace tesela::bench
