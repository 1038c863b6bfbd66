#pragma once

#include <tesela/runtime/codelet.hpp>

#include <cstdint>

namespace tesela::kernels {

/// How A = Q R is made with Q itself.
enum class Orthogonalization : std::uint8_t {
  gram_schmidt,  ///< classical: ||I - Q^T Q|| grows with the condition's square
  mgs,           ///< modified: with the condition
  cgs2,          ///< classical, twice: at rounding level
  cholesky_qr2,  ///< R^T R = A^T A, Q = A R^-1, twice: at rounding level up to a condition of about 1e8
  householder    ///< reflectors of tiles: at rounding level always
};

/// The first three on the columns of a tile, m x w: A becomes Q, and r (w x w) R, zeros below. `broken` becomes 1 +
/// first + the column of which nothing is left, or a NaN, if it was 0. `work` has work_size(w) numbers.
template <class T>
struct OrthogonalizePanel {
  static constexpr auto name = "orthogonalize_panel";
  static constexpr std::uint32_t color = 0xc44e52;
  struct Args {
    Orthogonalization method = Orthogonalization::mgs;
    index_t first = 0;
    auto cost_key() const { return static_cast<std::uint64_t>(method); }
  };
  static double flops(const Args& args, Shape a, Shape, Shape, Shape) {
    return (args.method == Orthogonalization::cgs2 ? 4.0 : 2.0) * static_cast<double>(a.rows) *
           static_cast<double>(a.cols) * static_cast<double>(a.cols);
  }
  static index_t work_size(index_t w);
  static void cpu(const Args& args, InOut<T> a, Out<T> r, InOut<int> broken, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a, Out<T> r, InOut<int> broken, Scratch<T> work);
};

/// A = R^T R for a symmetric A of which the upper triangle is read (LAPACK potrf): R takes it. `info` is LAPACK's.
/// `work` has work_size(n) numbers.
template <class T>
struct GramCholesky {
  static constexpr auto name = "gram_cholesky";
  static constexpr std::uint32_t color = 0x8172b3;
  struct Args {};
  static double flops(const Args&, Shape a, Shape, Shape) {
    const auto n = static_cast<double>(a.rows);
    return n * n * n / 3;
  }
  static index_t work_size(index_t n);
  static void cpu(const Args& args, InOut<T> a, Out<int> info, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a, Out<int> info, Scratch<T> work);
};

/// X = X R^-1, R the upper triangle, n x n, X m x n (BLAS trsm).
template <class T>
struct SolveRight {
  static constexpr auto name = "solve_right";
  static constexpr std::uint32_t color = 0xda8bc3;
  struct Args {};
  static double flops(const Args&, Shape r, Shape x) {
    return static_cast<double>(r.rows) * static_cast<double>(r.rows) * static_cast<double>(x.rows);
  }
  static void cpu(const Args& args, In<T> r, InOut<T> x);
  static void cuda(CudaContext& context, const Args& args, In<T> r, InOut<T> x);
};

}  // namespace tesela::kernels
