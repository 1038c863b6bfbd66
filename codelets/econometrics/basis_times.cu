#include <tesela/codelets/econometrics/basis_times.hpp>
#include <tesela/codelets/econometrics/internal/equation_device.cuh>
#include <tesela/codelets/econometrics/internal/equation_lower.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>

namespace tesela::kernels {
namespace equation {
namespace {

constexpr int at_once = 64;  // bases per launch; their addresses are kernel arguments

struct Bases {
  const double* q[at_once];
  index_t ld[at_once], rows[at_once], columns[at_once], first[at_once];  // `first` column of x or y
};

/// Multiplies with rows distributed over lanes and sums over columns over teams.
__global__ void times(Bases bases, index_t rows, const double* x, double* w, index_t ldw) {
  const index_t i = lanes * index_t{blockIdx.x} + threadIdx.x, n = bases.columns[blockIdx.y], ld = bases.ld[blockIdx.y];
  const double* const q = bases.q[blockIdx.y];
  x += bases.first[blockIdx.y];
  double sum = 0;
  if (i < bases.rows[blockIdx.y])
    for (index_t j = threadIdx.y; j < n; j += teams) sum += q[i + j * ld] * x[j];
  sum = over_teams(sum);
  if (i < rows && threadIdx.y == 0) w[i + blockIdx.y * ldw] = sum;
}

/// Multiplies with columns distributed over teams and sums over rows over lanes.
__global__ void transposed_times(Bases bases, const double* v, index_t ldv, double* y) {
  const index_t j = teams * index_t{blockIdx.x} + threadIdx.y, rows = bases.rows[blockIdx.y];
  if (j >= bases.columns[blockIdx.y]) return;
  const double* const q = bases.q[blockIdx.y] + j * bases.ld[blockIdx.y];
  v += blockIdx.y * ldv;
  double sum = 0;
  for (index_t i = threadIdx.x; i < rows; i += lanes) sum += q[i] * v[i];
  for (int d = lanes / 2; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (threadIdx.x == 0) y[bases.first[blockIdx.y] + j] = sum;
}

/// Calls f(bases, their number, the first one's column of w or v, the largest number of columns).
template <class F>
void for_each_launch(std::span<const In<double>> q, const F& f) {
  index_t first = 0;
  for (std::size_t from = 0; from < q.size(); from += at_once) {
    Bases bases;
    index_t widest = 0;
    const std::size_t count = std::min<std::size_t>(at_once, q.size() - from);
    for (std::size_t k = 0; k < count; ++k) {
      const In<double>& one = q[from + k];
      bases.q[k] = one.data, bases.ld[k] = one.ld, bases.rows[k] = one.rows, bases.columns[k] = one.cols,
      bases.first[k] = first;
      first += one.cols;
      widest = std::max(widest, one.cols);
    }
    f(bases, static_cast<unsigned>(count), static_cast<index_t>(from), widest);
  }
}

}  // namespace
}  // namespace equation

void BasisTimes::cuda(CudaContext& context, const Args&, In<double> x, Out<double> w, std::span<const In<double>> q) {
  using namespace equation;
  for_each_launch(q, [&](const Bases& bases, unsigned count, index_t column, index_t) {
    times<<<dim3(static_cast<unsigned>(ceil_div(w.rows, lanes)), count), team(), 0, context.stream()>>>(
        bases, w.rows, x.data, &w(0, column), w.ld);
  });
  context.check(cudaGetLastError(), "the launch of basis_times");
}

void BasisTransposedTimes::cuda(CudaContext& context, const Args&, In<double> v, Out<double> y,
                                std::span<const In<double>> q) {
  using namespace equation;
  for_each_launch(q, [&](const Bases& bases, unsigned count, index_t column, index_t widest) {
    transposed_times<<<dim3(static_cast<unsigned>(ceil_div(widest, teams)), count), team(), 0, context.stream()>>>(
        bases, &v(0, column), v.ld, y.data);
  });
  context.check(cudaGetLastError(), "the launch of basis_transposed_times");
}

void BasisSolve::cuda(CudaContext& context, const Args&, In<double> r, InOut<double> x) {
  equation::solve_upper(context, r.rows, x.cols, r.data, 1, r.ld, r.rows * r.ld, x.data, x.ld);
}

}  // namespace tesela::kernels
