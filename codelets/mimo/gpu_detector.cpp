#include <tesela/codelets/mimo/gpu_detector.hpp>
#include <tesela/codelets/mimo/internal/paths_subwarp_body.hpp>

namespace tesela::kernels {

template <class T>
bool GpuDetector<T>::takes(const Args& args, index_t antennas, index_t amplitudes, index_t most) {
  if (!row_of(args.kind).can.gpu || args.streams > 16) return false;
  if (args.kind == MimoMethod::nway) return antennas <= 16 && amplitudes > 0;
  return args.kind != MimoMethod::kbest || (amplitudes > 0 && most <= mimo::most_path_amplitudes &&
                                            mimo::lanes_keep(args.order, antennas, args.streams, args.keep));
}

template <class T>
void GpuDetector<T>::cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                         In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports) {
  Detector<T>::cpu(args, h, y, columns, points, labels, reports);
}

template struct GpuDetector<float>;
template struct GpuDetector<double>;

}  // namespace tesela::kernels
