#include <tesela/codelets/mimo/quick_detector.hpp>

namespace tesela::kernels {

template <class T>
bool QuickDetector<T>::takes(index_t antennas, index_t streams, index_t amplitudes) {
  return antennas <= 16 && streams <= 16 && amplitudes > 0;
}

template <class T>
void QuickDetector<T>::cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                           In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports) {
  Detector<T>::cpu({.streams = args.streams,
                    .coherence = args.coherence,
                    .kind = DetectorKind::nway,
                    .keep = args.keep,
                    .labels = args.labels},
                   h, y, columns, points, labels, reports);
}

template struct QuickDetector<float>;
template struct QuickDetector<double>;

}  // namespace tesela::kernels
