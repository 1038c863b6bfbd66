#pragma once

#include <tesela/runtime/access.hpp>

#include <cstdint>

// Loops of the secular equation over all poles, for each vector unit. Internal to codelets/eigen.

namespace tesela::kernels::secular {

/// The unknown x of a secular equation with poles d(i).
enum class Equation : std::uint8_t {
  eigenvalue,     ///< 1 / rho + sum z(i)^2 / (d(i) - x) = 0
  singular_value  ///< 1 / rho + sum z(i)^2 / (d(i)^2 - x^2) = 0, d(i) >= 0; distances are between squares
};

/// Numbers that are whole vectors on every vector unit.
template <class T>
inline constexpr index_t vector_numbers = 32 / sizeof(T);

/// Computes roots first … first + roots.rows - 1 of RootSearch's equation with k poles: a row of `roots` becomes the
/// root's pole, its distance from that pole, and the number of iterations.
template <class T, Equation equation = Equation::eigenvalue>
struct RootBatch {
  using Number = T;
  static constexpr Equation of = equation;
  index_t k;
  const T *poles, *squares;
  T rho;
  index_t first;
  Block<T> roots;
};
template <class T, Equation equation>
void find_roots(const RootBatch<T, equation>& batch);

/// Computes weights first … first + count - 1 from k poles d, the signs of z, and all k roots (their poles and
/// distances). The square of weight i is a product of fractions between 0 and 1, (root j - d(i)) / (the pole next to
/// the root, away from d(i), - d(i)), and of last root - d(i). It cannot overflow, and no factor is less than the
/// product.
template <class T, Equation equation = Equation::eigenvalue>
struct WeightBatch {
  using Number = T;
  static constexpr Equation of = equation;
  index_t k;
  const T *d, *z, *pole, *distance;
  index_t first, count;
  T* weights;
};
template <class T, Equation equation>
void find_weights(const WeightBatch<T, equation>& batch);

/// Computes unit vectors of `count` roots. The poles d and the weights are in the order of the rows.
template <class T>
struct VectorBatch {
  index_t k;
  const T *d, *weights;
  const T *pole, *distance;
  index_t count;
  Block<T> vectors;
};
template <class T>
void find_vectors(const VectorBatch<T>& batch);

/// Computes unit singular vectors of `count` roots: `right`, weight / (d^2 - root^2), and `left`, d times that, but -1
/// in row `zero`, the place of the pole 0.
template <class T>
struct VectorPairBatch {
  index_t k, zero;
  const T *d, *weights;
  const T *pole, *distance;
  index_t count;
  Block<T> right, left;
};
template <class T>
void find_vector_pairs(const VectorPairBatch<T>& batch);

/// Computes the products of the same vectors with two rows, `upper` and `lower`. All arrays of k numbers are padded to
/// a multiple of vector_numbers, the weights by zeros.
template <class T>
struct RowBatch {
  index_t k;
  const T *d, *weights, *upper, *lower;
  const T *pole, *distance;
  Block<T> new_upper, new_lower;
};
template <class T>
void find_rows(const RowBatch<T>& batch);

}  // namespace tesela::kernels::secular
