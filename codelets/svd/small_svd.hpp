#pragma once

#include <tesela/runtime/codelet.hpp>

#include <algorithm>

namespace tesela::kernels {

/// Decomposes several m x n matrices A = U diag(s) V^H with k = min(m, n) <= 64: A P = Q R with rows in descending
/// order and pivoting of columns, R^T = Q2 R2, then one-sided Jacobi rotations of R2^T (Z. Drmač, K. Veselić, "New fast
/// and accurate Jacobi SVD algorithm I", SIAM J. Matrix Anal. Appl. 29, 2008; LAPACK gejsv). A power of two scales each
/// matrix. On a core a lane of the vector unit works on a matrix, on a GPU a warp or a thread block. Complex matrices
/// go to LAPACK's gesdd, one after the other.
///
/// a        m x (n K): K matrices side by side; only read.
/// values   k x K, descending; NaN for a matrix that fails.
/// u, v     m x (u_columns K) and n x (v_columns K): k columns of each matrix or all m and n; none if u_columns is 0.
///          NaN for a matrix that fails.
/// info     1 x K: 0; 1 if the rotations did not converge; or -(1 + i + j m) if element (i, j) is NaN or infinite. A
///          matrix that fails does not affect the others.
template <class T>
struct SmallSvd {
  static constexpr auto name = "small_svd";
  static constexpr std::uint32_t color = 0x4c72b0;
  static constexpr bool cores_only = is_complex<T>;
  struct Args {
    index_t columns = 1;                   ///< n
    index_t u_columns = 0, v_columns = 0;  ///< of each matrix; 0: values only
    auto cost_key() const { return u_columns; }
  };
  static double flops(const Args& args, Shape a, Shape values, Shape, Shape, Shape, Shape) {
    const auto tall = static_cast<double>(std::max(a.rows, args.columns)), k = static_cast<double>(values.rows),
               reduction = 4 * tall * k * k - 4 * k * k * k / 3;  // LAPACK's count
    return static_cast<double>(values.cols) * (args.u_columns > 0 ? 3 * reduction : reduction);
  }
  static void cpu(const Args& args, In<T> a, Out<real_t<T>> values, Out<T> u, Out<T> v, Out<int> info, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> a, Out<real_t<T>> values, Out<T> u, Out<T> v,
                   Out<int> info, Scratch<T> work);
};

/// Returns the shape of SmallSvd's Scratch for `count` matrices: 1 x 1 if they fit into a GPU's shared memory, with the
/// other arrays of a thread block.
template <class T>
constexpr Shape small_svd_work(Shape each, index_t count) {
  const index_t m = std::max(each.rows, each.cols) | 1, n = std::min(each.rows, each.cols),
                room = index_t{n <= 16 ? 100 : 200} << 10;  // a block has two matrices of order 16 or less
  return {n * (m + 3 * (n | 1)) * index_t{sizeof(T)} <= room ? 1 : n * m * count, 1};
}

}  // namespace tesela::kernels
