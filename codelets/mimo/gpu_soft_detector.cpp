#include <tesela/codelets/mimo/gpu_soft_detector.hpp>
#include <tesela/codelets/mimo/internal/gpu_soft_detector_body.hpp>

#include <algorithm>

namespace tesela::kernels {

template <class T>
bool GpuSoftDetector<T>::takes(SoftKind kind, index_t antennas, index_t streams, index_t amplitudes) {
  if (antennas > mimo::most_quick_size || streams > mimo::most_quick_size) return false;
  if (kind == SoftKind::mmse) return true;
  return kind == SoftKind::nway && amplitudes > 0 && mimo::nway_signals(streams, amplitudes, sizeof(T)) > 0;
}

template <class T>
void GpuSoftDetector<T>::cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                             In<SearchPoint> points, Out<T> llrs, Out<double> nodes) {
  for (index_t k = 0; k < llrs.cols; ++k) std::fill_n(&llrs(0, k), llrs.rows, T(0));
  SoftDetector<T>::cpu({.streams = args.streams,
                        .coherence = args.coherence,
                        .kind = args.kind,
                        .real_form = false,
                        .n0 = args.n0,
                        .clip = args.clip,
                        .labels = args.labels},
                       h, y, columns, points, {{llrs.data, llrs.rows, llrs.cols, llrs.ld}}, nodes);
}

template struct GpuSoftDetector<float>;
template struct GpuSoftDetector<double>;

}  // namespace tesela::kernels
