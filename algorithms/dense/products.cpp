#include <tesela/algorithms/dense/products.hpp>
#include <tesela/codelets/dense/int8_gemm.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <array>
#include <cmath>
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

/// Returns `wanted`, or the kernel that TESELA_GEMM names instead of automatic, as far as the devices have it.
GemmKernel available_kernel(int gpus, GemmKernel wanted) {
  if (wanted == GemmKernel::automatic) {
    const char* const name = std::getenv("TESELA_GEMM");
    const auto named = find_named(gemm_kernels(), name != nullptr ? name : "automatic");
    require(named.has_value(), "gemm", "TESELA_GEMM", name, " is no kernel; `tesela gemm --help` lists them");
    wanted = *named;
  }
  if (gpus == 0) return GemmKernel::cublas;
  static const bool fast = has_int8_devices();
  const bool needs_fast = wanted == GemmKernel::int8 || wanted == GemmKernel::automatic;
  return needs_fast && !fast ? GemmKernel::cublas : wanted;
}

/// Returns available_kernel(), and instead of automatic the faster kernel for a product of m x n x k.
GemmKernel chosen_kernel(int gpus, GemmKernel wanted, index_t m, index_t n, index_t k) {
  const GemmKernel kernel = available_kernel(gpus, wanted);
  if (kernel != GemmKernel::automatic) return kernel;
  return int8_wins(m, n, k) ? GemmKernel::int8 : GemmKernel::cublas;
}

}  // namespace

std::span<const Named<GemmKernel>> gemm_kernels() { return all_kernels; }

GemmKernel gemm_kernel(const WorkerCounts& workers, GemmKernel wanted, index_t m, index_t n, index_t k) {
  return chosen_kernel(workers.gpus, wanted, m, n, k);
}

// An operand is converted once for all tiles.
bool updates_by_residues(const Runtime& runtime, index_t n, index_t k) {
  constexpr index_t least_n = 4096, least_k = 2048;
  const GemmKernel kernel = available_kernel(runtime.gpus(), GemmKernel::automatic);
  return kernel == GemmKernel::int8 || (kernel == GemmKernel::automatic && n >= least_n && k >= least_k);
}

index_t product_work(int gpus, index_t m, index_t n, index_t k, std::size_t element) {
  return chosen_kernel(gpus, GemmKernel::automatic, m, n, k) == GemmKernel::int8 ? int8_work(m, n, k, element) : 1;
}

namespace {

/// Returns `doubles`, or the largest power of two up to a sixteenth of a GPU's memory; 1 if that is below 64 MiB.
index_t work_in_memory(const Runtime& runtime, index_t doubles) {
  constexpr double least = 64 << 20, share = 16;
  const double most = static_cast<double>(runtime.device_bytes()) / std::max(runtime.gpus(), 1) / share;
  if (most < least) return 1;
  return std::min(doubles, static_cast<index_t>(std::exp2(std::floor(std::log2(most)))) / index_t{sizeof(double)});
}

}  // namespace

template <class T>
Products products(Graph& g, index_t m, index_t n, index_t k) {
  const int gpus = g.runtime().gpus();
  const index_t work = work_in_memory(g.runtime(), product_work(gpus, m, n, k, sizeof(T)));
  return {work > 1 ? available_kernel(gpus, GemmKernel::automatic) : GemmKernel::cublas, g.scratch<double>(work, 1)};
}

template <class T, template <class> class C>
void insert_product(Graph& g, const Priority& where, const GemmArgs<T>& args, const Tile<T>& a, const Tile<T>& b,
                    const Tile<T>& c) {
  const index_t m = c.rows(), n = c.cols(), k = apply(args.op_a, a.shape()).cols;
  auto chosen = args;
  chosen.kernel = gemm_kernel(g.runtime(), args.kernel, m, n, k);
  const index_t work =
      chosen.kernel == GemmKernel::int8 ? work_in_memory(g.runtime(), int8_work(m, n, k, sizeof(T))) : 1;
  if (work > 1) return g.insert<Int8Gemm<T, C>>(where, chosen, a, b, c, g.scratch<double>(work, 1));
  if (chosen.kernel == GemmKernel::int8) chosen.kernel = GemmKernel::cublas;
  g.insert<Gemm<T, C>>(where, chosen, a, b, c);
}

#define TESELA_INSTANTIATE(T)                                                                                         \
  template Products products<T>(Graph&, index_t, index_t, index_t);                                                   \
  template void insert_product<T, InOut>(Graph&, const Priority&, const GemmArgs<T>&, const Tile<T>&, const Tile<T>&, \
                                         const Tile<T>&);                                                             \
  template void insert_product<T, Out>(Graph&, const Priority&, const GemmArgs<T>&, const Tile<T>&, const Tile<T>&,   \
                                       const Tile<T>&);
TESELA_INSTANTIATE(float)
TESELA_INSTANTIATE(double)
#undef TESELA_INSTANTIATE

}  // namespace tesela
