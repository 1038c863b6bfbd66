#pragma once

#include <tesela/algorithms/econometrics/internal/equation_tasks.hpp>

#include <optional>
#include <vector>

namespace tesela::detail {

/// Z_i = Q_i R_i of a system's equations: the Q_i, in the model's coordinates, stay where tasks left them. Vectors x
/// have a part for each equation, one behind the other.
class EquationBases {
 public:
  /// One task an equation, or where there are GPUs a group of those whose condition is moderate. `own` has a null for
  /// each equation with the model's instruments. `together`: for side_by_side(). Waits for the graph.
  EquationBases(Graph& g, const Variables& model, const std::vector<PickedEquation>& equations,
                const std::vector<const OwnBasis*>& own, const std::vector<double>& conditions, bool together);

  index_t count() const { return static_cast<index_t>(Q_.size()); }
  index_t rows() const { return W_.m(); }
  index_t unknowns() const { return starts_.back(); }
  /// Vectors in the parts that products take, and such a part for each vector of an iteration.
  using Parts = std::vector<TileMatrix<double>>;
  const Parts& x() const { return X_; }
  const Parts& y() const { return Y_; }
  Parts new_parts(Runtime& runtime) const;
  static void fill(const Parts& parts, const HostMatrix<double>& x);
  HostMatrix<double> take(Graph& g, const Parts& parts) const;  ///< waits for the graph

  /// Equation i's part of x.
  index_t start(std::size_t i) const { return starts_[i]; }
  /// In host memory.
  HostMatrix<double> R(std::size_t i) const;

  /// [Q_1 Q_2 ...], where they stand.
  const HostMatrix<double>& side_by_side() const;

  /// R_i^-1 x_i below one another. Waits for the graph.
  HostMatrix<double> solve(Graph& g, const HostMatrix<double>& x) const;

  /// Columns Q_i x_i, columns Q_i^T v_i below one another, and sum_j P_ij Q_i^T Q_j x_j. Wait for the graph.
  HostMatrix<double> times(Graph& g, const HostMatrix<double>& x) const;
  HostMatrix<double> transposed_times(Graph& g, const HostMatrix<double>& v) const;
  HostMatrix<double> weighted_products(Graph& g, const TileMatrix<double>& P, const HostMatrix<double>& x) const;
  /// The same without waiting, from x() to y(), where tasks leave them.
  void insert_products(Graph& g, const TileMatrix<double>& P) const;
  /// P, in the tiles that this takes.
  TileMatrix<double> weights(Runtime& runtime, const HostMatrix<double>& P) const;

 private:
  /// R_i of equations whose bases a task found, side by side, with room for the largest.
  struct Triangles {
    std::vector<std::size_t> which;
    TileMatrix<double> R;
  };

  void find_alone(Graph& g, const std::vector<PickedEquation>& equations, const std::vector<std::size_t>& which);
  void find_together(Graph& g, const Variables& model, const std::vector<PickedEquation>& equations,
                     const std::vector<std::size_t>& which);
  std::vector<Tile<double>> bases(std::size_t group) const;

  HostMatrix<double> all_;  // the home of the Q_i where they are together
  std::optional<PinnedMemory> locked_;
  std::vector<index_t> starts_{0};
  std::vector<Triangles> triangles_;
  std::vector<TileMatrix<double>> Q_, X_, Y_;  // X, Y: of each group of equations
  TileMatrix<double> W_, V_;                   // a column for each equation, a tile for each group
};

}  // namespace tesela::detail
