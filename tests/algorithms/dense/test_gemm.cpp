#include "tests/support/four_types.hpp"
#include "tests/support/padded.hpp"
#include "tests/support/variable.hpp"
#include "tools/checks/reference.hpp"
#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/codelets/dense/int8_gemm.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/tiles/generator.hpp>

using namespace tesela;
using kernels::has_int8_devices;
using test::Padded;
using test::Variable;

namespace {

/// Returns the largest |C - reference| over the rounding bound (k + 2) eps |alpha| |A| |B| + 2 eps |beta C|,
/// elementwise; three times that for complex numbers.
template <class T>
double worst_ratio(Padded<T>& a, Padded<T>& b, Padded<T>& before, Padded<T>& c, Op op_a, Op op_b, T alpha, T beta,
                   index_t k) {
  using Wide = with_parts<T, long double>;
  using Limits = std::numeric_limits<real_t<T>>;
  double worst = 0;
  for (index_t j = 0; j < c.n; ++j)
    for (index_t i = 0; i < c.m; ++i) {
      Wide sum = 0;
      long double size = 0;
      for (index_t l = 0; l < k && alpha != T(0); ++l) {
        const Wide x = apply_to(op_a, Wide(op_a == Op::none ? a(i, l) : a(l, i))),
                   y = apply_to(op_b, Wide(op_b == Op::none ? b(l, j) : b(j, l)));
        sum += x * y;
        size += std::abs(x * y);
      }
      Wide reference = Wide(alpha) * sum;
      long double bound = std::abs(Wide(alpha)) * size * static_cast<long double>(k + 2);
      if (beta != T(0)) {
        reference += Wide(beta) * Wide(before(i, j));
        bound += 2 * std::abs(Wide(beta) * Wide(before(i, j)));
      }
      const long double error = std::abs(Wide(c(i, j)) - reference);
      if (std::isnan(error)) return std::numeric_limits<double>::infinity();
      bound = std::max(bound * (is_complex<T> ? 3 : 1) * Limits::epsilon(), static_cast<long double>(Limits::min()));
      worst = std::max(worst, static_cast<double>(error / bound));
    }
  return worst;
}

template <class T>
double check_gemm(Runtime& runtime, Shape mn, index_t k, TileShape tile, index_t kb, Op op_a, Op op_b, T alpha, T beta,
                  GemmOptions options = {}) {
  const T nan = test::nan_of<T>;
  const Shape sa = apply(op_a, {mn.rows, k}), sb = apply(op_b, {k, mn.cols});
  auto a = Padded<T>::random(sa.rows, sa.cols, 1), b = Padded<T>::random(sb.rows, sb.cols, 2);
  auto c = Padded<T>::random(mn.rows, mn.cols, 3);
  if (beta == T(0))
    for (index_t j = 0; j < c.n; ++j)
      for (index_t i = 0; i < c.m; ++i) c(i, j) = nan;
  if (alpha == T(0)) std::fill(a.a.begin(), a.a.end(), nan);
  auto before = c;
  {
    const Shape ta = apply(op_a, {tile.mb, kb}), tb = apply(op_b, {kb, tile.nb});
    const auto A = a.map(runtime, {ta.rows, ta.cols}, "A");
    const auto B = b.map(runtime, {tb.rows, tb.cols}, "B");
    const auto C = c.map(runtime, tile, "C");
    Graph g(runtime);
    gemm(g, op_a, op_b, alpha, A, B, beta, C, options);
    REQUIRE(g.wait().ok());
  }
  REQUIRE(c.intact());
  return worst_ratio(a, b, before, c, op_a, op_b, alpha, beta, k);
}

const index_t sizes[][3] = {{1, 1, 1},    {0, 5, 3},    {5, 0, 3},   {5, 4, 0},   {7, 7, 7},    {16, 16, 16},
                            {32, 48, 64}, {33, 17, 65}, {15, 31, 1}, {100, 1, 9}, {1, 100, 50}, {129, 67, 45}};

}  // namespace

CORES_TEMPLATE_TEST_CASE("gemm agrees with a long double product on CPU cores", "", FOUR_TYPES) {
  for (const auto& [m, n, k] : sizes)
    for (const Op op_a : {Op::none, Op::transpose, Op::conjugate})
      for (const Op op_b : {Op::none, Op::transpose, Op::conjugate})
        for (const auto& [alpha, beta] : {std::pair{1.0, 0.0}, {-0.5, 1.0}, {2.0, -3.0}, {0.0, 2.0}, {0.0, 0.0}}) {
          CAPTURE(m, n, k, op_a, op_b, alpha, beta);
          CHECK(check_gemm<TestType>(runtime, {m, n}, k, {16, 12}, 20, op_a, op_b,
                                     test::number<TestType>(alpha, alpha / 2),
                                     test::number<TestType>(beta, -beta)) <= 1.0);
        }
}

TEST_CASE("a task on complex numbers has another performance model than one on real numbers of its length") {
  CHECK(detail::task_key<kernels::Laset<double>>({}) != detail::task_key<kernels::Laset<std::complex<float>>>({}));
}

GPU_TEMPLATE_TEST_CASE("gemm of complex matrices agrees with a long double product on a GPU", "", COMPLEX_TYPES) {
  for (const auto& [m, n, k] : sizes)
    for (const Op op_a : {Op::none, Op::transpose, Op::conjugate})
      for (const Op op_b : {Op::none, Op::transpose, Op::conjugate})
        for (const auto& [alpha, beta] : {std::pair{1.0, 0.0}, {2.0, -3.0}, {0.0, 2.0}}) {
          CAPTURE(m, n, k, op_a, op_b, alpha, beta);
          CHECK(check_gemm<TestType>(runtime, {m, n}, k, {70, 80}, 33, op_a, op_b,
                                     test::number<TestType>(alpha, alpha / 2),
                                     test::number<TestType>(beta, -beta)) <= 1.0);
        }
}

GPU_TEMPLATE_TEST_CASE("every CUDA gemm agrees with a long double product", "", float, double) {
  const GemmKernel kernel =
      GENERATE(GemmKernel::cublas, GemmKernel::naive, GemmKernel::shared, GemmKernel::coarse, GemmKernel::tuned);
  const int block = GENERATE(16, 32);
  if (block == 16 && (kernel == GemmKernel::cublas || kernel == GemmKernel::tuned)) return;
  for (const auto& [m, n, k] : sizes)
    for (const Op op_a : {Op::none, Op::transpose})
      for (const Op op_b : {Op::none, Op::transpose})
        for (const auto& [alpha, beta] : {std::pair{1.0, 0.0}, {2.0, -3.0}, {0.0, 2.0}}) {
          CAPTURE(kernel, block, m, n, k, op_a, op_b, alpha, beta);
          CHECK(check_gemm<TestType>(runtime, {m, n}, k, {70, 80}, 33, op_a, op_b, static_cast<TestType>(alpha),
                                     static_cast<TestType>(beta), {kernel, block, true}) <= 1.0);
        }
}

GPU_TEST_CASE("the tuned gemm agrees on large tiles, with and without the hardware's bulk copies", "[sanitize]") {
  for (const index_t k : {2, 16, 70})
    for (const Op op_a : {Op::none, Op::transpose})
      for (const Op op_b : {Op::none, Op::transpose})
        for (const auto& [alpha, beta] : {std::pair{1.0, 0.0}, {2.0, -3.0}}) {
          const index_t m = 2050, n = 1090;
          CAPTURE(k, op_a, op_b, alpha, beta);
          CHECK(check_gemm<double>(runtime, {m, n}, k, {m, n}, k, op_a, op_b, alpha, beta,
                                   {GemmKernel::tuned, 32, true}) <= 1.0);
        }
}

CORES_TEST_CASE("gemm refuses shapes and tilings that do not match") {
  Graph g(runtime);
  const TileMatrix<double> A(runtime, 10, 20, {4, 4}), B(runtime, 20, 7, {4, 4}), C(runtime, 10, 7, {4, 4});
  const TileMatrix<double> other(runtime, 10, 7, {5, 4});
  CHECK_THROWS_AS(gemm(g, Op::transpose, Op::none, 1.0, A, B, 0.0, C), ArgumentError);
  CHECK_THROWS_AS(gemm(g, Op::none, Op::none, 1.0, A, B, 0.0, other), ArgumentError);
  CHECK_THROWS_AS(TileMatrix<double>(runtime, -1, 3, {4, 4}), ArgumentError);
  CHECK_THROWS_AS(TileMatrix<double>(runtime, 3, 3, {0, 4}), ArgumentError);
  CHECK_THROWS_AS(C(3, 0), ArgumentError);
}

CORES_TEST_CASE("gemm refuses operands that its kernels do not support, and inserts no task") {
  Graph g(runtime);
  std::vector<double> memory(144, 1.0);
  const auto map = [&](index_t at, index_t m, index_t n, index_t ld) {
    return TileMatrix<double>::map(runtime, memory.data() + at, m, n, ld, {4, 4});
  };
  const auto multiply = [&](const auto& A, const auto& B, const auto& C, GemmOptions options = {}) {
    gemm(g, Op::none, Op::none, 1.0, A, B, 1.0, C, options);
  };
  SECTION("leading dimensions beyond BLAS's integers") {
    const auto wide = map(0, 4, 1, index_t{1} << 31), C = map(8, 4, 1, 4), one = map(16, 1, 1, 1);
    CHECK_THROWS_AS(multiply(wide, one, C), ArgumentError);
    CHECK_THROWS_AS(multiply(C, one, wide), ArgumentError);
  }
  SECTION("tiles beyond BLAS's integers") {
    const index_t beyond = index_t{1} << 31;
    const TileMatrix<double> A(runtime, beyond, 1, {beyond, 4}), B(runtime, 1, 1, {4, 4}),
        C(runtime, beyond, 1, {beyond, 4});
    CHECK_THROWS_WITH(multiply(A, B, C), Catch::Matchers::ContainsSubstring("BLAS"));
  }
  SECTION("block sizes without a kernel") {
    const auto A = map(0, 4, 4, 4), B = map(16, 4, 4, 4), C = map(32, 4, 4, 4);
    for (const int block : {0, -16, 8, 64})
      CHECK_THROWS_AS(multiply(A, B, C, {GemmKernel::naive, block, false}), ArgumentError);
  }
  SECTION("C among its own operands") {
    const auto A = map(0, 12, 12, 12);
    CHECK_THROWS_AS(multiply(A, A, A), ArgumentError);
    // No task uses a tile twice, but the second task would read a tile that the first has written.
    CHECK_THROWS_AS(multiply(A.view(0, 0, 2, 1), A.view(0, 2, 1, 1), A.view(1, 0, 2, 1)), ArgumentError);
    CHECK_THROWS_AS(multiply(A.view(0, 0, 1, 1), A.view(2, 0, 1, 2), A.view(2, 1, 1, 2)), ArgumentError);
  }
  CHECK(g.tasks() == 0);
}

CORES_TEST_CASE("gemm of views multiplies sub-matrices") {
  auto a = Padded<double>::random(12, 12, 5);
  Padded<double> c(12, 12, 0.0, 0);
  {
    const auto A = a.map(runtime, {4, 4});
    const auto C = c.map(runtime, {4, 4});
    Graph g(runtime);
    gemm(g, Op::none, Op::none, 1.0, A.view(1, 0, 2, 3), A.view(0, 2, 3, 1), 1.0, C.view(1, 2, 2, 1));
    CHECK(g.wait().ok());
  }
  for (index_t j = 0; j < 12; ++j)
    for (index_t i = 0; i < 12; ++i) {
      double expected = 0;
      if (i >= 4 && j >= 8)
        for (index_t l = 0; l < 12; ++l) expected += a(i, l) * a(l, j);
      CHECK(std::abs(c(i, j) - expected) <= 1e-14);
    }
}

namespace {

/// Returns product_error for c as the n x n product of constants a and b, with a constant C before.
template <class T>
ProductError error_of_constants(T alpha, T a, T b, T beta, T before, T c, index_t n = 5) {
  const auto elements = static_cast<std::size_t>(n * n);
  const std::vector<T> A(elements, a), B(elements, b), old(elements, before), C(elements, c);
  return product_error<T>({Op::none, Op::none, n, n, n, alpha, beta, A.data(), B.data(), old.data(), C.data()},
                          sample_rows(n, n, 1));
}

}  // namespace

TEST_CASE("the measured error separates right from wrong products at any scale") {
  for (const double alpha : {1e-200, 1e-12, 1.0, 1e12, 1e200}) {
    CAPTURE(alpha);
    const double right = alpha * 30.0;
    CHECK(error_of_constants(alpha, 2.0, 3.0, 0.0, 0.0, right).scaled <= 1e-15);
    CHECK(error_of_constants(alpha, 2.0, 3.0, 0.0, 0.0, right * (1 + 1e-6)).scaled >= 1e-7);
    CHECK(error_of_constants(alpha, 2.0, 3.0, 0.0, 0.0, -right).scaled >= 0.1);
  }
  CHECK(error_of_constants(1.0f, 1.0f, 1.0f, 1e6f, 1.1f, 1.1e6f).scaled <= 1e-5);
  CHECK(error_of_constants(1.0f, 1.0f, 1.0f, 1e6f, 1.1f, -1.1e6f).scaled >= 0.1);
  // `relative` is ||C - R|| / (||A|| ||B||).
  CHECK(std::abs(error_of_constants(1e12, 2.0, 3.0, 0.0, 0.0, 0.0).relative - 1e12) <= 1);
}

TEST_CASE("the measured error neither overflows nor underflows, and NaN never passes") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(error_of_constants(1.0, 1e160, 1.0, 0.0, 0.0, 5e160).scaled <= 1e-15);
  CHECK(error_of_constants(1.0, 1e160, 1.0, 0.0, 0.0, 6e160).scaled >= 0.1);
  CHECK(error_of_constants(1.0, 1e160, 1.0, 0.0, 0.0, 6e160).relative >= 0.1);
  CHECK(error_of_constants(1.0, 1e-170, 1.0, 0.0, 0.0, 5e-170).scaled <= 1e-15);
  CHECK(error_of_constants(1.0, 1e-170, 1.0, 0.0, 0.0, 6e-170).scaled >= 0.1);
  CHECK(error_of_constants(1.0, 1e-170, 1e-170, 0.0, 0.0, 0.0).scaled == 0);  // right: double cannot represent 5e-340
  CHECK(error_of_constants(1.0, 1e-170, 1e-170, 0.0, 0.0, 1e-200).scaled >= 0.1);
  CHECK(error_of_constants(1.0f, 1e-30f, 1e-30f, 0.0f, 0.0f, 0.0f).scaled == 0);
  CHECK(error_of_constants(1.0, 0.0, 3.0, 0.0, 0.0, 0.0).scaled == 0);
  CHECK(error_of_constants(1.0, 0.0, 3.0, 0.0, 0.0, 1.0).scaled >= 0.1);
  for (const double poison : {inf, -inf, nan}) {
    CHECK_FALSE(error_of_constants(1.0, 1.0, 1.0, 0.0, 0.0, poison).scaled <= 1);
    CHECK_FALSE(error_of_constants(1.0, 1.0, 1.0, 0.0, 0.0, poison).finite);
    CHECK_FALSE(error_of_constants(poison, 1.0, 1.0, 0.0, 0.0, 5.0).scaled <= 1);
    CHECK_FALSE(error_of_constants(1.0, poison, 1.0, 0.0, 0.0, 5.0).scaled <= 1);
  }
}

TEST_CASE("an infinite element is found outside the sampled rows") {
  const std::vector<double> a{1, 1, 1}, b{1};
  std::vector<double> c{1, 1, 1};
  const ProductProblem<double> problem{Op::none, Op::none, 3, 1, 1, 1, 0, a.data(), b.data(), nullptr, c.data()};
  CHECK(product_error(problem, {0}).finite);
  c[2] = std::numeric_limits<double>::infinity();
  CHECK(product_error(problem, {0}).scaled == 0);
  CHECK_FALSE(product_error(problem, {0}).finite);
}

GPU_TEST_CASE("TESELA_GEMM decides about automatic, by name or by size") {
  const auto kernel = [&](GemmKernel wanted, index_t mn, index_t k) { return gemm_kernel(runtime, wanted, mn, mn, k); };
  const GemmKernel fast = has_int8_devices() ? GemmKernel::int8 : GemmKernel::cublas;
  {
    const Variable off("TESELA_GEMM", "cublas");
    CHECK(kernel(GemmKernel::automatic, 16384, 4096) == GemmKernel::cublas);
    CHECK(kernel(GemmKernel::int8, 64, 64) == fast);
  }
  for (const char* const by_size : {static_cast<const char*>(nullptr), "automatic"}) {
    const Variable size("TESELA_GEMM", by_size);
    CHECK(kernel(GemmKernel::automatic, 64, 64) == GemmKernel::cublas);
    CHECK(kernel(GemmKernel::automatic, 16384, 512) == GemmKernel::cublas);
    CHECK(kernel(GemmKernel::automatic, 16384, 4096) == fast);
  }
  const Variable forced("TESELA_GEMM", "int8");
  CHECK(kernel(GemmKernel::automatic, 64, 64) == fast);
  CHECK(kernel(GemmKernel::tuned, 64, 64) == GemmKernel::tuned);
}

CORES_TEST_CASE("TESELA_GEMM must be the name of a kernel, and cores run cublas") {
  const Variable wrong("TESELA_GEMM", "fast");
  CHECK_THROWS_AS(gemm_kernel(runtime, GemmKernel::automatic, 64, 64, 64), ArgumentError);
  CHECK(gemm_kernel(runtime, GemmKernel::int8, 64, 64, 64) == GemmKernel::cublas);
}

GPU_TEST_CASE("tiles from the host are tall, and large products use residues") {
  const bool roomy = runtime.device_bytes() / static_cast<std::size_t>(runtime.gpus()) >= std::size_t{12} << 30;
  for (const index_t n : {index_t{100}, index_t{4096}, index_t{16384}, index_t{40000}}) {
    const GemmTile tile = gemm_tile(runtime, n, n, n), there = gemm_tile(runtime, n, n, n, true);
    CHECK(tile.mb > 0);
    CHECK(there.mb > 0);
    if (!roomy) continue;
    CHECK(tile.mb >= (runtime.gpus() == 1 ? 4096 : 2048));
    CHECK(tile.kb >= (runtime.gpus() == 1 ? 4096 : 2048));
    CHECK(tile.nb <= 4096);
    if (runtime.gpus() == 1 && n >= 16384 && has_int8_devices())
      CHECK(gemm_kernel(runtime, GemmKernel::automatic, tile.mb, tile.nb, tile.kb) == GemmKernel::int8);
  }
}
