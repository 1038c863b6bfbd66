#pragma once

#include <tesela/codelets/mimo/search_alphabet.hpp>
#include <tesela/runtime/codelet.hpp>

#include <cmath>
#include <complex>

namespace tesela::kernels {

/// Finds the same as SphereSearch in complex form by a comparison of all candidates: the reference. Only on cores.
///
/// Method   computes in double and from H itself. The last streams' H s are stored, and the remaining y is compared
///          with all of them at once.
template <class T>
struct BruteSearch {
  static constexpr auto name = "brute_search";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {
    index_t streams = 0;
    index_t coherence = 1;
    double candidates = 0;
    auto cost_key() const { return static_cast<int>(std::lround(2 * std::log2(candidates + 1))); }
  };
  static double flops(const Args& args, Shape h, Shape y, Shape, Shape, Shape, Shape) {
    return 6 * args.candidates * static_cast<double>(h.rows) * static_cast<double>(y.cols);
  }
  static void cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                  In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports);
};

}  // namespace tesela::kernels
