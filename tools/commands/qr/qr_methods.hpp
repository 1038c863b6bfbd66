#pragma once

#include "tools/app/command.hpp"
#include <tesela/algorithms/givens/givens.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/support/memory_plan.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tesela::cli {

/// What the options of `tesela qr` and `tesela ols` say about how to factor.
struct QrMethod {
  std::string name = "tiles";
  std::string order;      ///< of rotations; empty: the method's own
  std::string tree;       ///< of tiles; empty: the algorithm's own
  std::string rank_tree;  ///< of tiles, among several ranks
  std::string kernels = "auto";
  index_t ib = 0;
  bool copy_vectors = true;
  bool library() const { return name == "lapack" || name == "gelsd" || name == "cusolver"; }
  /// CUDA devices that a library's method works on.
  std::vector<int> gpus() const { return name == "cusolver" ? std::vector{0} : std::vector<int>{}; }
};

QrOptions qr_options(const QrMethod& method);          ///< of "tiles"
GivensOptions givens_options(const QrMethod& method);  ///< of a name that givens_method() knows

/// Adds --tree, --rank-tree, --order, --kernels, --ib and --copy-vectors.
void add_to(CLI::App& app, QrMethod& method);

/// A method that is a task graph, for one matrix.
template <class T>
class QrGraph {
 public:
  virtual ~QrGraph() = default;
  /// How A and Q are cut, given the tiles that were asked for.
  virtual TileShape cut(TileShape tile, [[maybe_unused]] index_t m) const { return tile; }
  /// What column_ends() says of A.
  virtual void take_staircase(std::vector<index_t> ends) = 0;
  /// Inserts A = Q R in place: R is A's upper trapezoid afterwards. A and this keep what Q is made of.
  virtual void factor(Graph& g, const TileMatrix<T>& A) = 0;
  /// Inserts Q = its first Q.n() columns.
  virtual void form_q(Graph& g, const TileMatrix<T>& Q) const = 0;
  /// Inserts C = Q C.
  virtual void multiply_q(Graph& g, const TileMatrix<T>& C) const = 0;
  /// What it will hold, for q_columns of Q; nothing where it has no plan.
  virtual std::optional<MemoryPlan> plan([[maybe_unused]] const WorkerCounts& workers, [[maybe_unused]] Shape a,
                                         [[maybe_unused]] TileShape tile, [[maybe_unused]] index_t q_columns) const {
    return std::nullopt;
  }
  /// What it chose, for the report's `problem`.
  virtual void describe(nlohmann::json& problem) const = 0;
  /// How many rotations the last factor() made; none for tiles.
  virtual std::optional<index_t> rotations() const { return std::nullopt; }
};

/// A method that is one call of somebody else's library, on host memory.
template <class T>
class QrLibrary {
 public:
  virtual ~QrLibrary() = default;
  virtual void factor(HostMatrix<T>& a) = 0;
  virtual void multiply_q(const HostMatrix<T>& factors, HostMatrix<T>& c) const = 0;
};

/// Throws ArgumentError for an order, a tree or a tile that is none, and for options that the method does not have: a
/// library's call leaves no trace.
void require_valid(const char* command, const QrMethod& method, const std::string& tile, const CommonOptions& common);

template <class T>
std::unique_ptr<QrGraph<T>> make_qr_graph(const QrMethod& method);

/// Throws EnvironmentError where there is no such library or no device for it.
template <class T>
std::unique_ptr<QrLibrary<T>> make_qr_library(const QrMethod& method, Shape shape);

}  // namespace tesela::cli
