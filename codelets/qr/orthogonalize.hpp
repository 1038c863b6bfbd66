#pragma once

#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/scalar.hpp>

#include <cstdint>

namespace tesela::kernels {

/// Method for A = Q R with an explicit Q.
enum class Orthogonalization : std::uint8_t {
  gram_schmidt,  ///< classical: ||I - Q^H Q|| grows with the square of the condition
  mgs,           ///< modified: ||I - Q^H Q|| grows with the condition
  cgs2,          ///< classical, twice: orthogonal to rounding level
  cholesky_qr2,  ///< R^H R = A^H A, Q = A R^-1, twice: orthogonal to rounding level up to a condition of about 1e8
  householder    ///< reflectors of tiles: always orthogonal to rounding level
};

/// Applies gram_schmidt, mgs or cgs2 to the columns of a tile.
///
/// A        m x w; becomes Q.
/// r        w x w; becomes R, zeros below the diagonal.
/// broken   if 0, becomes 1 + `first` + the first column that vanishes or has a NaN.
/// work     work_size(w) numbers.
template <class T>
struct OrthogonalizePanel {
  static constexpr auto name = "orthogonalize_panel";
  static constexpr std::uint32_t color = 0xc44e52;
  static constexpr bool cores_only = is_complex<T>;
  struct Args {
    Orthogonalization method = Orthogonalization::mgs;
    index_t first = 0;
    auto cost_key() const { return static_cast<std::uint64_t>(method); }
  };
  static double flops(const Args& args, Shape a, Shape, Shape, Shape) {
    return flops_each<T> * (args.method == Orthogonalization::cgs2 ? 4.0 : 2.0) * static_cast<double>(a.rows) *
           static_cast<double>(a.cols) * static_cast<double>(a.cols);
  }
  static index_t work_size(index_t w);
  static void cpu(const Args& args, InOut<T> a, Out<T> r, InOut<int> broken, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a, Out<T> r, InOut<int> broken, Scratch<T> work);
};

/// Factors a symmetric or Hermitian A = R^H R (LAPACK potrf). Only the upper triangle is read, and R overwrites it.
/// `info` is LAPACK's. `work` has work_size(n) numbers.
template <class T>
struct GramCholesky {
  static constexpr auto name = "gram_cholesky";
  static constexpr std::uint32_t color = 0x8172b3;
  static constexpr bool cores_only = is_complex<T>;
  struct Args {};
  static double flops(const Args&, Shape a, Shape, Shape) {
    const auto n = static_cast<double>(a.rows);
    return flops_each<T> * n * n * n / 3;
  }
  static index_t work_size(index_t n);
  static void cpu(const Args& args, InOut<T> a, Out<int> info, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a, Out<int> info, Scratch<T> work);
};

/// Solves X = X R^-1 (BLAS trsm) with the n x n upper triangle R and an m x n X.
template <class T>
struct SolveRight {
  static constexpr auto name = "solve_right";
  static constexpr std::uint32_t color = 0xda8bc3;
  static constexpr bool cores_only = is_complex<T>;
  struct Args {};
  static double flops(const Args&, Shape r, Shape x) {
    return flops_each<T> * static_cast<double>(r.rows) * static_cast<double>(r.rows) * static_cast<double>(x.rows);
  }
  static void cpu(const Args& args, In<T> r, InOut<T> x);
  static void cuda(CudaContext& context, const Args& args, In<T> r, InOut<T> x);
};

}  // namespace tesela::kernels
