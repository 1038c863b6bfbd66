#include "tests/support/test.hpp"
#include "tests/support/variable.hpp"
#include <tesela/algorithms/eigen/symmetric_eig_plan.hpp>
#include <tesela/algorithms/givens/givens.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/support/memory_plan.hpp>
#include <tesela/runtime/errors.hpp>

#include <catch2/catch_approx.hpp>

#include <cctype>
#include <sstream>

using namespace tesela;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using tesela::test::Variable;

namespace {

constexpr int host = MemoryPlan::host;
const WorkerCounts cores(2, 0), one_gpu(8, 1), two_gpus(16, 2);

}  // namespace

TEST_CASE("a plan adds the memory held in one stage and reuses GPU memory for equal shapes") {
  MemoryPlan plan({"first", "second", "third"}, 1, 8);
  plan.hold({host, {10, 10}, 1, 0, 2});
  plan.hold({0, {5, 4}, 2, 0, 0});
  plan.hold({0, {5, 4}, 1, 1, 2});     // reuses the memory of a tile
  plan.hold({0, {20, 1}, 1, 1, 1});    // as many elements in another shape
  plan.hold({0, {7, 1}, 1, 2, 2, 3});  // three different shapes, one at a time
  plan.task(25);
  CHECK(plan.peak(host) == 800);
  CHECK(plan.bytes(0, 0) == 320);
  CHECK(plan.bytes(1, 0) == 320);
  CHECK(plan.bytes(2, 0) == 160 + 56);
  CHECK(plan.peak(0) == 320);
  CHECK(plan.gpu_peak() == 320);
  CHECK(plan.held(0) == 320 + 160 + 3 * 56);
  CHECK(plan.largest_task() == 200);
  CHECK(plan.stage("third") == 2);
  CHECK_THROWS_AS(plan.stage("fourth"), ArgumentError);
  CHECK(misfit(plan, {800, 200}).empty());
  CHECK(!fits_without_eviction(plan, {800, 200}));
  CHECK(fits_without_eviction(plan, {800, 320}));
  CHECK_THAT(misfit(plan, {799, 1e6}), ContainsSubstring("host"));
  CHECK_THAT(misfit(plan, {1e6, 199}), ContainsSubstring("STARPU_LIMIT_CUDA_MEM"));
}

TEST_CASE("largest_order returns the largest order that fits") {
  const auto squares = [](index_t n) {
    MemoryPlan plan({"all"}, 0, 8);
    plan.hold({host, {n, n}, 3});
    return plan;
  };
  // 3 n^2 elements of 8 bytes.
  CHECK(largest_order({24.0 * 100 * 100, 0}, squares) == 100);
  CHECK(largest_order({24.0 * 100 * 100 - 1, 0}, squares) == 99);
  CHECK(largest_order({0, 0}, squares) == 0);
  const index_t n = largest_order({24e10, 0}, squares);
  CHECK(n <= 100000);
  CHECK(n >= 99900);
}

TEST_CASE("plans of eigenproblems have the size expected from theory") {
  const Variable gemm("TESELA_GEMM", "cublas");  // products by residues need work spaces
  const double n = 20000, square = n * n * 8;
  const auto plan = [](const WorkerCounts& workers, SymmetricEigOptions options) {
    return plan_symmetric_eig(workers, 20000, 8, options);
  };
  // LAPACK's syevd: A, its copy, and a workspace of two matrices.
  CHECK(plan(cores, {.method = EigMethod::lapack}).peak(host) == Approx(4 * square).epsilon(0.01));
  CHECK(plan(cores, {.method = EigMethod::lapack, .vectors = false}).peak(host) == Approx(2 * square).epsilon(0.01));
  // A, and two blocks each of V and Z.
  CHECK(plan(cores, {.vectors = false}).peak(host) == Approx(1.05 * square).epsilon(0.02));
  // Divide and conquer: A, V, the reflectors, data kept from the last merge, its vectors, and X.
  const MemoryPlan pairs = plan(cores, {});
  const double last_merge = pairs.bytes(pairs.stage("tridiagonal"), host) / square;
  CHECK(last_merge > 1 + 0.5 + 0.5 + 0.5 + 1 + 1);
  CHECK(last_merge < 4.8);
  const MemoryPlan all = plan(one_gpu, {});
  CHECK(all.gpus() == 1);
  // A, V of half a matrix, two blocks of Z, and T of each block.
  CHECK(all.bytes(all.stage("to a band"), 0) == Approx((1.5 + 2 * 1024 / n + 1024 / n) * square).epsilon(0.04));
  CHECK(all.largest_task() >= 2 * square);  // T's vectors and X
  CHECK(all.held(0) > all.peak(0));
  CHECK(plan(one_gpu, {.vectors = false}).largest_task() < 1.2 * square);
  // Each of two GPUs holds half of X, and both take part in the reduction.
  const MemoryPlan two = plan(two_gpus, {});
  CHECK(two.bytes(two.stage("to a band"), 1) < two.bytes(two.stage("to a band"), 0));
  CHECK(two.largest_task() < all.largest_task());
  CHECK(two.peak(1) < all.peak(0));
  for (const index_t small : {0, 1, 2, 63, 64, 65, 300})
    for (const WorkerCounts& workers : {cores, one_gpu, two_gpus})
      for (const EigMethod method :
           {EigMethod::two_stage, EigMethod::one_stage, EigMethod::lapack, EigMethod::one_task})
        for (const bool vectors : {false, true}) {
          const MemoryPlan one = plan_symmetric_eig(workers, small, 4, {.method = method, .vectors = vectors});
          CHECK(one.peak(host) >= static_cast<double>(small * small) * 4);
        }
  // Single precision needs half of the memory.
  CHECK(plan_symmetric_eig(cores, 20000, 4, {}).peak(host) == Approx(plan(cores, {}).peak(host) / 2).epsilon(0.02));
  CHECK_THROWS_AS(plan_symmetric_eig(cores, -1, 8), ArgumentError);
  CHECK(plan_tridiagonal_eig(cores, 1000, 8).peak(host) >= 16e6);
}

TEST_CASE("plans of QR factorizations have the expected size") {
  const double all = 3000.0 * 2000 * 8;
  for (const WorkerCounts& workers : {cores, one_gpu, two_gpus}) {
    const MemoryPlan tiles = plan_qr(workers, {3000, 2000}, 8, {500, 100}, 2000),
                     rotations = plan_givens_qr(workers, {3000, 2000}, 8, 100, 2000);
    for (const MemoryPlan* plan : {&tiles, &rotations}) {
      CHECK(plan->bytes(0, host) >= all);
      CHECK(plan->peak(host) >= 2 * all);
      for (int gpu = 0; gpu < workers.gpus; ++gpu) CHECK(plan->peak(gpu) >= 2 * all / workers.gpus);
    }
  }
  CHECK_THROWS_AS(plan_qr(cores, {10, 10}, 8, {5, 5}, 10, {.tree = "none"}), ArgumentError);
  CHECK_THROWS_AS(plan_givens_qr(cores, {10, 10}, 8, 5, 10, {.window = 0}), ArgumentError);
  for (const Shape small : {Shape{0, 0}, Shape{1, 1}, Shape{0, 3}, Shape{3, 0}, Shape{7, 3}, Shape{3, 7}}) {
    CHECK(plan_qr(one_gpu, small, 8, {5, 5}, 1).peak(host) >= 0);
    CHECK(plan_givens_qr(one_gpu, small, 8, 5, 1).peak(host) >= 0);
  }
}

TEST_CASE("needed and available memory are printed with enough digits to differ") {
  const MemoryPlan plan = plan_qr(cores, {3000, 2000}, 8, {500, 100}, 1);
  const double need = plan.peak(host);
  for (const double part : {1e-12, 0.5, 0.99, 1 - 1e-9}) {
    std::istringstream words(misfit(plan, {part * need, 0}));
    std::vector<double> figures;
    for (std::string word; words >> word;)
      if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) figures.push_back(std::stod(word));
    CAPTURE(words.str());
    REQUIRE(figures.size() == 2);
    CHECK(figures[0] > figures[1]);
    CHECK(figures[1] == Approx(part * need / (1 << 30)).epsilon(0.01));
  }
}

TEST_CASE("plans of huge problems are estimated") {
  constexpr index_t largest = std::numeric_limits<index_t>::max();
  const auto n = static_cast<double>(largest);
  for (const WorkerCounts& workers : {cores, two_gpus}) {
    CHECK(plan_qr(workers, {largest, largest}, 8, {500, 100}, 1).peak(host) >= 8 * n * n);
    CHECK(plan_qr(workers, {largest, 1}, 8, {1, 1}, 1).peak(host) >= 8 * n);
    CHECK(plan_givens_qr(workers, {largest, largest}, 8, 100, 1, {.order = "greedy"}).peak(host) >= 8 * n * n);
    const MemoryPlan eig = plan_symmetric_eig(workers, largest, 8, {.vectors = true});
    CHECK(eig.is_least());
    CHECK(eig.peak(host) >= 16 * n * n);
    CHECK_THAT(misfit(eig, {1e9, 1e9}), ContainsSubstring("at least") && ContainsSubstring("GiB"));
  }
  // The larger matrix has too many tiles to count them, the smaller has 2^16; their memory is in proportion.
  for (const char* tree : {"diagonal", "binary"}) {
    const double whole = plan_qr(cores, {2560, 2560}, 8, {10, 10}, 1, {.tree = tree}).peak(host) / (2560.0 * 2560),
                 more = plan_qr(cores, {5120, 5120}, 8, {10, 10}, 1, {.tree = tree}).peak(host) / (5120.0 * 5120);
    CHECK(more == Approx(whole).epsilon(0.02));
  }
}

TEST_CASE("eig_method selects one stage only for GPUs that have it") {
  WorkerCounts complex = one_gpu;
  complex.gpus_on_all_ranks = false;
  CHECK(eig_method(one_gpu, 2048, {}) == EigMethod::one_stage);
  CHECK(eig_method(one_gpu, 2049, {}) == EigMethod::two_stage);
  CHECK(eig_method(complex, 2048, {}) == EigMethod::two_stage);
  CHECK(eig_method(cores, 1000, {}) == EigMethod::lapack);
}

TEST_CASE("as many jobs run at once as there are cores or streams, if memory allows") {
  const MemoryPlan small = plan_symmetric_eig(cores, 100, 8, {.method = EigMethod::one_task});
  CHECK(eig_jobs_at_once(cores, 1, small, {1e12, 0}) == 2);
  CHECK(eig_jobs_at_once(cores, 1, small, {1.5 * small.peak(host), 0}) == 1);
  const MemoryPlan on_gpu = plan_symmetric_eig(two_gpus, 1000, 8, {.method = EigMethod::one_task});
  CHECK(eig_jobs_at_once(two_gpus, 4, on_gpu, {1e12, 1e12}) == 8);
  CHECK(eig_jobs_at_once(two_gpus, 4, on_gpu, {1e12, 2.5 * on_gpu.gpu_peak()}) == 5);
  CHECK(eig_jobs_at_once(two_gpus, 4, on_gpu, {1e12, 1}) == 2);
  CHECK(eig_job_options(cores, 100, {}).method == EigMethod::one_task);
  CHECK(eig_job_options(two_gpus, 100, {}).method == EigMethod::one_task);
  CHECK(eig_job_options(two_gpus, 1000, {}).method == EigMethod::two_stage);
  const auto streams = [](int of_cores, int gpus) {
    RuntimeOptions options;
    options.gpus = gpus;
    set_eig_job_streams(options, of_cores);
    return options.streams_per_gpu;
  };
  CHECK(streams(16, 1) == 8);
  CHECK(streams(16, 4) == 2);
  CHECK(streams(1, 0) == 2);
  CHECK(eig_job_options(cores, 100000, {}).method == EigMethod::two_stage);
  CHECK(eig_job_options(cores, 100, {.method = EigMethod::lapack}).method == EigMethod::lapack);
}
