#pragma once

#include <tesela/runtime/types.hpp>
#include <tesela/tiles/generator.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tesela {

/// Symmetric test matrices; the second group has known eigenvalues.
enum class SymmetricKind : std::uint8_t {
  uniform,  ///< of [-1, 1)
  normal,
  band,             ///< uniform for |i - j| <= parameter
  graded,           ///< uniform, times 2^-(floor(40 i / n) + floor(40 j / n))
  nbody,            ///< 1 on the diagonal, x_i x_j beside it
  wilkinson,        ///< |i - (n - 1) / 2| on the diagonal, 1 beside it
  glued_wilkinson,  ///< of order 21 each, joined by sqrt(eps)

  rank,      ///< parameter eigenvalues of 1 and -1 by turns, else 0
  diagonal,  ///< uniform
  identity,
  zero,
  spectrum,           ///< the values that were given
  arithmetic,         ///< 1, 1 - 1 / n, …, 1 / n
  geometric,          ///< from 1 down to 1 / parameter
  clustered,          ///< parameter clusters, 1e-12 wide, in [0, 1]
  second_difference,  ///< 2 on the diagonal, -1 beside it
  laplacian,          ///< of a p x q grid, p q = n, p the largest divisor up to sqrt(n): 4, and -1 for each neighbour
  exchange,           ///< ones where i + j = n - 1
};

/// The elements of a symmetric test matrix of order n. Those with a given spectrum are H diag(values) H^T with the
/// product H of two Householder reflectors of counter-based random vectors: a diagonal matrix plus one of rank 4, each
/// element rounded once from extended precision.
class SymmetricMatrix {
 public:
  /// `values`: of kind spectrum. Throws ArgumentError where the parameter does not suit the kind or n is negative.
  SymmetricMatrix(SymmetricKind kind, index_t n, double parameter = 0, std::uint64_t seed = 1,
                  std::vector<double> values = {});

  index_t n() const { return n_; }
  /// Element (i, j) = (j, i), counted from 0, where T is float or double.
  template <class T>
  T element(index_t i, index_t j) const;
  /// By which element(i, j), i >= j, can be made anywhere, on a GPU too; of the kinds uniform, band and graded.
  template <class T>
  std::optional<Generator<T>> generator() const;
  /// The eigenvalues, ascending, where they are known.
  const std::optional<std::vector<double>>& eigenvalues() const { return eigenvalues_; }

 private:
  SymmetricKind kind_;
  index_t n_;
  double parameter_;
  std::uint64_t seed_;
  index_t grid_ = 1;  // p of a laplacian
  std::vector<double> values_;
  std::vector<std::array<long double, 4>> product_;  // rows of W and Z: A = diag(values) - W Z^T - Z W^T
  std::optional<std::vector<double>> eigenvalues_;
};

/// The kind and its parameter as commands write them ("geometric:1e6"), with the list of all in one line. `file` is
/// what stands behind spectrum:.
struct SymmetricChoice {
  SymmetricKind kind = SymmetricKind::uniform;
  double parameter = 0;
  std::string file;
};
SymmetricChoice parse_symmetric_kind(const std::string& text);
const char* symmetric_kinds();

}  // namespace tesela
