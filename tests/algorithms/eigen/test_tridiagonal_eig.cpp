#include "tests/support/lapack_tridiagonal_eig.hpp"
#include "tests/support/shared_runtime.hpp"
#include <tesela/algorithms/eigen/tridiagonal_eig.hpp>
#include <tesela/codelets/libraries/blas.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstdio>
#include <limits>

using namespace tesela;
using test::SymmetricTridiagonal;
using test::tridiagonal_of;

namespace {

constexpr TridiagonalEigMethod vector_methods[]{TridiagonalEigMethod::divide_and_conquer};

template <class T>
struct Bounds {
  static constexpr double value = sizeof(T) == 8 ? 5e-15 : 1e-6, residual = value,
                          orthogonality = sizeof(T) == 8 ? 1e-13 : 2e-5;
};

/// Values, and vectors in padded memory that must stay as it was.
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

/// Errors, each over its bound.
struct Errors {
  double value = 0, residual = 0, orthogonality = 0;
  void raise(const Errors& other) {
    value = std::max(value, other.value);
    residual = std::max(residual, other.residual);
    orthogonality = std::max(orthogonality, other.orthogonality);
  }
  bool good() const { return value <= 1 && residual <= 1 && orthogonality <= 1; }  // no NaN
};

/// Of values and vectors from position `first` on, measured in double on T of size 1.
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
  const auto larger = [](double a, double b) { return b <= a ? a : b; };  // NaN wins
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

TEMPLATE_TEST_CASE("tridiagonal eigenpairs: every kind and order", "", float, double) {
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
