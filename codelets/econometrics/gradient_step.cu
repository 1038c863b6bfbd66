#include <tesela/codelets/econometrics/gradient_step.hpp>
#include <tesela/codelets/support/internal/each.cuh>

namespace tesela::kernels {
namespace equation {
namespace {

using kernels::internal::block_sum;
using kernels::internal::each_threads;

/// One block, because parts of a vector are short relative to the bases that every step reads.
__global__ void __launch_bounds__(each_threads) product(index_t n, const double* a, const double* b, double* to) {
  constexpr int at_once = 4;  // concurrent loads
  double sums[at_once] = {};
  for (index_t first = threadIdx.x; first < n; first += at_once * each_threads)
    for (int l = 0; l < at_once; ++l)
      if (const index_t k = first + l * each_threads; k < n) sums[l] += a[k] * b[k];
  const double sum = block_sum(sums[0] + sums[1] + sums[2] + sums[3]);
  if (threadIdx.x == 0) *to = sum;
}

struct Step {
  double step;
  const double *p, *q;
  double *x, *r;
  __device__ void operator()(index_t k, index_t) const {
    x[k] += step * p[k];
    r[k] -= step * q[k];
  }
};

struct Turn {
  double turn;
  const double* r;
  double* p;
  __device__ void operator()(index_t k, index_t) const { p[k] = r[k] + turn * p[k]; }
};

}  // namespace
}  // namespace equation

void GradientProduct::cuda(CudaContext& context, const Args&, In<double> a, In<double> b, Out<double> sum) {
  equation::product<<<1, equation::each_threads, 0, context.stream()>>>(a.rows, a.data, b.data, sum.data);
  context.check(cudaGetLastError(), "the launch of gradient_product");
}

void GradientStep::cuda(CudaContext& context, const Args& args, In<double> p, In<double> q, InOut<double> x,
                        InOut<double> r, Out<double> sum) {
  kernels::internal::each(context, p.rows, 1, equation::Step{args.step, p.data, q.data, x.data, r.data});
  equation::product<<<1, equation::each_threads, 0, context.stream()>>>(r.rows, r.data, r.data, sum.data);
  context.check(cudaGetLastError(), "the launch of gradient_step");
}

void GradientDirection::cuda(CudaContext& context, const Args& args, In<double> r, InOut<double> p) {
  kernels::internal::each(context, p.rows, 1, equation::Turn{args.turn, r.data, p.data});
  context.check(cudaGetLastError(), "the launch of gradient_turn");
}

}  // namespace tesela::kernels
