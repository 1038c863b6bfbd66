#include "tests/support/shared_runtime.hpp"
#include "tests/support/test.hpp"
#include "tools/checks/svd_error.hpp"
#include <tesela/algorithms/svd/streamed_svd.hpp>
#include <tesela/algorithms/svd/svd_matrices.hpp>
#include <tesela/runtime/errors.hpp>

using namespace tesela;
using namespace tesela::test;

namespace {

/// Reads all rows in blocks of a number that divides nothing.
template <class T>
HostMatrix<T> all_rows(const RowSource<T>& source) {
  HostMatrix<T> x(source.m, source.n);
  for (index_t first = 0; first < source.m; first += 77)
    source.read(first, {x.data() + first, std::min<index_t>(77, source.m - first), source.n, source.m});
  return x;
}

}  // namespace

TEMPLATE_TEST_CASE("streamed_svd decomposes matrices of all kinds with orthogonal vectors", "", float, double) {
  using T = TestType;
  for (const char* const kind : {"uniform", "kappa:1e3", "kappa:1e12", "rank:4", "zero", "hilbert"})
    for (const Shape shape : {Shape{3000, 20}, {513, 1}, {40, 40}, {1500, 210}, {5, 0}, {0, 0}}) {
      CAPTURE(kind, shape.rows, shape.cols);
      const HostMatrix<T> a = svd_matrix<T>(shape, kind, 2);
      Graph g(runtime());
      const StreamedSvd<T> found = streamed_svd(g, rows_of(a));
      REQUIRE(found.status.ok());
      const SvdBounds bounds = svd_bounds<T>(shape.rows, shape.cols);
      CHECK(singular_value_error(found.values, reference_singular_values(a)) <= bounds.value);
      const HostMatrix<T> u = all_rows(found.u);
      const index_t rank = u.cols();
      HostMatrix<T> v(shape.cols, rank);
      std::copy_n(found.v->data(), v.size(), v.data());
      const SvdError error = svd_error(a, {found.values.begin(), found.values.begin() + rank}, u, v);
      CHECK(error.residual <= bounds.value);
      CHECK(error.orthogonality_u <= bounds.orthogonality);
      CHECK(error.orthogonality_v <= bounds.orthogonality);
      const bool full = std::string(kind) == "uniform" || std::string(kind) == "kappa:1e3";
      if (full) CHECK(rank == shape.cols);
      if (std::string(kind) == "rank:4") CHECK(rank == std::min<index_t>(4, shape.cols));
      Graph h(runtime());
      const StreamedSvd<T> values = streamed_svd(h, rows_of(a), {.vectors = SvdVectors::none});
      CHECK((values.u.n == 0 && !values.v));
      CHECK(singular_value_error(values.values, reference_singular_values(a)) <= bounds.value);
    }
}

TEST_CASE("streamed_svd returns the largest triples, and refuses wide matrices") {
  const HostMatrix<double> a = svd_matrix<double>({700, 30}, "uniform", 2), wide(3, 4);
  Graph g(runtime());
  const StreamedSvd<double> found = streamed_svd(g, rows_of(a), {.largest = 3});
  CHECK((found.values.size() == 3 && found.u.n == 3 && found.v->shape() == Shape{30, 3}));
  const SvdError error = svd_error(a, found.values, all_rows(found.u), *found.v);
  CHECK(error.residual <= svd_bounds<double>(700, 30).value);
  CHECK_THROWS_AS(streamed_svd(g, rows_of(wide)), ArgumentError);
  CHECK_THROWS_AS(streamed_svd(g, rows_of(a), {.vectors = SvdVectors::all}), ArgumentError);
  HostMatrix<double> bad = a.clone();
  bad(650, 7) = std::numeric_limits<double>::quiet_NaN();
  Graph h(runtime());
  const SvdStatus status = streamed_svd(h, rows_of(bad)).status;
  CHECK(status.verdict == SvdStatus::Verdict::not_finite);
}
