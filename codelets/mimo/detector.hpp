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
    index_t streams = 0;
    index_t coherence = 1;
    MimoMethod kind = MimoMethod::mmse;
    ColumnOrder order = ColumnOrder::natural;  ///< for mmse_sic, kbest and bfs_gemm
    bool up = true;
    index_t keep = 0;
    double n0 = 0;
    int labels = 0;  ///< of all streams together, only for the performance model
    auto cost_key() const {
      return ((static_cast<int>(kind) * 16 + static_cast<int>(order)) * 4096 + labels) * 512 +
             static_cast<int>(keep < 511 ? keep : 511);
    }
  };
  static void cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                  In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports);
};

}  // namespace tesela::kernels
