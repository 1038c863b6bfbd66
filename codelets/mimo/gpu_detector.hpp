#pragma once

#include <tesela/codelets/mimo/detector.hpp>

namespace tesela::kernels {

/// Detects by Detector's mf, zf, mmse, kbest and nway on GPUs.
///
/// h, y     tiles as for GpuSoftDetector. Up to 16 streams. kbest and nway need square QAM and up to 16 antennas; kbest
///          accepts up to 32 paths and 16 amplitudes, and orders that groups of lanes can find.
/// labels   as Detector's, and so are the reports. mf, zf and mmse compute in double, as on cores; kbest and nway
///          compute distances in T.
template <class T>
struct GpuDetector {
  static constexpr auto name = "mimo_gpu_detector";
  static constexpr std::uint32_t color = 0x8172b3;
  using Args = typename Detector<T>::Args;
  /// Returns whether these arguments are supported. amplitudes: number of the parts' amplitudes of all streams, 0
  /// unless all are square QAM; most: largest number of one stream.
  static bool takes(const Args& args, index_t antennas, index_t amplitudes, index_t most);
  static void cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                  In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports);
  static void cuda(CudaContext& context, const Args& args, In<std::complex<T>> h, In<std::complex<T>> y,
                   In<SearchColumn> columns, In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports);
};

}  // namespace tesela::kernels
