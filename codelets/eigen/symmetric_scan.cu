#include <tesela/codelets/eigen/internal/copy_diagonals.cuh>
#include <tesela/codelets/eigen/symmetric_scan.hpp>
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
    const double x = fabs(static_cast<double>(a[i + j * ld]));
    if (x > largest) largest = x;
    if (!isfinite(x) && strange < 0) strange = i;
    if (x != 0) last = i;
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

/// Scans one column per block of 256 threads.
template <class T>
__global__ void turn_column(index_t rows, T* x, index_t ld) {
  x += blockIdx.x * ld;
  T most = 0;
  index_t at = 0;
  const auto take = [&](T value, index_t i) {
    if (fabs(value) > fabs(most) || (fabs(value) == fabs(most) && i < at)) {
      most = value;
      at = i;
    }
  };
  at = rows;
  for (index_t i = threadIdx.x; i < rows; i += blockDim.x) take(x[i], i);
  for (int d = 16; d > 0; d /= 2) take(__shfl_xor_sync(0xffffffffu, most, d), __shfl_xor_sync(0xffffffffu, at, d));
  __shared__ T values[8];
  __shared__ index_t places[8];
  if (threadIdx.x % 32 == 0) {
    values[threadIdx.x / 32] = most;
    places[threadIdx.x / 32] = at;
  }
  __syncthreads();
  for (int w = 0; w < 8; ++w) take(values[w], places[w]);
  if (most < 0)
    for (index_t i = threadIdx.x; i < rows; i += blockDim.x) x[i] = -x[i];
}

}  // namespace

template <class T>
void SymmetricScan<T>::cuda(CudaContext& context, const Args& args, In<T> a, Out<double> found) {
  auto* const all = reinterpret_cast<Found*>(found.data);
  begin_scan<<<1, 1, 0, context.stream()>>>(all);
  if (a.cols > 0)
    scan_column<<<static_cast<unsigned>(a.cols), 256, 0, context.stream()>>>(args.first_column - args.first_row, a.rows,
                                                                             a.data, a.ld, all);
  end_scan<<<1, 1, 0, context.stream()>>>(args.first_row, args.first_column, a.rows, all);
  context.check(cudaGetLastError(), "symmetric_scan");
}

template <class T>
void CopyBand<T>::cuda(CudaContext& context, const Args& args, In<T> a, InOut<T> band) {
  each(context, args.half_width + 1, args.count,
       CopyDiagonals<T>{&a(args.column, args.a_column), a.ld, &band(0, args.band_column), band.ld,
                        a.rows - args.column});
}

template <class T>
void TurnColumns<T>::cuda(CudaContext& context, const Args&, InOut<T> x) {
  if (x.rows > 0 && x.cols > 0)
    turn_column<<<static_cast<unsigned>(x.cols), 256, 0, context.stream()>>>(x.rows, x.data, x.ld);
  context.check(cudaGetLastError(), "turn_columns");
}

#define TESELA_INSTANTIATE(T)                                       \
  template decltype(SymmetricScan<T>::cuda) SymmetricScan<T>::cuda; \
  template decltype(CopyBand<T>::cuda) CopyBand<T>::cuda;           \
  template decltype(TurnColumns<T>::cuda) TurnColumns<T>::cuda;
TESELA_INSTANTIATE(float)
TESELA_INSTANTIATE(double)
#undef TESELA_INSTANTIATE

}  // namespace tesela::kernels
