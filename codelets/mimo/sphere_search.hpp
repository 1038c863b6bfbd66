#pragma once

#include <tesela/codelets/mimo/search_alphabet.hpp>
#include <tesela/runtime/codelet.hpp>

#include <cmath>
#include <complex>

namespace tesela::kernels {

/// Finds for each of some signals y (Nr x K) the s with the least ||y - H s||, among all s of the columns' alphabets.
///
/// labels   Nt x K.
/// report   1 x K.
/// h        Nr x (Nt C), C channels; signal k has channel k / coherence. Each channel's QR factorization, or each
///          signal's if the order needs the signal, is part of the task. The caller need not scale.
/// columns  two per stream in real form (real parts first, then imaginary parts), one in complex form.
/// work     work_size() rows, one column per channel or signal.
template <class T>
struct SphereSearch {
  static constexpr auto name = "sphere_search";
  static constexpr std::uint32_t color = 0xdd8452;
  struct Args {
    index_t streams = 0;
    index_t coherence = 1;
    double n0 = 0;  ///< for the orders that need it
    double radius = 0;
    long long max_nodes = 0;
    ColumnOrder order = ColumnOrder::mmse_vblast;
    bool up = true, real_form = true;
    bool plain = false;  ///< children in their stored order, not by distance
    int labels = 0;      ///< of all streams together, only for the performance model
    /// Returns a key of the noise and the order, on which the number of nodes depends.
    auto cost_key() const {
      const int noise = n0 > 0 ? static_cast<int>(std::lround(3 * std::log2(n0))) : 0;
      return (((noise * 16 + static_cast<int>(order)) * 2 + (up ? 1 : 0)) * 2 + (real_form ? 1 : 0)) * 8192 +
             labels * 2 + (plain ? 1 : 0);
    }
  };
  /// Returns the flops of the factorizations and the first paths; the number of further nodes is known only afterwards.
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
