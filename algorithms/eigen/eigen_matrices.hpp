#pragma once

#include <tesela/runtime/types.hpp>
#include <tesela/tiles/generator.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tesela {

/// Symmetric test matrices. The second group has known eigenvalues.
enum class SymmetricKind : std::uint8_t {
  uniform,  ///< uniform in [-1, 1)
  /// Standard normal.
  normal,
  band,             ///< uniform for |i - j| <= parameter
  graded,           ///< uniform, times 2^-(floor(40 i / n) + floor(40 j / n))
  nbody,            ///< 1 on the diagonal, x_i x_j elsewhere
  wilkinson,        ///< |i - (n - 1) / 2| on the diagonal, 1 next to it
  glued_wilkinson,  ///< Wilkinson matrices of order 21, joined by sqrt(eps)

  rank,               ///< `parameter` eigenvalues that alternate between 1 and -1; the others are 0
  diagonal,           ///< diagonal with uniform elements
  identity,           ///< 1 on the diagonal
  zero,               ///< all elements are 0
  spectrum,           ///< the given eigenvalues
  arithmetic,         ///< 1, 1 - 1 / n, …, 1 / n
  geometric,          ///< from 1 down to 1 / parameter
  clustered,          ///< parameter clusters, 1e-12 wide, in [0, 1]
  second_difference,  ///< 2 on the diagonal, -1 next to it
  /// Of a p x q grid, p q = n, p the largest divisor up to sqrt(n): 4 on the diagonal, -1 for each neighbour.
  laplacian,
  exchange,  ///< ones where i + j = n - 1
};

/// The elements of a symmetric test matrix of order n. A matrix with a given spectrum is H diag(values) H^T, where H is
/// the product of two Householder reflectors of counter-based random vectors. This is a diagonal matrix plus a matrix
/// of rank 4; each element is rounded once from extended precision.
class SymmetricMatrix {
 public:
  /// `values` are the eigenvalues for kind `spectrum`. Throws ArgumentError if the parameter does not suit the kind or
  /// n is negative.
  SymmetricMatrix(SymmetricKind kind, index_t n, double parameter = 0, std::uint64_t seed = 1,
                  std::vector<double> values = {});

  index_t n() const { return n_; }
  /// Returns element (i, j), from 0, of the symmetric matrix for T = float and double. For a std::complex T the matrix
  /// is Hermitian: P A P^H with the real matrix A and random numbers of magnitude 1 in the diagonal P, which keep the
  /// eigenvalues, or of complex uniform or normal numbers.
  template <class T>
  T element(index_t i, index_t j) const;
  /// Returns a generator of element(i, j), i >= j, for any worker; only for the kinds uniform, band and graded.
  template <class T>
  std::optional<Generator<T>> generator() const;
  /// Returns the eigenvalues, ascending, if they are known.
  const std::optional<std::vector<double>>& eigenvalues() const { return eigenvalues_; }

 private:
  template <class T>
  T real_element(index_t i, index_t j) const;
  SymmetricKind kind_;
  index_t n_;
  double parameter_;
  std::uint64_t seed_;
  index_t grid_ = 1;  // p of a Laplacian
  std::vector<double> values_;
  std::vector<std::array<long double, 4>> product_;  // rows of W and Z: A = diag(values) - W Z^T - Z W^T
  std::optional<std::vector<double>> eigenvalues_;
};

/// A kind with its parameter as commands write them ("geometric:1e6"). parse_symmetric_kind parses them;
/// symmetric_kinds lists all of them in one line. `file` is the text after "spectrum:".
struct SymmetricChoice {
  SymmetricKind kind = SymmetricKind::uniform;
  double parameter = 0;
  std::string file;
};
SymmetricChoice parse_symmetric_kind(const std::string& text);
const char* symmetric_kinds();

}  // namespace tesela
