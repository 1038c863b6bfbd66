#include "tests/support/machine.hpp"
#include "tests/support/shared_runtime.hpp"
#include "tools/checks/qr_error.hpp"
#include "tools/checks/reference.hpp"
#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/givens/givens.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/codelets/dense/product_form.hpp>
#include <tesela/tiles/generator.hpp>

#include <functional>

// Bounds above which results are called inaccurate: correct methods stay far below them for any input, and a wrong
// entry exceeds them.

using namespace tesela::test;

namespace {

template <class T>
struct Input {
  std::string name;
  HostMatrix<T> a;
};

template <class T>
std::vector<Input<T>> inputs(index_t m, index_t n, std::uint64_t seed) {
  const Generator<double> u{Pattern::uniform, 0, n, seed}, v{Pattern::uniform, 0, n, seed + 1};
  const double reach = sizeof(T) == 8 ? 500 : 50, last = static_cast<double>(std::max<index_t>({m, n, 2}));
  std::vector<Input<T>> all;
  const auto add = [&](const char* name, const std::function<double(index_t, index_t)>& element) {
    HostMatrix<T> a(m, n);
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < m; ++i) a(i, j) = static_cast<T>(element(i, j));
    all.push_back({name, std::move(a)});
  };
  const auto real = [](index_t i) { return static_cast<double>(i); };
  add("uniform", u);
  add("ones", [](index_t, index_t) { return 1.0; });
  add("thirds", [](index_t, index_t) { return 1 / 3.0; });
  add("zero", [](index_t, index_t) { return 0.0; });
  add("identity", [](index_t i, index_t j) { return i == j ? 1.0 : 0.0; });
  add("columns of all sizes", [&](index_t i, index_t j) { return u(i, j) * std::exp2(reach * v(0, j)); });
  add("rows of all sizes", [&](index_t i, index_t j) { return u(i, j) * std::exp2(reach * v(i, 0)); });
  add("graded", [&](index_t i, index_t j) { return u(i, j) * std::exp2(-reach * real(i + j) / (2 * last)); });
  add("graded upwards", [&](index_t i, index_t j) { return u(i, j) * std::exp2(reach * (real(i + j) / last - 1)); });
  add("low rank", [&](index_t i, index_t j) { return u(i, 0) * v(0, j) + u(i, n / 2) * v(1, j); });
  add("equal columns", [&](index_t i, index_t) { return u(i, 0); });
  add("Hilbert", [&](index_t i, index_t j) { return 1 / (real(i) + real(j) + 1); });
  add("huge",
      [&](index_t i, index_t j) { return u(i, j) * std::ldexp(1.0, std::numeric_limits<T>::max_exponent - 12); });
  add("tiny", [&](index_t i, index_t j) { return u(i, j) * std::ldexp(1.0, std::numeric_limits<T>::min_exponent); });
  add("below the normal numbers",
      [&](index_t i, index_t j) { return u(i, j) * std::ldexp(1.0, std::numeric_limits<T>::min_exponent - 12); });
  return all;
}

struct Worst {
  double backward = 0, orthogonality = 0;
};

/// Forms Q and returns the errors divided by their bounds.
template <class T, class Factor>
Worst measured(const HostMatrix<T>& a, TileShape tile, const Factor& factor) {
  const index_t k = std::min(a.rows(), a.cols());
  HostMatrix<T> f = a.clone(), q(a.rows(), k);
  {
    const auto A = TileMatrix<T>::map(runtime(), f.data(), f.rows(), f.cols(), f.ld(), tile, "A"),
               Q = TileMatrix<T>::map(runtime(), q.data(), q.rows(), q.cols(), q.ld(), tile, "Q");
    Graph g(runtime());
    const auto factors = factor(g, A);
    factors.form_q(g, Q);
    REQUIRE(g.wait().ok());
  }
  const QrError error = qr_error(a, f, q);
  const QrBounds most = qr_bounds<T>(a.rows(), a.cols());
  CAPTURE(error.backward, most.backward, error.orthogonality, most.orthogonality);
  REQUIRE(error.finite);
  CHECK(error.backward <= most.backward + error.lost);
  CHECK(error.orthogonality <= most.orthogonality);
  return {error.backward / (most.backward + error.lost), error.orthogonality / most.orthogonality};
}

/// Without `rotations`, as on GPUs, one tree for each input of a shape: every tree meets every shape, and every input
/// for another shape.
template <class T>
void check_every_qr(bool rotations) {
  Worst worst;
  std::string where;
  const std::array trees{"diagonal", "greedy", "binary"};
  std::size_t turn = 0;
  for (const Shape shape : {Shape{1, 1}, {2, 2}, {3, 2}, {17, 5}, {40, 40}, {30, 51}, {300, 20}}) {
    const index_t m = shape.rows, n = shape.cols;
    for (std::uint64_t seed = 1; seed <= (m < 20 ? 2 : 1); ++seed, ++turn)
      for (const Input<T>& input : inputs<T>(m, n, seed)) {
        ++turn;
        const auto include = [&](const Worst& x, const std::string& method) {
          if (x.backward > worst.backward || x.orthogonality > worst.orthogonality)
            where = method + ", " + input.name + ", " + std::to_string(m) + " x " + std::to_string(n);
          worst = {std::max(worst.backward, x.backward), std::max(worst.orthogonality, x.orthogonality)};
        };
        CAPTURE(m, n, seed, input.name);
        for (std::size_t t = 0; t < trees.size(); ++t) {
          if (!rotations && t != turn % trees.size()) continue;
          const char* const tree = trees[t];
          CAPTURE(tree);
          QrOptions options;
          options.tree = tree;
          include(measured(input.a, {16, 12}, [&](Graph& g, const TileMatrix<T>& A) { return qr(g, A, options); }),
                  tree);
        }
        if (!rotations) continue;
        for (const GivensMethod method : {GivensMethod::sequential, GivensMethod::stages, GivensMethod::chain}) {
          CAPTURE(int(method));
          GivensOptions options;
          options.method = method;
          include(
              measured(input.a, {m, 12}, [&](Graph& g, const TileMatrix<T>& A) { return givens_qr(g, A, options); }),
              "givens " + std::to_string(int(method)));
        }
      }
  }
  WARN("largest errors over their bounds: " << worst.backward << ", " << worst.orthogonality << " (" << where << ")");
  CHECK(worst.backward > 0.01);  // otherwise the bound is useless
}

}  // namespace

TEMPLATE_TEST_CASE("the errors of every QR stay below their bounds", "", float, double) {
  check_every_qr<TestType>(true);
}

TEMPLATE_TEST_CASE("the errors of every QR stay below their bounds on a GPU", "[gpu]", float, double) {
  require_gpu();
  shared_runtime.reset();
  runtime({.cpus = 0});
  check_every_qr<TestType>(false);
  shared_runtime.reset();
}

TEMPLATE_TEST_CASE("a wrong entry of R exceeds the bound", "", float, double) {
  using T = TestType;
  const index_t m = 300, n = 200;
  const auto input = inputs<T>(m, n, 1);
  HostMatrix<T> f = input[0].a.clone(), q(m, n);
  {
    const auto A = TileMatrix<T>::map(runtime(), f.data(), m, n, m, {64, 64}, "A"),
               Q = TileMatrix<T>::map(runtime(), q.data(), m, n, m, {64, 64}, "Q");
    Graph g(runtime());
    qr(g, A).form_q(g, Q);
    g.wait();
  }
  f(17, 150) += T(0.01);
  CHECK(qr_error(input[0].a, f, q).backward > qr_bounds<T>(m, n).backward);
  for (index_t i = 0; i < m; ++i) q(i, 5) *= T(1.01);
  CHECK(qr_error(input[0].a, f, q).orthogonality > qr_bounds<T>(m, n).orthogonality);
}

TEMPLATE_TEST_CASE("the error of every product stays below its bound, and a wrong entry exceeds it", "", float,
                   double) {
  using T = TestType;
  double worst = 0;
  for (const index_t k : {1, 7, 64, 2000})
    for (const Input<T>& left : inputs<T>(12, k, 1))
      for (const Input<T>& right : inputs<T>(k, 9, 3)) {
        if (left.name != right.name && left.name != "uniform" && right.name != "uniform" &&
            !(left.name == "huge" && right.name == "tiny"))
          continue;
        HostMatrix<T> a = left.a.clone(), b = right.a.clone(), c(12, 9);
        {
          const auto A = TileMatrix<T>::map(runtime(), a.data(), 12, k, 12, {8, 64}, "A"),
                     B = TileMatrix<T>::map(runtime(), b.data(), k, 9, k, {64, 8}, "B"),
                     C = TileMatrix<T>::map(runtime(), c.data(), 12, 9, 12, {8, 8}, "C");
          Graph g(runtime());
          gemm(g, Op::none, Op::none, T(1), A, B, T(0), C);
          g.wait();
        }
        const auto rows = sample_rows(12, 12, 1);
        const ProductProblem<T> problem{Op::none, Op::none, 12,       9,       k,       T(1),
                                        T(0),     a.data(), b.data(), nullptr, c.data()};
        const ProductError error = product_error(problem, rows);
        CAPTURE(k, left.name, right.name, error.scaled);
        if (!error.finite) continue;  // the product overflows
        CHECK(error.scaled <= product_bound<T>(k));
        worst = std::max(worst, error.scaled / product_bound<T>(k));
        if (left.name != "uniform" || right.name != "uniform") continue;
        c(3, 4) += c(3, 4) / T(8) + T(0.01);
        CHECK(product_error(problem, rows).scaled > product_bound<T>(k));
      }
  WARN("largest error over its bound: " << worst);
}

TEST_CASE("products whose terms overflow in double are measured") {
  // 2^900 2^900 2^-1000: the terms overflow without the factor.
  HostMatrix<double> a(1, 1), b(1, 1), c(1, 1);
  a(0, 0) = b(0, 0) = std::ldexp(1.5, 900);
  c(0, 0) = std::ldexp(2.25, 800);
  const ProductProblem<double> problem{Op::none, Op::none, 1,        1,       1,       std::ldexp(1.0, -1000),
                                       0.0,      a.data(), b.data(), nullptr, c.data()};
  CHECK(product_error(problem, {0}).scaled == 0);
  c(0, 0) *= 1.01;
  CHECK(product_error(problem, {0}).scaled > 0.001);
}
