#include "tests/support/general_toeplitz.hpp"
#include "tests/support/vector_targets.hpp"
#include <tesela/codelets/toeplitz/general_toeplitz.hpp>
#include <tesela/codelets/toeplitz/toeplitz_error.hpp>

// Toeplitz systems of real and complex numbers: one body for four types. LAPACK's gesv in double precision is the
// reference.

using namespace tesela::test;

namespace {

/// Returns the matrix with the column c and the row r, or conj(c).
template <class T>
GeneralMatrix<T> matrix(const HostMatrix<T>& c, const HostMatrix<T>* r = nullptr) {
  return general_matrix<T>(c.rows(), [&](index_t d) {
    return d >= 0 ? c(d, 0) : r != nullptr ? (*r)(-d, 0) : conj(c(-d, 0));
  });
}

/// Returns random matrices: general or Hermitian, and with `zeros` diagonals from the main one on that vanish, as do
/// the leading minors of these orders.
template <class T>
GeneralMatrix<T> random_matrix(index_t n, bool hermitian, index_t zeros = 0) {
  HostMatrix<T> c = random<T>(n, 1, 3), r = random<T>(n, 1, 4);
  if (hermitian) c(0, 0) = real_part(c(0, 0));
  for (index_t i = 0; i < std::min(zeros, n); ++i) c(i, 0) = r(i, 0) = T(0);
  return hermitian ? matrix(c) : matrix(c, &r);
}

/// Solves by LAPACK.
template <class T>
HostMatrix<Wide<T>> by_gesv(const GeneralMatrix<T>& a, const HostMatrix<T>& b) {
  HostMatrix<Wide<T>> lu = dense(a), x = wide(b);
  REQUIRE(lapack::gesv(a.n(), b.cols(), lu.data(), lu.ld(), x.data(), x.ld()) == 0);
  return x;
}

template <class T>
double one_norm(const HostMatrix<T>& a) {
  double most = 0;
  for (index_t j = 0; j < a.cols(); ++j) {
    double sum = 0;
    for (index_t i = 0; i < a.rows(); ++i) sum += std::abs(a(i, j));
    most = std::max(most, sum);
  }
  return most;
}

/// Returns ||T||_1 ||T^-1||_1.
template <class T>
double condition(const GeneralMatrix<T>& a) {
  return one_norm(dense(a)) * one_norm(by_gesv(a, identity<T>(a.n())));
}

}  // namespace

TEMPLATE_TEST_CASE("Toeplitz systems agree with gesv in every type", "", FOUR_TYPES) {
  using T = TestType;
  for (const index_t n : {1, 2, 3, 8, 33, 128, 129, 300})
    for (const bool hermitian : {false, true})
      for (const index_t zeros : {index_t{0}, index_t{1}, std::min<index_t>(n / 3, 40)}) {
        if (n < 3 && zeros > 0) continue;
        const GeneralMatrix<T> a = random_matrix<T>(n, hermitian, zeros);
        const HostMatrix<T> b = random<T>(n, 2, 5);
        const HostMatrix<Wide<T>> x = by_gesv(a, b);
        const double exact = condition(a);
        if (exact > 1e-3 / eps<T>) continue;
        for (const ToeplitzMethod method : {ToeplitzMethod::automatic, ToeplitzMethod::gohberg_semencul,
                                            ToeplitzMethod::schur, ToeplitzMethod::lookahead, ToeplitzMethod::dense}) {
          const bool recursion = method == ToeplitzMethod::gohberg_semencul || method == ToeplitzMethod::schur;
          if (recursion && (!hermitian || zeros > 0)) continue;
          const auto [found, solution] = answer(runtime(), a, b, method);
          INFO("n " << n << " hermitian " << hermitian << " zeros " << zeros << ": " << solution.status()
                    << ", condition " << exact << ", by " << toeplitz_method_name(solution.taken.method));
          REQUIRE(solution.ok());
          CHECK(solution.condition <= 1.01 * exact);
          CHECK(solution.condition >= exact / 5);
          if (!is_complex<T> && recursion) continue;  // refined to 32 roundings in the precision of T
          CHECK(solution.taken.residual.error <= 4 * eps<T>);
          CHECK(distance(wide(found), x) <= 2 * eps<T> * exact * norm(x));
          const HostMatrix<T> columns = found.clone();
          CHECK(kernels::toeplitz_residual<T>(n, a.c.data(), a.r.data(), 0, 2, columns.data(), b.data()) <= 4 * eps<T>);
        }
      }
}

TEMPLATE_TEST_CASE("a column alone has the conjugate row, not the transposed one", "", FOUR_TYPES) {
  using T = TestType;
  for (const index_t n : {1, 2, 60, 150}) {
    HostMatrix<T> t = random<T>(n, 1, 3);
    const HostMatrix<T> b = random<T>(n, 2, 5);
    for (const bool real : {true, false}) {
      if (real) t(0, 0) = real_part(t(0, 0)) + real_t<T>(0.5);
      if (!real) t(0, 0) = generate<T>({1, 1}, {.pattern = Pattern::uniform, .seed = 9})(0, 0);  // as in SciPy
      HostMatrix<T> x = b.clone();
      REQUIRE(toeplitz_solve<T>(runtime(), t, T(0), MatrixView<T>(x)).ok());
      const GeneralMatrix<T> a = matrix(t), transposed = matrix(t, &t);
      const double bound = 2 * eps<T> * condition(a);
      CHECK(distance(wide(x), by_gesv(a, b)) <= bound * norm(x));
      if (is_complex<T> && n > 1) CHECK(distance(wide(x), by_gesv(transposed, b)) > 1e-2 * norm(x));
      CHECK(kernels::toeplitz_residual<T>(n, t.data(), 0, 2, x.data(), b.data()) <= 4 * eps<T>);
      HostMatrix<T> product(n, 2);
      kernels::toeplitz_product<T>(n, t.data(), 0, 2, x.data(), product.data());
      CHECK(distance(product, b) <= 20 * eps<T> * one_norm(dense(a)) * norm(x));
    }
  }
}

TEMPLATE_TEST_CASE("recursions count the negative eigenvalues of Hermitian Toeplitz matrices", "", COMPLEX_TYPES) {
  using T = TestType;
  for (const index_t n : {1, 2, 40, 140})
    for (const index_t zeros : {index_t{0}, index_t{1}, n / 3}) {
      if (n < 3 && zeros > 0) continue;
      const GeneralMatrix<T> a = random_matrix<T>(n, true, zeros);
      HostMatrix<Wide<T>> full = dense(a);
      std::vector<double> values(static_cast<std::size_t>(n));
      REQUIRE(lapack::syevd(n, full.data(), full.ld(), values.data(), false) == 0);
      const double sigma = (values.front() + values.back()) / 7;
      const auto below = std::count_if(values.begin(), values.end(), [&](double value) { return value < sigma; });
      for (const ToeplitzMethod method :
           {ToeplitzMethod::lookahead, ToeplitzMethod::gohberg_semencul, ToeplitzMethod::schur}) {
        const auto [x, solution] = answer(runtime(), a, random<T>(n, 1, 5), method, T(static_cast<real_t<T>>(sigma)));
        CAPTURE(n, zeros, solution.status());
        if (n > 1) REQUIRE(solution.ok());
        if (n > 1) CHECK(solution.taken.negative == below);
      }
    }
  CHECK_FALSE(answer(runtime(), random_matrix<T>(40, false), random<T>(40, 1, 5), ToeplitzMethod::lookahead)
                  .solution.taken.negative.has_value());
}

TEMPLATE_TEST_CASE("general Toeplitz systems have the same digits at every size in every type", "", FOUR_TYPES) {
  using T = TestType;
  const int far = std::numeric_limits<real_t<T>>::max_exponent - 30;
  for (const index_t n : {7, 33, 40, 150}) {
    const GeneralMatrix<T> a = random_matrix<T>(n, false, 1);
    const HostMatrix<T> b = random<T>(n, 2, 5), x = answer(runtime(), a, b).x;
    for (const int of_a : {-far, 0, far})
      for (const int of_b : {-far, 0, far}) {
        if (std::abs(of_b - of_a) > far) continue;
        const auto [found, solution] = answer(
            runtime(), GeneralMatrix<T>{times_two_to(of_a, a.c), times_two_to(of_a, a.r)}, times_two_to(of_b, b));
        CAPTURE(n, of_a, of_b, solution.status());
        CHECK(solution.ok());
        CHECK(distance(times_two_to(of_a - of_b, found), x) == 0);
      }
  }
}

TEMPLATE_TEST_CASE("NaN and infinities in Toeplitz systems are named", "", FOUR_TYPES) {
  using T = TestType;
  const index_t n = GENERATE(6, 200);
  for (const T value : not_finite<T>()) {
    const GeneralMatrix<T> good = random_matrix<T>(n, false);
    const HostMatrix<T> b = random<T>(n, 2, 5);
    GeneralMatrix<T> a{good.c.clone(), good.r.clone()};
    a.r(3, 0) = value;
    CHECK(answer(runtime(), a, b).solution.status() == "not finite: r(3)");
    a.c(2, 0) = value;
    CHECK(answer(runtime(), a, b).solution.status() == "not finite: c(2)");
    HostMatrix<T> right = b.clone();
    right(4, 1) = value;
    CHECK(answer(runtime(), good, right).solution.status() == "not finite: b(4, 1)");
    CHECK(answer(runtime(), good, b, ToeplitzMethod::automatic, value).solution.status() == "not finite: c(0) - sigma");
    right = b.clone();
    CHECK(toeplitz_solve<T>(runtime(), a.c, T(0), MatrixView<T>(right)).status() ==
          (is_complex<T> ? "not finite: c(2)" : "not finite: t(2)"));
    CHECK(distance(right, b) == 0);
  }
}

TEMPLATE_TEST_CASE("singular complex Toeplitz matrices have no solution, for any B", "", COMPLEX_TYPES) {
  using T = TestType;
  for (const index_t n : {2, 5, 40, 140}) {
    const auto wave = [&](real_t<T> angle) {  // rank 1
      return filled<T>({n, 1}, [&](index_t i, index_t) { return std::polar(real_t<T>(1), angle * real_t<T>(i)); });
    };
    for (const GeneralMatrix<T>& a : {matrix(wave(0)), matrix(wave(1)), matrix(wave(real_t<T>(2.5)))})
      for (const ToeplitzMethod method :
           {ToeplitzMethod::automatic, ToeplitzMethod::lookahead, ToeplitzMethod::dense}) {
        const auto [x, solution] = answer(runtime(), a, random<T>(n, 1, 5), method);
        CAPTURE(n, solution.status(), solution.condition);
        CHECK_FALSE(solution.ok());
      }
  }
}

TEST_CASE("complex Toeplitz systems refuse the methods of real ones and wrong shapes") {
  using T = std::complex<double>;
  const GeneralMatrix<T> a = random_matrix<T>(6, true);
  const HostMatrix<T> b = random<T>(6, 2, 5);
  for (const ToeplitzMethod method : {ToeplitzMethod::cauchy, ToeplitzMethod::gradients, ToeplitzMethod::superfast})
    CHECK_THROWS_WITH(answer(runtime(), a, b, method), ContainsSubstring("lookahead or dense"));
  CHECK_THROWS_WITH(answer(runtime(), random_matrix<T>(6, false), b, ToeplitzMethod::gohberg_semencul),
                    ContainsSubstring("needs a Hermitian matrix"));
  CHECK_THAT(answer(runtime(), random_matrix<T>(6, true, 1), b, ToeplitzMethod::gohberg_semencul).solution.status(),
             ContainsSubstring("the leading minor of order 1 vanishes"));
  CHECK(answer(runtime(), random_matrix<T>(140, true, 1), random<T>(140, 1, 5)).solution.attempts.size() == 2);
  CHECK_THROWS_AS(answer(runtime(), a, random<T>(5, 1, 1)), ArgumentError);
  CHECK_THROWS_AS(answer(runtime(), GeneralMatrix<T>{a.c.clone(), HostMatrix<T>(5, 1)}, b), ArgumentError);
  CHECK(answer(runtime(), random_matrix<T>(4, true), HostMatrix<T>(4, 0)).solution.ok());
}

TEMPLATE_TEST_CASE("recursions solve larger systems on every vector unit", "", double, std::complex<double>) {
  TESELA_ON_EACH_VECTOR_TARGET();
  using T = TestType;
  for (const index_t n : {100, 257, 1100})
    for (const bool hermitian : {false, true}) {
      const GeneralMatrix<T> a = random_matrix<T>(n, hermitian);
      const HostMatrix<T> b = random<T>(n, 2, 1);
      for (const ToeplitzMethod method :
           {ToeplitzMethod::lookahead, ToeplitzMethod::gohberg_semencul, ToeplitzMethod::schur}) {
        if (method != ToeplitzMethod::lookahead && (!hermitian || !is_complex<T>)) continue;
        const auto [x, solution] = answer(runtime(), a, b, method);
        CHECK(solution.ok());
        CHECK(solution.taken.residual.error <= 2 * eps<T>);
        CHECK(distance(x, by_gesv(a, b)) <= 2 * eps<T> * condition(a) * norm(x));
      }
    }
}

TEMPLATE_TEST_CASE("generated complex Toeplitz matrices are Hermitian with the eigenvalues of the real ones", "",
                   COMPLEX_TYPES) {
  using T = TestType;
  const index_t n = 41;
  const auto values = [&](const auto& t) {
    auto full = dense(matrix(t));
    std::vector<double> w(static_cast<std::size_t>(n));
    REQUIRE(lapack::syevd(n, full.data(), full.ld(), w.data(), false) == 0);
    return w;
  };
  for (const std::string kind : {"prolate:0.2", "kms:0.5", "second-difference", "singular-minors"}) {
    const auto t = toeplitz_column<T>(parse_toeplitz_kind(kind), n);
    const std::vector<double> found = values(t), known = values(toeplitz_column<double>(parse_toeplitz_kind(kind), n));
    double imaginary = 0;
    for (index_t i = 0; i < n; ++i) imaginary = std::max<double>(imaginary, std::abs(t(i, 0).imag()));
    CHECK(imaginary > 0.01);
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(std::abs(found[i] - known[i]) <= 100 * eps<T>);
  }
  const auto definite = toeplitz_column<T>(parse_toeplitz_kind("spd"), n);
  CHECK(definite(0, 0).imag() == 0);
  CHECK(values(definite).front() > 0);
  CHECK(toeplitz_column<T>(parse_toeplitz_kind("random"), n)(0, 0).imag() == 0);
  const auto [low, high] = kernels::toeplitz_symbol_range(n, definite.data(), 0.0);
  CHECK(low <= values(definite).front());
  CHECK(high >= values(definite).back());
}
