#include <tesela/codelets/eigen/internal/copy_diagonals.cuh>
#include <tesela/codelets/eigen/symmetric_scan.hpp>
#include <tesela/codelets/support/internal/device_scalar.cuh>
#include <tesela/codelets/support/internal/each.cuh>

#include <cmath>

namespace tesela::kernels {
namespace {

using internal::each;

/// `found` as integers, for atomic maxima and minima: nonnegative doubles have the same order as their bits.
struct Found {
  unsigned long long largest, strange, unused, half_width;
};
constexpr unsigned long long nothing = ~0ull;

__global__ void begin_scan(Found* found) { *found = {0, nothing, 0, 0}; }

/// Scans one column per block; the diagonal element is in row `below` + the column's number.
template <class T>
__global__ void scan_column(index_t below, index_t rows, const T* a, index_t ld, Found* found) {
  const index_t j = blockIdx.x, diagonal = below + j;
  double largest = 0;
  index_t strange = -1, last = diagonal;
  for (index_t i = max(diagonal, index_t{0}) + threadIdx.x; i < rows; i += blockDim.x) {
    const T x = a[i + j * ld];
    const auto size = static_cast<double>(largest_part(x));
    if (size > largest) largest = size;
    if (!is_finite(x) && strange < 0) strange = i;
    if (size != 0) last = i;
  }
  if (largest > 0) atomicMax(&found->largest, static_cast<unsigned long long>(__double_as_longlong(largest)));
  if (strange >= 0) atomicMin(&found->strange, static_cast<unsigned long long>(j * rows + strange));
  if (last > diagonal) atomicMax(&found->half_width, static_cast<unsigned long long>(last - diagonal));
}

__global__ void end_scan(index_t first_row, index_t first_column, index_t rows, Found* found) {
  const Found all = *found;
  const auto place = static_cast<index_t>(all.strange);
  auto* const numbers = reinterpret_cast<double*>(found);
  numbers[0] = __longlong_as_double(static_cast<long long>(all.largest));
  numbers[1] = all.strange == nothing ? -1 : static_cast<double>(first_row + place % rows);
  numbers[2] = all.strange == nothing ? -1 : static_cast<double>(first_column + place / rows);
  numbers[3] = static_cast<double>(all.half_width);
}

__device__ inline double magnitude(double x) { return fabs(x); }
__device__ inline float magnitude(float x) { return fabs(x); }
template <class R>
__device__ inline R magnitude(DeviceComplex<R> x) {
  return hypot(x.re, x.im);
}

/// Scans one column per block of 256 threads.
template <class T>
__global__ void turn_column(index_t rows, T* x, index_t ld) {
  x += blockIdx.x * ld;
  T most = 0;
  real_t<T> largest = 0;
  index_t at = rows;
  const auto take = [&](T value, index_t i) {
    const real_t<T> size = magnitude(value);
    if (size > largest || (size == largest && i < at)) {
      most = value;
      largest = size;
      at = i;
    }
  };
  for (index_t i = threadIdx.x; i < rows; i += blockDim.x) take(x[i], i);
  for (int d = 16; d > 0; d /= 2) take(shuffle_xor(most, d), __shfl_xor_sync(0xffffffffu, at, d));
  __shared__ T values[8];
  __shared__ index_t places[8];
  if (threadIdx.x % 32 == 0) {
    values[threadIdx.x / 32] = most;
    places[threadIdx.x / 32] = at;
  }
  __syncthreads();
  for (int w = 0; w < 8; ++w) take(values[w], places[w]);
  if constexpr (is_complex<T>) {
    if (largest == 0) return;
    const T turn = {most.re / largest, -most.im / largest};
    for (index_t i = threadIdx.x; i < rows; i += blockDim.x) x[i] = i == at ? T(largest) : x[i] * turn;
  } else if (most < 0) {
    for (index_t i = threadIdx.x; i < rows; i += blockDim.x) x[i] = -x[i];
  }
}

template <class T>
struct TimesPhase {
  const T* d;
  const real_t<T>* y;
  index_t ldy;
  T* x;
  index_t ldx;
  __device__ void operator()(index_t i, index_t j) const { x[i + j * ldx] = d[i] * y[i + j * ldy]; }
};

}  // namespace

template <class T>
void SymmetricScan<T>::cuda(CudaContext& context, const Args& args, In<T> a, Out<double> found) {
  auto* const all = reinterpret_cast<Found*>(found.data);
  begin_scan<<<1, 1, 0, context.stream()>>>(all);
  if (a.cols > 0)
    scan_column<<<static_cast<unsigned>(a.cols), 256, 0, context.stream()>>>(args.first_column - args.first_row, a.rows,
                                                                             device_pointer(a.data), a.ld, all);
  end_scan<<<1, 1, 0, context.stream()>>>(args.first_row, args.first_column, a.rows, all);
  context.check(cudaGetLastError(), "symmetric_scan");
}

template <class T>
void CopyBand<T>::cuda(CudaContext& context, const Args& args, In<T> a, InOut<T> band) {
  each(context, args.half_width + 1, args.count,
       CopyDiagonals<device_t<T>>{device_pointer(&a(args.column, args.a_column)), a.ld,
                                  device_pointer(&band(0, args.band_column)), band.ld, a.rows - args.column});
}

template <class T>
void TurnColumns<T>::cuda(CudaContext& context, const Args&, InOut<T> x) {
  if (x.rows > 0 && x.cols > 0)
    turn_column<<<static_cast<unsigned>(x.cols), 256, 0, context.stream()>>>(x.rows, device_pointer(x.data), x.ld);
  context.check(cudaGetLastError(), "turn_columns");
}

template <class T>
void PhaseRows<T>::cuda(CudaContext& context, const Args& args, In<T> d, In<real_t<T>> y, Out<T> x) {
  each(context, x.rows, x.cols,
       TimesPhase<device_t<T>>{device_pointer(&d(args.first, 0)), y.data, y.ld, device_pointer(x.data), x.ld});
}

TESELA_CUDA_FOR_NUMBERS(SymmetricScan, CopyBand, TurnColumns)
template decltype(PhaseRows<std::complex<float>>::cuda) PhaseRows<std::complex<float>>::cuda;
template decltype(PhaseRows<std::complex<double>>::cuda) PhaseRows<std::complex<double>>::cuda;

}  // namespace tesela::kernels
