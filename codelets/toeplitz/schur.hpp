#pragma once

#include <tesela/codelets/toeplitz/levinson.hpp>
#include <tesela/runtime/scalar.hpp>

namespace tesela::kernels {

// Tasks of the Schur recursion for a symmetric or complex Hermitian Toeplitz matrix with first column t, of order n.
//
// A generator has n - 1 pairs (u(i), v(i)), i = 1, ..., n - 1, initially (t(i - 1), t(i)). Step k has the coefficient
// rho(k) = -v(k + 1) / u(k + 1), the reflection coefficient of Levinson's recursion; u(k + 1) is the pivot of order k +
// 1. The step updates (u(i), v(i)) <- (u(i) + conj(rho) v(i), v(i) + rho u(i)) and moves each u from i to i + 1. No
// step needs a sum over the generator. A tile has m pairs, u in its first column and v in its second one; m is a power
// of two times 128, and zeros follow the last pair. The tasks on tile J and the steps of tile K < J exchange only the m
// numbers u that move from tile J to J + 1, the edge of K.
//
// The same steps on the polynomials A = 1, B = 0 give the transfer polynomials a and c of m steps. The transfer
// polynomials of consecutive tiles follow by products, and (A, B) <- (a A + b B, c A + d B) with b(z) = z^m
// conj(c)(1/z), d(z) = z^m conj(a)(1/z), the conjugates of the coefficients. A = a + b of all steps, divided by the
// last pivot, is the first column of the inverse.

/// Returns whether m can be the number of pairs of a tile.
constexpr bool is_schur_tile(index_t m) { return m >= 128 && (m & (m - 1)) == 0; }

/// Numbers of a tile of coefficients: m coefficients, then the order of a breakdown or 0, then the last pivot.
constexpr index_t schur_coefficient_rows(index_t m) { return m + 2; }

/// Copies m pairs to an m x 2 tile, from i = args.first + 1 on.
template <class T>
struct SchurGenerator {
  static constexpr auto name = "schur_generator";
  static constexpr std::uint32_t color = 0x8c8c8c;
  static constexpr bool cores_only = is_complex<T>;
  struct Args {
    index_t first = 0;
  };
  static void cpu(const Args& args, In<T> t, Out<T> generator);
  static void cuda(CudaContext& context, const Args& args, In<T> t, Out<T> generator);
};

/// Computes the coefficients of a tile's own m steps, the first args.count of them; the others have the coefficient 0.
///
/// generator  m x 2; overwritten.
/// rho        schur_coefficient_rows(m) x 1. After a breakdown all coefficients are zero.
/// edge       m x 1: edge(k) enters the next tile after step k.
/// report     as for Levinson; initially 0, with an infinite levinson_least.
/// work       schur_work_rows(m) x 1.
template <class T>
struct SchurTriangle {
  static constexpr auto name = "schur_triangle";
  static constexpr std::uint32_t color = 0xc44e52;
  static constexpr bool cores_only = is_complex<T>;
  struct Args {
    index_t first = 0, count = 0;  ///< the first step, and the number of steps
  };
  static double flops(const Args&, Shape generator, Shape, Shape, Shape, Shape) {
    return 2 * flops_each<T> * static_cast<double>(generator.rows) * static_cast<double>(generator.rows);
  }
  static void cpu(const Args& args, InOut<T> generator, Out<T> rho, Out<T> edge, InOut<double> report, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, InOut<T> generator, Out<T> rho, Out<T> edge,
                   InOut<double> report, Scratch<T> work);
};

/// Runs the m steps of another tile on a tile of the generator. edge(k) enters after step k and becomes the u that
/// leaves after it. Does nothing after a breakdown.
template <class T>
struct SchurApply {
  static constexpr auto name = "schur_apply";
  static constexpr std::uint32_t color = 0x4c72b0;
  static constexpr bool cores_only = is_complex<T>;
  struct Args {};
  static double flops(const Args&, Shape, Shape generator, Shape, Shape) {
    return 4 * flops_each<T> * static_cast<double>(generator.rows) * static_cast<double>(generator.rows);
  }
  static void cpu(const Args& args, In<T> rho, InOut<T> generator, InOut<T> edge, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> rho, InOut<T> generator, InOut<T> edge,
                   Scratch<T> work);
};

/// Computes the transfer polynomials of m steps, m x 2: the coefficients of a and of c.
template <class T>
struct SchurTransfer {
  static constexpr auto name = "schur_transfer";
  static constexpr std::uint32_t color = 0x55a868;
  static constexpr bool cores_only = is_complex<T>;
  struct Args {};
  static double flops(const Args&, Shape, Shape transfer, Shape) {
    return 2 * flops_each<T> * static_cast<double>(transfer.rows) * static_cast<double>(transfer.rows);
  }
  static void cpu(const Args& args, In<T> rho, Out<T> transfer, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> rho, Out<T> transfer, Scratch<T> work);
};

/// Joins the transfer polynomials of m1 steps and of the m2 following ones, m1 x 2 and m2 x 2, to (m1 + m2) x 2.
///
/// work     schur_join_rows(m1 + m2) x 6.
template <class T>
struct SchurJoin {
  static constexpr auto name = "schur_join";
  static constexpr std::uint32_t color = 0x8172b3;
  static constexpr bool cores_only = is_complex<T>;
  struct Args {};
  static void cpu(const Args& args, In<T> first, In<T> second, Out<T> joined, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> first, In<T> second, Out<T> joined, Scratch<T> work);
};

/// Computes the first column of the inverse, n x 1, from the transfer polynomials of all steps and the last tile of
/// coefficients; zeros after a breakdown. A column that is not finite is a breakdown of order n.
template <class T>
struct SchurInverse {
  static constexpr auto name = "schur_inverse";
  static constexpr std::uint32_t color = 0x8c8c8c;
  static constexpr bool cores_only = is_complex<T>;
  struct Args {};
  static void cpu(const Args& args, In<T> transfer, In<T> rho, Out<T> inverse, InOut<double> report);
  static void cuda(CudaContext& context, const Args& args, In<T> transfer, In<T> rho, Out<T> inverse,
                   InOut<double> report);
};

/// Return the rows of work space for m pairs, and for transforms of m numbers.
constexpr index_t schur_work_rows(index_t m) { return 8 * m + 1024; }
index_t schur_join_rows(index_t m);

}  // namespace tesela::kernels
