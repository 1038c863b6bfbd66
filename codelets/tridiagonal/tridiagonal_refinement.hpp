#pragma once

#include <tesela/codelets/tridiagonal/tridiagonal.hpp>
#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/host_device.hpp>
#include <tesela/runtime/scalar.hpp>

#include <limits>
#include <span>

namespace tesela::kernels {

namespace tridiagonal {

/// Residuals of some rows of a system, each row multiplied by a power of two such that its largest coefficient lies in
/// [2, 4).
template <class T>
struct SystemResidual {
  T residual = 0;  ///< max |A x - b|_i; NaN if a number is NaN
  T matrix = 0;    ///< max_i of the sum of |A|'s row i
  T solution = 0;  ///< max |x|_i
  T right = 0;     ///< max |b|_i
  /// max_i |A x - b|_i / (|A| |x| + |b|)_i, NaN if a number is NaN. The denominator is at least 16 times the smallest
  /// normal number.
  T componentwise = 0;
  T margin = std::numeric_limits<T>::max();  ///< min_i of |d| - |dl| - |du|: above 0 if the diagonal dominates
  index_t row = 0;                           ///< row of the largest residual
  T correction = 0;                          ///< factor of the residual in the next solve; 0: x is final

  /// Returns ||A x - b|| / (||A|| ||x|| + ||b||) in the maximum norm: the normwise backward error of the scaled system.
  TESELA_BOTH T backward_error() const {
    if (residual == T(0)) return T(0);
    // Scales numbers to size 1, like A's rows, to avoid overflow and lost digits.
    const T power = over_power(larger(solution, right)) / 8;
    return residual * power / (matrix * (solution * power) + right * power);
  }
};

/// Errors of all systems of a tile.
template <class T>
struct Verdict {
  T backward_error = 0;  ///< the largest; NaN if one is
  index_t row = 0;       ///< its position, counted as in a status: i + 1 + n s
  index_t open = 0;      ///< unsolved systems for which another correction may help
  T open_error = 0;      ///< the largest of open systems
  T componentwise = 0;   ///< the largest; NaN if one is
};

/// Merges the verdict on other systems into this one.
template <class T>
TESELA_BOTH inline void worsen(Verdict<T>& a, const Verdict<T>& b) {
  if (!(b.backward_error <= a.backward_error) && a.backward_error == a.backward_error)
    a.backward_error = b.backward_error, a.row = b.row;
  if (!(b.componentwise <= a.componentwise) && a.componentwise == a.componentwise) a.componentwise = b.componentwise;
  a.open += b.open;
  a.open_error = a.open_error < b.open_error ? b.open_error : a.open_error;
}

/// Returns whether x with misfit a is better componentwise than x with misfit b.
template <class T>
constexpr bool better(const SystemResidual<T>& a, const SystemResidual<T>& b) {
  return a.componentwise < b.componentwise ||
         (b.componentwise != b.componentwise && a.componentwise == a.componentwise);
}

/// Rows per SystemResidual of a tile with that many rows.
inline constexpr index_t misfit_rows = 4096;
constexpr index_t misfits(index_t equations) { return equations > 0 ? ceil_div(equations, misfit_rows) : 1; }

}  // namespace tridiagonal

/// Converts the bands of a tile to precision L, each row multiplied by a power of two such that its largest entry lies
/// in [2, 4). Elements that are not read according to SystemsTile become 0.
template <class T, class L>
struct TridiagonalConvert {
  static constexpr auto name = "tridiagonal_convert";
  static constexpr std::uint32_t color = 0x17becf;
  using Args = tridiagonal::SystemsTile;
  static void cpu(const Args& args, In<T> dl, In<T> d, In<T> du, Out<L> to_dl, Out<L> to_d, Out<L> to_du);
  static void cuda(CudaContext& context, const Args& args, In<T> dl, In<T> d, In<T> du, Out<L> to_dl, Out<L> to_d,
                   Out<L> to_du);
};

/// Measures B - A X of one tile, with rows scaled as by TridiagonalConvert.
///
/// misfits       misfits(n) x systems: misfits(c, s) belongs to the rows from 4096 c on of system s.
/// list          if not empty, its one tile becomes the scaled B - A X.
/// before, after as for TridiagonalProduct.
/// probe         if not 0, |A| |x| + |b| times independent random numbers of +-[1/2, 3/2) replaces B - A X: the change
///               of the right-hand side by rounding of A and b, divided by eps.
template <class T>
struct TridiagonalResidual {
  static constexpr auto name = "tridiagonal_residual";
  static constexpr std::uint32_t color = 0x64b5cd;
  struct Args : tridiagonal::SystemsTile {
    index_t first = 0;        ///< the tile's first row in its system
    std::uint64_t probe = 0;  ///< 0, or the seed of a probe's random numbers
    std::uint64_t cost_key() const { return probe != 0 ? 1 : 0; }
  };
  static double flops(const Args&, std::span<const Shape> tiles) {
    return 7 * static_cast<double>(tiles[4].rows) * static_cast<double>(tiles[4].cols);
  }
  static void cpu(const Args& args, In<T> dl, In<T> d, In<T> du, In<T> before, In<T> x, In<T> after, In<T> b,
                  Out<tridiagonal::SystemResidual<real_t<T>>> misfits, std::span<const Out<T>> r);
  static void cuda(CudaContext& context, const Args& args, In<T> dl, In<T> d, In<T> du, In<T> before, In<T> x,
                   In<T> after, In<T> b, Out<tridiagonal::SystemResidual<real_t<T>>> misfits,
                   std::span<const Out<T>> r);
};

/// Finds the largest misfit of each system, of real or complex numbers, over all tiles (1 x systems), the factor of its
/// residual if an error exceeds its tolerance, and the worst error of all.
template <class T>
struct TridiagonalEvaluate {
  static constexpr auto name = "tridiagonal_judge";
  static constexpr std::uint32_t color = 0x3b3b3b;
  struct Args {
    T tolerance = 0;                                       ///< of the backward error
    T componentwise = std::numeric_limits<T>::infinity();  ///< largest component-wise residual that suffices
    index_t n = 0;                                         ///< equations of a system
  };
  static void cpu(const Args& args, Out<tridiagonal::SystemResidual<T>> whole, Out<tridiagonal::Verdict<T>> verdict,
                  std::span<const In<tridiagonal::SystemResidual<T>>> tiles);
  static void cuda(CudaContext& context, const Args& args, Out<tridiagonal::SystemResidual<T>> whole,
                   Out<tridiagonal::Verdict<T>> verdict, std::span<const In<tridiagonal::SystemResidual<T>>> tiles);
};

/// Copies X <- Y for the systems whose Y has the better misfit componentwise; NaN is worst.
template <class T>
struct TridiagonalSelectBetter {
  static constexpr auto name = "tridiagonal_keep_better";
  static constexpr std::uint32_t color = 0xdd8452;
  struct Args {
    SystemsIn systems = SystemsIn::columns;
  };
  static void cpu(const Args& args, InOut<T> x, In<T> y, In<tridiagonal::SystemResidual<real_t<T>>> of_x,
                  In<tridiagonal::SystemResidual<real_t<T>>> of_y);
  static void cuda(CudaContext& context, const Args& args, InOut<T> x, In<T> y,
                   In<tridiagonal::SystemResidual<real_t<T>>> of_x, In<tridiagonal::SystemResidual<real_t<T>>> of_y);
};

/// Computes Y = R in precision L, each system multiplied by its correction.
template <class T, class L>
struct TridiagonalDemote {
  static constexpr auto name = "tridiagonal_demote";
  static constexpr std::uint32_t color = 0xc7c7c7;
  struct Args {
    SystemsIn systems = SystemsIn::columns;
  };
  static void cpu(const Args& args, In<T> r, In<tridiagonal::SystemResidual<real_t<T>>> whole, Out<L> y);
  static void cuda(CudaContext& context, const Args& args, In<T> r, In<tridiagonal::SystemResidual<real_t<T>>> whole,
                   Out<L> y);
};

/// Computes X += Y, each system divided by its correction; systems with correction 0 stay unchanged.
template <class T, class L>
struct TridiagonalCorrect {
  static constexpr auto name = "tridiagonal_correct";
  static constexpr std::uint32_t color = 0xccb974;
  struct Args {
    SystemsIn systems = SystemsIn::columns;
  };
  static double flops(const Args&, Shape, Shape, Shape x) {
    return 2 * static_cast<double>(x.rows) * static_cast<double>(x.cols);
  }
  static void cpu(const Args& args, In<L> y, In<tridiagonal::SystemResidual<real_t<T>>> whole, InOut<T> x);
  static void cuda(CudaContext& context, const Args& args, In<L> y, In<tridiagonal::SystemResidual<real_t<T>>> whole,
                   InOut<T> x);
};

}  // namespace tesela::kernels
