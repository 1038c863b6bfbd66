#include <tesela/codelets/mimo/internal/lane_paths_body.hpp>
#include <tesela/codelets/mimo/quick_detector.hpp>

namespace tesela::kernels {

template <class T>
bool BatchedDetector<T>::takes(const Args& args, index_t antennas, index_t amplitudes, index_t most) {
  if (args.streams > 16) return false;
  switch (args.kind) {
    case DetectorKind::mf:
    case DetectorKind::zf:
    case DetectorKind::mmse:
      return true;
    case DetectorKind::nway:
      return antennas <= 16 && amplitudes > 0;
    case DetectorKind::kbest:
      return amplitudes > 0 && most <= mimo::most_path_amplitudes &&
             mimo::lanes_keep(args.order, antennas, args.streams, args.keep);
    default:
      return false;
  }
}

template <class T>
void BatchedDetector<T>::cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                             In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports) {
  Detector<T>::cpu(args, h, y, columns, points, labels, reports);
}

template struct BatchedDetector<float>;
template struct BatchedDetector<double>;

}  // namespace tesela::kernels
