#include "tests/support/c_interface.hpp"
#include "tests/support/four_types.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include <random>

using namespace tesela::test;

namespace {

std::string said() { return tesela_error(); }

/// Returns for each element of a pool whether it belongs to the array.
std::vector<bool> elements(std::size_t pool, index_t begin, index_t m, index_t n, index_t ld) {
  std::vector<bool> of(pool);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) of[static_cast<std::size_t>(begin + i + j * ld)] = true;
  return of;
}

}  // namespace

TEST_CASE("C: only arrays that share an element are refused", "[c][overlap]") {
  const COnCores cores;  // a GPU also requires arrays that do not interleave (TileMatrix::map)
  std::mt19937 random(7);
  const auto number = [&](index_t low, index_t high) {
    return std::uniform_int_distribution<index_t>(low, high)(random);
  };
  int shared = 0, apart = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    const index_t m = number(0, 5), n = number(0, 5), k = number(0, 4), same = number(1, 12);
    const bool alike = trial % 2 == 0;
    const auto ld = [&](index_t rows) { return std::max<index_t>({rows, 1, alike ? same : number(1, 12)}); };
    const index_t lda = ld(m), ldb = ld(k), ldc = ld(m);
    std::vector<double> pool(160, 1.0), b(100, 1.0);
    const index_t at_a = number(0, 60), at_c = number(0, 60);
    const auto in_a = elements(pool.size(), at_a, m, k, lda), in_c = elements(pool.size(), at_c, m, n, ldc);
    bool meet = false;
    for (std::size_t e = 0; e < pool.size(); ++e) meet = meet || (in_a[e] && in_c[e]);
    CAPTURE(m, n, k, lda, ldc, at_a, at_c);
    REQUIRE(tesela_dgemm('N', 'N', m, n, k, 1, pool.data() + at_a, lda, b.data(), ldb, 0, pool.data() + at_c, ldc) ==
            (meet ? -12 : 0));
    for (std::size_t e = 0; !meet && e < pool.size(); ++e) REQUIRE(pool[e] == (in_c[e] ? static_cast<double>(k) : 1.0));
    ++(meet ? shared : apart);
  }
  CHECK((shared > 200 && apart > 200));
}

TEST_CASE("C: two halves of one array are accepted", "[c][overlap]") {
  const COnCores cores;  // a GPU also requires arrays that do not interleave (TileMatrix::map)
  std::vector<double> a(20 * 10, 1.0), b(10 * 10, 1.0);
  CHECK_OK(tesela_dgemm('N', 'N', 10, 10, 10, 1, a.data(), 20, b.data(), 10, 0, a.data() + 10, 20));
  CHECK(a[10] == 10);
  CHECK(tesela_dgemm('N', 'N', 10, 10, 10, 1, a.data(), 20, b.data(), 10, 0, a.data() + 9, 20) == -12);
  CHECK(said() == "tesela_dgemm: c: overlaps a");
  CHECK(tesela_dgemm('N', 'N', 10, 10, 10, 1, b.data(), 10, a.data(), 20, 0, a.data() + 9, 20) == -12);
  CHECK(said() == "tesela_dgemm: c: overlaps b");
}

TEST_CASE("C: every function refuses to overwrite its other arguments", "[c][overlap]") {
  const COnCores cores;  // a GPU also requires arrays that do not interleave (TileMatrix::map)
  std::vector<double> v(400, 1.0), w(400, 1.0);
  double* const a = v.data();
  for (std::size_t i = 0; i < 5; ++i) w[i * 6] = 10;
  CHECK(tesela_dposv('U', 5, 1, a, 5, a + 24, 5) == -6);
  CHECK(tesela_dgesv(5, 1, a, 5, nullptr, a + 24, 5) == -6);
  CHECK(tesela_dgesv(5, 1, a, 5, reinterpret_cast<std::int64_t*>(a), w.data(), 5) == -5);
  CHECK(tesela_dgels(5, 2, 1, a, 5, a + 9, 5, nullptr) == -6);
  CHECK(tesela_dgelsy(5, 2, 1, a, 5, a, 5, 0, nullptr) == -6);
  CHECK(tesela_dwls(5, 2, 1, a + 8, a, 5, w.data(), 5, nullptr) == -5);
  tesela_gels_result result = {};
  result.size = sizeof result;
  result.residual_norms = a;
  CHECK(tesela_dgels(5, 2, 1, w.data(), 5, a, 5, &result) == -8);
  CHECK(tesela_dggglm(5, 2, 4, a, 5, w.data(), 5, a + 50, a + 54, w.data() + 50, nullptr) == -9);
  CHECK(tesela_dgglse(5, 2, 1, a, 5, w.data(), 1, a + 50, w.data() + 60, w.data() + 60, nullptr) == -10);
  CHECK(tesela_dsyev('V', 'L', 5, a, 5, a + 20) == -6);
  std::int64_t found = 0;
  CHECK(tesela_dsyevr('V', 'A', 'L', 5, a, 5, 0, 0, 0, 0, &found, w.data(), a, 5) == -13);
  CHECK(tesela_dsygv(1, 'V', 'L', 5, a, 5, a + 20, 5, w.data()) == -7);
  CHECK(tesela_dstev('V', 5, a, a + 3, w.data(), 5) == -3);
  CHECK(tesela_dtoeplitz_solve(5, 1, a, a, 5, nullptr) == -4);
  CHECK(tesela_dtoeplitz_eig('N', 5, a, a + 4, nullptr, 1) == -4);
  CHECK(tesela_dgtsv(5, 1, a, a + 10, a, a + 14, 5) == -6);
  CHECK(tesela_dtridiagonal_solve(5, 1, 1, 0, a, a + 10, a, 5, a + 4, 5) == -9);
  for (const double x : v) CHECK(x == 1);

  tesela_qr* qr = nullptr;
  REQUIRE(tesela_dgeqrf(10, 5, a, 20, &qr) == 0);
  CHECK(tesela_dormqr('L', 'T', 10, 5, qr, a + 9, 20) == -6);
  CHECK(said() == "tesela_dormqr: c: overlaps the array of qr");
  CHECK(tesela_dorgqr(10, 5, qr, a, 20) == -4);
  CHECK_OK(tesela_dorgqr(10, 5, qr, a + 10, 20));
  CHECK_OK(tesela_qr_free(qr));

  tesela_matrix* mapped = nullptr;
  CHECK_OK(tesela_dmatrix_map(10, 5, a, 20, 4, 4, &mapped));
  CHECK_OK(tesela_dgeqrf_tile(mapped, &qr));
  CHECK(tesela_dormqr('L', 'T', 10, 5, qr, a + 9, 20) == -6);
  CHECK(tesela_dorgqr(10, 5, qr, a, 20) == -4);
  CHECK_OK(tesela_dorgqr(10, 5, qr, a + 10, 20));
  CHECK_OK(tesela_qr_free(qr));
  CHECK_OK(tesela_matrix_free(mapped));
}

TEMPLATE_TEST_CASE("C: every function of tiles refuses to overwrite its other matrices", "[c][overlap]", FOUR_TYPES) {
  using T = TestType;
  const COnCores cores;  // a GPU refuses to map memory that overlaps in part
  const char trans = is_complex<T> ? 'C' : 'T';
  const index_t n = 4;
  const auto numbers = Padded<T>::random(n, n, 1);
  tesela_matrix *A = nullptr, *B = nullptr, *X = nullptr;
  for (tesela_matrix** each : {&A, &B, &X}) {
    REQUIRE(TESELA_C(T, matrix_create)(n, n, 2, 2, each) == 0);
    REQUIRE(TESELA_C(T, matrix_set)(*each, numbers.data(), numbers.ld) == 0);
  }
  tesela_graph* g = nullptr;
  REQUIRE(tesela_graph_create(&g) == 0);

  const auto solve = TESELA_C(T, gels_tile);
  CHECK(solve(A, B, B, nullptr) == -3);
  CHECK(said().ends_with("gels_tile: x: overlaps b"));
  CHECK(solve(A, B, A, nullptr) == -3);
  CHECK(solve(A, A, X, nullptr) == -2);
  CHECK(TESELA_C(T, gels_async)(g, A, B, B, nullptr) == -4);
  CHECK(TESELA_C(T, gels_async)(g, A, A, X, nullptr) == -3);
  const auto multiply = TESELA_C(T, gemm_tile);
  for (const T alpha : {T(1), T(0)}) {
    CHECK(multiply('N', 'N', alpha, A, B, T(1), A) == -7);
    CHECK(multiply('N', 'N', alpha, A, B, T(1), B) == -7);
    CHECK(TESELA_C(T, gemm_async)(g, 'N', 'N', alpha, A, B, T(1), B) == -8);
  }
  tesela_qr* qr = nullptr;
  REQUIRE(TESELA_C(T, geqrf_tile)(X, &qr) == 0);
  const auto factored = [&] {
    Padded<T> out(n, n);
    CHECK_OK(TESELA_C(T, matrix_get)(X, out.data(), out.ld));
    return out;
  };
  const auto before = factored();
  CHECK(of<T>(tesela_sormqr_tile, tesela_dormqr_tile, tesela_cunmqr_tile, tesela_zunmqr_tile)('L', trans, qr, X) == -4);
  CHECK(said().ends_with("c: overlaps the array of qr"));
  CHECK(of<T>(tesela_sormqr_async, tesela_dormqr_async, tesela_cunmqr_async, tesela_zunmqr_async)(g, 'L', trans, qr,
                                                                                                  X) == -5);
  CHECK(of<T>(tesela_sorgqr_tile, tesela_dorgqr_tile, tesela_cungqr_tile, tesela_zungqr_tile)(qr, X) == -2);
  CHECK(of<T>(tesela_sorgqr_async, tesela_dorgqr_async, tesela_cungqr_async, tesela_zungqr_async)(g, qr, X) == -3);
  CHECK(TESELA_C(T, extract_r_async)(g, qr, X) == -3);
  CHECK_OK(tesela_graph_wait(g));
  CHECK(factored() == before);
  CHECK_OK(tesela_qr_free(qr));

  // One call detects memory that two mapped matrices share.
  std::vector<T> memory(40, T(1));
  tesela_matrix *first = nullptr, *second = nullptr;
  REQUIRE(TESELA_C(T, matrix_map)(n, n, memory.data(), n, 2, 2, &first) == 0);
  REQUIRE(TESELA_C(T, matrix_map)(n, n, memory.data() + 15, n, 2, 2, &second) == 0);
  CHECK(multiply('N', 'N', T(1), A, first, T(0), second) == -7);
  CHECK_OK(multiply('N', 'N', T(1), A, A, T(0), second));  // A may be read twice
  for (tesela_matrix* each : {A, B, X, first, second}) CHECK_OK(tesela_matrix_free(each));
  CHECK_OK(tesela_graph_free(g));
}
