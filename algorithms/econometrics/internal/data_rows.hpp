#pragma once

#include <tesela/algorithms/econometrics/internal/equation_tasks.hpp>

#include <vector>

namespace tesela::detail {

/// The data that robust errors read: D x (K + N), and a cluster number for each row; empty for independent rows.
struct DataRows {
  const HostMatrix<double>& data;
  const std::vector<index_t>& clusters;
};

/// Sums rows over clusters.
class Clusters {
 public:
  explicit Clusters(const std::vector<index_t>& of_rows);
  bool none() const { return rows_.empty(); }
  index_t count() const { return count_; }
  HostMatrix<double> sums(HostMatrix<double> a) const;
  /// Returns the factor of SemDivisor for the covariance of r coefficients from D rows: 1, or D / (D - r), or with G
  /// clusters G / (G - 1) (D - 1) / (D - r).
  double correction(SemDivisor divisor, index_t D, index_t r) const;

 private:
  std::vector<index_t> rows_;
  index_t count_ = 0;
};

/// Returns columns of the data in the variables' units; `which` selects variables, `own` their columns in the data.
HostMatrix<double> scaled_columns(const HostMatrix<double>& data, const Variables& v, const std::vector<index_t>& own,
                                  const std::vector<index_t>& which);

/// Returns the coordinates of variables in the basis of the instruments.
HostMatrix<double> first_rows_of(const Variables& v, const std::vector<index_t>& columns);

/// Multiplies the rows of `a` by the elements of a column of u.
void times_rows(HostMatrix<double>& a, const HostMatrix<double>& u, index_t column = 0);

/// Returns X R1^-1 of the independent instruments: an orthonormal basis of their span. Waits for the graph.
HostMatrix<double> instrument_basis(Graph& g, const HostMatrix<double>& data, const Variables& v,
                                    const std::vector<index_t>& own);

/// Returns the exponents of the units of an equation's coefficients, in its own order.
std::vector<int> units_of(const PickedEquation& equation);

/// Returns V(p, q) times 2^(units_p + units_q).
HostMatrix<double> in_units(HostMatrix<double> V, const std::vector<int>& units);

/// Estimates all equations; `rows` are the data for robust errors, or null. See estimate().
SimultaneousEquations estimate_all(Graph& g, const ModelTriangle& triangle, const SimultaneousModel& model,
                                   const SemOptions& options, const DataRows* rows);

/// Returns the inverse of the upper triangle R. Waits for the graph.
HostMatrix<double> inverse_of(Graph& g, const HostMatrix<double>& R);

}  // namespace tesela::detail
