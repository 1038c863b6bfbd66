#include "tests/support/matrices.hpp"
#include "tests/support/tall_skinny.hpp"
#include <tesela/algorithms/qr/streamed_r.hpp>

#include <fstream>
#include <stdexcept>

using namespace tesela::test;

namespace {

template <class T>
RowSource<T> source(const Padded<T>& a) {
  return {a.m, a.n, [&a](index_t first, const Block<T>& out) {
            for (index_t j = 0; j < out.cols; ++j)
              for (index_t i = 0; i < out.rows; ++i) out(i, j) = a(first + i, j);
          }};
}

template <class T>
Padded<T> streamed(Runtime& runtime, const Padded<T>& a, index_t rows) {
  Graph g(runtime);
  const HostMatrix<T> R = streamed_r(g, source(a), {.rows = rows});
  Padded<T> r(a.n, a.n);
  for (index_t j = 0; j < a.n; ++j)
    for (index_t i = 0; i < a.n; ++i) r(i, j) = R(i, j);
  return r;
}

template <class T>
void check_shapes(Runtime& runtime) {
  for (const index_t n : {1, 5, 64, 100, 193})
    for (const index_t m : std::vector<index_t>{0, 1, n - 1, n, n + 1, 300})
      for (const index_t rows : {0, 1, 37}) {
        if (rows == 1 && n > 5) continue;
        const auto a = Padded<T>::random(m, n);
        const auto r = streamed(runtime, a, rows);
        CAPTURE(m, n, rows);
        CHECK(gram_error(a, r) <= 60);
        if (m > 2 * n) CHECK(lapack_error(a, r) <= 200);
      }
}

/// Returns the bytes of anonymous memory.
double own_memory() {
  std::ifstream status("/proc/self/status");
  double bytes = 0;
  for (std::string key; status >> key;) {
    double kibibytes = 0;
    if ((key == "RssAnon:" || key == "RssShmem:") && status >> kibibytes) bytes += kibibytes * 1024;
    std::string rest;
    std::getline(status, rest);
  }
  return bytes;
}

}  // namespace

TEMPLATE_TEST_CASE("R of complex rows: R^H R = A^H A, with a real diagonal", "", COMPLEX_TYPES) {
  using T = TestType;
  for (const index_t n : {1, 5, 64, 193})
    for (const index_t m : std::vector<index_t>{0, 1, n - 1, n, n + 1, 1300})
      for (const index_t rows : {0, 37}) {
        const HostMatrix<T> a = random<T>(m, n, 3);
        Graph g(runtime());
        const HostMatrix<T> r = streamed_r(g, rows_of(a), {.rows = rows});
        CAPTURE(m, n, rows);
        const double size = std::max(norm(a), 1.0);
        CHECK(distance(product(Op::conjugate, r, r), product(Op::conjugate, a, a)) <= 20 * eps<T> * size * size);
        for (index_t j = 0; j < n; ++j) {
          CHECK(r(j, j).imag() == 0);
          for (index_t i = j + 1; i < n; ++i) CHECK(r(i, j) == T(0));
        }
      }
}

CORES_TEMPLATE_TEST_CASE("R of streamed rows agrees for all sizes", "", float, double) {
  check_shapes<TestType>(runtime);
}

CORES_TEST_CASE("streamed R works for columns of any scale, zeros, and several tiles of columns") {
  auto a = Padded<double>::random(500, 200);
  for (index_t i = 0; i < a.m; ++i) a(i, 3) *= 1e300, a(i, 80) *= 1e-300, a(i, 150) = 0;
  const auto r = streamed(runtime, a, 90);
  CHECK(gram_error(a, r) <= 60);
  for (index_t i = 0; i < a.n; ++i) CHECK(r(i, 150) == 0);
}

CORES_TEST_CASE("an exception of the reader is rethrown, and the runtime remains usable") {
  const auto a = Padded<double>::random(400, 210);
  RowSource<double> bad = source(a);
  bad.read = [read = bad.read](index_t first, const Block<double>& out) {
    if (first >= 200) throw std::runtime_error("row 200");
    read(first, out);
  };
  {
    Graph g(runtime);
    CHECK_THROWS_WITH((void)streamed_r(g, bad, {.rows = 50}), "row 200");
    CHECK_THROWS_WITH((void)streamed_r(g, bad, {.rows = -1}), ContainsSubstring("-1 is negative"));
  }
  CHECK(gram_error(a, streamed(runtime, a, 50)) <= 60);
}

CORES_TEST_CASE("streamed R keeps only a few blocks in memory") {
  const Generator<double> element{Pattern::uniform, 0, 0, 7};
  for (const index_t n : {40, 220}) {
    const index_t m = (index_t{1} << 23) / n;  // 64 MiB
    double most = 0, before = 0;
    const RowSource<double> A{m, n, [&](index_t first, const Block<double>& out) {
                                for (index_t j = 0; j < out.cols; ++j)
                                  for (index_t i = 0; i < out.rows; ++i) out(i, j) = element(first + i, j);
                                most = std::max(most, own_memory());
                              }};
    Graph g(runtime);
    (void)streamed_r<double>(g, {1000, n, A.read}, {.rows = 500});  // threads and libraries allocate once
    before = most;
    REQUIRE(before > 0);
    (void)streamed_r(g, A, {.rows = (1 << 17) / n});  // 1 MiB
    CAPTURE(n, before, most);
    CHECK(most - before <= 20e6);
  }
}

GPU_TEST_CASE("R of streamed rows agrees on a GPU") {
  for (const index_t n : {20, 300})
    for (const index_t rows : {0, 170}) {
      const auto a = Padded<double>::random(1000, n);
      CAPTURE(n, rows);
      CHECK(gram_error(a, streamed(runtime, a, rows)) <= 60);
    }
}

GPU_TEST_CASE("R of a few streamed rows agrees on a GPU", "[sanitize]") {
  const auto a = Padded<double>::random(60, 50);
  CHECK(gram_error(a, streamed(runtime, a, 25)) <= 60);
}
