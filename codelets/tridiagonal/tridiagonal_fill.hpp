#pragma once

#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/host_device.hpp>
#include <tesela/tiles/generator.hpp>

namespace tesela::kernels {

/// Kinds of generated tridiagonal matrices.
enum class TridiagonalKind : std::uint8_t {
  uniform,   ///< every entry, or both of its parts, uniform in [-1, 1)
  dominant,  ///< off-diagonals as in `uniform`, |d| = |dl| + |du| + 1 with a random sign or phase
  toeplitz,  ///< -1, 2.5, -1 in each row: a condition number below 9
  /// d = 0. Off-diagonals have random signs or phases and, for each column, one magnitude, uniform in [1/2, 1]. So the
  /// condition number grows no faster than n; with independent magnitudes it would grow like exp(sqrt(n)). A matrix of
  /// odd order with d = 0 is structurally singular, so then d of the first row is such a number as well. The entries
  /// that only a periodic system reads are twice as large, which keeps it from being singular.
  zero_diagonal,
  /// Off-diagonals of -1/256 … -256/256, and rows whose sum is exactly delta = 256 eps: an M-matrix with ||A^-1||_inf =
  /// 1 / delta. Its nearly singular vector is constant and thus extends over all rows. Real, as toeplitz, also among
  /// complex numbers.
  near_singular,
};

/// Row i of a generated tridiagonal matrix: dl, d and du.
template <class T>
struct TridiagonalRow {
  T dl, d, du;
};

/// Row i of generated matrix number `system`; the same for every tiling, layout and device, except for the last bits of
/// a complex number with a given magnitude.
template <class T>
struct TridiagonalGenerator {
  using Real = real_t<T>;  ///< of the magnitudes
  TridiagonalKind kind = TridiagonalKind::uniform;
  index_t n = 0;           ///< order
  std::uint64_t seed = 0;  ///< of random numbers
  bool periodic = false;   ///< whether the rows' sums include dl of the first row and du of the last

  static constexpr Real delta = 256 * std::numeric_limits<Real>::epsilon();  ///< the sum of a near_singular row

  TESELA_BOTH static Real size(T x) {  ///< |x|
    if constexpr (is_complex<T>)
      return std::hypot(x.real(), x.imag());
    else
      return x < T(0) ? -x : x;
  }
  TESELA_BOTH static Real real(T x) {  ///< the real part
    if constexpr (is_complex<T>)
      return x.real();
    else
      return x;
  }
  /// Returns `magnitude` with the sign or phase of x.
  TESELA_BOTH static T with_sign_of(T x, Real magnitude) {
    if constexpr (is_complex<T>)
      return size(x) > 0 ? x * (magnitude / size(x)) : T(magnitude);
    else
      return x < T(0) ? -magnitude : magnitude;
  }

  /// Returns a row.
  TESELA_BOTH TridiagonalRow<T> operator()(index_t i, index_t system) const {
    const auto number = [this](std::uint64_t stream, index_t row, index_t column) {
      return Generator<T>{Pattern::uniform, T(0), 0, 4 * seed + stream}.uniform(row, column);
    };
    const auto random = [&](std::uint64_t stream) { return number(stream, i, system); };
    const T dl = random(0), du = random(2);
    switch (kind) {
      case TridiagonalKind::uniform: return {dl, random(1), du};
      case TridiagonalKind::dominant: return {dl, with_sign_of(random(1), size(dl) + size(du) + Real(1)), du};
      case TridiagonalKind::toeplitz: return {T(-1), T(Real(2.5)), T(-1)};
      case TridiagonalKind::zero_diagonal: {
        const auto column = [&](index_t j) { return Real(0.5) + size(T(real(number(3, j, system)))) / Real(2); };
        const Real left = i > 0 ? column(i - 1) : Real(2) * column(n - 1);
        const Real right = i < n - 1 ? column(i + 1) : Real(2) * column(0);
        return {with_sign_of(dl, left), T(i == 0 && n % 2 == 1 ? column(0) : Real(0)), with_sign_of(du, right)};
      }
      case TridiagonalKind::near_singular: {
        // Multiples of 1/256, so that the sum is exact.
        const auto whole = [](Real x) {
          return static_cast<Real>(1 + static_cast<int>(Real(128) * (x + Real(1)))) / Real(256);
        };
        const Real left = whole(real(dl)), right = whole(real(du));
        const Real sum = (i > 0 || periodic ? left : Real(0)) + (i < n - 1 || periodic ? right : Real(0));
        return {T(-left), T(sum + delta), T(-right)};
      }
    }
    return {dl, random(1), du};
  }
};

/// Writes the tiles of the three diagonals whose first element is row `equation` of matrix `system`.
template <class T>
struct TridiagonalFill {
  static constexpr auto name = "tridiagonal_fill";
  static constexpr std::uint32_t color = 0x8c8c8c;
  struct Args {
    TridiagonalGenerator<T> generator;
    index_t equation = 0, system = 0;
    bool in_rows = false;  ///< a matrix extends along a row of the tiles instead of a column
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(generator.kind); }
  };
  static void cpu(const Args& args, Out<T> dl, Out<T> d, Out<T> du);
  static void cuda(CudaContext& context, const Args& args, Out<T> dl, Out<T> d, Out<T> du);
};

/// Computes one tile of B = A X (LAPACK lagtm): b(i) = dl(i) x(i-1) + d(i) x(i) + du(i) x(i+1) for each system.
///
/// dl, d, du one matrix per system, or one for all.
/// before    its last unknown precedes the tile's first, if needed; may be the tile of X itself.
/// after     its first unknown follows the tile's last, if needed; may be the tile of X itself.
template <class T>
struct TridiagonalProduct {
  static constexpr auto name = "tridiagonal_product";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args {
    bool in_rows = false;                        ///< a system extends along a row of the tiles instead of a column
    bool has_before = false, has_after = false;  ///< whether `before` and `after` are read
  };
  static double flops(const Args&, Shape, Shape, Shape, Shape, Shape x, Shape, Shape) {
    return 5 * static_cast<double>(x.rows) * static_cast<double>(x.cols);
  }
  static void cpu(const Args& args, In<T> dl, In<T> d, In<T> du, In<T> before, In<T> x, In<T> after, Out<T> b);
  static void cuda(CudaContext& context, const Args& args, In<T> dl, In<T> d, In<T> du, In<T> before, In<T> x,
                   In<T> after, Out<T> b);
};

}  // namespace tesela::kernels
