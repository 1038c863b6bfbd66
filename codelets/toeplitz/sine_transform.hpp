#pragma once

#include <tesela/codelets/toeplitz/cauchy.hpp>
#include <tesela/runtime/codelet.hpp>

#include <array>
#include <span>

namespace tesela::kernels {

/// Returns the rows of the scratch of a sine transform of n numbers.
TESELA_BOTH constexpr index_t sine_rows(index_t n) { return 2 * n + 4; }

/// Computes Y = S X for k columns of n numbers, S(i, j) = sqrt(2 / (n + 1)) sin(i j pi / (n + 1)), i, j = 1 ... n.
///
/// Y        X in the sine basis, in the order of cauchy.hpp; or from there back in the order of the unknowns: S is its
///          own inverse.
/// work     sine_rows(n) x k.
/// Method   a real Fourier transform of length 2 (n + 1).
template <class T>
struct SineTransform {
  static constexpr auto name = "sine_transform";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {
    bool back = false;
  };
  static void cpu(const Args& args, In<T> x, Out<T> y, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> x, Out<T> y, Scratch<T> work);
};

// Eigenvectors of symmetric Toeplitz matrices in the sine basis, in the order of cauchy.hpp: each column holds a
// symmetric vector above a skew one.

/// Computes V <- S X, in the order of the unknowns.
///
/// places   the vectors of column j of x become columns places(j, 0) (the symmetric vector) and places(j, 1) (the skew
///          vector) of a matrix; -1: not stored. One transform serves both, because they are its symmetric and skew
///          parts.
/// v        the matrix's columns from `first` on, tile by tile.
/// work     sine_rows(n) x 1 or more columns, which are transformed together.
template <class T>
struct FromSineBasis {
  static constexpr auto name = "from_sine_basis";
  static constexpr std::uint32_t color = 0xbcbd22;
  struct Args {
    index_t first = 0;
  };
  static void cpu(const Args& args, In<T> x, In<index_t> places, Scratch<T> work, std::span<const InOut<T>> v);
  static void cuda(CudaContext& context, const Args& args, In<T> x, In<index_t> places, Scratch<T> work,
                   std::span<const InOut<T>> v);
};

/// Orthogonalizes vectors against others, X <- X - Y Y' X, and normalizes them.
///
/// x        the first `columns[p]` vectors of part p (0: symmetric, 1: skew) change.
/// y        the last `others[p]` of its `ends[p]` vectors are used; they are orthonormal.
/// work     as many rows as y has columns, as many columns as x.
template <class T>
struct OrthogonalizeAgainst {
  static constexpr auto name = "orthogonalize_against";
  static constexpr std::uint32_t color = 0x64b5cd;
  struct Args {
    std::array<index_t, 2> columns{}, others{}, ends{};
  };
  static void cpu(const Args& args, In<T> y, InOut<T> x, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> y, InOut<T> x, Scratch<T> work);
};

}  // namespace tesela::kernels
