#pragma once

#include <tesela/codelets/mimo/soft_detector.hpp>

namespace tesela::kernels {

/// SoftDetector's mmse and nway for GPUs, without priors: up to 16 streams and antennas, a signal or one of its trees a
/// thread. columns: one of points a stream; and of square QAM, which nway asks for, those of the points' real and
/// imaginary parts behind them. mmse is found in double, as cores do, nway's distances in T.
template <class T>
struct BatchedSoft {
  static constexpr auto name = "mimo_quick_soft";
  static constexpr std::uint32_t color = 0xccb974;
  struct Args {
    index_t streams = 0;
    index_t coherence = 1;
    SoftKind kind = SoftKind::mmse;
    double n0 = 1, clip = 0;
    int labels = 0;  ///< of all streams together, for the performance model alone
    auto cost_key() const { return static_cast<int>(kind) * 65536 + labels; }
  };
  /// Whether it can. amplitudes: of the parts of all streams, 0 where these are no square QAM.
  static bool takes(SoftKind kind, index_t antennas, index_t streams, index_t amplitudes);
  static void cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                  In<SearchPoint> points, Out<T> llrs, Out<double> nodes);
  static void cuda(CudaContext& context, const Args& args, In<std::complex<T>> h, In<std::complex<T>> y,
                   In<SearchColumn> columns, In<SearchPoint> points, Out<T> llrs, Out<double> nodes);
};

}  // namespace tesela::kernels
