#include <tesela/codelets/tridiagonal/internal/parallel_reduction_body.hpp>
#include <tesela/codelets/tridiagonal/parallel_reduction.hpp>

#include <algorithm>

namespace tesela::kernels {
namespace {

struct BlockTeam {
  __device__ index_t rank() const { return threadIdx.x; }
  __device__ index_t size() const { return blockDim.x; }
  __device__ void sync() const { __syncthreads(); }
};

/// Solves one system per block. `work` is null if the system fits into shared memory.
template <class T>
__global__ void __launch_bounds__(1024)
    reduce_systems(typename ReduceSystems<T>::Args args, Block<const T> dl, Block<const T> d, Block<const T> du,
                   Block<T> b, Block<T> work, index_t* failure) {
  extern __shared__ char shared[];
  const index_t s = blockIdx.x;
  T* const own = work.data == nullptr ? reinterpret_cast<T*>(shared) : work.data + s * work.ld;
  parallel::solve_system<T>(args, dl, d, du, b, s, own, BlockTeam{}, [=](index_t phase, index_t row) {
    atomicMin(reinterpret_cast<long long*>(failure),
              static_cast<long long>(parallel::failure_at(s, phase, row, b.rows)));
  });
}

__global__ void write_status(const index_t* failure, index_t n, int* info) {
  *info = parallel::failure_status(*failure, n);
}

}  // namespace

template <class T>
void ReduceSystems<T>::cuda(CudaContext& context, const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b,
                            Scratch<T> work, Scratch<index_t> failure, Out<int> info) {
  const index_t n = b.rows, numbers = parallel_work(n);
  context.check(cudaMemsetAsync(failure.data, 0x7f, sizeof(index_t), context.stream()), "cudaMemsetAsync");
  const bool in_shared = numbers <= parallel_in_shared<T>;
  const auto threads = static_cast<unsigned>(std::clamp<index_t>(32 * ceil_div(n, 32), 32, 1024));
  if (n > 0 && b.cols > 0)
    reduce_systems<T>
        <<<static_cast<unsigned>(b.cols), threads, in_shared ? static_cast<std::size_t>(numbers) * sizeof(T) : 0,
           context.stream()>>>(args, dl, d, du, b, in_shared ? Block<T>{} : work, failure.data);
  write_status<<<1, 1, 0, context.stream()>>>(failure.data, std::max<index_t>(n, 1), info.data);
}

TESELA_CUDA_FOR_REALS(ReduceSystems)

}  // namespace tesela::kernels
