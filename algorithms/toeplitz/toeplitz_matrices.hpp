#pragma once

#include <tesela/tiles/host_matrix.hpp>

#include <string>

namespace tesela {

/// Generated symmetric or complex Hermitian Toeplitz matrices, T(i, j) = t(|i - j|), i >= j. Complex ones have random
/// numbers in both parts, except t(0), or t(k) times exp(i k), which keeps the eigenvalues.
enum class ToeplitzKind : std::uint8_t {
  random,  ///< t(i) uniform in [-1, 1): indefinite
  /// t(i) uniform in [-1, 1) for i > 0, and t(0) just large enough to make the symbol positive: positive definite with
  /// a condition of some tens, without diagonal dominance (t(0) grows as sqrt(n log n), the sum of a row as n).
  spd,
  /// t(0) = 2 W, t(k) = sin(2 pi W k) / (pi k), 0 < W < 1/2: positive definite, with eigenvalues that cluster at 0 and
  /// 1 to rounding; numerically singular for large n.
  prolate,
  kms,                ///< Kac, Murdock and Szego: t(k) = r^k, positive definite for |r| < 1; its inverse is tridiagonal
  second_difference,  ///< 2, -1, 0, ...: eigenvalues 2 - 2 cos(k pi / (n + 1)), k = 1 ... n
  /// 0, 1, 0, ...: all leading minors of odd order vanish. If n is odd, t(n - 1) = 1 as well, so that T is not
  /// singular. Eigenvalues: 2 cos(k pi / (n + 1)), k = 1 ... n, for even n; 2 cos(2 k pi / n), k = 0 ... n - 1, for odd
  /// n >= 3.
  singular_minors,
};

/// Description of a generated Toeplitz matrix.
struct ToeplitzGenerator {
  ToeplitzKind kind = ToeplitzKind::random;
  double parameter = 0;    ///< W of prolate, r of kms
  std::uint64_t seed = 1;  ///< of random numbers
};

/// Parses a kind with its parameter as commands write it ("kms:0.5"). toeplitz_kinds() lists all kinds in one line.
/// Throws ArgumentError for other texts.
ToeplitzGenerator parse_toeplitz_kind(const std::string& text);
std::string toeplitz_kinds();

/// Returns t, n x 1, the first column of the n x n matrix. Throws ArgumentError for a negative n or a parameter out of
/// range.
template <class T>
HostMatrix<T> toeplitz_column(const ToeplitzGenerator& generator, index_t n);

}  // namespace tesela
