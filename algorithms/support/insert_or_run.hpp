#pragma once

#include <tesela/runtime/graph.hpp>

#include <tuple>
#include <vector>

namespace tesela {
namespace detail {

/// A tile held on the host for one parameter of a kernel's variant.
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

/// Work space is no tile's contents.
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

/// Inserts a task of a kernel that has no variant for GPUs; where the runtime has no core to run it on, the calling
/// thread does it at once, waiting for what it reads. For small kernels that steer an algorithm.
template <Kernel K, class... Tiles>
void insert_or_run(Graph& g, Priority priority, const typename K::Args& args, const Tiles&... tiles) {
  if (g.runtime().cpus() > 0)
    g.insert<K>(priority, args, tiles...);
  else
    detail::run_here(&K::cpu, args, tiles...);
}

}  // namespace tesela
