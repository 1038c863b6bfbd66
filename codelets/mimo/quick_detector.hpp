#pragma once

#include <tesela/codelets/mimo/detector.hpp>

namespace tesela::kernels {

/// Detector's nway for GPUs: square QAM, up to 16 streams and antennas; the trees' distances are in T. Tiles as
/// QuickSoft's, labels and reports as Detector's.
template <class T>
struct QuickDetector {
  static constexpr auto name = "mimo_quick_detector";
  static constexpr std::uint32_t color = 0x8172b3;
  struct Args {
    index_t streams = 0;
    index_t coherence = 1;
    index_t keep = 0;  ///< how many streams are enumerated, 0: all
    int labels = 0;    ///< of all streams together, for the performance model alone
    auto cost_key() const { return static_cast<int>(keep < 511 ? keep : 511) * 65536 + labels; }
  };
  static bool takes(index_t antennas, index_t streams, index_t amplitudes);
  static void cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                  In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports);
  static void cuda(CudaContext& context, const Args& args, In<std::complex<T>> h, In<std::complex<T>> y,
                   In<SearchColumn> columns, In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports);
};

}  // namespace tesela::kernels
