#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// Computes all eigenpairs of a small symmetric tridiagonal matrix by implicit QL steps (LAPACK steqr).
///
/// t        n x 2: diagonal and, from row 0 on, off-diagonal; entries of size at most 2.
/// values   n x 1, in no order.
/// vectors  n x n: column j belongs to value j.
/// sweeps   the number of sweeps.
/// info     1 + the row where it did not converge.
template <class T>
struct Steqr {
  static constexpr auto name = "steqr";
  static constexpr std::uint32_t color = 0x8172b3;
  struct Args {};
  static double flops(const Args&, Shape t, Shape, Shape, Shape, Shape) {
    const auto n = static_cast<double>(t.rows);
    return 6 * n * n * n;
  }
  static void cpu(const Args& args, In<T> t, Out<T> values, Out<T> vectors, Out<index_t> sweeps, InOut<int> info);
  static void cuda(CudaContext& context, const Args& args, In<T> t, Out<T> values, Out<T> vectors, Out<index_t> sweeps,
                   InOut<int> info);
};
/// The largest order that a GPU accepts.
inline constexpr index_t most_gpu_steqr = 64;

/// Computes the same by LAPACK's divide and conquer, for orders where it is faster. Only on cores.
template <class T>
struct Stedc {
  static constexpr auto name = "stedc";
  static constexpr std::uint32_t color = 0x8172b3;
  struct Args {};
  static double flops(const Args&, Shape t, Shape, Shape, Shape) {
    const auto n = static_cast<double>(t.rows);
    return 4.0 / 3 * n * n * n;
  }
  static void cpu(const Args& args, In<T> t, Out<T> values, Out<T> vectors, InOut<int> info);
};

/// Computes all eigenpairs of a whole symmetric or Hermitian matrix by one call of LAPACK or cuSOLVER (syevd, heevd).
///
/// A        only the lower triangle is read, with elements of size 1. A is overwritten by the vectors, one per column
///          in the order of the values, or destroyed.
/// values   n x 1, ascending.
/// info     syevd's.
template <class T>
struct Syevd {
  static constexpr auto name = "syevd";
  static constexpr std::uint32_t color = 0x8172b3;
  struct Args {
    bool vectors = true;
    std::uint64_t cost_key() const { return vectors ? 1 : 0; }
  };
  static double flops(const Args& args, Shape a, Shape, Shape, Shape) {
    const auto n = static_cast<double>(a.rows);
    return (args.vectors ? 14.0 : 4.0) / 3 * n * n * n;
  }
  static void cpu(const Args& args, InOut<T> a, Out<real_t<T>> values, Scratch<T> work, InOut<int> info);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a, Out<real_t<T>> values, Scratch<T> work,
                   InOut<int> info);
};
/// Returns the rows of its Scratch, which has one column: cuSOLVER's requirement if the runtime has a GPU.
template <class T>
index_t syevd_work(bool with_gpu, index_t n, bool vectors);

}  // namespace tesela::kernels
