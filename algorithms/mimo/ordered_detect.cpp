#include <tesela/algorithms/mimo/internal/ordered_tiles.hpp>
#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <algorithm>
#include <list>
#include <unordered_set>

namespace tesela {

using namespace mimo;
using kernels::OrderedQrs;
namespace {

constexpr index_t most_together = 1024;  ///< signals per task

}  // namespace

void OrderedDetector::search(Graph& g, const Tile<double>& packed, bool in_order, const Tile<double>& x,
                             const Tile<int>& picks, const Tile<int>& labels,
                             const Tile<kernels::SearchReport>& reports, Priority where) {
  kernels::OrderedSearch::Args args = args_;
  args.in_order = in_order;
  g.insert<kernels::OrderedSearch>(where, args, h_tiles_(0, 0), base_tiles_(0, 0), packed, x, picks,
                                   column_tiles_(0, 0), point_tiles_(0, 0), labels, reports);
}

/// Factors orders that have not occurred before.
void OrderedDetector::learn(Graph& g, const Block<const int>& picks) {
  std::vector<index_t> fresh;
  std::unordered_set<int> ranks;
  for (index_t k = 0; k < picks.cols; ++k)
    if (!places_.contains(picks(0, k)) && ranks.insert(picks(0, k)).second) fresh.push_back(k);
  const auto count = static_cast<index_t>(fresh.size());
  if (count == 0) return;
  HostMatrix<int> orders(n() + 1, count);
  for (index_t k = 0; k < count; ++k)
    std::copy_n(&picks(0, fresh[static_cast<std::size_t>(k)]), n() + 1, &orders(0, k));
  const index_t numbers = n() * n();
  HostMatrix<double> made(numbers * OrderedQrs::together, ceil_div(count, OrderedQrs::together));
  {
    const auto listed = whole(runtime_, orders, "orders");
    const auto packed = whole(runtime_, made, "new QRs");
    g.insert<kernels::ListedQr>({}, r_tiles_(0, 0), listed(0, 0), packed(0, 0));
    g.wait();
    packed.bring_home();
  }
  factorizations_ += static_cast<double>(count);
  const Block<double> all{made.data(), made.rows(), made.cols(), made.rows()};
  for (index_t k = 0; k < count; ++k) {
    const auto place = static_cast<index_t>(places_.size());
    known_.resize(static_cast<std::size_t>((place + 1) * numbers));
    for (index_t e = 0; e < numbers; ++e) known_[static_cast<std::size_t>(place * numbers + e)] = element(all, k, e);
    places_.emplace(orders(0, k), place);
  }
}

/// Gathers factorizations from host memory, one after another.
HostMatrix<double> OrderedDetector::gather(Graph& g, const Block<const int>& picks) {
  if (options_.strategy == OrderingStrategy::cache) learn(g, picks);
  const index_t numbers = OrderedQrs::numbers(n(), options_.build), width = ceil_div(each_, OrderedQrs::together);
  HostMatrix<double> made(numbers * OrderedQrs::together, ceil_div(picks.cols, OrderedQrs::together));
  const Block<double> to{made.data(), made.rows(), made.cols(), made.rows()};
  for (index_t k = 0; k < picks.cols; ++k) {
    if (options_.strategy == OrderingStrategy::cache) {
      const double* const from = known_.data() + places_.at(picks(0, k)) * numbers;
      for (index_t e = 0; e < numbers; ++e) element(to, k, e) = from[e];
    } else {
      const index_t block = picks(0, k) / each_;
      const Block<double> from{home_.data() + block * width * home_.rows(), home_.rows(), width, home_.rows()};
      for (index_t e = 0; e < numbers; ++e) element(to, k, e) = element(from, picks(0, k) % each_, e);
    }
  }
  return made;
}

namespace {

/// The signals of one search task that are not adjacent, copied to own memory.
struct Batch {
  std::vector<index_t> signals;
  HostMatrix<double> x;
  HostMatrix<int> picks, labels;
  HostMatrix<kernels::SearchReport> reports;
  std::optional<TileMatrix<double>> x_tiles;
  std::optional<TileMatrix<int>> pick_tiles, label_tiles;
  std::optional<TileMatrix<kernels::SearchReport>> report_tiles;

  Batch(Runtime& runtime, std::vector<index_t> which, const HostMatrix<double>& all, index_t first,
        const Block<const int>& given, index_t each)
      : signals(std::move(which)) {
    const auto count = static_cast<index_t>(signals.size());
    x = HostMatrix<double>(all.rows(), count);
    picks = HostMatrix<int>(given.rows, count), labels = HostMatrix<int>(all.rows(), count);
    reports = HostMatrix<kernels::SearchReport>(1, count);
    for (index_t k = 0; k < count; ++k) {
      const index_t s = signals[static_cast<std::size_t>(k)];
      std::copy_n(&all(0, s), all.rows(), &x(0, k));
      std::copy_n(&given(0, s - first), given.rows, &picks(0, k));
      picks(0, k) = static_cast<int>(picks(0, k) % each);
    }
    x_tiles = whole(runtime, x, "x"), pick_tiles = whole(runtime, picks, "picks");
    label_tiles = whole(runtime, labels, "s"), report_tiles = whole(runtime, reports, "reports");
  }
};

}  // namespace

Detection OrderedDetector::detect(Graph& g, const HostMatrix<double>& x) {
  if (x.rows() != n()) refuse("x", to_string(x.shape()) + "; " + std::to_string(n()) + " x signals");
  require_finite("x", x);
  const index_t signals = x.cols();
  Detection found{HostMatrix<int>(n(), signals), std::vector<SearchReport>(static_cast<std::size_t>(signals))};
  if (signals == 0) return found;
  if (has_table() && !table_) prepare(g);
  const index_t buffer = options_.buffer > 0 ? std::min(options_.buffer, signals) : signals;
  const index_t together = std::min(buffer, std::max<index_t>(1, std::min(most_together, ceil_div(signals, 16))));
  for (index_t first = 0; first < signals; first += buffer) {
    const index_t count = std::min(buffer, signals - first);
    const auto X = TileMatrix<double>::map(runtime_, &x(0, first), n(), count, n(), {n(), together}, "x");
    const auto L = TileMatrix<int>::map(runtime_, &found.labels(0, first), n(), count, n(), {n(), together}, "s");
    const auto R = TileMatrix<SearchReport>::map(runtime_, found.reports.data() + first, 1, count, 1, {1, together});
    const TileMatrix<double> products(runtime_, n(), count, {n(), together}, "G");
    HostMatrix<int> order(n() + 1, count);
    const auto picks = TileMatrix<int>::map(runtime_, order.data(), n() + 1, count, n() + 1, {n() + 1, together});
    for (index_t t = 0; t < X.nt(); ++t) {
      g.insert<kernels::Gemm<double, Out>>({Op::transpose, Op::none, 1, 0}, h_tiles_(0, 0), X(0, t), products(0, t));
      g.insert<kernels::GradientOrder>({}, products(0, t), picks(0, t));
    }
    std::list<HostMatrix<double>> stores;
    std::list<TileMatrix<double>> store_tiles;
    std::list<Batch> batches;
    std::vector<std::vector<index_t>> of_block(static_cast<std::size_t>(blocks_));
    const bool by_block = options_.strategy == OrderingStrategy::lazy || options_.strategy == OrderingStrategy::owner;
    for (index_t t = 0; t < X.nt(); ++t) {
      const index_t here = std::min(together, count - t * together), groups = ceil_div(here, OrderedQrs::together);
      const index_t rows = OrderedQrs::numbers(n(), options_.build) * OrderedQrs::together;
      if (options_.strategy == OrderingStrategy::per_signal) {
        store_tiles.emplace_back(runtime_, rows, groups, TileShape{rows, groups}, "QRs");
        g.insert<kernels::ListedQr>({}, r_tiles_(0, 0), picks(0, t), store_tiles.back()(0, 0));
        factorizations_ += static_cast<double>(here);
        search(g, store_tiles.back()(0, 0), true, X(0, t), picks(0, t), L(0, t), R(0, t), {});
        continue;
      }
      const auto given = picks(0, t).read();
      if (!by_block) {
        stores.push_back(gather(g, given));
        store_tiles.push_back(whole(runtime_, stores.back(), "QRs"));
        search(g, store_tiles.back()(0, 0), true, X(0, t), picks(0, t), L(0, t), R(0, t),
               options_.strategy == OrderingStrategy::copy_all ? on_core : Priority{});
        continue;
      }
      for (index_t k = 0; k < here; ++k)
        of_block[static_cast<std::size_t>(given(0, k) / each_)].push_back(first + t * together + k);
    }
    if (by_block) {
      picks.bring_home();
      const Block<const int> given{order.data(), n() + 1, count, n() + 1};
      for (index_t b = 0; b < blocks_; ++b) {
        auto& all = of_block[static_cast<std::size_t>(b)];
        for (std::size_t from = 0; from < all.size(); from += most_together) {
          const std::size_t to = std::min(all.size(), from + most_together);
          const std::vector<index_t> some(all.begin() + static_cast<std::ptrdiff_t>(from),
                                          all.begin() + static_cast<std::ptrdiff_t>(to));
          batches.emplace_back(runtime_, some, x, first, given, each_);
          const Batch& one = batches.back();
          search(g, (*table_)(0, b), false, (*one.x_tiles)(0, 0), (*one.pick_tiles)(0, 0), (*one.label_tiles)(0, 0),
                 (*one.report_tiles)(0, 0), options_.strategy == OrderingStrategy::owner ? at(b) : Priority{});
        }
      }
    }
    g.wait();
    if (!by_block) {
      L.bring_home(), R.bring_home();
      continue;
    }
    for (const Batch& one : batches) {
      one.label_tiles->bring_home(), one.report_tiles->bring_home();
      for (std::size_t k = 0; k < one.signals.size(); ++k) {
        std::copy_n(&one.labels(0, static_cast<index_t>(k)), n(), &found.labels(0, one.signals[k]));
        found.reports[static_cast<std::size_t>(one.signals[k])] = one.reports(0, static_cast<index_t>(k));
      }
    }
  }
  return found;
}

}  // namespace tesela
