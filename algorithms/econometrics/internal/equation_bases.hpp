#pragma once

#include <tesela/algorithms/econometrics/internal/equation_tasks.hpp>

#include <optional>
#include <vector>

namespace tesela::detail {

/// The bases Q_i of Z_i = Q_i R_i for the equations of a system, in the model's coordinates. They remain where tasks
/// computed them. A vector x consists of the parts of all equations, one after the other.
class EquationBases {
 public:
  /// Computes the bases: one task per equation; with GPUs one task per group of equations of moderate condition. `own`
  /// has a null for each equation with the model's instruments. `together` allows run_concurrently(). Waits for the
  /// graph.
  EquationBases(Graph& g, const Variables& model, const std::vector<PickedEquation>& equations,
                const std::vector<const OwnBasis*>& own, const std::vector<double>& conditions, bool together);

  index_t count() const { return static_cast<index_t>(Q_.size()); }
  index_t rows() const { return W_.m(); }
  index_t unknowns() const { return starts_.back(); }
  /// A vector in tiles, one for each group of equations, as the products need it.
  using Parts = std::vector<TileMatrix<double>>;
  const Parts& x() const { return X_; }
  const Parts& y() const { return Y_; }
  Parts new_parts(Runtime& runtime) const;
  static void fill(const Parts& parts, const HostMatrix<double>& x);
  /// Returns the vector in host memory; waits for the graph.
  HostMatrix<double> take(Graph& g, const Parts& parts) const;

  /// Returns the index where equation i's part of x begins.
  index_t start(std::size_t i) const { return starts_[i]; }
  /// Returns R_i in host memory.
  HostMatrix<double> R(std::size_t i) const;

  /// Returns [Q_1 Q_2 ...] in its own storage.
  const HostMatrix<double>& run_concurrently() const;

  /// Returns the vectors R_i^-1 x_i, one below the other. Waits for the graph.
  HostMatrix<double> solve(Graph& g, const HostMatrix<double>& x) const;

  /// Return the columns Q_i x_i; the vectors Q_i^T v_i, one below the other; and the vectors sum_j P_ij Q_i^T Q_j x_j.
  /// They wait for the graph.
  HostMatrix<double> times(Graph& g, const HostMatrix<double>& x) const;
  HostMatrix<double> transposed_times(Graph& g, const HostMatrix<double>& v) const;
  HostMatrix<double> weighted_products(Graph& g, const TileMatrix<double>& P, const HostMatrix<double>& x) const;
  /// Inserts the weighted product of x() into y(), without waiting.
  void insert_products(Graph& g, const TileMatrix<double>& P) const;
  /// Returns P in the tiles that insert_products needs.
  TileMatrix<double> weights(Runtime& runtime, const HostMatrix<double>& P) const;

 private:
  /// The R_i of the equations of one task, side by side, in space for the largest.
  struct Triangles {
    std::vector<std::size_t> which;
    TileMatrix<double> R;
  };

  void factor_separately(Graph& g, const std::vector<PickedEquation>& equations, const std::vector<std::size_t>& which);
  void factor_in_groups(Graph& g, const Variables& model, const std::vector<PickedEquation>& equations,
                        const std::vector<std::size_t>& which);
  std::vector<Tile<double>> bases(std::size_t group) const;

  HostMatrix<double> all_;  // memory of the Q_i if `together`
  std::optional<PinnedMemory> locked_;
  std::vector<index_t> starts_{0};
  std::vector<Triangles> triangles_;
  std::vector<TileMatrix<double>> Q_, X_, Y_;  // X, Y: one tile for each group of equations
  TileMatrix<double> W_, V_;                   // a column for each equation, a tile for each group
};

}  // namespace tesela::detail
