#pragma once

#include <tesela/codelets/mimo/search_alphabet.hpp>
#include <tesela/runtime/codelet.hpp>

#include <cmath>
#include <complex>

namespace tesela::kernels {

/// For each of some signals y (Nr x K) the s of least ||y - H s||, among all that the columns' alphabets allow: labels
/// (Nt x K) and a report (1 x K). h: Nr x (Nt C), C channels, that of signal k being k / coherence. Each channel's QR
/// factorization, or each signal's where the order asks for it, is taken on the way; nothing is scaled by the caller.
/// Real form has two columns a stream (real parts first, then imaginary ones), complex form one. work: what work_size()
/// says, one column a channel or signal.
template <class T>
struct SphereSearch {
  static constexpr auto name = "sphere_search";
  static constexpr std::uint32_t color = 0xdd8452;
  struct Args {
    index_t streams = 0;
    index_t coherence = 1;
    double n0 = 0;  ///< for the orders that want it
    double radius = 0;
    long long max_nodes = 0;
    ColumnOrder order = ColumnOrder::mmse_vblast;
    GradientAt at = GradientAt::zero;
    bool up = true, real_form = true;
    bool plain = false;  ///< children as they stand, not by their distance
    int labels = 0;      ///< of all streams together, for the performance model alone
    /// Nodes follow the noise, and the order.
    auto cost_key() const {
      const int noise = n0 > 0 ? static_cast<int>(std::lround(3 * std::log2(n0))) : 0;
      return ((((noise * 16 + static_cast<int>(order)) * 4 + static_cast<int>(at)) * 2 + (up ? 1 : 0)) * 2 +
              (real_form ? 1 : 0)) *
                 8192 +
             labels * 2 + (plain ? 1 : 0);
    }
  };
  /// The factorizations and the first paths; how many nodes follow is known afterwards.
  static double flops(const Args& args, Shape h, Shape y, Shape, Shape, Shape, Shape, Shape) {
    const double f = args.real_form ? 2 : 1, m = f * static_cast<double>(h.rows),
                 n = f * static_cast<double>(args.streams);
    const double unit = args.real_form ? 1 : 4;
    return unit * (2 * m * n * n * static_cast<double>(h.cols) / std::fmax(1.0, static_cast<double>(args.streams)) +
                   (4 * m * n + n * n) * static_cast<double>(y.cols));
  }
  static index_t work_size(index_t antennas, index_t streams, bool real_form);
  static void cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                  In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<std::complex<T>> h, In<std::complex<T>> y,
                   In<SearchColumn> columns, In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports,
                   Scratch<T> work);
};

}  // namespace tesela::kernels
