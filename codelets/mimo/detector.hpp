#pragma once

#include <tesela/codelets/mimo/search_alphabet.hpp>
#include <tesela/runtime/codelet.hpp>

#include <complex>

namespace tesela::kernels {

/// Methods of detectors that need not find the nearest H s.
enum class DetectorKind : std::uint8_t {
  mf,        ///< h^H y / ||h||^2, sliced
  zf,        ///< the least-squares solution, sliced
  mmse,      ///< the linear minimum mean square error estimate, without its bias, sliced
  zf_sic,    ///< back-substitution in R, sliced level by level
  mmse_sic,  ///< as zf_sic for [H; sqrt(N0) I], without each level's bias
  kbest,     ///< the `keep` nearest paths of each level
  fsd,       ///< all paths of the first `keep` levels, then one child per path
  nway,      ///< all points of one stream, the others sliced, for the `keep` noisiest streams in turn; 0: all
  lr,        ///< back-substitution in a reduced lattice, sliced level by level; in real form
  ep,        ///< expectation propagation, the most likely point of each column; in the form of the columns
  bfs_gemm,  ///< kbest for all signals of a channel together, by matrix products
};

/// Finds labels of signals as SphereSearch does, by a detector of the given kind, in complex form except lr and ep.
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
    DetectorKind kind = DetectorKind::mmse;
    ColumnOrder order = ColumnOrder::natural;  ///< for zf_sic, mmse_sic, kbest, bfs_gemm and fsd
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
