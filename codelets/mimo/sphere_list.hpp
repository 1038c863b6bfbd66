#pragma once

#include <tesela/codelets/mimo/search_alphabet.hpp>
#include <tesela/runtime/codelet.hpp>

#include <complex>

namespace tesela::kernels {

/// Lists for each of some signals all s with ||y - H s|| <= radius, nearest first (lowest labels first among equals).
/// Only on cores.
///
/// radius    0 requests only the nearest.
/// labels    (rows most) x K: the first `most` vectors. Rows are labels of streams, or with `integers` the parts of 2
///           streams (real parts first).
/// distances most x K.
/// counts    1 x K: the number of vectors.
/// integers  s has arbitrary integer real and imaginary parts. The report has the flag `failed` if columns are
///           dependent, or if a part is 2^30 - 1 or more (2^22 - 1 in single precision). The other tiles are
///           SphereSearch's.
template <class T>
struct SphereList {
  static constexpr auto name = "sphere_list";
  static constexpr std::uint32_t color = 0xdd8452;
  struct Args {
    index_t streams = 0;
    index_t coherence = 1;
    double n0 = 0, radius = 0;
    long long max_nodes = 0;
    index_t most = 1;
    ColumnOrder order = ColumnOrder::mmse_vblast;
    bool real_form = true, integers = false;
    auto cost_key() const { return static_cast<int>(order) * 4 + (real_form ? 2 : 0) + (integers ? 1 : 0); }
  };
  static void cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                  In<SearchPoint> points, Out<int> labels, Out<double> distances, Out<int> counts,
                  Out<SearchReport> reports);
};

}  // namespace tesela::kernels
