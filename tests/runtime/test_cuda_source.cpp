#include "tests/support/shared_runtime.hpp"
#include "tests/support/toy_kernels.hpp"
#include <tesela/runtime/cuda_source.hpp>
#include <tesela/runtime/dynamic_kernel.hpp>

using namespace tesela::test;

namespace {

constexpr auto scale = R"(template <class T> __global__ void scale(Tile<T> a, T factor) {
  const int i = threadIdx.x, j = blockIdx.x;
  if (i < a.rows) a(i, j) *= factor;
})";

/// Returns a kernel that multiplies a tile of at most 64 rows by 3.
DynamicKernel kernel_of(const CudaSource& source) {
  return DynamicKernel({.name = "source_scale",
                        .modes = {Mode::inout},
                        .cuda = [source](CudaContext& context, const void*, std::span<const DynamicBlock> blocks) {
                          detail::CudaTile tile{blocks[0].data, blocks[0].rows, blocks[0].cols, blocks[0].ld};
                          double factor = 3;
                          void* const parameters[] = {&tile, &factor};
                          const auto columns = static_cast<unsigned>(tile.cols);
                          source.launch(context, {.grid = {columns, 1, 1}, .block = {64, 1, 1}}, parameters);
                        }});
}

}  // namespace

GPU_TEST_CASE("a kernel from CUDA source", "[sanitize]") {
  std::vector<double> memory(70 * 9, 2);
  const auto a = TileMatrix<double>::map(runtime, memory.data(), 65, 9, 70, {40, 4});
  const DynamicKernel triple = kernel_of(CudaSource(scale, "scale<double>"));
  Graph g(runtime);
  for (int repeat = 0; repeat < 2; ++repeat)
    for (index_t i = 0; i < a.mt(); ++i)
      for (index_t j = 0; j < a.nt(); ++j) g.insert(triple, std::vector<AnyTile>{a(i, j)}, {});
  CHECK(g.wait().ok());
  a.bring_home();
  for (std::size_t j = 0; j < 9; ++j)
    for (std::size_t i = 0; i < 70; ++i) CHECK(memory[i + 70 * j] == (i < 65 ? 18 : 2));

  g.insert(kernel_of(CudaSource("__global__ void scale( {", "scale")), std::vector<AnyTile>{a(0, 0)}, {});
  CHECK_THROWS_MATCHES(g.wait(), EnvironmentError,
                       MessageMatches(ContainsSubstring("kernel source_scale: NVRTC refuses the source of scale")));
}

TEST_CASE("CUDA source needs a GPU") {
  if (test::runtime().gpus() > 0) SKIP("there is a GPU");
  CHECK_THROWS_AS(CudaSource(scale, "scale<double>").launch(CudaContext("source_scale"), {}, {}), EnvironmentError);
}
