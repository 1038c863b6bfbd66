#pragma once

#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/codelets/dense/gemm_launch.hpp>
#include <tesela/runtime/codelet.hpp>

#include <map>

namespace tesela::kernels {

/// Returns the moduli of a product of elements of this size: the fewest with smaller errors than a usual product.
constexpr int moduli_for(std::size_t element) { return element == sizeof(double) ? 14 : 7; }

/// Returns the most moduli that a componentwise product of such elements uses.
constexpr int most_moduli_for(std::size_t element) { return element == sizeof(double) ? 16 : 14; }

/// A product by residues that goes through a bounded work space: pieces of C are m x n, and their inner size is k.
struct Int8Plan {
  index_t m = 0, n = 0, k = 0;
  std::size_t bytes = 0;  ///< of the work space
  int moduli = 0;         ///< number of moduli
};

inline constexpr std::size_t most_int8_bytes = std::size_t{4} << 30;  ///< of a work space

/// Returns the plan for an m x n x k product by this number of moduli: the largest pieces whose work space has at most
/// `most` bytes, but at least 256 x 256 x 256.
Int8Plan plan_int8(index_t m, index_t n, index_t k, int moduli, std::size_t most = most_int8_bytes);

/// Returns the doubles of the work space for products of up to m x n x k elements by this number of moduli, at most
/// `most` bytes. Only few sizes occur, so that tiles of several shapes share a work space.
index_t int8_work(index_t m, index_t n, index_t k, int moduli, std::size_t most = most_int8_bytes);

/// Returns whether a product by residues was faster than cuBLAS at this size on an H200 (docs/gemm.md).
bool int8_wins(index_t m, index_t n, index_t k);

/// Returns whether each CUDA device has compute capability 9.0, which the product by residues needs.
bool has_int8_devices();

/// Multiplies as gemm_tuned() with the integer units of compute capability 9.0 (docs/gemm.md): each element of the
/// result has an error of at most c(k) u ||a||_2 ||b||_2 with a its row of op(A) and b its column of op(B). `work` has
/// plan.bytes, aligned to 256. Returns cudaErrorNotSupported on other devices, with nothing enqueued. plan.moduli is
/// 14, 15 or 16 for double, 7 or 14 for float.
template <class T>
int gemm_int8(CUstream_st* stream, const GemmProblem<T>& problem, const Int8Plan& plan, void* work);

/// The spread of a product's operands: bounds for all rows a of op(A) and columns b of op(B).
struct Spread {
  double norms = 0;  ///< ||a||_2 ||b||_2 / (|a|^T |b|)
  double sums = 0;   ///< (||a||_2 ||b||_1 + ||a||_1 ||b||_2) / (|a|^T |b|)
};

/// Returns the fewest moduli for |C - AB| <= k u |A| |B|, or 0 if that needs more than 16 in double or 14 in single
/// precision (docs/gemm.md).
int moduli_for_spread(std::size_t element, index_t k, const Spread& spread);

/// Multiplies with |C - AB| <= k u |A| |B|: measures the spread of each piece, waits for it, and multiplies by the
/// residues that it needs, or by cuBLAS. The plan is for most_moduli_for(). Returns
/// as gemm_int8(), or a cublasStatus_t.
template <class T>
int gemm_componentwise(CUstream_st* stream, cublasContext* cublas, const GemmProblem<T>& problem, const Int8Plan& plan,
                       void* work);

/// Pieces of this process's componentwise products by their number of moduli; 0 moduli mean cuBLAS.
std::map<int, index_t> componentwise_pieces();
void count_componentwise_piece(int moduli);

/// Enqueues a product inside a task: gemm_int8() if `kernel` is int8, or automatic and int8_wins(); otherwise cuBLAS,
/// as for complex numbers, on other devices and if `work` is too small for any pieces. The algorithm chooses kernel and
/// work space (algorithms/dense/products.hpp).
template <class T>
void multiply(CudaContext& context, GemmKernel kernel, const GemmProblem<T>& problem, Scratch<double> work,
              int moduli = moduli_for(sizeof(T)));

/// Multiplies tiles as Gemm with gemm_int8() or gemm_componentwise(), or with cuBLAS if the device is none of compute
/// capability 9.0.
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
