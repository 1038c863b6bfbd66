#include "tests/support/four_types.hpp"
#include "tests/support/test.hpp"
#include "tools/checks/svd_error.hpp"
#include <tesela/algorithms/svd/streamed_svd.hpp>
#include <tesela/algorithms/svd/svd_matrices.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/power_of_two.hpp>

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

TEMPLATE_TEST_CASE("streamed_svd decomposes matrices of all kinds with orthogonal vectors", "", FOUR_TYPES) {
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
      double off = 0;  // of A - U S V^H
      for (index_t j = 0; j < shape.cols; ++j)
        for (index_t i = 0; i < shape.rows; ++i) {
          with_parts<T, double> rest(a(i, j));
          for (index_t k = 0; k < rank; ++k)
            rest -= with_parts<T, double>(u(i, k)) * found.values[static_cast<std::size_t>(k)] *
                    with_parts<T, double>(conj(v(j, k)));
          off = std::max(off, static_cast<double>(std::abs(rest)));
        }
      const double dropped = static_cast<double>(shape.rows) * std::numeric_limits<real_t<T>>::epsilon();
      CHECK(off <= (3 * bounds.value + dropped) * found.norm);
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
}

TEMPLATE_TEST_CASE("streamed_svd finds NaN, also in an imaginary part", "", FOUR_TYPES) {
  using T = TestType;
  HostMatrix<T> bad = svd_matrix<T>({700, 30}, "uniform", 2);
  constexpr real_t<T> nan = std::numeric_limits<real_t<T>>::quiet_NaN();
  if constexpr (is_complex<T>)
    bad(650, 7) = T(1, nan);
  else
    bad(650, 7) = nan;
  Graph g(runtime());
  const SvdStatus status = streamed_svd(g, rows_of(bad)).status;
  CHECK(status.verdict == SvdStatus::Verdict::not_finite);
  CHECK((status.row == 650 && status.column == 7));
}

TEMPLATE_TEST_CASE("streamed_svd scales a matrix whose R overflows", "", FOUR_TYPES) {
  using T = TestType;
  const HostMatrix<T> a = svd_matrix<T>({900, 20}, "uniform", 2);
  const auto times = [&](int exponent) {
    HostMatrix<T> b = a.clone();
    scale_by_power_of_two(std::span(b.data(), static_cast<std::size_t>(b.size())), exponent);
    return b;
  };
  const int most = std::numeric_limits<real_t<T>>::max_exponent;
  const HostMatrix<T> large = times(most);  // elements are below 1
  Graph g(runtime()), h(runtime());
  const StreamedSvd<T> plain = streamed_svd(g, rows_of(a)), found = streamed_svd(h, rows_of(large));
  CHECK(found.status.verdict == SvdStatus::Verdict::overflow);
  for (std::size_t j = 0; j < 20; ++j) {
    const double expected = std::ldexp(plain.values[j], most);
    CHECK((found.values[j] == expected || std::abs(found.values[j] / expected - 1) <= svd_bounds<T>(900, 20).value));
  }
  const SvdError error = svd_error(a, plain.values, all_rows(found.u), *found.v);
  CHECK(error.residual <= svd_bounds<T>(900, 20).value);
  CHECK(error.orthogonality_u <= svd_bounds<T>(900, 20).orthogonality);
  const double low = std::ldexp(plain.values[9], most), high = std::numeric_limits<double>::infinity();
  Graph i(runtime());
  if (low < high) CHECK(streamed_svd(i, rows_of(large), {.range = std::pair(low * 0.999, high)}).values.size() == 10);
}

TEMPLATE_TEST_CASE("streamed_svd keeps the digits of tiny matrices", "", FOUR_TYPES) {
  using T = TestType;
  constexpr index_t m = 900, n = 20;
  const int least = std::numeric_limits<real_t<T>>::min_exponent;
  for (const int exponent : {least - 12, least + 10}) {
    HostMatrix<T> a = svd_matrix<T>({m, n}, "uniform", 2);
    const auto times = [&](int e) {
      scale_by_power_of_two(std::span(a.data(), static_cast<std::size_t>(a.size())), e);
    };
    times(exponent);  // rounds elements to subnormal numbers
    Graph g(runtime());
    const StreamedSvd<T> found = streamed_svd(g, rows_of(a));
    REQUIRE((found.status.ok() && found.u.n == n));
    const HostMatrix<T> u = all_rows(found.u);
    times(-exponent);
    std::vector<double> values = found.values;
    for (double& value : values) value = std::ldexp(value, -exponent);
    const SvdError error = svd_error(a, values, u, *found.v);
    const SvdBounds bounds = svd_bounds<T>(m, n);
    CHECK(error.residual <= bounds.value + value_rounding(found.norm));
    CHECK(error.orthogonality_u <= bounds.orthogonality);
    CHECK(error.orthogonality_v <= bounds.orthogonality);
  }
}
