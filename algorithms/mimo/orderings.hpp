#pragma once

#include <tesela/algorithms/mimo/mimo_detect.hpp>
#include <tesela/codelets/mimo/ordered_search.hpp>
#include <tesela/runtime/types.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tesela {

// Permutations of 0 … n - 1, n <= 20, by their numbers, without a list of all permutations.

/// Returns the number of a permutation in lexicographic order, from 0. Throws ArgumentError if it is not a permutation,
/// or longer than 20.
std::uint64_t permutation_rank(std::span<const int> permutation);

/// Returns the permutation of a number. Throws ArgumentError for n > 20 and for numbers from n! on.
std::vector<int> permutation_of_rank(index_t n, std::uint64_t rank);

using kernels::OrderingBuild;
/// Returns the builds with their names and descriptions.
std::span<const Named<OrderingBuild>> ordering_builds();

/// Source of the QR factorization for a signal's column order.
enum class OrderingStrategy : std::uint8_t {
  per_signal,  ///< factored for each signal: no memory
  copy_all,    ///< all n! are computed and kept in host memory
  lazy,        ///< all n! stay at the place of computation, and are copied on request
  owner,       ///< all n! are distributed by blocks over the GPUs; a search runs on the GPU of its block. The default
};
/// Returns the strategies with their names and descriptions.
std::span<const Named<OrderingStrategy>> ordering_strategies();

/// Options of OrderedDetector.
struct OrderingOptions {
  OrderingBuild build = OrderingBuild::prefix;
  OrderingStrategy strategy = OrderingStrategy::owner;
  index_t buffer = 0;  ///< signals at a time; 0: all
};

/// Returns the bytes of a table of all n! factorizations of n <= 20 columns.
double ordering_bytes(index_t n);

/// Finds the s with the least ||x - H s||, each column's amplitude from one alphabet, for many x of one real n x n
/// channel, n <= 11. Each x has its own column order: columns ascend by |H^T x|. If all n! factorizations exist in
/// advance, a signal costs a lookup. Build, strategy and buffer do not change the results.
class OrderedDetector {
 public:
  /// Throws ArgumentError for an H that is not n x n or not finite, for n > 20, for per_signal and n > 11, and for an
  /// alphabet that is not square QAM; EnvironmentError if a table has too many bytes (n > 11).
  OrderedDetector(Runtime& runtime, HostMatrix<double> H, const Constellation& alphabet,
                  const OrderingOptions& options);

  /// Computes all n! factorizations, if the strategy uses them. Waits for the graph.
  void prepare(Graph& g);

  /// Detects the signals of x, n x signals. Returns the labels of the columns' amplitudes (n x signals), as in
  /// Constellation::Axis. Waits for the graph. Throws ArgumentError for another shape and for numbers that are not
  /// finite.
  Detection detect(Graph& g, const HostMatrix<double>& x);

  /// Returns R and Q^T, n x 2n, of H P in this column order, with the values kept for signals.
  HostMatrix<double> factors(std::span<const int> order) const;

  /// Sets the signals at a time; 0: all. The table is kept. Throws ArgumentError for a negative number.
  void set_buffer(index_t signals);

  double factorizations() const { return factorizations_; }  ///< number computed so far
  double host_bytes() const;                                 ///< bytes of the factorizations in host memory

 private:
  index_t n() const { return h_.rows(); }
  bool has_table() const;
  bool on_host() const;  ///< whether the table is in host memory, as one tile
  Priority at(index_t block) const;
  void search(Graph& g, const Tile<double>& packed, bool in_order, const Tile<double>& x, const Tile<int>& picks,
              const Tile<int>& labels, const Tile<kernels::SearchReport>& reports, Priority where);
  void search_blocks(Graph& g, const HostMatrix<double>& x, const HostMatrix<int>& order, Detection& found,
                     index_t first, index_t count);

  Runtime& runtime_;
  HostMatrix<double> h_, base_, r_;
  HostMatrix<kernels::SearchColumn> columns_;
  HostMatrix<kernels::SearchPoint> points_;
  OrderingOptions options_;
  kernels::OrderedSearch::Args args_;
  index_t each_ = 1, blocks_ = 1;  // factorizations per block, and number of blocks
  double factorizations_ = 0;
  HostMatrix<double> home_;  // a table in host memory
  TileMatrix<double> h_tiles_, base_tiles_, r_tiles_;
  TileMatrix<kernels::SearchColumn> column_tiles_;
  TileMatrix<kernels::SearchPoint> point_tiles_;
  std::optional<TileMatrix<double>> table_;
};

}  // namespace tesela
