#pragma once

#include <tesela/codelets/mimo/search_alphabet.hpp>
#include <tesela/runtime/codelet.hpp>

#include <cmath>
#include <complex>

namespace tesela::kernels {

/// Computes L = ln P(bit is 0) / P(bit is 1) for each bit of some signals.
///
/// llrs     bits x K: L, a stream's bits one after another, the label's first (most significant) bit first; limited to
///          |L| <= clip and to T's largest number. On entry the priors, zeros for none: a candidate's metric is ||y - H
///          s||^2 / N0 - sum ln P(b).
/// nodes    1 x K.
/// n0       positive. The other tiles are SphereSearch's.
/// Method   Runs on cores; GpuSoftDetector is for GPUs. (sts: Studer, Burg and Bolcskei, 2008;
///          lists: Hochwald and ten Brink, 2003; ep: Céspedes, Olmos, Sánchez-Fernández and Perez-Cruz, 2014.)
template <class T>
struct SoftDetector {
  static constexpr double no_answer = -1;  ///< value of nodes without a result; L is then 0
  static constexpr auto name = "mimo_soft_detector";
  static constexpr std::uint32_t color = 0xccb974;
  struct Args {
    index_t streams = 0;    ///< Nt
    index_t coherence = 1;  ///< signals per channel
    SoftKind kind = SoftKind::sts;
    ColumnOrder order = ColumnOrder::mmse_vblast;
    bool real_form = true;    ///< whether columns are real and imaginary parts
    double n0 = 1, clip = 0;  ///< noise variance, and limit of |L|
    index_t keep = 0;         ///< list, kbest: number of vectors
    int labels = 0;           ///< of all streams together, only for the performance model
    auto cost_key() const {
      return (((std::lround(3 * std::log2(n0)) * 16 + static_cast<int>(kind)) * 16 + static_cast<int>(order)) * 4096 +
              labels) *
                 512 +
             (keep < 511 ? keep : 511);
    }
  };
  static void cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                  In<SearchPoint> points, InOut<T> llrs, Out<double> nodes);
};

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
    index_t streams = 0;    ///< Nt
    index_t coherence = 1;  ///< signals per channel
    SoftKind kind = SoftKind::mmse;
    double n0 = 1, clip = 0;  ///< noise variance, and limit of |L|
    int labels = 0;           ///< of all streams together, only for the performance model
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
