#pragma once

#include <tesela/algorithms/support/named.hpp>
#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/runtime/graph.hpp>

#include <span>

// The choice of the kernel for products on GPUs, for every algorithm (docs/gemm.md).

namespace tesela {

using kernels::GemmAccuracy;
using kernels::GemmKernel;

/// Returns the GPU kernels with their names and descriptions.
std::span<const Named<GemmKernel>> gemm_kernels();

/// Returns the accuracies with their names and descriptions.
std::span<const Named<GemmAccuracy>> gemm_accuracies();

/// Returns the kernel for tiles of C of m x n elements and inner size k on the GPUs of `workers`: `wanted`, or if that
/// is automatic, the kernel that TESELA_GEMM names, by default cublas or int8, whichever is faster. The kernel is
/// cublas without a GPU and for complex numbers, since only that has a variant for cores, and instead of int8 unless
/// the compute capability is 9.0 and each rank has a GPU; automatic is also cublas on GPUs with less than 4 GiB for
/// StarPU. Throws ArgumentError if TESELA_GEMM is no kernel's name.
GemmKernel gemm_kernel(const WorkerCounts& workers, GemmKernel wanted, index_t m, index_t n, index_t k);

/// Returns whether kernels::ResidueUpdate should update n x n elements with inner size k.
bool updates_by_residues(const WorkerCounts& workers, index_t n, index_t k);

/// Arguments of kernels::multiply(), for tasks with products inside: cublas, int8, or automatic if each product chooses
/// by its size. Such tasks need a Scratch<double> of `work`, one element with cublas, and must run on a GPU otherwise.
struct Products {
  GemmKernel kernel;
  Tile<double> work;
};

/// Returns the arguments for tasks with products of at most m x n x k elements.
template <class T>
Products products(Graph& g, index_t m, index_t n, index_t k);

/// Returns the doubles of that work space on each GPU of `workers`, at most a sixteenth of a GPU's memory, for a
/// MemoryPlan. `element`: bytes of an element.
index_t product_work(const WorkerCounts& workers, index_t m, index_t n, index_t k, std::size_t element);

/// Inserts C = alpha op(A) op(B) + beta C for tiles with the kernel that gemm_kernel() returns: Gemm, or Int8Gemm,
/// which runs on GPUs only.
template <class T, template <class> class C = InOut>
void insert_product(Graph& g, const Priority& where, const kernels::GemmArgs<T>& args, const Tile<T>& a,
                    const Tile<T>& b, const Tile<T>& c);

}  // namespace tesela
