#include <tesela/codelets/eigen/bulge_chase.hpp>
#include <tesela/codelets/eigen/internal/chase_kernels.cuh>

namespace tesela::kernels {

static_assert(sizeof(Letters<double, 64>) == chase_message_size(64) * sizeof(double));
static_assert(sizeof(Letters<float, 32>) == chase_message_size(32) * sizeof(float));
static_assert(sizeof(Letters<DeviceComplex<double>, 64>) <= chase_message_size(64) * sizeof(std::complex<double>));
static_assert(sizeof(Letters<DeviceComplex<float>, 32>) <= chase_message_size(32) * sizeof(std::complex<float>));

template <class T>
void ChaseBulges<T>::cuda(CudaContext& context, const Args& args, In<T> before, Out<T> reflectors, Scratch<T> work,
                          std::span<const InOut<T>> band) {
  const BulgePlan& plan = args.plan;
  if (plan.size(args.group) <= 0) return;
  if (plan.b > largest_gpu_half_width) {
    context.check(cudaErrorInvalidValue, "chase_bulges: the band is too wide");
    return;
  }
  const ChaseLaunch<device_t<T>> run{plan,
                                     args.group,
                                     args.window,
                                     {band, args.column, 0},
                                     device_pointer(before.data),
                                     before.ld,
                                     device_pointer(reflectors.data),
                                     reflectors.ld,
                                     nullptr,
                                     0,
                                     work.data};
  context.check(launch_chase<BandKind::symmetric>(run, band.size() == 1, context.stream()), "chase_bulges");
}

TESELA_CUDA_FOR_NUMBERS(ChaseBulges)

}  // namespace tesela::kernels
