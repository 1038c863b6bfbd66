#include "tests/support/lapack_tridiagonal_eig.hpp"
#include "tests/support/machine.hpp"
#include "tests/support/shared_runtime.hpp"
#include <tesela/algorithms/eigen/tridiagonal_eig.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <cstdio>

using namespace tesela;
using test::SymmetricTridiagonal;
using test::tridiagonal_of;

namespace {

constexpr TridiagonalEigMethod vector_methods[]{TridiagonalEigMethod::divide_and_conquer, TridiagonalEigMethod::ql,
                                                TridiagonalEigMethod::bisection};

template <class T>
struct Bounds {
  static constexpr double value = sizeof(T) == 8 ? 5e-15 : 1e-6, residual = value,
                          orthogonality = sizeof(T) == 8 ? 1e-13 : 2e-5;
};

/// Values, and vectors in padded memory; the padding must not change.
template <class T>
struct Pairs {
  TridiagonalEigResult<T> result;
  HostMatrix<T> x;
};

template <class T>
Pairs<T> pairs_of(const SymmetricTridiagonal<T>& t, const TridiagonalEigOptions& options = {},
                  TileShape tile = {100, 90}) {
  const index_t n = t.n(), columns = options.range.value_or(IndexRange{0, n}).size(), ld = n + 3;
  HostMatrix<T> padded(ld, columns), x(n, columns);
  std::fill_n(padded.data(), padded.size(), T(-7));
  Pairs<T> pairs;
  {
    const auto X = TileMatrix<T>::map(test::runtime(), padded.data(), n, columns, ld, tile);
    pairs.result = tridiagonal_eig<T>(test::runtime(), t.d, t.e, X, options);
  }
  for (index_t j = 0; j < columns; ++j) {
    for (index_t i = n; i < ld; ++i) CHECK(padded(i, j) == T(-7));
    std::copy_n(&padded(0, j), n, x.data() + j * n);
  }
  pairs.x = std::move(x);
  return pairs;
}

/// Errors, each divided by its bound.
struct Errors {
  double value = 0, residual = 0, orthogonality = 0;
  void raise(const Errors& other) {
    value = std::max(value, other.value);
    residual = std::max(residual, other.residual);
    orthogonality = std::max(orthogonality, other.orthogonality);
  }
  bool good() const { return value <= 1 && residual <= 1 && orthogonality <= 1; }  // false for NaN
};

/// Returns the errors of values and vectors from position `first` on, in double, with T scaled to size 1.
template <class T>
Errors errors_of(const SymmetricTridiagonal<T>& t, const Pairs<T>& pairs, index_t first = 0) {
  const std::vector<double> right = test::reference_values(t);
  const index_t n = t.n(), columns = pairs.x.cols();
  const int exponent = test::size_exponent(t);
  const double norm = test::norm_of(right), unit = norm > 0 ? norm : 1,
               root = std::sqrt(static_cast<double>(std::max<index_t>(n, 1)));
  REQUIRE(static_cast<index_t>(pairs.result.values.size()) == columns);
  const auto entry = [&](const std::vector<T>& band, index_t i) {
    return std::ldexp(static_cast<double>(band[static_cast<std::size_t>(i)]), -exponent);
  };
  Errors e;
  HostMatrix<double> x(n, columns), gram(columns, columns);
  // Returns NaN if either is NaN.
  const auto larger = [](double a, double b) { return std::isnan(a) || b <= a ? a : b; };
  for (index_t j = 0; j < columns; ++j) {
    const double value = std::ldexp(static_cast<double>(pairs.result.values[static_cast<std::size_t>(j)]), -exponent);
    e.value = larger(e.value, std::abs(value - right[static_cast<std::size_t>(first + j)]) / unit / root);
    double square = 0;
    for (index_t i = 0; i < n; ++i) x(i, j) = static_cast<double>(pairs.x(i, j));
    for (index_t i = 0; i < n; ++i) {
      double r = (entry(t.d, i) - value) * x(i, j);
      if (i > 0) r += entry(t.e, i - 1) * x(i - 1, j);
      if (i + 1 < n) r += entry(t.e, i) * x(i + 1, j);
      square += r * r;
    }
    e.residual = larger(e.residual, std::sqrt(square) / unit / root);
  }
  if (columns > 0)
    blas::gemm<double>(Op::transpose, Op::none, columns, columns, n, 1, x.data(), n, x.data(), n, 0, gram.data(),
                       columns);
  double square = 0;
  for (index_t j = 0; j < columns; ++j)
    for (index_t i = 0; i < columns; ++i) square += std::pow(gram(i, j) - (i == j ? 1 : 0), 2);
  e.orthogonality = std::sqrt(square) / root / Bounds<T>::orthogonality;
  e.value /= Bounds<T>::value;
  e.residual /= Bounds<T>::residual;
  return e;
}

void print(const char* what, const Errors& e) {
  std::printf("%s, over their bounds: values %.3f, residuals %.3f, orthogonality %.3f\n", what, e.value, e.residual,
              e.orthogonality);
}

}  // namespace

TEMPLATE_TEST_CASE("tridiagonal eigenpairs are accurate for every kind and order", "", float, double) {
  for (const TridiagonalEigMethod method : vector_methods) {
    Errors worst;
    for (const auto& kind : test::tridiagonal_eig_kinds)
      for (const index_t n : {0, 1, 2, 3, 31, 32, 33, 64, 65, 100, 501}) {
        const auto t = tridiagonal_of<TestType>(kind, n);
        const auto pairs = pairs_of(t, {.method = method});
        INFO(kind << " n = " << n << " " << name_of(tridiagonal_eig_methods(), method));
        REQUIRE(pairs.result.status.ok());
        const Errors errors = errors_of(t, pairs);
        INFO(errors.value << " " << errors.residual << " " << errors.orthogonality << " of the bounds");
        CHECK(errors.good());
        worst.raise(errors);
      }
    print(name_of(tridiagonal_eig_methods(), method), worst);
  }
}

TEST_CASE("tridiagonal eigenpairs of order 1000 are accurate with little and with much deflation") {
  for (const char* kind : {"uniform", "second-difference", "clement", "glued"}) {
    const auto t = tridiagonal_of<double>(kind, 1000);
    const auto pairs = pairs_of(t, {}, {1000, 256});
    const Errors errors = errors_of(t, pairs);
    print(kind, errors);
    CHECK(errors.good());
    CHECK(pairs.result.method == TridiagonalEigMethod::divide_and_conquer);
    CHECK(pairs.result.merges >= (test::runtime().gpus() == 0 ? 15 : 3));  // GPUs start with larger leaves
    CHECK(pairs.result.iterations > 0);
    CHECK(pairs.result.iterations < 40);  // faster than bisection alone
    CHECK(pairs.result.deflated < pairs.result.merged);
    const double deflated = static_cast<double>(pairs.result.deflated) / static_cast<double>(pairs.result.merged);
    if (kind == std::string("glued")) CHECK(deflated > 0.8);
    if (kind == std::string("second-difference")) CHECK(deflated < 0.3);
  }
}

TEMPLATE_TEST_CASE("tridiagonal eigenpairs are accurate for leaves, tiles and batches of any size", "", float, double) {
  struct Cut {
    index_t leaf, rows, batch;
    TileShape tile;
  };
  for (const char* kind : {"uniform", "glued", "clustered", "second-difference", "two-blocks"})
    for (const auto& [leaf, rows, batch, tile] : {Cut{1, 1, 1, {1, 200}},
                                                  {2, 7, 3, {17, 29}},
                                                  {5, 1000, 1000, {500, 500}},
                                                  {25, 60, 32, {123, 1}},
                                                  {1000, 9, 9, {64, 64}}}) {
      const auto t = tridiagonal_of<TestType>(kind, leaf == 1 ? 30 : 123);
      const auto pairs = pairs_of(t, {.leaf = leaf, .rows = rows, .batch = batch}, tile);
      INFO(kind << " leaf " << leaf << ", tasks of " << rows << " x " << batch);
      const Errors errors = errors_of(t, pairs);
      INFO(errors.value << " " << errors.residual << " " << errors.orthogonality << " of the bounds");
      CHECK(errors.good());
    }
}

TEMPLATE_TEST_CASE("tridiagonal eigenpairs: a part equals that part of the whole, even if it cuts a cluster", "", float,
                   double) {
  constexpr index_t n = 211;
  constexpr double close = 200 * std::numeric_limits<TestType>::epsilon();
  for (const TridiagonalEigMethod method : vector_methods)
    for (const char* kind : {"uniform", "glued", "clustered", "identity", "wilkinson", "one-zero", "zero"}) {
      const auto t = tridiagonal_of<TestType>(kind, n);
      const auto whole = pairs_of(t, {.method = method});
      for (const IndexRange range : {IndexRange{0, 0}, {0, 1}, {n - 1, n}, {20, 21}, {40, 170}, {n, n}, {0, n}}) {
        const auto part = pairs_of(t, {.method = method, .range = range}, {50, 40});
        INFO(kind << " [" << range.begin << ", " << range.end << ") " << name_of(tridiagonal_eig_methods(), method));
        const Errors errors = errors_of(t, part, range.begin);
        CHECK(errors.good());
        double difference = 0;
        for (index_t j = 0; j < range.size(); ++j) {
          REQUIRE(part.result.values[static_cast<std::size_t>(j)] ==
                  whole.result.values[static_cast<std::size_t>(range.begin + j)]);
          for (index_t i = 0; i < n; ++i)
            difference =
                std::max(difference, std::abs(static_cast<double>(part.x(i, j) - whole.x(i, range.begin + j))));
        }
        // Inverse iteration finds other vectors of a cluster that the range cuts.
        if (method != TridiagonalEigMethod::bisection) CHECK(difference <= close);
      }
    }
}

TEMPLATE_TEST_CASE(
    "tridiagonal eigenpairs: a power of two scales the values exactly and leaves the vectors' bits unchanged", "",
    float, double) {
  constexpr int far = sizeof(TestType) == 8 ? 900 : 60;
  for (const TridiagonalEigMethod method : vector_methods)
    for (const char* kind : {"uniform", "wilkinson", "glued", "second-difference"}) {
      const auto t = tridiagonal_of<TestType>(kind, 150);
      const auto one = pairs_of(t, {.method = method});
      for (const int exponent : {far, -far, 1}) {
        auto scaled = t;
        for (auto* band : {&scaled.d, &scaled.e})
          for (TestType& x : *band) x = std::ldexp(x, exponent);
        const auto other = pairs_of(scaled, {.method = method});
        for (index_t j = 0; j < t.n(); ++j) {
          const auto at = static_cast<std::size_t>(j);
          REQUIRE(other.result.values[at] == std::ldexp(one.result.values[at], exponent));
          for (index_t i = 0; i < t.n(); ++i) REQUIRE(other.x(i, j) == one.x(i, j));
        }
      }
    }
}

TEST_CASE("tridiagonal eigenpairs have the same bits in every run") {
  const auto t = tridiagonal_of<double>("normal", 300);
  for (const TridiagonalEigMethod method :
       {TridiagonalEigMethod::divide_and_conquer, TridiagonalEigMethod::bisection}) {
    const auto first = pairs_of(t, {.method = method}), second = pairs_of(t, {.method = method});
    for (index_t j = 0; j < t.n(); ++j)
      for (index_t i = 0; i < t.n(); ++i) REQUIRE(first.x(i, j) == second.x(i, j));
  }
}

TEMPLATE_TEST_CASE("tridiagonal eigenpairs: automatic bisects for a few of them", "", float, double) {
  constexpr index_t n = 3000, few = 40;
  for (const char* kind : {"uniform", "second-difference", "glued", "clustered", "one-zero"}) {
    const auto t = tridiagonal_of<TestType>(kind, n);
    for (const IndexRange range : {IndexRange{0, few}, {n / 2, n / 2 + few}, {n - few, n}}) {
      const auto pairs = pairs_of(t, {.range = range}, {n, few});
      INFO(kind << " [" << range.begin << ", " << range.end << ")");
      REQUIRE(pairs.result.status.ok());
      CHECK(pairs.result.method == TridiagonalEigMethod::bisection);
      CHECK(errors_of(t, pairs, range.begin).good());
    }
  }
  const auto t = tridiagonal_of<TestType>("uniform", 400);
  CHECK(pairs_of(t).result.method == TridiagonalEigMethod::divide_and_conquer);
}

TEMPLATE_TEST_CASE("tridiagonal eigenpairs by bisection: rows without neighbours have unit vectors and their own value",
                   "", float, double) {
  auto t = tridiagonal_of<TestType>("uniform", 90);
  for (index_t i = 0; i < 89; ++i)
    if (i % 3 != 1) t.e[static_cast<std::size_t>(i)] = 0;  // blocks of 1 and 2 rows
  t.d[9] = t.d[3];
  const auto pairs = pairs_of(t, {.method = TridiagonalEigMethod::bisection});
  CHECK(errors_of(t, pairs).good());
  CHECK(pairs.result.blocks == 60);
  for (index_t j = 0; j < 90; ++j) {
    index_t components = 0, row = 0;
    for (index_t i = 0; i < 90; ++i)
      if (pairs.x(i, j) != 0) ++components, row = i;
    CHECK(components <= 2);
    if (components == 1) CHECK(pairs.result.values[static_cast<std::size_t>(j)] == t.d[static_cast<std::size_t>(row)]);
  }
}

TEST_CASE("tridiagonal eigenpairs by bisection are accurate in batches of any size") {
  for (const char* kind : {"uniform", "wilkinson", "glued", "clustered", "identity", "second-difference"})
    for (const index_t batch : {1, 5, 16, 61}) {
      const auto t = tridiagonal_of<double>(kind, 123);
      INFO(kind << " in batches of " << batch);
      const Errors errors = errors_of(t, pairs_of(t, {.method = TridiagonalEigMethod::bisection, .batch = batch}));
      INFO(errors.value << " " << errors.residual << " " << errors.orthogonality << " of the bounds");
      CHECK(errors.good());
    }
}

TEMPLATE_TEST_CASE("tridiagonal eigenpairs are accurate with all merges on GPUs", "[gpu]", float, double) {
  test::require_gpu();
  Errors worst;
  for (const auto& kind : test::tridiagonal_eig_kinds)
    for (const index_t n : {2, 33, 100, 501, 1000}) {
      const auto t = tridiagonal_of<TestType>(kind, n);
      const TridiagonalEigOptions options{.gpus_from = 1, .leaf = n / 9 + 1};
      const auto pairs = pairs_of(t, options, {n, 200}), again = pairs_of(t, options, {300, n});
      INFO(kind << " n = " << n);
      const Errors errors = errors_of(t, pairs);
      INFO(errors.value << " " << errors.residual << " " << errors.orthogonality << " of the bounds");
      CHECK(errors.good());
      worst.raise(errors);
      CHECK(pairs.result.values == again.result.values);
      bool same = true;
      for (index_t j = 0; j < n; ++j) same = same && std::equal(&pairs.x(0, j), &pairs.x(0, j) + n, &again.x(0, j));
      CHECK(same);
    }
  print("merges on GPUs", worst);
}

TEMPLATE_TEST_CASE("tridiagonal eigenpairs on GPUs are accurate for leaves, tiles, batches and parts of any size",
                   "[gpu]", float, double) {
  test::require_gpu();
  for (const char* kind : {"uniform", "glued", "clustered", "second-difference", "two-blocks"}) {
    const auto t = tridiagonal_of<TestType>(kind, 123);
    for (const TridiagonalEigOptions& options :
         {TridiagonalEigOptions{.gpus_from = 1, .leaf = 2, .rows = 7, .batch = 1},
          {.gpus_from = 50, .leaf = 5, .rows = 20, .batch = 30},
          {.gpus_from = 1, .leaf = 1, .rows = 1000, .batch = 1000},
          {.range = IndexRange{40, 100}, .gpus_from = 1, .leaf = 10}}) {
      const index_t first = options.range.value_or(IndexRange{0, 123}).begin;
      INFO(kind << " leaf " << options.leaf << ", tasks of " << options.rows << " x " << options.batch);
      CHECK(errors_of(t, pairs_of(t, options, {50, 17}), first).good());
    }
  }
}

TEMPLATE_TEST_CASE("tridiagonal eigenpairs on GPUs are accurate under a sanitizer", "[gpu][sanitize]", float, double) {
  test::require_gpu();
  for (const char* kind : {"uniform", "glued"}) {
    const auto t = tridiagonal_of<TestType>(kind, 60);
    CHECK(errors_of(t, pairs_of(t, {.gpus_from = 1, .leaf = 16})).good());
  }
}

TEST_CASE("tridiagonal eigenpairs: invalid input is a status or an error that names the argument") {
  auto t = tridiagonal_of<double>("uniform", 40);
  const auto call = [&](index_t m, index_t n, const TridiagonalEigOptions& options) {
    const TileMatrix<double> X(test::runtime(), m, n, {16, 16});
    return tridiagonal_eig<double>(test::runtime(), t.d, t.e, X, options);
  };
  CHECK_THROWS_AS(call(40, 39, {}), ArgumentError);
  CHECK_THROWS_AS(call(39, 40, {}), ArgumentError);
  CHECK_THROWS_AS(call(40, 41, {.range = IndexRange{0, 41}}), ArgumentError);
  t.e[3] = std::numeric_limits<double>::quiet_NaN();
  const auto result = call(40, 40, {});
  CHECK(to_string(result.status) == "e(3) is not finite");
  CHECK(result.values.empty());
}
