#pragma once

#include "tools/bench/adi/box.hpp"
#include <tesela/runtime/host_device.hpp>

namespace tesela::detail {

// The work of a box's kernels at x on line number `line`, the same on cores and on GPUs.

template <class T>
struct BoxLaplaceElement {
  typename BoxLaplace<T>::Args args;
  Block<const T> before, u, after;
  Block<T> w;
  TESELA_BOTH void operator()(index_t x, index_t line) const {
    const index_t ny = args.ny, y = line % ny;
    const T* const here = u.data + x + line * u.ld;
    T sum = -6 * *here;
    if (x > 0) sum += here[-1];
    if (x < u.rows - 1) sum += here[1];
    if (y > 0) sum += here[-u.ld];
    if (y < ny - 1) sum += here[u.ld];
    if (line >= ny)
      sum += here[-ny * u.ld];
    else if (args.has_before)
      sum += before.data[x + (before.cols - ny + line) * before.ld];
    if (line < u.cols - ny)
      sum += here[ny * u.ld];
    else if (args.has_after)
      sum += after.data[x + y * after.ld];
    w.data[x + line * w.ld] = args.factor * sum;
  }
};

/// The intersection of a tile of planes and a tile of lines: `across` y's from `y` on, in the planes from `z` on.
template <class T, class Planes, class Lines, bool add>
struct BoxCopyElement {
  Planes planes;
  Lines lines;
  index_t ny, y, z, across;
  TESELA_BOTH void operator()(index_t x, index_t line) const {
    const index_t dy = line % across, dz = line / across;
    auto& plane = planes.data[x + (y + dy + ny * dz) * planes.ld];
    auto& row = lines.data[x + planes.rows * dy + (z + dz) * lines.ld];
    if constexpr (add)
      plane += row;
    else
      row = plane;
  }
};

/// Calls launch(nx, count of lines, element) for each tile of planes that makes up `lines`.
template <class T, class Launch>
void box_lines(const box::Planes& args, const Block<T>& lines, std::span<const In<T>> planes, Launch launch) {
  index_t z = 0;
  for (const In<T>& tile : planes) {
    const index_t across = lines.rows / tile.rows, deep = tile.cols / args.ny;
    launch(tile.rows, across * deep,
           BoxCopyElement<T, Block<const T>, Block<T>, false>{tile, lines, args.ny, args.first, z, across});
    z += deep;
  }
}

/// The same for each tile of lines that is added to `planes`.
template <class T, class Launch>
void box_add_lines(const box::Planes& args, const Block<T>& planes, std::span<const In<T>> lines, Launch launch) {
  index_t y = 0;
  for (const In<T>& tile : lines) {
    const index_t across = tile.rows / planes.rows;
    launch(planes.rows, across * (planes.cols / args.ny),
           BoxCopyElement<T, Block<T>, Block<const T>, true>{planes, tile, args.ny, y, args.first, across});
    y += across;
  }
}

}  // namespace tesela::detail
