#include "tools/problems/dense/gemm_data.hpp"

#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/tiles/generator.hpp>

#include <fmt/format.h>
#include <starpu.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#if TESELA_HAVE_CUDA
#include "tools/peers/device.hpp"

#include <cuda_runtime.h>
#endif

namespace tesela::bench {
namespace {

/// One entry from every cell of a 16 x 16 grid over C, the last one always C's own last: so every tile of up to that
/// many is met.
std::vector<std::pair<index_t, index_t>> samples(const GemmCase& what) {
  std::vector<std::pair<index_t, index_t>> all;
  const auto in_cell = [&](index_t cell, index_t cells, index_t size, std::uint64_t salt) {
    const index_t first = cell * size / cells, last = (cell + 1) * size / cells;
    if (last <= first) return std::min(first, size - 1);
    const std::uint64_t random = Generator<double>::mix(what.seed ^ salt ^ static_cast<std::uint64_t>(cell) << 20);
    return first + static_cast<index_t>(random % static_cast<std::uint64_t>(last - first));
  };
  constexpr index_t cells = 16;
  for (index_t i = 0; i < cells; ++i)
    for (index_t j = 0; j < cells; ++j)
      all.emplace_back(in_cell(i, cells, what.m, static_cast<std::uint64_t>(j)),
                       in_cell(j, cells, what.n, static_cast<std::uint64_t>(i) + 99));
  all.emplace_back(what.m - 1, what.n - 1);
  return all;
}

/// One element of a tile from wherever it is valid, without moving the tile.
template <class T>
T element(const Tile<T>& tile, index_t i, index_t j) {
  auto* handle = static_cast<starpu_data_handle_t>(tile.data().handle());
#if TESELA_HAVE_CUDA
  for (unsigned node = 1; node < starpu_memory_nodes_get_count(); ++node) {
    int allocated = 0, valid = 0, requested = 0;
    starpu_data_query_status(handle, static_cast<int>(node), &allocated, &valid, &requested);
    if (valid == 0 || starpu_node_get_kind(node) != STARPU_CUDA_RAM) continue;
    starpu_data_acquire_on_node(handle, static_cast<int>(node), STARPU_R);
    const auto* memory = static_cast<const starpu_matrix_interface*>(starpu_data_get_interface_on_node(handle, node));
    T value{};
    const int status = static_cast<int>(
        cudaMemcpy(&value, reinterpret_cast<const T*>(memory->ptr) + i + j * static_cast<index_t>(memory->ld),
                   sizeof(T), cudaMemcpyDefault));
    starpu_data_release_on_node(handle, static_cast<int>(node));
    check_device(status, "cudaMemcpy of a result");
    return value;
  }
#else
  static_cast<void>(handle);
#endif
  return tile.read()(i, j);
}

}  // namespace

template <class T>
GemmData<T>::GemmData(Runtime& runtime, const GemmCase& what, bool needs_tiles) : runtime_(&runtime), what_(what) {
  const auto bytes = [](index_t rows, index_t cols) { return static_cast<std::size_t>(rows * cols) * sizeof(T); };
  const auto [mb, nb, kb] = what.tile;
  if (!what.on_device) {
    a_ = std::make_unique<HostBuffer>(runtime, bytes(what.m, what.k));
    b_ = std::make_unique<HostBuffer>(runtime, bytes(what.k, what.n));
    c_ = std::make_unique<HostBuffer>(runtime, bytes(what.m, what.n));
  } else if (needs_tiles) {
    tiles_.emplace(Tiles{{runtime, what.m, what.k, {mb, kb}, "A"},
                         {runtime, what.k, what.n, {kb, nb}, "B"},
                         {runtime, what.m, what.n, {mb, nb}, "C"}});
  } else {
    return;
  }
  const Tiles filled = tiles();
  Graph g(runtime);
  fill(g, filled.A, gemm_operand<T>(what, false));
  fill(g, filled.B, gemm_operand<T>(what, true));
  g.wait();
}

template <class T>
auto GemmData<T>::tiles() const -> Tiles {
  if (tiles_) return *tiles_;
  const auto [mb, nb, kb] = what_.tile;
  const auto [m, n, k] = std::tuple{what_.m, what_.n, what_.k};
  return {TileMatrix<T>::map(*runtime_, static_cast<T*>(a_->data()), m, k, m, {mb, kb}, "A"),
          TileMatrix<T>::map(*runtime_, static_cast<T*>(b_->data()), k, n, k, {kb, nb}, "B"),
          TileMatrix<T>::map(*runtime_, static_cast<T*>(c_->data()), m, n, m, {mb, nb}, "C")};
}

template <class T>
double GemmData<T>::verify(const std::string& peer, const std::function<void()>& run) const {
  constexpr T poison = std::numeric_limits<T>::quiet_NaN();
  if (!tiles_) {
    for (const auto& [i, j] : samples(what_)) c()[i + j * what_.m] = poison;
    run();
    return check(peer, [&](index_t i, index_t j) { return c()[i + j * what_.m]; });
  }
  {
    Graph g(*runtime_);
    fill(g, tiles_->C, Generator<T>{Pattern::constant, poison, what_.n, 0});
    g.wait();
  }
  run();
  const auto [mb, nb, kb] = what_.tile;
  return check(peer, [&](index_t i, index_t j) { return element(tiles_->C(i / mb, j / nb), i % mb, j % nb); });
}

/// The bound is sqrt(k) rounding errors of the sum of magnitudes, times 8: far above what any order of summation gives
/// for random numbers, far below one lost or doubled term block.
template <class T>
double GemmData<T>::check(const std::string& peer, const std::function<T(index_t, index_t)>& c) const {
  const Generator<T> a = gemm_operand<T>(what_, false), b = gemm_operand<T>(what_, true);
  double worst = 0;
  for (const auto& [i, j] : samples(what_)) {
    long double sum = 0;
    double magnitude = 0;
    for (index_t p = 0; p < what_.k; ++p) {
      const double term = static_cast<double>(a(i, p)) * static_cast<double>(b(p, j));
      sum += term;
      magnitude += std::abs(term);
    }
    const double bound = 8 * std::numeric_limits<T>::epsilon() * std::sqrt(static_cast<double>(what_.k)) * magnitude;
    const double got = static_cast<double>(c(i, j));
    const double error = std::abs(got - static_cast<double>(sum)) / bound;
    if (!(error <= 1))
      throw WrongResult(fmt::format("bench gemm: {}: C({}, {}) is {:.9g} and should be {:.9g} within {:.3g}", peer, i,
                                    j, got, static_cast<double>(sum), bound));
    worst = std::max(worst, error);
  }
  return worst;
}

template class GemmData<float>;
template class GemmData<double>;

}  // namespace tesela::bench
