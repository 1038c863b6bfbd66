#include "tests/support/padded.hpp"
#include "tests/support/quadruple.hpp"
#include "tests/support/shared_runtime.hpp"
#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/codelets/dense/int8_gemm.hpp>
#include <tesela/codelets/dense/int8_update.hpp>

#include <random>

using namespace tesela::kernels;
using namespace tesela::test;

namespace {

/// Returns the bound c(k) u of docs/gemm.md: |C - A B| <= c(k) u ||a||_2 ||b||_2.
template <class T>
double bound(index_t k) {
  const double root = std::sqrt(static_cast<double>(k));
  return sizeof(T) == 8 ? (0.67 * root + 3.1) * 0x1p-53 : (0.2 * root + 1.1) * 0x1p-24;
}

/// Operands of a product, and an element of each in its matrix.
template <class T>
struct Operands {
  Padded<T> a, b;
  Op op_a, op_b;
  T& left(index_t i, index_t l) { return op_a == Op::none ? a(i, l) : a(l, i); }
  T& right(index_t l, index_t j) { return op_b == Op::none ? b(l, j) : b(j, l); }
};

template <class T>
Operands<T> random_operands(index_t m, index_t n, index_t k, Op op_a = Op::none, Op op_b = Op::none) {
  const Shape a = apply(op_a, {m, k}), b = apply(op_b, {k, n});
  return {Padded<T>::random(a.rows, a.cols, 1), Padded<T>::random(b.rows, b.cols, 2), op_a, op_b};
}

template <class T>
Padded<T> multiply(Runtime& runtime, Operands<T>& x, T alpha, T beta, const Padded<T>& before,
                   GemmAccuracy accuracy = GemmAccuracy::normwise) {
  Padded<T> c = before;
  const index_t k = apply(x.op_a, {x.a.m, x.a.n}).cols;
  const auto whole = [](index_t rows, index_t cols) {
    return TileShape{std::max<index_t>(rows, 1), std::max<index_t>(cols, 1)};
  };
  {
    const auto A = x.a.map(runtime, whole(x.a.m, x.a.n)), B = x.b.map(runtime, whole(x.b.m, x.b.n)),
               C = c.map(runtime, whole(c.m, c.n));
    Graph g(runtime);
    gemm(g, x.op_a, x.op_b, alpha, A, B, beta, C,
         {.kernel = GemmKernel::int8, .bring_home = true, .accuracy = accuracy});
    REQUIRE(g.wait().ok());
  }
  CAPTURE(k);
  REQUIRE(c.intact());
  return c;
}

Quad root_of(Quad x) { return root(x); }
long double root_of(long double x) { return std::sqrt(x); }

/// Returns the largest error of sampled elements in units of bound(), or of k u |A| |B|, and of the roundings with
/// alpha and beta. Sums are Wide: long double is 2^11 times as fine as double. Samples of a large C reach every place
/// of a tile of up to 256 x 256 elements.
template <class Wide = long double, class T>
double worst_error(Operands<T>& x, T alpha, T beta, const Padded<T>& before, const Padded<T>& c,
                   GemmAccuracy accuracy = GemmAccuracy::normwise) {
  const index_t k = apply(x.op_a, {x.a.m, x.a.n}).cols;
  const double u = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  const auto step = [](index_t size, index_t usual) { return size > 1000 ? 15 : size > 40 ? usual : index_t{1}; };
  const auto size = [](Wide y) { return y < 0 ? -y : y; };
  const auto norm = [&](const auto& element) {
    Wide squares = 0;
    for (index_t l = 0; l < k; ++l) squares += Wide(element(l)) * Wide(element(l));
    return root_of(squares);
  };
  std::vector<Wide> norms;
  for (index_t j = 0; j < c.n; ++j) norms.push_back(norm([&](index_t l) { return x.right(l, j); }));
  std::vector<T> row(static_cast<std::size_t>(k));
  double worst = 0;
  for (index_t i = 0; i < c.m; i += step(c.m, 13)) {
    for (index_t l = 0; l < k; ++l) row[static_cast<std::size_t>(l)] = x.left(i, l);
    const Wide norm_of_row = norm([&](index_t l) { return x.left(i, l); });
    for (index_t j = c.n > 40 ? i % 3 : 0; j < c.n; j += step(c.n, 7)) {
      Wide sum = 0, sizes = 0;
      for (index_t l = 0; l < k; ++l) {
        const Wide product = Wide(row[static_cast<std::size_t>(l)]) * Wide(x.right(l, j));
        sum += product, sizes += size(product);
      }
      const Wide relative = accuracy == GemmAccuracy::normwise
                                ? norm_of_row * norms[static_cast<std::size_t>(j)] * Wide(bound<T>(k) + u)
                                : sizes * Wide(static_cast<double>(k + 1) * u);
      const Wide old = beta == 0 ? Wide(0) : Wide(beta) * Wide(before(i, j)), want = Wide(alpha) * sum + old;
      const Wide least = Wide(std::numeric_limits<T>::min()) * Wide(u);
      const Wide limit = size(alpha) * relative + 2 * size(old) * Wide(u) + least;
      if (size(want) > Wide(std::numeric_limits<T>::max()) * Wide(1 - u)) {
        if (!std::isinf(c(i, j))) return std::numeric_limits<double>::infinity();
        continue;
      }
      if (!std::isfinite(c(i, j))) return std::numeric_limits<double>::infinity();
      worst = std::max(worst, static_cast<double>(size(Wide(c(i, j)) - want) / limit));
    }
  }
  return worst;
}

}  // namespace

GPU_TEMPLATE_TEST_CASE("a product by residues satisfies its bound at any shape", "[sanitize]", float, double) {
  constexpr std::array<std::pair<double, double>, 3> factors{{{1.0, 0.0}, {-1.0, 1.0}, {2.7, -0.3}}};
  std::size_t turn = 0;  // every shape and every pair of operations gets every pair of factors
  for (const auto& [m, n, k] : {std::array<index_t, 3>{1, 1, 1},
                                {0, 5, 3},
                                {5, 0, 3},
                                {127, 129, 64},
                                {129, 1, 200},
                                {257, 130, 17},
                                {300, 260, 129}})
    for (const Op op_a : {Op::none, Op::transpose})
      for (const Op op_b : {Op::none, Op::transpose}) {
        const auto& [alpha, beta] = factors[turn++ % factors.size()];
        auto x = random_operands<TestType>(m, n, k, op_a, op_b);
        const auto before = beta == 0 ? Padded<TestType>(m, n) : Padded<TestType>::random(m, n, 3);
        const auto c = multiply(runtime, x, static_cast<TestType>(alpha), static_cast<TestType>(beta), before);
        CAPTURE(m, n, k, op_a, op_b, alpha, beta);
        CHECK(worst_error(x, static_cast<TestType>(alpha), static_cast<TestType>(beta), before, c) <= 1);
      }
}

GPU_TEMPLATE_TEST_CASE("a product by residues satisfies its bound for several tiles of each block", "", float, double) {
  auto x = random_operands<TestType>(4100, 4100, 1000);
  const auto before = Padded<TestType>::random(4100, 4100, 3);
  CHECK(worst_error(x, TestType(1), TestType(-1), before, multiply(runtime, x, TestType(1), TestType(-1), before)) <=
        1);
}

GPU_TEST_CASE("a componentwise product satisfies its bound for an inner size beyond 2^17") {
  const index_t k = (1 << 17) + 3;
  auto x = random_operands<double>(3, 2, k);
  std::mt19937_64 random(6);
  std::normal_distribution<double> normal;
  for (index_t l = 0; l < k; ++l) {
    for (index_t i = 0; i < 3; ++i) x.left(i, l) = std::exp(2 * normal(random));
    for (index_t j = 0; j < 2; ++j) x.right(l, j) = std::exp(2 * normal(random));
  }
  const Padded<double> before(3, 2);
  const auto c = multiply(runtime, x, 1.0, 0.0, before, GemmAccuracy::componentwise);
  CHECK(worst_error<Quad>(x, 1.0, 0.0, before, c, GemmAccuracy::componentwise) <= 1);
}

GPU_TEST_CASE("a product by residues satisfies its bound for an inner size beyond 2^17") {
  const index_t k = (1 << 17) + 3;
  auto x = random_operands<double>(3, 2, k);
  for (index_t l = 0; l < k; ++l) x.left(0, l) = 1 - 0x1p-53, x.right(l, 0) = 1 - 0x1p-53;  // sums of one sign
  const Padded<double> before(3, 2);
  CHECK(worst_error<Quad>(x, 1.0, 0.0, before, multiply(runtime, x, 1.0, 0.0, before)) <= 1);
}

GPU_TEMPLATE_TEST_CASE("a product by residues satisfies its bound for data of any scale", "[sanitize]", float, double) {
  using T = TestType;
  const index_t m = 40, n = 30, k = 70;
  const auto check = [&](const char* kind, const auto& change) {
    auto x = random_operands<T>(m, n, k);
    for (index_t l = 0; l < k; ++l) {
      for (index_t i = 0; i < m; ++i) x.left(i, l) = change(x.left(i, l), i, l);
      for (index_t j = 0; j < n; ++j) x.right(l, j) = change(x.right(l, j), j, l);
    }
    const Padded<T> before(m, n);
    const auto c = multiply(runtime, x, T(1), T(0), before);
    CAPTURE(kind);
    CHECK(worst_error(x, T(1), T(0), before, c) <= 1);
  };
  constexpr int most = std::numeric_limits<T>::max_exponent, least = std::numeric_limits<T>::min_exponent;
  check("graded", [](T x, index_t i, index_t l) { return std::ldexp(x, static_cast<int>(-i - l / 2)); });
  check("log-normal", [](T x, index_t, index_t) { return std::exp(4 * x); });
  check("one huge and one tiny", [&](T x, index_t, index_t l) {
    return std::ldexp(x, l == 3 ? most / 2 - 10 : l == 5 ? least + 30 : 0);
  });
  check("near underflow", [&](T x, index_t i, index_t) { return std::ldexp(x, i % 2 == 0 ? least - 3 : 0); });
  check("products that overflow", [&](T x, index_t i, index_t) { return std::ldexp(x, i % 2 == 0 ? most - 1 : 0); });
  check("zeros", [](T x, index_t i, index_t l) { return i % 3 == 0 || l % 2 == 0 ? T(0) : x; });
}

GPU_TEMPLATE_TEST_CASE("a componentwise product satisfies k u |A| |B| for data of any spread", "[sanitize]", float,
                       double) {
  using T = TestType;
  if (!has_int8_devices()) SKIP("no device of compute capability 9.0 here");
  constexpr int usual = moduli_for(sizeof(T)), any = -1;
  const index_t m = 140, n = 300;
  const auto check = [&](const char* kind, index_t k, Op op, int moduli, const auto& change) {
    auto x = random_operands<T>(m, n, k, op, op);
    for (index_t l = 0; l < k; ++l) {
      for (index_t i = 0; i < m; ++i) x.left(i, l) = change(x.left(i, l), i, l, true);
      for (index_t j = 0; j < n; ++j) x.right(l, j) = change(x.right(l, j), j, l, false);
    }
    const auto before = Padded<T>::random(m, n, 3);
    auto pieces = componentwise_pieces();
    const auto c = multiply(runtime, x, T(2), T(1), before, GemmAccuracy::componentwise);
    CAPTURE(kind, k, op);
    CHECK(worst_error(x, T(2), T(1), before, c, GemmAccuracy::componentwise) <= 1);
    if (moduli != any) CHECK(componentwise_pieces()[moduli] == pieces[moduli] + 1);
  };
  constexpr int most = std::numeric_limits<T>::max_exponent, least = std::numeric_limits<T>::min_exponent;
  for (const Op op : {Op::none, Op::transpose}) {
    const auto same = [](T x, index_t, index_t, bool) { return x; };
    check("uniform", 70, op, usual, same);
    check("uniform", 1001, op, usual, same);
    check("few products", 3, op, 0, same);
    std::mt19937_64 random(5);
    std::normal_distribution<double> normal;
    check("log-normal", 400, op, any,
          [&](T x, index_t, index_t, bool) { return static_cast<T>((x < 0 ? -1 : 1) * std::exp(2 * normal(random))); });
    check("graded rows", 70, op, usual,
          [](T x, index_t i, index_t, bool) { return std::ldexp(x, static_cast<int>(i % 90) - 45); });
    check("a large element where the other operand has a small one", 70, op, sizeof(T) == 8 ? 15 : any,
          [](T x, index_t, index_t l, bool left) {
            return std::ldexp(x, l == (left ? 3 : 5) ? 5 : l == (left ? 5 : 3) ? -20 : 0);
          });
    check("opposite grades", 70, op, 0,
          [](T x, index_t, index_t l, bool left) { return std::ldexp(x, static_cast<int>(left ? -l : l - 70)); });
    check("one huge and one tiny", 70, op, any, [&](T x, index_t, index_t l, bool left) {
      return std::ldexp(x, l == 3 ? most / 2 - 10 : l == 5 ? (left ? least + 30 : 0) : 0);
    });
    check("near underflow", 70, op, any,
          [&](T x, index_t i, index_t, bool) { return std::ldexp(x, i % 2 == 0 ? least - 3 : 0); });
    check("zeros", 70, op, any,
          [](T x, index_t i, index_t l, bool left) { return i % 3 == 0 || (left && l % 2 == 0) ? T(0) : x; });
  }
}

GPU_TEMPLATE_TEST_CASE("NaN and infinity reach their rows and columns as in IEEE arithmetic", "[sanitize]", float,
                       double) {
  using T = TestType;
  const T infinity = std::numeric_limits<T>::infinity();
  for (const Op op_a : {Op::none, Op::transpose}) {
    const index_t m = 300, n = 150, k = 40;
    auto x = random_operands<T>(m, n, k, op_a, op_a);
    const auto before = Padded<T>::random(m, n, 3);
    const auto finite = multiply(runtime, x, T(2), T(1), before);
    x.left(7, 3) = nan_of<T>, x.left(290, 0) = infinity, x.right(39, 140) = -infinity;
    for (index_t l = 0; l < k; ++l) x.right(l, 11) = 0;  // infinity times 0
    auto zero = x;
    const auto c = multiply(runtime, x, T(2), T(1), before);
    index_t wrong = 0;
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < m; ++i) {
        T want = 0;
        for (index_t l = 0; l < k; ++l) want += x.left(i, l) * x.right(l, j);
        want = 2 * want + before(i, j);
        if (i == 7 || i == 290 || j == 140)
          wrong += std::isnan(want) ? !std::isnan(c(i, j)) : c(i, j) != want ? 1 : 0;
        else if (j != 11)
          wrong += c(i, j) != finite(i, j) ? 1 : 0;
        else
          wrong += c(i, j) != before(i, j) ? 1 : 0;
      }
    CHECK(wrong == 0);
  }
}

GPU_TEST_CASE("powers of two change the result by the same factor only", "[sanitize]") {
  auto x = random_operands<double>(130, 140, 60);
  const Padded<double> before(130, 140);
  const auto c = multiply(runtime, x, 1.0, 0.0, before);
  for (index_t l = 0; l < 60; ++l)
    for (index_t i = 0; i < 130; ++i) x.left(i, l) = std::ldexp(x.left(i, l), static_cast<int>(7 * i - 400));
  for (index_t l = 0; l < 60; ++l)
    for (index_t j = 0; j < 140; ++j) x.right(l, j) = std::ldexp(x.right(l, j), static_cast<int>(300 - 5 * j));
  const auto scaled = multiply(runtime, x, 1.0, 0.0, before);
  index_t wrong = 0;
  for (index_t j = 0; j < 140; ++j)
    for (index_t i = 0; i < 130; ++i)
      wrong += scaled(i, j) != std::ldexp(c(i, j), static_cast<int>(7 * i - 400 + 300 - 5 * j)) ? 1 : 0;
  CHECK(wrong == 0);
}

GPU_TEMPLATE_TEST_CASE("an update by residues of several tiles satisfies its bound", "[sanitize]", float, double) {
  using T = TestType;
  if (!has_int8_devices()) SKIP("no device of compute capability 9.0 here");
  constexpr index_t k = 350, n = 1111, column = 98;
  for (const auto& [row, moduli] :
       {std::pair{column, moduli_for(sizeof(T))}, {column + 256, sizeof(T) == 8 ? 15 : 7}}) {
    auto a = Padded<T>::random(k, n, 1), c = Padded<T>::random(n - row, n, 2);
    const auto before = c;
    {
      const auto A = a.map(runtime, {176, n}), C = c.map(runtime, {256, n});
      const ResidueShapes<T> shapes(k, n - column, moduli);
      const auto tile = [](Shape shape) { return TileShape{shape.rows, shape.cols}; };
      const TileMatrix<std::uint8_t> bytes(runtime, shapes.bytes.rows, shapes.bytes.cols, tile(shapes.bytes));
      const TileMatrix<int> exponents(runtime, shapes.exponents.rows, 1, tile(shapes.exponents));
      Graph g(runtime);
      std::vector<Tile<T>> rows;
      for (index_t i = 0; i < C.mt(); ++i) rows.push_back(C(i, 0));
      g.insert<ToResidues<T>>({.op = Op::transpose, .column = column, .moduli = moduli}, bytes(0, 0), exponents(0, 0),
                              g.scratch<double>(shapes.squares.rows, 1), std::vector<Tile<T>>{A(0, 0), A(1, 0)});
      const index_t lines = n - column, line = row - column;
      g.insert<ResidueUpdate<T>>({k, lines, lines, line, line, 0, row, true, moduli}, bytes(0, 0), exponents(0, 0),
                                 bytes(0, 0), exponents(0, 0), g.scratch<double>(residue_work(moduli), 1), rows);
      REQUIRE(g.wait().ok());
    }
    REQUIRE(c.intact());
    const double u = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
    using Wide = long double;  // 2^11 times as fine as double
    std::vector<Wide> norms;
    for (index_t j = 0; j < n; ++j) {
      Wide squares = 0;
      for (index_t l = 0; l < k; ++l) squares += Wide(a(l, j)) * Wide(a(l, j));
      norms.push_back(std::sqrt(squares));
    }
    double worst = 0;
    index_t changed = 0;
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < n - row; ++i) {
        changed += j < row + i / 256 * 256 && c(i, j) != before(i, j) ? 1 : 0;
        if (j < row + i || (i + j) % 5 != 0) continue;
        Wide sum(before(i, j));
        for (index_t l = 0; l < k; ++l) sum -= Wide(a(l, row + i)) * Wide(a(l, j));
        const Wide size = norms[static_cast<std::size_t>(row + i)] * norms[static_cast<std::size_t>(j)];
        const Wide limit = size * Wide(bound<T>(k) + u) + Wide(2 * u);
        worst = std::max(worst, static_cast<double>(std::abs(Wide(c(i, j)) - sum) / limit));
      }
    CAPTURE(row);
    CHECK(worst <= 1);
    CHECK(changed == 0);
  }
}
