#pragma once

#include <tesela/codelets/mimo/search_alphabet.hpp>
#include <tesela/runtime/codelet.hpp>

#include <complex>

namespace tesela::kernels {

/// For each of some signals all s with ||y - H s|| <= radius, nearest first (of equally near ones the lowest labels):
/// the first `most` of them, labels ((rows most) x K), distances (most x K), and how many there are (counts, 1 x K). A
/// radius of 0 asks for the nearest alone. `integers`: s has any whole real and imaginary parts, rows are those of 2
/// streams (real parts first); the report says `failed` where columns are dependent, or a part is 2^30 - 1 or more
/// (2^22 - 1 in single precision). Otherwise rows are labels of streams. Other tiles as SphereSearch's; on cores alone.
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
