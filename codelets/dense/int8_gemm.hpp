#pragma once

#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/codelets/dense/gemm_launch.hpp>
#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// A product by residues that goes through a bounded work space: pieces of C are m x n, and their inner size is k.
struct Int8Plan {
  index_t m = 0, n = 0, k = 0;
  std::size_t bytes = 0;  ///< of the work space
};

/// Returns the plan for an m x n x k product of floats or doubles of `element` bytes: the largest pieces whose work
/// space has at most `most` bytes, but at least 256 x 256 x 256.
Int8Plan plan_int8(index_t m, index_t n, index_t k, std::size_t element, std::size_t most = std::size_t{4} << 30);

/// Returns the doubles of the work space for products of up to m x n x k floats or doubles of `element` bytes. Only few
/// sizes occur, so that tiles of several shapes share a work space.
index_t int8_work(index_t m, index_t n, index_t k, std::size_t element);

/// Returns whether a product by residues was faster than cuBLAS at this size on an H200 (docs/gemm.md).
bool int8_wins(index_t m, index_t n, index_t k);

/// Returns whether each CUDA device has compute capability 9.0, which the product by residues needs.
bool has_int8_devices();

/// Multiplies as gemm_tuned() with the integer units of compute capability 9.0 (docs/gemm.md): each element of the
/// result has an error of at most c(k) u ||a||_2 ||b||_2 with a its row of op(A) and b its column of op(B). `work` has
/// plan_int8(...).bytes, aligned to 256. Returns cudaErrorNotSupported on other devices, with nothing enqueued.
template <class T>
int gemm_int8(CUstream_st* stream, const GemmProblem<T>& problem, const Int8Plan& plan, void* work);

/// Enqueues a product inside a task: gemm_int8() if `kernel` is int8, or automatic and int8_wins(); otherwise cuBLAS,
/// as on other devices and if `work` is too small for any pieces. The algorithm chooses kernel and work space
/// (algorithms/dense/products.hpp).
template <class T>
void multiply(CudaContext& context, GemmKernel kernel, const GemmProblem<T>& problem, Scratch<double> work);

/// Multiplies tiles as Gemm with gemm_int8(), or with cuBLAS if the device is none of compute capability 9.0.
template <class T, template <class> class C = InOut>
struct Int8Gemm {
  static constexpr auto name = "gemm_int8";
  static constexpr std::uint32_t color = 0x2f9fd0;

  using Args = GemmArgs<T>;
  static double flops(const Args& args, Shape a, Shape, Shape c, Shape) {
    return 2.0 * static_cast<double>(c.rows) * static_cast<double>(c.cols) *
           static_cast<double>(apply(args.op_a, a).cols);
  }

  static void cuda(CudaContext& context, const Args& args, In<T> a, In<T> b, C<T> c, Scratch<double> work);
};

}  // namespace tesela::kernels
