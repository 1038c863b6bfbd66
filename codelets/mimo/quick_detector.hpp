#pragma once

#include <tesela/codelets/mimo/detector.hpp>

namespace tesela::kernels {

/// Detector's mf, zf, mmse, kbest and nway for GPUs. mf, zf and mmse, in double as on cores, take up to 16 streams;
/// kbest and nway square QAM and up to 16 streams and antennas, kbest up to 32 paths and 16 amplitudes and orders that
/// groups of lanes find; their distances are in T. Tiles as BatchedSoft's, labels and reports as Detector's.
template <class T>
struct BatchedDetector {
  static constexpr auto name = "mimo_quick_detector";
  static constexpr std::uint32_t color = 0x8172b3;
  using Args = typename Detector<T>::Args;
  /// Whether it can. amplitudes: of the parts of all streams, 0 where these are no square QAM; most: of one.
  static bool takes(const Args& args, index_t antennas, index_t amplitudes, index_t most);
  static void cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                  In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports);
  static void cuda(CudaContext& context, const Args& args, In<std::complex<T>> h, In<std::complex<T>> y,
                   In<SearchColumn> columns, In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports);
};

}  // namespace tesela::kernels
