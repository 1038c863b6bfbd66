#include "tests/support/lapack_tridiagonal_eig.hpp"
#include "tests/support/run_kernel.hpp"
#include "tests/support/shared_runtime.hpp"
#include <tesela/codelets/eigen/tridiagonal/sturm.hpp>

using namespace tesela;
using namespace tesela::kernels;
using test::run_kernel;

namespace {

template <class T>
struct Matrix {
  index_t n;
  std::vector<T> tile;
  Matrix(const char* kind, index_t order) : n(order), tile(2 * static_cast<std::size_t>(order)) {
    const auto t = test::tridiagonal_of<T>(kind, n);
    const int exponent = test::size_exponent(t);
    std::vector<T> d = t.d, e = t.e;
    for (auto* band : {&d, &e})
      for (T& x : *band) x = std::ldexp(x, -exponent);
    sturm::prepare(n, d.data(), e.data(), tile.data(), tile.data() + n);
  }
  In<T> in() const { return {{tile.data(), n, 2, n}}; }
};

/// Compares counts with those of a core to the bit, at diagonal entries, on a grid, and at both ends of the range.
template <class T>
void check_counts(Runtime& runtime, const char* kind, index_t n) {
  const Matrix<T> t(kind, n);
  const T infinity = std::numeric_limits<T>::infinity();
  std::vector<T> points{-infinity, infinity, T(0), -T(0), std::numeric_limits<T>::denorm_min()};
  points.insert(points.end(), t.tile.begin(), t.tile.begin() + n);
  for (int i = -150; i <= 150; ++i) points.push_back(static_cast<T>(i) / 50);
  const auto k = static_cast<index_t>(points.size());
  std::vector<index_t> here(points.size()), there(points.size(), -1);
  SturmCount<T>::cpu({}, t.in(), {{points.data(), k, 1, k}}, {{here.data(), k, 1, k}});
  run_kernel<SturmCount<T>>(&runtime, {}, t.in(), In<T>{{points.data(), k, 1, k}},
                            Out<index_t>{{there.data(), k, 1, k}});
  INFO(kind << " n = " << n);
  CHECK(here == there);
  CHECK(there[0] == 0);
  CHECK(there[1] == n);
}

template <class T>
void check_bisection(Runtime& runtime, const char* kind, index_t n, index_t count) {
  const Matrix<T> t(kind, n);
  std::vector<index_t> wanted;
  for (index_t i = 0; i < count; ++i) wanted.push_back(i % n);
  for (const int halvings : {0, 1, 2, 7, 30}) {
    std::vector<T> here(static_cast<std::size_t>(count), T(-3.5));
    here.resize(2 * here.size(), T(3.25));
    std::vector<T> there = here;
    const In<index_t> numbers{{wanted.data(), count, 1, count}};
    SturmBisect<T>::cpu({halvings}, t.in(), numbers, {{here.data(), count, 2, count}});
    run_kernel<SturmBisect<T>>(&runtime, {halvings}, t.in(), numbers, InOut<T>{{there.data(), count, 2, count}});
    INFO(kind << " n = " << n << ", " << count << " values, " << halvings << " halvings");
    CHECK(here == there);
  }
}

}  // namespace

GPU_TEMPLATE_TEST_CASE("Sturm counts and bisection on a GPU equal those on a core to the bit", "", float, double) {
  for (const char* kind :
       {"uniform", "glued", "wilkinson", "identity", "zero", "one-zero", "graded", "second-difference"})
    for (const index_t n : {1, 2, 3, 40, 129, 1023, 1024, 1025, 2500}) check_counts<TestType>(runtime, kind, n);
  for (const char* kind : {"uniform", "glued", "clustered"}) {
    for (const index_t n : {1, 2, 33, 1100}) check_bisection<TestType>(runtime, kind, n, std::min<index_t>(n, 300));
    for (const index_t count : {2048, 2049, 4097, 8193, 16385}) check_bisection<TestType>(runtime, kind, 25, count);
  }
}

GPU_TEMPLATE_TEST_CASE("Sturm counts and bisection work under a sanitizer", "[sanitize]", float, double) {
  check_counts<TestType>(runtime, "uniform", 30);
  check_bisection<TestType>(runtime, "glued", 30, 30);
  check_bisection<TestType>(runtime, "uniform", 5, 16385);
}
