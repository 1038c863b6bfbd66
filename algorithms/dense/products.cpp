#include <tesela/algorithms/dense/products.hpp>
#include <tesela/codelets/dense/int8_gemm.hpp>
#include <tesela/runtime/machine/device_limit.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/runtime/simulation/simulation.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace tesela {

using namespace kernels;
namespace {

constexpr std::array all_kernels{
    Named<GemmKernel>{GemmKernel::cublas, "cublas", "the vendor's"},
    Named<GemmKernel>{GemmKernel::naive, "naive", "a thread for each element"},
    Named<GemmKernel>{GemmKernel::shared, "shared", "tiles in shared memory"},
    Named<GemmKernel>{GemmKernel::coarse, "coarse", "the same with two elements a thread"},
    Named<GemmKernel>{GemmKernel::tuned, "tuned", "ours"},
    Named<GemmKernel>{GemmKernel::int8, "int8", "residues on integer units"},
    Named<GemmKernel>{GemmKernel::automatic, "automatic", "cublas or int8, or the kernel that TESELA_GEMM names"},
};

constexpr std::array all_accuracies{
    Named<GemmAccuracy>{GemmAccuracy::normwise, "normwise", "relative to norms of rows and columns"},
    Named<GemmAccuracy>{GemmAccuracy::componentwise, "componentwise",
                        "relative to |A| |B|, at a quarter more time or more"},
};

/// Returns the bytes that a GPU has for residues.
std::size_t residue_bytes() {
  const std::size_t limit = device_limit();
  return limit > 0 ? std::min(limit / 16, most_int8_bytes) : most_int8_bytes;
}

/// Returns `wanted`, or the kernel that TESELA_GEMM names instead of automatic, as far as the devices have it. The
/// environment's int8 needs room for the residues of a small product.
GemmKernel available_kernel(const WorkerCounts& workers, GemmKernel wanted) {
  constexpr std::size_t least = std::size_t{1} << 24;
  if (wanted == GemmKernel::automatic) {
    const char* const name = std::getenv("TESELA_GEMM");
    const auto named = find_named(gemm_kernels(), name != nullptr ? name : "automatic");
    require(named.has_value(), "gemm", "TESELA_GEMM", name, " is no kernel; `tesela gemm --help` lists them");
    wanted = *named == GemmKernel::int8 && residue_bytes() < least ? GemmKernel::cublas : *named;
  }
  if (workers.gpus == 0) return GemmKernel::cublas;
  static const bool devices = is_simulated() ? simulates_int8() : has_int8_devices();
  const bool needs_int8 = wanted == GemmKernel::int8 || wanted == GemmKernel::automatic;
  return needs_int8 && !(devices && workers.gpus_on_all_ranks) ? GemmKernel::cublas : wanted;
}

}  // namespace

std::span<const Named<GemmKernel>> gemm_kernels() { return all_kernels; }
std::span<const Named<GemmAccuracy>> gemm_accuracies() { return all_accuracies; }

GemmKernel gemm_kernel(const WorkerCounts& workers, GemmKernel wanted, index_t m, index_t n, index_t k) {
  constexpr std::size_t least = std::size_t{1} << 29;  // with less, pieces are too small to win
  const GemmKernel kernel = available_kernel(workers, wanted);
  if (kernel != GemmKernel::automatic) return kernel;
  return int8_wins(m, n, k) && residue_bytes() >= least ? GemmKernel::int8 : GemmKernel::cublas;
}

// An operand is converted once for all tiles.
bool updates_by_residues(const WorkerCounts& workers, index_t n, index_t k) {
  constexpr index_t least_n = 4096, least_k = 2048;
  const GemmKernel kernel = available_kernel(workers, GemmKernel::automatic);
  return kernel == GemmKernel::int8 || (kernel == GemmKernel::automatic && n >= least_n && k >= least_k);
}

index_t product_work(const WorkerCounts& workers, index_t m, index_t n, index_t k, std::size_t element) {
  if (gemm_kernel(workers, GemmKernel::automatic, m, n, k) != GemmKernel::int8) return 1;
  return int8_work(m, n, k, moduli_for(element), residue_bytes());
}

template <class T>
Products products(Graph& g, index_t m, index_t n, index_t k) {
  if constexpr (is_complex<T>) return {GemmKernel::cublas, g.scratch<double>(1, 1)};
  const index_t work = product_work(g.runtime(), m, n, k, sizeof(T));
  return {work > 1 ? available_kernel(g.runtime(), GemmKernel::automatic) : GemmKernel::cublas,
          g.scratch<double>(work, 1)};
}

template <class T, template <class> class C>
void insert_product(Graph& g, const Priority& where, const GemmArgs<T>& args, const Tile<T>& a, const Tile<T>& b,
                    const Tile<T>& c) {
  const index_t m = c.rows(), n = c.cols(), k = apply(args.op_a, a.shape()).cols;
  auto chosen = args;
  chosen.kernel = is_complex<T> ? GemmKernel::cublas : gemm_kernel(g.runtime(), args.kernel, m, n, k);
  if (chosen.kernel != GemmKernel::int8) return g.insert<Gemm<T, C>>(where, chosen, a, b, c);
  if constexpr (!is_complex<T>) {
    const int moduli = args.accuracy == GemmAccuracy::normwise ? moduli_for(sizeof(T)) : most_moduli_for(sizeof(T));
    const index_t work = int8_work(m, n, k, moduli, residue_bytes());
    g.insert<Int8Gemm<T, C>>(where, chosen, a, b, c, g.scratch<double>(work, 1));
  }
}

#define TESELA_INSTANTIATE(T)                                                                                         \
  template Products products<T>(Graph&, index_t, index_t, index_t);                                                   \
  template void insert_product<T, InOut>(Graph&, const Priority&, const GemmArgs<T>&, const Tile<T>&, const Tile<T>&, \
                                         const Tile<T>&);                                                             \
  template void insert_product<T, Out>(Graph&, const Priority&, const GemmArgs<T>&, const Tile<T>&, const Tile<T>&,   \
                                       const Tile<T>&);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
