#include "tests/support/shared_runtime.hpp"
#include "tests/support/toy_kernels.hpp"
#include <tesela/runtime/graph.hpp>

using namespace tesela::test;

namespace {

struct CudaZero {
  static constexpr auto name = "test_cuda_zero";
  struct Args {};
  static void cuda(CudaContext&, const Args&, Out<double>) {}
};

struct CudaCombine {
  static constexpr auto name = "test_cuda_combine";
  struct Args {};
  static void cuda(CudaContext&, const Args&, Commute<double>, In<double>) {}
};

/// Contributes on either kind of worker; the CUDA variant must not run if only the CPU can initialize the reduction.
struct ContributeAnywhere {
  static constexpr auto name = "test_contribute_anywhere";
  struct Args {};
  static void cpu(const Args&, Reduce<double> sum) {
    for_each_element(sum, [&](double& x) { x += 1; });
  }
  static void cuda(CudaContext& context, const Args&, Reduce<double>) { context.check(1, "a CUDA variant"); }
};

struct ContributeCuda {
  static constexpr auto name = "test_contribute_cuda";
  struct Args {};
  static void cuda(CudaContext&, const Args&, Reduce<double>) {}
};

}  // namespace

CORES_TEST_CASE("contributions to a reduction are added to the contents of the tile") {
  const TileMatrix<double> A(runtime, 2, 2, {2, 2}), B(runtime, 2, 2, {2, 2});
  Graph g(runtime);
  for (const auto& tile : {A(0, 0), B(0, 0)}) g.reduction<Set<double>, Combine<double>>(tile);
  g.insert<Set<double>>({1000}, A(0, 0));
  double expected = 0;
  for (int i = 1; i <= 300; ++i) {
    g.insert<Contribute<double>>({static_cast<double>(i)}, A(0, 0));  // A contained 1000
    g.insert<Contribute<double>>({static_cast<double>(i)}, B(0, 0));  // B had no contents
    expected += i;
  }
  g.insert<Affine<double>>({2, 0}, A(0, 0));
  for (int i = 0; i < 10; ++i) g.insert<Contribute<double>>({1}, A(0, 0));
  g.reduction<Set<double>, Combine<double>>(A(0, 0));  // declared again, with tasks in flight
  CHECK(g.wait().ok());
  CHECK(to_vector(A) == std::vector<double>(4, 2 * (1000 + expected) + 10));
  CHECK(to_vector(B) == std::vector<double>(4, expected));
}

TEST_CASE("a reduction without a worker for its kernels is refused by name") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const TileMatrix<double> A(runtime, 1, 1, {1, 1});
  Graph g(runtime);
  const auto zero = [&] { g.reduction<CudaZero, Combine<double>>(A(0, 0)); };
  const auto add = [&] { g.reduction<Set<double>, CudaCombine>(A(0, 0)); };
  CHECK_THROWS_MATCHES(zero(), NoWorkerError, MessageMatches(ContainsSubstring("test_cuda_zero")));
  CHECK_THROWS_MATCHES(add(), NoWorkerError, MessageMatches(ContainsSubstring("test_cuda_combine")));
  CHECK_THROWS_AS(g.insert<Contribute<double>>({1}, A(0, 0)), ArgumentError);
  g.reduction<Set<double>, Combine<double>>(A(0, 0));
  g.insert<Contribute<double>>({1}, A(0, 0));
  CHECK(g.wait().ok());
  CHECK(value_of(A(0, 0)) == 1);
}

TEST_CASE("contributors run where the zero kernel can initialize the reduction") {
  require_gpu();
  Runtime runtime({.cpus = 1, .gpus = 1});
  const TileMatrix<double> A(runtime, 1, 1, {1, 1});
  Graph g(runtime);
  g.reduction<Set<double>, Combine<double>>(A(0, 0));
  for (int i = 0; i < 50; ++i) g.insert<ContributeAnywhere>({}, A(0, 0));
  CHECK_THROWS_MATCHES(g.insert<ContributeCuda>({}, A(0, 0)), NoWorkerError,
                       MessageMatches(ContainsSubstring("test_contribute_cuda") && ContainsSubstring("test_set")));
  CHECK(g.wait().ok());
  CHECK(value_of(A(0, 0)) == 50);
}

CORES_TEST_CASE("a reduction without contributions reads as its zero") {
  const TileMatrix<double> A(runtime, 2, 2, {2, 2});
  Graph g(runtime);
  g.reduction<Set<double>, Combine<double>>(A(0, 0));
  CHECK(value_of(A(0, 0)) == 0);
}
