#pragma once

#include <tesela/runtime/graph.hpp>

#include <tuple>
#include <vector>

namespace tesela {
namespace detail {

/// Host access to a tile, for one parameter of a kernel's variant.
template <class P>
struct Held {
  HostAccess<std::remove_pointer_t<decltype(P::data)>> access;
  explicit Held(const Tile<typename P::value_type>& tile) : access(tile.data(), P::mode) {}
  operator P() const {
    P p;
    p.data = access.data, p.rows = access.rows, p.cols = access.cols, p.ld = access.ld;
    return p;
  }
};

/// Work space has no tile contents.
template <class T>
struct Held<Scratch<T>> {
  index_t rows, cols;
  std::vector<T> memory;
  explicit Held(const Tile<T>& tile)
      : rows(tile.rows()), cols(tile.cols()), memory(static_cast<std::size_t>(rows * cols)) {}
  operator Scratch<T>() {
    Scratch<T> p;
    p.data = memory.data(), p.rows = rows, p.cols = cols, p.ld = rows;
    return p;
  }
};

template <class Args, class... P>
void run_here(void (*cpu)(const Args&, P...), const Args& args, const Tile<typename P::value_type>&... tiles) {
  std::tuple<Held<P>...> held(tiles...);
  std::apply([&](auto&... h) { cpu(args, h...); }, held);
}

}  // namespace detail

/// Inserts a task of a kernel without a GPU variant. If the runtime has no core, the calling thread waits for the tiles
/// and runs the kernel at once. For small kernels that control an algorithm.
template <Kernel K, class... Tiles>
void insert_or_run(Graph& g, Priority priority, const typename K::Args& args, const Tiles&... tiles) {
  if (g.runtime().cpus() > 0)
    g.insert<K>(priority, args, tiles...);
  else
    detail::run_here(&K::cpu, args, tiles...);
}

}  // namespace tesela
