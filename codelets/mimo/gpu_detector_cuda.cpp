#include <tesela/codelets/mimo/gpu_detector.hpp>
#include <tesela/codelets/mimo/internal/gpu_detector_launches.hpp>

#if TESELA_HAVE_CUDA

#include <cuda_runtime_api.h>

namespace tesela::kernels {

template <class T>
void GpuDetector<T>::cuda(CudaContext& context, const Args& args, In<std::complex<T>> h, In<std::complex<T>> y,
                          In<SearchColumn> columns, In<SearchPoint> points, Out<int> labels,
                          Out<SearchReport> reports) {
  if (y.cols == 0) return;
  const auto n = static_cast<int>(args.streams);
  const bool nway = args.kind == MimoMethod::nway;
  const mimo::DetectionBatch<T> all{
      {h.rows, args.streams, reinterpret_cast<const mimo::Complex<T>*>(h.data), h.ld, columns.data, points.data},
      reinterpret_cast<const mimo::Complex<T>*>(y.data),
      y.ld,
      y.cols,
      args.coherence,
      labels.data,
      labels.ld,
      reports.data,
      reports.ld,
      {n, columns.data, points.data, columns.cols > args.streams},
      args.kind,
      args.order,
      args.up,
      nway && (args.keep == 0 || args.keep > n) ? n : static_cast<int>(args.keep),
      args.n0};
  mimo::find_not_finite<T>(context.stream(), h, y, reports);
  if (args.kind == MimoMethod::kbest)
    mimo::launch_kbest(all, context.stream());
  else if (nway)
    mimo::launch_nway(all, context.stream());
  else
    mimo::launch_linear(all, context.stream());
  context.check(static_cast<int>(cudaGetLastError()), "the launch of gpu_detector");
}

template decltype(GpuDetector<float>::cuda) GpuDetector<float>::cuda;
template decltype(GpuDetector<double>::cuda) GpuDetector<double>::cuda;

}  // namespace tesela::kernels

#endif
