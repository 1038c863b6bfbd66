#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// CUDA implementation of a product: cublas; a kernel of the classic study of memory and data locality, which is naive
/// (one element per thread), shared (tiles in shared memory) or coarse (several elements per thread); or tuned, our
/// fastest. insert_product() inserts Int8Gemm for int8, and for automatic if that is faster than cuBLAS.
enum class GemmKernel : std::uint8_t { cublas, naive, shared, coarse, tuned, int8, automatic };

/// Bound of the error of a product by residues (docs/gemm.md); other kernels always have the componentwise one.
enum class GemmAccuracy : std::uint8_t {
  normwise,       ///< c(k) u ||a||_2 ||b||_2 with a row of A and a column of B: the fastest
  componentwise,  ///< k u |A| |B|, if small elements matter in rows or columns with large ones
};

/// Arguments of Gemm and Int8Gemm.
template <class T>
struct GemmArgs {
  Op op_a = Op::none, op_b = Op::none;
  T alpha = 1, beta = 0;                           ///< C = alpha op(A) op(B) + beta C
  GemmKernel kernel = GemmKernel::automatic;       ///< automatic and int8 mean cublas here
  int block = 32;                                  ///< thread-block edge of naive, shared and coarse: 16 or 32
  GemmAccuracy accuracy = GemmAccuracy::normwise;  ///< of int8
  std::uint64_t cost_key() const {
    return static_cast<std::uint64_t>(op_a) | static_cast<std::uint64_t>(op_b) << 2 |
           static_cast<std::uint64_t>(kernel) << 4 | static_cast<std::uint64_t>(block) << 8 |
           static_cast<std::uint64_t>(accuracy) << 16;
  }
};

/// Multiplies tiles as BLAS gemm: C = alpha op(A) op(B) + beta C, where op(A) is m x k, op(B) is k x n and C is m x n.
/// Gemm<T, Out> needs beta = 0 and does not read C.
template <class T, template <class> class C = InOut>
struct Gemm {
  static constexpr auto name = "gemm";
  static constexpr std::uint32_t color = 0x4c72b0;

  using Args = GemmArgs<T>;
  static double flops(const Args& args, Shape a, Shape, Shape c) {
    return 2.0 * flops_each<T> * static_cast<double>(c.rows) * static_cast<double>(c.cols) *
           static_cast<double>(apply(args.op_a, a).cols);
  }

  static void cpu(const Args& args, In<T> a, In<T> b, C<T> c);
  static void cuda(CudaContext& context, const Args& args, In<T> a, In<T> b, C<T> c);
};

}  // namespace tesela::kernels
