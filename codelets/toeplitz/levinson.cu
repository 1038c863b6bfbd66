#include <tesela/codelets/toeplitz/internal/levinson_kernel.cuh>
#include <tesela/codelets/toeplitz/internal/toeplitz_device.cuh>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <type_traits>

namespace tesela::kernels {
namespace {

/// Numbers of shared memory for each of a problem's n elements.
constexpr index_t shared_numbers = 3;
/// A block's shared memory on every GPU since compute capability 8, with room for the sums.
constexpr index_t shared_bytes = 160 * 1024;

template <class T, int threads, int own, bool has_x>
int launch_alone(const Problem<T>& p, index_t problems, cudaStream_t stream) {
  const auto kernel = levinson<T, threads, own, has_x, true>;
  const auto bytes = static_cast<int>(shared_numbers * p.n * index_t{sizeof(T)});
  const cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return static_cast<int>(status);
  kernel<<<static_cast<unsigned>(problems), threads, static_cast<unsigned>(bytes), stream>>>(p);
  return 0;
}

/// Launches clusters of this number of blocks. If `active` is not null, only counts how many of them run at once.
template <class T, int own, bool has_x>
int launch(const Problem<T>& p, index_t problems, int blocks, cudaStream_t stream, int* active) {
  const auto kernel = levinson<T, most_threads, own, has_x, false>;
  if (blocks == 1 && active == nullptr) {
    kernel<<<static_cast<unsigned>(problems), most_threads, 0, stream>>>(p);
    return 0;
  }
  if (blocks > 8) {
    const cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (status != cudaSuccess) return static_cast<int>(status);
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(problems * blocks));
  config.blockDim = dim3(most_threads);
  config.stream = stream;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = static_cast<unsigned>(blocks);
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  config.attrs = &cluster;
  config.numAttrs = 1;
  return static_cast<int>(active != nullptr ? cudaOccupancyMaxActiveClusters(active, kernel, &config)
                                            : cudaLaunchKernelEx(&config, kernel, p));
}

/// Calls `f` with the smallest sufficient number of elements per thread, as a constant.
template <class F>
int with_own(index_t needed, const F& f) {
  if (needed <= 1) return f(std::integral_constant<int, 1>());
  if (needed <= 2) return f(std::integral_constant<int, 2>());
  if (needed <= 4) return f(std::integral_constant<int, 4>());
  if (needed <= 8) return f(std::integral_constant<int, 8>());
  if (needed <= 16) return f(std::integral_constant<int, 16>());
  if (needed <= 128) return f(std::integral_constant<int, 128>());
  return static_cast<int>(cudaErrorNotSupported);
}

template <class T, bool has_x>
int launch_clusters(const Problem<T>& p, index_t problems, int blocks, cudaStream_t stream, int* active) {
  return with_own(ceil_div(p.n, index_t{most_threads} * blocks),
                  [&](auto own) { return launch<T, own, has_x>(p, problems, blocks, stream, active); });
}

template <class T, int threads, bool has_x>
int launch_blocks(const Problem<T>& p, index_t problems, cudaStream_t stream) {
  return with_own(ceil_div(p.n, threads), [&](auto own) {
    if constexpr (own <= 16)
      return launch_alone<T, threads, own, has_x>(p, problems, stream);
    else
      return static_cast<int>(cudaErrorNotSupported);
  });
}

/// Chooses as few barriers and threads as possible: a problem that fits into one block gets one. A larger problem gets
/// the largest cluster with which all problems run at once, or the smallest whose registers hold its numbers.
template <class T, bool has_x>
int solve_on(const Problem<T>& p, index_t problems, int blocks, cudaStream_t stream) {
  const bool fits = p.n <= 16 * most_threads && shared_numbers * p.n * index_t{sizeof(T)} <= shared_bytes;
  if (blocks == 0 && fits)
    return p.n <= 16 * few_threads ? launch_blocks<T, few_threads, has_x>(p, problems, stream)
                                   : launch_blocks<T, most_threads, has_x>(p, problems, stream);
  int device = 0, capability = 0, status = static_cast<int>(cudaGetDevice(&device));
  if (status == 0)
    status = static_cast<int>(cudaDeviceGetAttribute(&capability, cudaDevAttrComputeCapabilityMajor, device));
  if (capability < 9) blocks = 1;
  if (blocks == 0) {
    blocks = 1;
    while (blocks < most_blocks && p.n > index_t{16} * most_threads * blocks) blocks *= 2;
    for (int more = 2 * blocks; status == 0 && more <= most_blocks; more *= 2) {
      int active = 0;
      status = launch_clusters<T, has_x>(p, problems, more, stream, &active);
      if (active < problems) break;
      blocks = more;
    }
  }
  return status != 0 ? status : launch_clusters<T, has_x>(p, problems, blocks, stream, nullptr);
}

template <class T, bool has_x>
void solve(const CudaContext& context, const Problem<T>& p, index_t problems, int blocks = 0) {
  if (!context.check(solve_on<T, has_x>(p, problems, blocks, context.stream()), "the launch of levinson")) return;
  if (p.columns > 1)
    join_columns<<<static_cast<unsigned>(problems / p.columns), most_threads, 0, context.stream()>>>(p);
}

}  // namespace

template <class T>
void Levinson<T>::cuda(CudaContext& context, const Args& args, In<T> t, In<T> shifts, InOut<T> x, Out<double> report,
                       Scratch<T> work) {
  const toeplitz::Device machine{context};
  T* const exponents = work.data + 2 * t.rows + 1;
  machine.to_unit(t.rows, x.cols, x.data, x.ld, exponents, work.ld);
  solve<T, true>(context,
                 {t.data, shifts.data, nullptr, t.rows, x.cols / shifts.rows, x.data, nullptr, x.ld, report.data,
                  report.ld, work.data, work.ld, args.exponent, false},
                 x.cols, args.blocks);
  machine.times_powers(t.rows, x.cols, x.data, x.ld, exponents, work.ld, -args.exponent);
}

template <class T>
void Durbin<T>::cuda(CudaContext& context, const Args& args, In<T> t, In<T> shifts, Out<T> inverse, Out<double> report,
                     Scratch<T> work) {
  solve<T, false>(context,
                  {t.data, shifts.data, nullptr, t.rows, 1, nullptr, inverse.data, inverse.ld, report.data, report.ld,
                   work.data, work.ld, args.exponent, false},
                  shifts.rows, args.blocks);
  if (args.exponent != 0)
    toeplitz::Device{context}.each(t.rows, shifts.rows,
                                   toeplitz::TimesPower<T>{inverse.data, inverse.ld, -args.exponent});
}

template <class T>
void LevinsonCount<T>::cuda(CudaContext& context, const Args&, In<T> t, In<double> sigma, Out<double> report,
                            Scratch<T> work) {
  T* const columns = work.data + levinson_work_rows(t.rows);
  solve<T, false>(context,
                  {t.data, nullptr, sigma.data, t.rows, 1, nullptr, columns, work.ld, report.data, report.ld, work.data,
                   work.ld, 0, true},
                  sigma.rows);
}

template <class T>
void levinson_solve(CudaContext& context, index_t n, const T* t, index_t count, const double* sigma, T* x, index_t ld,
                    double* report, T* work) {
  solve<T, true>(
      context,
      {t, nullptr, sigma, n, 1, x, nullptr, ld, report, levinson_report_rows, work, levinson_work_rows(n), 0, false},
      count);
}

template void levinson_solve(CudaContext&, index_t, const float*, index_t, const double*, float*, index_t, double*,
                             float*);
template void levinson_solve(CudaContext&, index_t, const double*, index_t, const double*, double*, index_t, double*,
                             double*);
TESELA_CUDA_FOR_REALS(LevinsonCount, Levinson, Durbin)

}  // namespace tesela::kernels
