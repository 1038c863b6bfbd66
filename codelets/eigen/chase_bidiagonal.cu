#include <tesela/codelets/eigen/chase_bidiagonal.hpp>
#include <tesela/codelets/eigen/internal/chase_kernels.cuh>

namespace tesela::kernels {

template <class T>
void ChaseBidiagonal<T>::cuda(CudaContext& context, const Args& args, In<T> before, Out<T> left, Out<T> right,
                              Scratch<T> work, std::span<const InOut<T>> band) {
  const BulgePlan& plan = args.plan;
  if (plan.size(args.group) <= 0) return;
  if (plan.b > largest_gpu_half_width) {
    context.check(cudaErrorInvalidValue, "chase_bidiagonal: the band is too wide");
    return;
  }
  const ChaseLaunch<device_t<T>> run{plan,
                                     args.group,
                                     args.window,
                                     {band, args.column, 2 * plan.b - 1},
                                     device_pointer(before.data),
                                     before.ld,
                                     device_pointer(left.data),
                                     left.ld,
                                     device_pointer(right.data),
                                     right.ld,
                                     work.data};
  context.check(launch_chase<BandKind::upper>(run, band.size() == 1, context.stream()), "chase_bidiagonal");
}

TESELA_CUDA_FOR_NUMBERS(ChaseBidiagonal)

}  // namespace tesela::kernels
