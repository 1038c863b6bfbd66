#include "tools/bench/ranks/rank_rows.hpp"
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/runtime/ranks.hpp>
#include <tesela/tiles/block_cyclic.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sys/resource.h>

namespace tesela::bench {
namespace {

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024e-6;
}

/// Returns the seconds of the inserting thread alone: other users of the machine do not count.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

void print_insertion(index_t tiles, const std::string& tree, const std::string& rank_tree) {
  setenv("STARPU_MPI_FAKE_RANK", "9", 0);
  setenv("STARPU_MPI_FAKE_SIZE", "64", 0);
  constexpr index_t edge = 4;
  const index_t n = tiles * edge;
  Runtime runtime({.cpus = 1, .gpus = 0});
  const BlockCyclic part(runtime, {n, n}, {edge, edge});
  HostMatrix<double> local = HostMatrix<double>::zeros(part.local().rows, part.local().cols);
  const double before = peak_megabytes();
  const double start = thread_seconds();
  const auto A = TileMatrix<double>::map_block_cyclic(runtime, local.data(), n, n, local.ld(), {edge, edge});
  Graph g(runtime);
  const auto factors = qr(g, A, {.tree = tree, .rank_tree = rank_tree});
  const double inserted = thread_seconds() - start;
  const auto tasks = static_cast<double>(g.tasks());
  static_cast<void>(g.wait());
  std::printf("%lld x %lld tiles, %s: %.0f tasks inserted in %.2f s of its thread (%.3f us a task), %.0f MB\n",
              static_cast<long long>(tiles), static_cast<long long>(tiles), factors.tree().c_str(), tasks, inserted,
              1e6 * inserted / tasks, peak_megabytes() - before);
}

}  // namespace tesela::bench
