#pragma once

#include <tesela/codelets/mimo/search_alphabet.hpp>
#include <tesela/runtime/codelet.hpp>

#include <complex>

namespace tesela::kernels {

/// Finds labels of signals as SphereSearch does, by a method from mf on; in complex form,
/// ep in the form of the columns.
///
/// labels   -1 if the detector has no result, as zf with dependent columns.
/// reports  the labels' distance and the number of visited paths; the flag `failed` without a result.
/// Method   Runs on cores; GpuDetector is for GPUs.
template <class T>
struct Detector {
  static constexpr auto name = "mimo_detector";
  static constexpr std::uint32_t color = 0x8172b3;
  struct Args {
    index_t streams = 0;    ///< Nt
    index_t coherence = 1;  ///< signals per channel
    MimoMethod kind = MimoMethod::mmse;
    ColumnOrder order = ColumnOrder::natural;  ///< for mmse_sic, kbest and bfs_gemm
    bool up = true;                            ///< as in MimoOptions
    index_t keep = 0;                          ///< as in MimoOptions
    double n0 = 0;                             ///< noise variance
    int labels = 0;                            ///< of all streams together, only for the performance model
    auto cost_key() const {
      return ((static_cast<int>(kind) * 16 + static_cast<int>(order)) * 4096 + labels) * 512 +
             static_cast<int>(keep < 511 ? keep : 511);
    }
  };
  static void cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                  In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports);
};

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
