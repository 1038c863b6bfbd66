#pragma once

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

/// Returns whether a product by residues was faster than cuBLAS at this size on an H200 (docs/gemm.md).
bool int8_wins(index_t m, index_t n, index_t k);

/// Returns whether each CUDA device has compute capability 9.0, which the product by residues needs.
bool has_int8_devices();

/// Multiplies as gemm_tuned() with the integer units of compute capability 9.0 (docs/gemm.md): each element of the
/// result has an error of at most c(k) u ||a||_2 ||b||_2 with a its row of op(A) and b its column of op(B). `work` has
/// plan_int8(...).bytes, aligned to 256. Returns cudaErrorNotSupported on other devices, with nothing enqueued.
template <class T>
int gemm_int8(CUstream_st* stream, const GemmProblem<T>& problem, const Int8Plan& plan, void* work);

/// Multiplies tiles as Gemm with gemm_int8(), or with cuBLAS if the device is none of compute capability 9.0.
template <class T, template <class> class C = InOut>
struct Int8Gemm {
  static constexpr auto name = "gemm_int8";
  static constexpr std::uint32_t color = 0x2f9fd0;

  struct Args {
    Op op_a = Op::none, op_b = Op::none;
    T alpha = 1, beta = 0;
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(op_a) | static_cast<std::uint64_t>(op_b) << 1; }
  };
  static double flops(const Args& args, Shape a, Shape, Shape c, Shape) {
    return 2.0 * static_cast<double>(c.rows) * static_cast<double>(c.cols) *
           static_cast<double>(apply(args.op_a, a).cols);
  }
  /// Returns the doubles of `work` for these tiles.
  static index_t work(index_t m, index_t n, index_t k) {
    return static_cast<index_t>(plan_int8(m, n, k, sizeof(T)).bytes / sizeof(double));
  }

  static void cuda(CudaContext& context, const Args& args, In<T> a, In<T> b, C<T> c, Scratch<double> work);
};

}  // namespace tesela::kernels
