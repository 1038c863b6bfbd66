// Cancels during each stage: no hang, no result, and the runtime remains usable.
#include "tests/support/commands/process.hpp"
#include "tests/support/test.hpp"
#include "tools/checks/eig_error.hpp"
#include <tesela/algorithms/eigen/eig_batch.hpp>
#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/algorithms/eigen/symmetric_inertia.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/filled.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

using namespace tesela;

namespace {

HostMatrix<double> matrix(index_t n) {
  const SymmetricMatrix one(SymmetricKind::uniform, n, 0, 5);
  return filled<double>({n, n}, [&](index_t i, index_t j) { return one.element<double>(i, j); });
}

std::vector<double> solve(Runtime& runtime, index_t n, bool vectors) {
  HostMatrix<double> a = matrix(n);
  const auto A = TileMatrix<double>::map(runtime, a.data(), n, n, n, eig_tile(runtime, n), "A");
  Graph g(runtime);
  const auto eig = symmetric_eig(g, A, {.method = EigMethod::two_stage, .vectors = vectors});
  g.wait();
  return eig.values;
}

/// Counts eigenvalues at many shifts.
void certify(Runtime& runtime, index_t n) {
  HostMatrix<double> a = matrix(n);
  const auto A = TileMatrix<double>::map(runtime, a.data(), n, n, n, {100, 100}, "A");
  Graph g(runtime);
  certify_spectrum<double>(g, A, std::vector<double>(static_cast<std::size_t>(n)), 1e-10, 50, 1);
}

void solve_batch(Runtime& runtime) {
  const index_t n = 24, count = 20000;
  HostMatrix<double> a = HostMatrix<double>::zeros(n, n * count), w(n, count);
  for (index_t k = 0; k < count; ++k)
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < n; ++j) a(i, k * n + j) = 1.0 / static_cast<double>(1 + i + j);
  const auto A = TileMatrix<double>::map(runtime, a.data(), n, n * count, n, {n, n * 100}, "A"),
             W = TileMatrix<double>::map(runtime, w.data(), n, count, n, {n, 100}, "W");
  Graph g(runtime);
  eig_batch(g, A, W, {true});
}

/// Cancels after a kernel of this name has run, or in the destructor.
class CancelAt {
 public:
  CancelAt(Runtime& runtime, std::string kernel)
      : watcher_([&runtime, name = std::move(kernel), this](const std::stop_token& stop) {
          while (!stop.stop_requested() && !seen(runtime, name))
            std::this_thread::sleep_for(std::chrono::microseconds(50));
          if (stop.stop_requested()) return;
          Runtime::cancel();
          cancelled_ = true;
        }) {}
  bool cancelled() const { return cancelled_; }

 private:
  static bool seen(Runtime& runtime, const std::string& name) {
    for (const WorkerUse& worker : runtime.statistics().workers)
      for (const KernelUse& kernel : worker.kernels)
        if (kernel.kernel == name) return true;
    return false;
  }
  std::atomic<bool> cancelled_ = false;
  std::jthread watcher_;
};

}  // namespace

TEST_CASE("a cancellation in any stage ends eigenproblems at once and the next one is correct") {
  struct Stage {
    const char* kernel;
    std::function<void(Runtime&)> run;
  };
  const auto pairs = [](Runtime& runtime) { solve(runtime, 700, true); };
  const auto values = [](Runtime& runtime) { solve(runtime, 700, false); };
  const auto [kernel, run] = GENERATE_COPY(
      Stage{"sy2sb_symm", pairs}, Stage{"chase_bulges", pairs}, Stage{"steqr", pairs}, Stage{"secular_roots", pairs},
      Stage{"merge_product", pairs}, Stage{"apply_bulge_blocks", pairs}, Stage{"larfb", pairs},
      Stage{"secular_rows", values}, Stage{"ldlt", [](Runtime& runtime) { certify(runtime, 700); }},
      Stage{"small_eig", [](Runtime& runtime) { solve_batch(runtime); }});
  CAPTURE(kernel);
  Runtime runtime({.cpus = 2, .gpus = 0});
  runtime.reset_statistics();
  {
    CancelAt at(runtime, kernel);
    const auto start = std::chrono::steady_clock::now();
    CHECK_THROWS_AS(run(runtime), Cancelled);
    CHECK(at.cancelled());
    CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < 20 * test::patience);
  }
  CHECK_FALSE(Runtime::cancelled());
  const index_t n = 150;
  const std::vector<double> found = solve(runtime, n, true), known = reference_eigenvalues(matrix(n));
  CHECK(eigenvalue_error(found, known, 0, 10) < 1e-13);
}
