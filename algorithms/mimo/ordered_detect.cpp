#include <tesela/algorithms/mimo/internal/ordered_tiles.hpp>
#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <algorithm>
#include <list>

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

  Batch(Runtime& runtime, std::vector<index_t> which, const HostMatrix<double>& all, const HostMatrix<int>& given,
        index_t each)
      : signals(std::move(which)) {
    const auto count = static_cast<index_t>(signals.size());
    x = HostMatrix<double>(all.rows(), count);
    picks = HostMatrix<int>(given.rows(), count), labels = HostMatrix<int>(all.rows(), count);
    reports = HostMatrix<kernels::SearchReport>(1, count);
    for (index_t k = 0; k < count; ++k) {
      const index_t s = signals[static_cast<std::size_t>(k)];
      std::copy_n(&all(0, s), all.rows(), &x(0, k));
      std::copy_n(&given(0, s), given.rows(), &picks(0, k));
      picks(0, k) = static_cast<int>(picks(0, k) % each);
    }
    x_tiles = whole(runtime, x, "x"), pick_tiles = whole(runtime, picks, "picks");
    label_tiles = whole(runtime, labels, "s"), report_tiles = whole(runtime, reports, "reports");
  }
};

}  // namespace

/// Searches signals first … first + count - 1, each where its block of the table is.
void OrderedDetector::search_blocks(Graph& g, const HostMatrix<double>& x, const HostMatrix<int>& order,
                                    Detection& found, index_t first, index_t count) {
  std::vector<std::vector<index_t>> of_block(static_cast<std::size_t>(blocks_));
  for (index_t k = first; k < first + count; ++k) of_block[static_cast<std::size_t>(order(0, k) / each_)].push_back(k);
  std::list<Batch> batches;
  for (index_t b = 0; b < blocks_; ++b) {
    const auto& all = of_block[static_cast<std::size_t>(b)];
    for (std::size_t from = 0; from < all.size(); from += most_together) {
      const auto to = static_cast<std::ptrdiff_t>(std::min<std::size_t>(all.size(), from + most_together));
      batches.emplace_back(runtime_,
                           std::vector<index_t>(all.begin() + static_cast<std::ptrdiff_t>(from), all.begin() + to), x,
                           order, each_);
      const Batch& one = batches.back();
      search(g, (*table_)(0, b), false, (*one.x_tiles)(0, 0), (*one.pick_tiles)(0, 0), (*one.label_tiles)(0, 0),
             (*one.report_tiles)(0, 0), options_.strategy == OrderingStrategy::owner ? at(b) : Priority{});
    }
  }
  g.wait();
  for (const Batch& one : batches) {
    one.label_tiles->bring_home(), one.report_tiles->bring_home();
    for (std::size_t k = 0; k < one.signals.size(); ++k) {
      std::copy_n(&one.labels(0, static_cast<index_t>(k)), n(), &found.labels(0, one.signals[k]));
      found.reports[static_cast<std::size_t>(one.signals[k])] = one.reports(0, static_cast<index_t>(k));
    }
  }
}

Detection OrderedDetector::detect(Graph& g, const HostMatrix<double>& x) {
  if (x.rows() != n()) refuse("x", to_string(x.shape()) + "; " + std::to_string(n()) + " x signals");
  require_finite("x", x);
  const index_t signals = x.cols();
  Detection found{HostMatrix<int>(n(), signals), std::vector<SearchReport>(static_cast<std::size_t>(signals))};
  if (signals == 0) return found;
  if (has_table() && !table_) prepare(g);
  const bool parted = options_.buffer > 0 && options_.buffer < signals, by_block = has_table() && !on_host();
  const index_t buffer = parted ? options_.buffer : signals;
  const index_t most = std::min(most_together, ceil_div(signals, 16)), tiles = ceil_div(buffer, most);
  const index_t width = parted ? buffer / tiles : most;  // `tiles` tiles have at most `buffer` signals
  const auto X = TileMatrix<double>::map(runtime_, x.data(), n(), signals, n(), {n(), width}, "x");
  const auto L = TileMatrix<int>::map(runtime_, found.labels.data(), n(), signals, n(), {n(), width}, "s");
  const auto R = TileMatrix<SearchReport>::map(runtime_, found.reports.data(), 1, signals, 1, {1, width});
  const TileMatrix<double> products(runtime_, n(), signals, {n(), width}, "G");
  HostMatrix<int> order(n() + 1, signals);
  const auto picks = TileMatrix<int>::map(runtime_, order.data(), n() + 1, signals, n() + 1, {n() + 1, width});
  for (index_t first = 0; first < X.nt(); first += tiles) {
    const index_t end = std::min(first + tiles, X.nt());
    for (index_t t = first; t < end; ++t) {
      g.insert<kernels::Gemm<double, Out>>({Op::transpose, Op::none, 1, 0}, h_tiles_(0, 0), X(0, t), products(0, t));
      g.insert<kernels::GradientOrder>({}, products(0, t), picks(0, t));
    }
    if (by_block) {
      for (index_t t = first; t < end; ++t) (void)picks(0, t).read();  // its memory is `order`
      search_blocks(g, x, order, found, first * width, std::min(end * width, signals) - first * width);
      continue;
    }
    std::list<TileMatrix<double>> store_tiles;
    for (index_t t = first; t < end; ++t) {
      const index_t count = std::min(width, signals - t * width), groups = ceil_div(count, OrderedQrs::together);
      if (options_.strategy == OrderingStrategy::per_signal) {
        const index_t rows = n() * n() * OrderedQrs::together;
        store_tiles.emplace_back(runtime_, rows, groups, TileShape{rows, groups}, "QRs");
        g.insert<kernels::ListedQr>({}, r_tiles_(0, 0), picks(0, t), store_tiles.back()(0, 0));
        factorizations_ += static_cast<double>(count);
      }
      search(g, on_host() ? (*table_)(0, 0) : store_tiles.back()(0, 0), !on_host(), X(0, t), picks(0, t), L(0, t),
             R(0, t), options_.strategy == OrderingStrategy::copy_all ? on_core : Priority{});
    }
    g.wait();
  }
  if (!by_block) L.bring_home(), R.bring_home();
  return found;
}

}  // namespace tesela
