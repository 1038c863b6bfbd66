#pragma once

#include <tesela/codelets/mimo/soft_detector.hpp>

namespace tesela::kernels {

/// Finds bits by SoftDetector's mmse and nway on GPUs, without priors: up to 16 streams and antennas, one signal or one
/// of its trees per thread.
///
/// columns  one column of points per stream; for square QAM, which nway needs, then the columns of the points' real and
///          imaginary parts. mmse is computed in double, as on cores, nway's distances in T.
template <class T>
struct GpuSoftDetector {
  static constexpr auto name = "mimo_gpu_soft_detector";
  static constexpr std::uint32_t color = 0xccb974;
  struct Args {
    index_t streams = 0;
    index_t coherence = 1;
    SoftKind kind = SoftKind::mmse;
    double n0 = 1, clip = 0;
    int labels = 0;  ///< of all streams together, only for the performance model
    auto cost_key() const { return static_cast<int>(kind) * 65536 + labels; }
  };
  /// Returns whether these arguments are supported. amplitudes: number of the parts' amplitudes of all streams, 0
  /// unless all are square QAM.
  static bool takes(SoftKind kind, index_t antennas, index_t streams, index_t amplitudes);
  static void cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                  In<SearchPoint> points, Out<T> llrs, Out<double> nodes);
  static void cuda(CudaContext& context, const Args& args, In<std::complex<T>> h, In<std::complex<T>> y,
                   In<SearchColumn> columns, In<SearchPoint> points, Out<T> llrs, Out<double> nodes);
};

}  // namespace tesela::kernels
