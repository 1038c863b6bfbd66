#include "tests/support/commands/process.hpp"
#include "tests/support/machine.hpp"
#include "tests/support/shared_runtime.hpp"
#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/givens/givens.hpp>
#include <tesela/algorithms/least_squares/least_squares.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/qr/tall_skinny.hpp>
#include <tesela/codelets/dense/product_form.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <functional>

// A power of two in the input scales the output exactly and changes no bit otherwise.

using namespace tesela;
using namespace tesela::kernels;

namespace {

/// Without GPUs: bits depend on the worker that runs a task.
Runtime& runtime() { return test::runtime({.gpus = 0}); }

template <class T>
std::vector<int> powers() {
  if (sizeof(T) == 8) return {-900, -501, -77, 480, 900};
  return {-100, -63, -40, 50, 100};
}

template <class T>
HostMatrix<T> times(const HostMatrix<T>& a, int exponent) {
  HostMatrix<T> b(a.rows(), a.cols());
  for (index_t e = 0; e < a.size(); ++e) b.data()[e] = std::ldexp(a.data()[e], exponent);
  return b;
}

template <class T>
std::vector<T> times(std::vector<T> a, int exponent) {
  for (T& x : a) x = std::ldexp(x, exponent);
  return a;
}

template <class T>
void require_same(const HostMatrix<T>& a, const HostMatrix<T>& b) {
  REQUIRE(a.shape() == b.shape());
  index_t different = 0, first = -1;
  for (index_t e = 0; e < a.size(); ++e)
    if (!(a.data()[e] == b.data()[e]) && ++different == 1) first = e;
  CAPTURE(different, first, first < 0 ? T(0) : a.data()[first], first < 0 ? T(0) : b.data()[first]);
  REQUIRE(different == 0);
}

template <class T>
TileMatrix<T> mapped(HostMatrix<T>& a, TileShape tile, const char* name = "A") {
  return TileMatrix<T>::map(runtime(), a.data(), a.rows(), a.cols(), a.ld(), tile, name);
}

template <class T>
struct Input {
  std::string name;
  HostMatrix<T> a;
  bool dependent = false;

  /// With dependent columns R holds rounding errors of rounding errors, which T must be able to represent.
  std::vector<int> powers() const {
    std::vector<int> all = ::powers<T>();
    std::erase_if(all, [&](int p) {
      return dependent && p < std::numeric_limits<T>::min_exponent + 3 * std::numeric_limits<T>::digits + 14;
    });
    return all;
  }
};

/// Returns matrices with all sizes of rows and columns, zeros and dependent columns.
template <class T>
std::vector<Input<T>> inputs(index_t m, index_t n) {
  const Generator<T> u{Pattern::uniform, T(0), n, 5}, v{Pattern::uniform, T(0), n, 6};
  const T reach = sizeof(T) == 8 ? T(25) : T(3);
  std::vector<Input<T>> all;
  const auto add = [&](const char* name, const std::function<T(index_t, index_t)>& element) {
    HostMatrix<T> a(m, n);
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < m; ++i) a(i, j) = element(i, j);
    all.push_back({name, std::move(a), std::string(name) == "equal columns" || std::string(name) == "small integers"});
  };
  add("uniform", [&](index_t i, index_t j) { return u(i, j); });
  add("columns of all sizes", [&](index_t i, index_t j) { return u(i, j) * std::pow(T(2), reach * v(0, j)); });
  add("rows of all sizes", [&](index_t i, index_t j) { return u(i, j) * std::pow(T(2), reach * v(i, 0)); });
  add("small integers", [&](index_t i, index_t j) { return std::round(T(1.5) * u(i, j)); });
  add("identity", [&](index_t i, index_t j) { return T(i == j); });
  add("equal columns", [&](index_t i, index_t j) { return u(i, j / 2); });
  add("tiny below the diagonal",
      [&](index_t i, index_t j) { return i <= j ? T(1) : u(i, j) * std::pow(T(2), -reach / T(2)); });
  return all;
}

template <class T>
struct Factors {
  HostMatrix<T> r, q;
};

/// Checks f(A) -> Factors for every power.
template <class T, class F>
void check_factors(index_t m, index_t n, const F& f) {
  for (const Input<T>& input : inputs<T>(m, n)) {
    const Factors<T> plain = f(input.a.clone());
    for (const int p : input.powers()) {
      CAPTURE(input.name, p);
      const Factors<T> scaled = f(times(input.a, p));
      require_same(scaled.r, times(plain.r, p));
      require_same(scaled.q, plain.q);
    }
  }
}

template <class T, class Factor>
Factors<T> factored(HostMatrix<T> a, TileShape tile, const Factor& factor) {
  const index_t k = std::min(a.rows(), a.cols());
  Factors<T> result{HostMatrix<T>(k, a.cols()), HostMatrix<T>(a.rows(), k)};
  {
    const auto A = mapped(a, tile), R = mapped(result.r, tile, "R"), Q = mapped(result.q, tile, "Q");
    Graph g(runtime());
    const auto factors = factor(g, A);
    factors.extract_r(g, R);
    factors.form_q(g, Q);
    REQUIRE(g.wait().ok());
  }
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("gemm scales exactly", "", float, double) {
  using T = TestType;
  const index_t m = 37, n = 29, k = 41;
  for (const Op op_a : {Op::none, Op::transpose})
    for (const T beta : {T(0), T(-2.5)}) {
      HostMatrix<T> a(apply(op_a, {m, k}).rows, apply(op_a, {m, k}).cols), b(k, n), c(m, n);
      std::uint64_t seed = 1;
      for (HostMatrix<T>* x : {&a, &b, &c}) {
        const Generator<T> u{Pattern::uniform, T(0), x->cols(), seed++};
        for (index_t j = 0; j < x->cols(); ++j)
          for (index_t i = 0; i < x->rows(); ++i) (*x)(i, j) = u(i, j);
      }
      const auto product = [&](T alpha, const HostMatrix<T>& A, const HostMatrix<T>& B, const HostMatrix<T>& C) {
        HostMatrix<T> x = A.clone(), y = B.clone(), z = C.clone();
        {
          Graph g(runtime());
          gemm(g, op_a, Op::none, alpha, mapped(x, {16, 16}), mapped(y, {16, 16}, "B"), beta, mapped(z, {16, 16}, "C"));
          REQUIRE(g.wait().ok());
        }
        return z;
      };
      const auto plain = product(T(1.75), a, b, c);
      for (const int p : powers<T>()) {
        CAPTURE(p, beta);
        require_same(product(T(1.75), times(a, p), b, times(c, p)), times(plain, p));
        require_same(product(T(1.75), a, times(b, p), times(c, p)), times(plain, p));
        require_same(product(T(1.75), times(a, p), times(b, -p), c), plain);
        require_same(product(std::ldexp(T(1.75), p), a, b, times(c, p)), times(plain, p));
      }
    }
}

TEMPLATE_TEST_CASE("QR of tiles scales exactly with every tree", "", float, double) {
  using T = TestType;
  for (const char* tree : {"diagonal", "greedy", "binary", "fibonacci", "domain:2", "column", "sameh-kuck"})
    for (const bool triangles : {false, true}) {
      if (triangles && std::string(tree) != "greedy") continue;
      CAPTURE(tree, triangles);
      check_factors<T>(50, 37, [&](HostMatrix<T> a) {
        return factored(std::move(a), {16, 12}, [&](Graph& g, const TileMatrix<T>& A) {
          QrOptions options;
          options.tree = tree;
          options.triangles = triangles;
          options.ib = 5;
          return qr(g, A, options);
        });
      });
    }
  for (const auto& [m, n] : {std::pair<index_t, index_t>{90, 64}, {33, 60}, {9, 1}, {1, 7}})
    check_factors<T>(m, n, [&](HostMatrix<T> a) {
      return factored(std::move(a), {64, 64}, [&](Graph& g, const TileMatrix<T>& A) { return qr(g, A); });
    });
}

TEMPLATE_TEST_CASE("QR by rotations scales exactly with every method", "", float, double) {
  using T = TestType;
  for (const auto& [m, n] : {std::pair<index_t, index_t>{40, 33}, {21, 36}})
    for (const GivensMethod method : {GivensMethod::sequential, GivensMethod::stages, GivensMethod::chain})
      for (const char* order : {"diagonal", "greedy"}) {
        if (method != GivensMethod::stages && std::string(order) != "diagonal") continue;
        CAPTURE(m, n, int(method), order);
        check_factors<T>(m, n, [&, rows = m](HostMatrix<T> a) {
          return factored(std::move(a), {rows, 12}, [&](Graph& g, const TileMatrix<T>& A) {
            GivensOptions options;
            options.method = method;
            options.order = order;
            options.window = 8;
            return givens_qr(g, A, options);
          });
        });
      }
}

TEMPLATE_TEST_CASE("tall-and-skinny QR scales exactly in one pass and with appended rows", "", float, double) {
  using T = TestType;
  for (const auto& [m, n] : {std::pair<index_t, index_t>{700, 7}, {500, 40}, {900, 200}, {5, 9}}) {
    CAPTURE(m, n);
    for (const Input<T>& input : inputs<T>(m, n)) {
      const auto factor = [&, rows = m, cols = n](HostMatrix<T> a, bool appended) {
        HostMatrix<T> r(cols, cols);
        const TileShape tile{std::max<index_t>(rows / 5, 1), cols};
        Graph g(runtime());
        const auto A = mapped(a, tile);
        if (appended) {
          QrUpdater<T> updater(runtime(), cols, 0);
          for (index_t i = 0; i < A.mt(); ++i) updater.append(g, A.view(i, 0, 1, 1));
          g.wait();
          updater.triangle().copy_to(r.data(), r.ld());
        } else {
          const auto R = mapped(r, {cols, cols}, "R");
          tall_skinny_r(g, A, R);
          g.wait();
          R.bring_home();
        }
        for (index_t j = 0; j < cols; ++j)  // below the rank of A there are only rounding errors
          for (index_t i = rows; i < cols; ++i) r(i, j) = 0;
        return r;
      };
      for (const bool appended : {false, true}) {
        const auto plain = factor(input.a.clone(), appended);
        for (const int p : input.powers()) {
          CAPTURE(input.name, appended, p);
          require_same(factor(times(input.a, p), appended), times(plain, p));
        }
      }
    }
  }
}

namespace {

/// The residual of a square system is a rounding error, which loses bits at the end of the range.
template <class T>
bool same_or_rounding(const std::vector<T>& norms, const std::vector<T>& expected, const HostMatrix<T>& b) {
  for (std::size_t k = 0; k < expected.size(); ++k) {
    double of_b = 0;
    for (index_t i = 0; i < b.rows(); ++i) of_b = std::hypot(of_b, static_cast<double>(b(i, static_cast<index_t>(k))));
    const double rounding = 100 * static_cast<double>(std::numeric_limits<T>::epsilon()) * of_b;
    if (norms[k] != expected[k] && !(norms[k] < rounding && expected[k] < rounding)) return false;
  }
  return norms.size() == expected.size();
}

template <class T, class Solve>
void check_least_squares(index_t m, index_t n, bool rounding_stays, const Solve& solve) {
  HostMatrix<T> b(m, 3);
  const Generator<T> u{Pattern::uniform, T(0), 3, 9};
  for (index_t k = 0; k < 3; ++k)
    for (index_t i = 0; i < m; ++i) b(i, k) = u(i, k);
  auto all = inputs<T>(m, n);
  for (Input<T>& input : all) {
    input.dependent = input.dependent || rounding_stays;
    const LeastSquares<T> plain = solve(input.a.clone(), b.clone());
    REQUIRE(plain.X.size() == 3 * n);
    for (const int p : input.powers())
      for (const bool of_a : {false, true}) {
        CAPTURE(m, n, input.name, p, of_a);
        const LeastSquares<T> scaled = solve(times(input.a, of_a ? p : 0), times(b, of_a ? 0 : p));
        CHECK(scaled.status == plain.status);
        CHECK(scaled.rank == plain.rank);
        CHECK(scaled.condition == plain.condition);
        CHECK(scaled.original_units == plain.original_units);
        CHECK(scaled.backward_error.error == plain.backward_error.error);
        CHECK(scaled.cut == plain.cut);
        CHECK(
            same_or_rounding(scaled.residual_norms, times(plain.residual_norms, of_a ? 0 : p), times(b, of_a ? 0 : p)));
        require_same(scaled.X, times(plain.X, of_a ? -p : p));
      }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("least squares scales exactly with every method", "", float, double) {
  using T = TestType;
  for (const auto& [m, n] : {std::pair<index_t, index_t>{60, 23}, {30, 30}, {20, 43}})
    for (const OlsMethod method : {OlsMethod::tiles, OlsMethod::tall_skinny, OlsMethod::givens}) {
      CAPTURE(int(method));
      // Below the rows of A one pass leaves only rounding errors.
      check_least_squares<T>(m, n, m < n && method == OlsMethod::tall_skinny, [&](HostMatrix<T> a, HostMatrix<T> b) {
        OlsOptions options;
        options.method = method;
        const TileShape tile =
            method == OlsMethod::givens ? ols_tile(runtime(), method, {a.rows(), a.cols()}) : TileShape{16, 12};
        Graph g(runtime());
        return ols(g, mapped(a, tile), mapped(b, {tile.mb, 2}, "B"), options);
      });
    }
}

TEMPLATE_TEST_CASE("least squares of a file scales exactly", "", float, double) {
  using T = TestType;
  const test::TemporaryFolder folder;
  check_least_squares<T>(300, 6, false, [&](const HostMatrix<T>& a, const HostMatrix<T>& b) {
    write_matrix(folder / "a.npy", a);
    OlsOptions options;
    options.rows = 70;
    Graph g(runtime());
    return ols(g, MatrixRows<T>(folder / "a.npy"), b, options);
  });
}

TEMPLATE_TEST_CASE("subnormal data are solved with the digits they have", "", float, double) {
  using T = TestType;
  // Subnormal data have few digits; X equals the solution of the same numbers near 1.
  const int p = std::numeric_limits<T>::min_exponent - (sizeof(T) == 8 ? 26 : 8);
  for (const auto& [m, n] : {std::pair<index_t, index_t>{40, 6}, {20, 20}, {12, 30}, {400, 5}})
    for (const OlsMethod method : {OlsMethod::tiles, OlsMethod::tall_skinny, OlsMethod::givens}) {
      HostMatrix<T> a(m, n), b(m, 1);
      const ProductForm<T> element(m, n, spectrum(std::min(m, n), 5), 3);
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i < m; ++i) a(i, j) = std::ldexp(element(i, j), p);
      for (index_t i = 0; i < m; ++i) b(i, 0) = std::ldexp(T(i % 7) - T(3), p);
      const auto solve = [&](int power) {
        HostMatrix<T> x = times(a, power), y = times(b, power);
        OlsOptions options;
        options.method = method;
        Graph g(runtime());
        const TileShape tile =
            method == OlsMethod::givens ? ols_tile(runtime(), method, {x.rows(), x.cols()}) : TileShape{16, 12};
        return ols(g, mapped(x, tile), mapped(y, {tile.mb, 2}, "B"), options);
      };
      const auto near_one = solve(-p), tiny = solve(0);
      CAPTURE(m, n, int(method), tiny.condition, tiny.rank);
      REQUIRE(near_one.status == SolveStatus::ok);
      REQUIRE(tiny.status == SolveStatus::ok);
      double distance = 0, size = 0;
      for (index_t j = 0; j < n; ++j) {
        distance = std::hypot(distance, static_cast<double>(tiny.X(j, 0) - near_one.X(j, 0)));
        size = std::hypot(size, static_cast<double>(near_one.X(j, 0)));
      }
      // R has as few digits as A: an error of 2^-26 (2^-15) times the condition.
      CHECK(distance <= size * (sizeof(T) == 8 ? 1e-5 : 0.05));
    }
}
