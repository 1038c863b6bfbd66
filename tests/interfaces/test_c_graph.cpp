#include "tests/support/c_interface.hpp"
#include "tests/support/four_types.hpp"
#include <tesela/algorithms/least_squares/least_squares.hpp>

#include <thread>

using namespace tesela::test;

namespace {

/// Returns a matrix in tiles with the contents of `a`.
template <class T>
tesela_matrix* in_tiles(const Padded<T>& a, index_t mb, index_t nb) {
  tesela_matrix* made = nullptr;
  REQUIRE(TESELA_C(T, matrix_create)(a.m, a.n, mb, nb, &made) == 0);
  REQUIRE(TESELA_C(T, matrix_set)(made, a.data(), a.ld) == 0);
  return made;
}

template <class T>
Padded<T> out_of(tesela_matrix* a, index_t m, index_t n) {
  Padded<T> out(m, n);
  CHECK_OK(TESELA_C(T, matrix_get)(a, out.data(), out.ld));
  CHECK(out.intact());
  return out;
}

template <class T>
Padded<T> adjoint_of(const Padded<T>& a) {
  Padded<T> result(a.n, a.m);
  for (index_t j = 0; j < a.m; ++j)
    for (index_t i = 0; i < a.n; ++i) result(i, j) = conj(a(j, i));
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("C: a graph runs products, QR and applications of Q", "[c][graph]", FOUR_TYPES) {
  using T = TestType;
  const COnCores cores;
  const index_t m = 50, n = 20;
  const char trans = is_complex<T> ? 'C' : 'T';
  const auto a = Padded<T>::random(m, n, 1);
  Padded<T> i(n, n, T(0));
  for (index_t j = 0; j < n; ++j) i(j, j) = 1;
  tesela_graph* g = nullptr;
  CHECK_OK(tesela_graph_create(&g));
  tesela_matrix *A = in_tiles(adjoint_of(a), 8, 16), *I = in_tiles(i, 8, 8), *B = nullptr, *Q = nullptr, *R = nullptr,
                *C = in_tiles(a, 16, 8);
  const auto create = TESELA_C(T, matrix_create);
  const auto form_q = of<T>(tesela_sorgqr_tile, tesela_dorgqr_tile, tesela_cungqr_tile, tesela_zungqr_tile);
  const auto apply_q = of<T>(tesela_sormqr_tile, tesela_dormqr_tile, tesela_cunmqr_tile, tesela_zunmqr_tile);
  const auto insert_q = of<T>(tesela_sorgqr_async, tesela_dorgqr_async, tesela_cungqr_async, tesela_zungqr_async);
  const auto insert_product = of<T>(tesela_sormqr_async, tesela_dormqr_async, tesela_cunmqr_async, tesela_zunmqr_async);
  CHECK_OK(create(m, n, 16, 8, &B));
  CHECK_OK(create(m, n, 16, 8, &Q));
  CHECK_OK(create(n, n, 16, 8, &R));
  tesela_qr* qr = nullptr;
  // B = 2 A^H I, B = Q R and C = Q^H B / 2 run in the order of insertion without waits.
  CHECK_OK(TESELA_C(T, gemm_async)(g, 'C', 'N', T(2), A, I, T(0), B));
  CHECK_OK(TESELA_C(T, geqrf_async)(g, B, &qr));
  CHECK_OK(insert_q(g, qr, Q));
  CHECK_OK(TESELA_C(T, extract_r_async)(g, qr, R));
  CHECK_OK(insert_product(g, 'L', trans, qr, C));
  CHECK_OK(tesela_graph_wait(g));
  CHECK_OK(tesela_graph_wait(g));  // a second wait has no work
  const auto q = out_of<T>(Q, m, n), r = out_of<T>(R, n, n), c = out_of<T>(C, m, n);
  auto twice = a, half_r = r;
  for (index_t j = 0; j < n; ++j) {
    for (index_t k = 0; k < m; ++k) twice(k, j) *= 2;
    for (index_t k = 0; k < n; ++k) half_r(k, j) /= 2;
  }
  const double bound = 1e3 * eps<T>();
  CHECK(product_error(q, false, r, twice, m, n) <= bound);
  double rest = 0;
  for (index_t j = 0; j < n; ++j)
    for (index_t k = 0; k < m; ++k) rest = std::max<double>(rest, std::abs(c(k, j) - (k < n ? half_r(k, j) : T(0))));
  CHECK(rest <= bound);
  // The blocking functions give the same bits.
  tesela_matrix *B2 = in_tiles(twice, 16, 8), *C2 = in_tiles(a, 16, 8), *Q2 = nullptr;
  tesela_qr* qr2 = nullptr;
  CHECK_OK(create(m, n, 16, 8, &Q2));
  CHECK_OK(TESELA_C(T, geqrf_tile)(B2, &qr2));
  CHECK_OK(form_q(qr2, Q2));
  CHECK_OK(apply_q('L', trans, qr2, C2));
  CHECK(out_of<T>(Q2, m, n) == q);
  CHECK(out_of<T>(C2, m, n) == c);
  CHECK(apply_q('L', trans, qr2, I) == TESELA_ARGUMENT);
  for (tesela_matrix* each : {A, I, B, Q, R, C, B2, C2, Q2}) CHECK_OK(tesela_matrix_free(each));
  CHECK_OK(tesela_qr_free(qr2));
  CHECK_OK(tesela_qr_free(qr));
  CHECK_OK(tesela_graph_free(g));
}

TEMPLATE_TEST_CASE("C: least squares run asynchronously", "[c][graph]", FOUR_TYPES) {
  using T = TestType;
  using Wide = with_parts<T, double>;
  const index_t m = 60, n = 10;
  const auto a = Padded<T>::random(m, n, 1), b = Padded<T>::random(m, 2, 2);
  const auto gels = TESELA_C(T, gels_async);
  const auto create = TESELA_C(T, matrix_create);
  tesela_matrix *A = in_tiles(a, 16, 4), *B = in_tiles(b, 16, 4), *X = nullptr, *again = in_tiles(a, 16, 4),
                *product = nullptr;
  CHECK_OK(create(n, 2, 4, 4, &X));
  CHECK_OK(create(m, 2, 16, 4, &product));
  tesela_graph* g = nullptr;
  CHECK_OK(tesela_graph_create(&g));
  tesela_gels_result result = {};
  result.size = sizeof result;
  CHECK_OK(gels(g, A, B, X, &result));
  // Later tasks see X.
  CHECK_OK(TESELA_C(T, gemm_async)(g, 'N', 'N', T(1), again, X, T(0), product));
  CHECK_OK(tesela_graph_wait(g));
  CHECK(result.rank == n);
  const auto p = out_of<T>(product, m, 2);
  double normal = 0;  // A^H (A X - B)
  for (index_t j = 0; j < 2; ++j)
    for (index_t k = 0; k < n; ++k) {
      Wide sum = 0;
      for (index_t i = 0; i < m; ++i) sum += Wide(conj(a(i, k))) * Wide(p(i, j) - b(i, j));
      normal = std::max(normal, std::abs(sum));
    }
  CHECK(normal <= 1e3 * eps<T>());

  // The same by a blocking call on the caller's memory.
  auto mapped = a;
  tesela_matrix *home = nullptr, *right = in_tiles(b, 16, 4), *X2 = nullptr;
  CHECK_OK(create(n, 2, 4, 4, &X2));
  CHECK_OK(TESELA_C(T, matrix_map)(m, n, mapped.data(), mapped.ld, 16, 4, &home));
  CHECK_OK(TESELA_C(T, gels_tile)(home, right, X2, nullptr));
  CHECK_OK(TESELA_C(T, matrix_home)(home));
  CHECK(mapped.intact());
  CHECK(mapped != a);
  const auto x = out_of<T>(X, n, 2), x2 = out_of<T>(X2, n, 2);
  for (index_t j = 0; j < 2; ++j)
    for (index_t i = 0; i < n; ++i) CHECK(std::abs(x(i, j) - x2(i, j)) <= 50 * eps<T>());

  // The wait reports a failure once, and the graph remains usable.
  auto bad = a;
  bad(3, 3) = nan_of<T>;
  if constexpr (is_complex<T>) bad(3, 3).real(1);
  tesela_matrix *broken = in_tiles(bad, 16, 4), *B3 = in_tiles(b, 16, 4);
  CHECK_OK(gels(g, broken, B3, X, &result));
  CHECK(tesela_graph_wait(g) == TESELA_NOT_FINITE);
  CHECK(std::string(tesela_error()) == "tesela_graph_wait: not finite");
  CHECK(result.status == TESELA_NOT_FINITE);
  CHECK_OK(tesela_graph_wait(g));
  CHECK(gels(g, broken, B3, A, nullptr) == -4);
  CHECK(gels(g, broken, again, X, nullptr) == -4);
  for (tesela_matrix* each : {A, B, X, again, product, home, right, X2, broken, B3}) CHECK_OK(tesela_matrix_free(each));
  CHECK_OK(tesela_graph_free(g));
}

TEST_CASE("C: a matrix of another type is refused", "[c][graph]") {
  const auto a = Padded<double>::random(4, 4, 1);
  tesela_matrix* A = in_tiles(a, 2, 2);
  std::complex<double> out[16] = {};
  CHECK(tesela_zmatrix_get(A, out, 4) == -1);
  CHECK(std::string(tesela_error()).find("not a matrix in double precision, complex") != std::string::npos);
  CHECK(tesela_zgemm_tile('N', 'N', 1, A, A, 0, A) == -4);
  CHECK_OK(tesela_matrix_free(A));
}

TEST_CASE("C: a graph can be freed with tasks in flight", "[c][graph]") {
  const auto a = Padded<double>::random(200, 50, 1), b = Padded<double>::random(200, 1, 2);
  tesela_matrix *A = in_tiles(a, 32, 16), *B = in_tiles(b, 32, 1), *X = nullptr;
  CHECK_OK(tesela_dmatrix_create(50, 1, 50, 1, &X));
  tesela_graph* g = nullptr;
  CHECK_OK(tesela_graph_create(&g));
  CHECK_OK(tesela_dgels_async(g, A, B, X, nullptr));
  for (tesela_matrix* each : {A, B}) CHECK_OK(tesela_matrix_free(each));  // the graph still holds them
  CHECK_OK(tesela_graph_free(g));
  CHECK(out_of<double>(X, 50, 1).intact());
  CHECK_OK(tesela_matrix_free(X));
}

TEST_CASE("C: several threads call at once", "[c][threads]") {
  std::vector<std::thread> threads;
  std::vector<int> right(8, 0);
  for (std::size_t k = 0; k < right.size(); ++k)
    threads.emplace_back([&, k] {
      for (int repeat = 0; repeat < 5; ++repeat) {
        std::vector<double> a(10, 1.0), b{0, 1, 2, 3, 4};
        if (k % 2 == 1) {  // each thread has its own message
          if (tesela_dgels(-1, 2, 1, a.data(), 5, b.data(), 5, nullptr) == -1 &&
              std::string(tesela_error()) == "tesela_dgels: m: -1 is negative")
            ++right[k];
        } else if (tesela_dgels(5, 2, 1, a.data(), 5, b.data(), 5, nullptr) == 0 && std::abs(b[0] - 1) < 1e-14 &&
                   std::string(tesela_error()).empty()) {
          ++right[k];
        }
      }
    });
  for (std::thread& each : threads) each.join();
  for (const int each : right) CHECK(each == 5);
}
