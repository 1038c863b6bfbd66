#pragma once

#include <tesela/codelets/mimo/search_alphabet.hpp>
#include <tesela/runtime/codelet.hpp>

#include <complex>

namespace tesela::kernels {

/// Detectors that need not find the nearest H s.
enum class DetectorKind : std::uint8_t {
  mf,        ///< h^H y / ||h||^2, sliced
  zf,        ///< the least-squares solution, sliced
  mmse,      ///< the linear estimate of least mean square error, without its bias, sliced
  zf_sic,    ///< back-substitution in R, sliced level by level
  mmse_sic,  ///< the same of [H; sqrt(N0) I], without each level's bias
  kbest,     ///< the `keep` nearest paths of each level
  fsd,       ///< all paths of the first `keep` levels, single ones from there
  nway,  ///< streams in turn: all points of one, the others sliced. `keep` streams, those that noise hurts most; 0: all
  lr,    ///< back-substitution in a reduced lattice, sliced level by level; in real form
  ep,    ///< expectation propagation, each column's likeliest point; in the form that columns have
  bfs_gemm,  ///< kbest for all signals of a channel together, by products of matrices
};

/// Finds labels of signals as SphereSearch does, by a detector of the given kind, in complex form except lr and ep.
/// Runs on cores; BatchedDetector is for GPUs. The report has the labels' distance and the number of visited paths. If
/// the detector has no result, as zf of dependent columns, the labels are -1 and the report has the flag `failed`.
template <class T>
struct Detector {
  static constexpr auto name = "mimo_detector";
  static constexpr std::uint32_t color = 0x8172b3;
  struct Args {
    index_t streams = 0;
    index_t coherence = 1;
    DetectorKind kind = DetectorKind::mmse;
    ColumnOrder order = ColumnOrder::natural;  ///< of zf_sic, mmse_sic, kbest, bfs_gemm and fsd
    bool up = true;
    index_t keep = 0;
    double n0 = 0;
    int labels = 0;  ///< of all streams together, for the performance model alone
    auto cost_key() const {
      return ((static_cast<int>(kind) * 16 + static_cast<int>(order)) * 4096 + labels) * 512 +
             static_cast<int>(keep < 511 ? keep : 511);
    }
  };
  static void cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                  In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports);
};

}  // namespace tesela::kernels
