#pragma once

#include <tesela/runtime/access.hpp>

// Common parts of both methods for an equation's facts on a core. Internal to codelets/.

namespace tesela::kernels::equation {

/// One equation's part of picks.
struct Picks {
  const int* data;
  index_t r;
  int column(index_t p) const { return data[2 * p]; }
  int height(index_t p) const { return data[2 * p + 1]; }
  index_t exogenous() const { return data[2 * (r + 1)]; }
  index_t constant() const { return data[2 * (r + 1) + 1]; }
};

/// Sets z to the columns of Z and y, as many as it has.
void gather(const In<double>& a, const Picks& picks, const Block<double>& z);

/// Reduces the first columns, whose heights ascend, to a triangle by rotations in stages, which are also applied to the
/// other columns.
void rotate_staircase(const Picks& picks, const Block<double>& z);

/// Computes all facts and the residual from R in the upper triangle of z and Q^T y in its last column.
void finish(const In<double>& a, const Picks& picks, const Block<double>& z, const Block<double>& facts,
            double* residual);

/// Writes the norms of R^-1's rows to facts(:, 1), and the condition of R with unit columns to facts(r, 0). R is r x r,
/// zeros below its diagonal.
void invert(const Block<double>& R, const Block<double>& facts);

/// Computes all other facts except the coefficients, which must be there already. `product` is R b.
void state(const Block<double>& R, const Picks& picks, const double* product, const Block<double>& facts);

/// Computes y -= Z b over all of A's rows.
void subtract(const In<double>& a, const Picks& picks, const double* b, double* y);

}  // namespace tesela::kernels::equation
