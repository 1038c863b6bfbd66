#pragma once

#include <tesela/codelets/tridiagonal/tridiagonal.hpp>
#include <tesela/runtime/host_device.hpp>

// Access to a tile by equation and system, for both layouts. Internal to codelets/.

namespace tesela::kernels::tridiagonal {

template <class T>
struct SystemView {
  T* data = nullptr;
  index_t row = 0, system = 0;  ///< distances in memory
  TESELA_BOTH T& operator()(index_t e, index_t s) const { return data[e * row + s * system]; }
};

template <class T>
SystemView<T> system_view(SystemsIn systems, const Block<T>& tile) {
  return systems == SystemsIn::columns ? SystemView<T>{tile.data, 1, tile.ld} : SystemView<T>{tile.data, tile.ld, 1};
}
inline index_t equations(SystemsIn systems, Shape tile) {
  return systems == SystemsIn::columns ? tile.rows : tile.cols;
}
inline index_t count_systems(SystemsIn systems, Shape tile) {
  return systems == SystemsIn::columns ? tile.cols : tile.rows;
}

/// Views a single system's tile that is common to all systems.
template <class T>
SystemView<T> channel_view(SystemsIn systems, const Block<T>& tile) {
  SystemView<T> view = system_view(systems, tile);
  if ((systems == SystemsIn::columns ? tile.cols : tile.rows) == 1) view.system = 0;
  return view;
}

/// Calls f(e, s) for each of these rows of each system, in the order of memory; within a system, rows come in their
/// order.
template <class F>
void for_each_row(SystemsIn in, index_t first, index_t end, index_t systems, const F& f) {
  if (in == SystemsIn::columns)
    for (index_t s = 0; s < systems; ++s)
      for (index_t e = first; e < end; ++e) f(e, s);
  else
    for (index_t e = first; e < end; ++e)
      for (index_t s = 0; s < systems; ++s) f(e, s);
}
/// Calls f for a whole tile.
template <class F>
void for_each_row(SystemsIn in, Shape tile, const F& f) {
  for_each_row(in, 0, equations(in, tile), count_systems(in, tile), f);
}

}  // namespace tesela::kernels::tridiagonal
