#pragma once

#include <tesela/tiles/tile_matrix.hpp>

#include <catch2/catch_test_macros.hpp>

#include <optional>
#include <span>
#include <tuple>
#include <vector>

// Calls all variants of a kernel in the same way, on blocks of host memory.

namespace tesela::test {

/// A block as a tile of a task.
template <class P>
class TaskArgument {
 public:
  using T = typename P::value_type;
  TaskArgument(Graph& g, const P& block) : block_(block) {
    if constexpr (P::mode == Mode::scratch) {
      scratch_.emplace(g.scratch<T>(block.rows, block.cols));
    } else {
      matrix_.emplace(g.runtime(), block.rows, block.cols, TileShape{block.rows, block.cols});
      if constexpr (P::mode != Mode::out) matrix_->copy_from(block.data, block.ld);
    }
  }
  Tile<T> tile() const { return scratch_ ? *scratch_ : (*matrix_)(0, 0); }
  void finish() const {
    if constexpr (P::mode == Mode::out || P::mode == Mode::inout) matrix_->copy_to(block_.data, block_.ld);
  }

 private:
  P block_;
  std::optional<TileMatrix<T>> matrix_;
  std::optional<Tile<T>> scratch_;
};

template <class P>
class TaskArgument<std::span<const P>> {
 public:
  TaskArgument(Graph& g, std::span<const P> blocks) {
    for (const P& block : blocks) some_.emplace_back(g, block);
  }
  std::vector<Tile<typename P::value_type>> tile() const {
    std::vector<Tile<typename P::value_type>> tiles;
    for (const auto& one : some_) tiles.push_back(one.tile());
    return tiles;
  }
  void finish() const {
    for (const auto& one : some_) one.finish();
  }

 private:
  std::vector<TaskArgument<P>> some_;
};

/// Returns the parameter P of a kernel for an argument: a matrix in host memory, a block, or a list of blocks.
template <class P, class A>
P as_parameter(A& argument) {
  if constexpr (requires { argument.ld(); })
    return P{{argument.data(), argument.rows(), argument.cols(), argument.ld()}};
  else
    return P(argument);
}

/// Runs K as a task, or without a runtime calls its cpu variant.
template <class K, class... A>
void run_kernel(Runtime* runtime, const typename K::Args& args, A&&... arguments) {
  const auto run = [&]<class... P>(const std::tuple<P...>* /*of K*/) {
    const std::tuple<P...> blocks{as_parameter<P>(arguments)...};
    if (runtime == nullptr) return std::apply([&](const P&... block) { K::cpu(args, block...); }, blocks);
    Graph g(*runtime);
    const auto tiles = std::apply(
        [&](const P&... block) { return std::tuple<TaskArgument<P>...>{TaskArgument<P>(g, block)...}; }, blocks);
    std::apply([&](const auto&... tile) { g.insert<K>(args, tile.tile()...); }, tiles);
    REQUIRE(g.wait().ok());
    std::apply([](const auto&... tile) { (tile.finish(), ...); }, tiles);
  };
  run(static_cast<const typename tesela::detail::Deduced<K>::Parameters*>(nullptr));
}

}  // namespace tesela::test
