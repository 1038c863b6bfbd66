#pragma once

#include <tesela/algorithms/mimo/mimo_detect.hpp>
#include <tesela/codelets/mimo/ordered_search.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace tesela {

using kernels::OrderingBuild;
std::span<const Named<OrderingBuild>> ordering_builds();

/// Where the QR factorization that a signal's order of columns asks for comes from.
enum class OrderingStrategy : std::uint8_t {
  per_signal,  ///< from H, for each signal anew
  copy_all,    ///< from all n! in host memory
  lazy,        ///< from all n!, which stay where they were found and are copied when they are asked for
  owner,       ///< from all n!, dealt block by block to the GPUs; a search runs where its block is
  cache,       ///< from those that occurred before
};
std::span<const Named<OrderingStrategy>> ordering_strategies();

struct OrderingOptions {
  OrderingBuild build = OrderingBuild::prefix;
  OrderingStrategy strategy = OrderingStrategy::owner;
  index_t buffer = 0;  ///< signals at a time; 0: all
};

/// The bytes of all n! factorizations of n columns. n <= 20.
double ordering_bytes(index_t n, OrderingBuild build);

/// s of least ||x - H s||, each column's amplitude one of an alphabet's, for many x of one real n x n channel, n <= 11,
/// where each x has an order of its own: columns ascend by |H^T x|. With all n! factorizations beforehand a signal
/// costs a lookup. What it finds is the same whatever build, strategy and buffer are.
class OrderedDetector {
 public:
  /// Throws ArgumentError for an H that is not n x n or not finite, for n beyond 20, for strategies without a table
  /// beyond 11, and for an alphabet that is no square QAM; EnvironmentError where a table has too many bytes (n > 11).
  OrderedDetector(Runtime& runtime, HostMatrix<double> H, const Constellation& alphabet,
                  const OrderingOptions& options);

  /// All n! factorizations, where the strategy has a use for them. Waits.
  void prepare(Graph& g);

  /// x: n x signals. labels of the columns' amplitudes (n x signals), as Constellation::Axis has them. Waits. Throws
  /// ArgumentError for another shape and for numbers that are not finite.
  Detection detect(Graph& g, const HostMatrix<double>& x);

  /// R and Q^T, n x 2n, of H P in this order of columns, as they are kept (as a signal would get them).
  HostMatrix<double> factors(std::span<const int> order) const;

  double factorizations() const { return factorizations_; }  ///< so far
  double host_bytes() const;                                 ///< of factorizations kept in host memory by itself

 private:
  index_t n() const { return h_.rows(); }
  bool has_table() const;
  Priority at(index_t block) const;
  void search(Graph& g, const Tile<double>& packed, bool in_order, const Tile<double>& x, const Tile<int>& picks,
              const Tile<int>& labels, const Tile<kernels::SearchReport>& reports, Priority where);
  HostMatrix<double> gather(Graph& g, const Block<const int>& picks);
  void learn(Graph& g, const Block<const int>& picks);

  Runtime& runtime_;
  HostMatrix<double> h_, base_, r_;
  HostMatrix<kernels::SearchColumn> columns_;
  HostMatrix<kernels::SearchPoint> points_;
  OrderingOptions options_;
  kernels::OrderedSearch::Args args_;
  index_t each_ = 1, blocks_ = 1;  // factorizations of a block, and blocks
  double factorizations_ = 0;
  HostMatrix<double> home_;  // of copy_all
  std::vector<double> known_;
  std::unordered_map<int, index_t> places_;  // in known_
  TileMatrix<double> h_tiles_, base_tiles_, r_tiles_;
  TileMatrix<kernels::SearchColumn> column_tiles_;
  TileMatrix<kernels::SearchPoint> point_tiles_;
  std::optional<TileMatrix<double>> table_;
};

}  // namespace tesela
