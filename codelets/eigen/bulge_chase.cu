#include <tesela/codelets/eigen/bulge_chase.hpp>
#include <tesela/codelets/eigen/internal/chase_kernels.cuh>

namespace tesela::kernels {

static_assert(sizeof(Letters<double, 64>) == chase_message_size(64) * sizeof(double));
static_assert(sizeof(Letters<float, 32>) == chase_message_size(32) * sizeof(float));

template <class T>
void ChaseBulges<T>::cuda(CudaContext& context, const Args& args, In<T> before, Out<T> reflectors, Scratch<T> work,
                          std::span<const InOut<T>> band) {
  const BulgePlan& plan = args.plan;
  if (plan.size(args.group) <= 0) return;
  if (plan.b > largest_gpu_half_width) {
    context.check(cudaErrorInvalidValue, "chase_bulges: the band is too wide");
    return;
  }
  const auto tile = [](const InOut<T>& one, index_t column) { return one.data - column * one.ld; };
  const index_t split = args.column + band.front().cols;
  const ChaseLaunch<T> run{plan,
                           args.group,
                           args.window,
                           {tile(band.front(), args.column), tile(band.back(), band.size() > 1 ? split : args.column),
                            band.front().ld - 1, band.back().ld - 1, split},
                           before.data,
                           before.ld,
                           reflectors.data,
                           reflectors.ld,
                           work.data};
  context.check(launch_chase(run, band.size() == 1, context.stream()), "chase_bulges");
}

template decltype(ChaseBulges<float>::cuda) ChaseBulges<float>::cuda;
template decltype(ChaseBulges<double>::cuda) ChaseBulges<double>::cuda;

}  // namespace tesela::kernels
