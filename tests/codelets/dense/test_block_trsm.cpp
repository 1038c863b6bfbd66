#include "tests/support/run_kernel.hpp"
#include "tests/support/shared_runtime.hpp"
#include <tesela/codelets/dense/block_trsm.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>

using namespace tesela;
using namespace tesela::kernels;
using test::run_kernel;

namespace {

/// Checks op(R) X = B to a few n eps for an R whose rows differ in size by 2^span.
template <class T>
void check(Runtime* runtime, Op op, index_t n, index_t columns, int span) {
  CAPTURE(n, columns, op, span);
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  const Generator<T> random{Pattern::uniform, 3, -1, 1};
  const auto power = [&](index_t i) { return static_cast<int>(i * span / n); };
  const index_t height = std::min(n, inverted_block);
  HostMatrix<T> r(n, n), v(height, n), x(n, columns), work(inverted_block, columns);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) {
      const T element = i == j ? 2 * std::sqrt(static_cast<T>(n)) + random(i, j) : random(i, j);
      r(i, j) = i <= j ? std::ldexp(element, power(i)) : nan;  // elements below the diagonal must not be read
    }
  for (index_t j = 0; j < columns; ++j)
    for (index_t i = 0; i < n; ++i) x(i, j) = random(i, n + j);
  const HostMatrix<T> b = x.clone();
  const In<T> factor{{r.data(), n, n, n}};
  run_kernel<InvertBlocks<T>>(runtime, {}, factor, Out<T>{{v.data(), height, n, height}});
  run_kernel<BlockTrsm<T>>(runtime, {op}, factor, In<T>{{v.data(), height, n, height}},
                           InOut<T>{{x.data(), n, columns, n}},
                           Scratch<T>{{work.data(), inverted_block, columns, inverted_block}});
  double worst = 0;
  for (index_t j = 0; j < columns; ++j)
    for (index_t i = 0; i < n; ++i) {
      double sum = -static_cast<double>(b(i, j)), size = std::abs(sum);
      for (index_t k = op == Op::none ? i : 0; k < (op == Op::none ? n : i + 1); ++k) {
        const double term = static_cast<double>(op == Op::none ? r(i, k) : r(k, i)) * static_cast<double>(x(k, j));
        sum += term;
        size += std::abs(term);
      }
      const double error = std::abs(sum) / size;
      worst = !(error <= worst) ? error : worst;
    }
  const auto eps = static_cast<double>(std::numeric_limits<T>::epsilon());
  CAPTURE(worst / eps);
  CHECK(worst <= 4 * static_cast<double>(n + 8) * eps);
}

template <class T>
void check_all(Runtime* runtime, std::vector<index_t> orders) {
  for (const index_t n : orders)
    for (const Op op : {Op::none, Op::transpose})
      for (const int span : {0, -40}) {
        check<T>(runtime, op, n, 1, span);
        check<T>(runtime, op, n, 19, span);
      }
}

}  // namespace

KERNEL_TEMPLATE_TEST_CASE("InvertBlocks and BlockTrsm solve", "", float, double) {
  check_all<TestType>(runtime, {1, 2, 31, 33, 64, 65, 100, 512, 513, 700, 1100});
}

GPU_TEMPLATE_TEST_CASE("InvertBlocks and BlockTrsm solve under a sanitizer", "[sanitize]", float, double) {
  for (const Op op : {Op::none, Op::transpose}) {
    check<TestType>(&runtime, op, 100, 3, 0);
    check<TestType>(&runtime, op, 530, 3, 0);
  }
}
