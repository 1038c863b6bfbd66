#pragma once

#include <tesela/codelets/toeplitz/sine_transform.hpp>

#include <array>
#include <span>

namespace tesela::kernels {

// Eigenvectors of symmetric Toeplitz matrices in the sine basis, in the order of cauchy.hpp: each column holds a
// symmetric one above a skew one.

/// V <- S X, in the order of the unknowns: the vectors of column j of x become columns places(j, 0) (the symmetric one)
/// and places(j, 1) (the skew one) of a matrix whose columns `first` and after are those of `v`, tile by tile; -1: of
/// none. One transform serves both, whose symmetric and skew parts they are. work: sine_rows(n) x 1 or more; the more,
/// the more at a time.
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

/// The first `columns[p]` vectors of part p of x (0: symmetric, 1: skew) lose what they have along the last
/// `others[p]` of the `ends[p]` in y, which are orthonormal: X <- X - Y Y' X, and then unit norm. work: as many rows as
/// y has columns, as many columns as x.
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
