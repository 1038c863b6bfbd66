#include "tests/support/mimo.hpp"
#include <tesela/algorithms/mimo/search_lists.hpp>
#include <tesela/codelets/mimo/brute_search.hpp>
#include <tesela/codelets/mimo/internal/finite_batch.hpp>
#include <tesela/codelets/mimo/sphere_search.hpp>

#include <utility>

// Tasks check their numbers if there is a GPU; without one, mimo_detect checks before the tasks.

using namespace tesela;
using namespace tesela::test;
using namespace tesela::kernels;

TEMPLATE_TEST_CASE("NaN and infinity in a batch are found, and the padding between columns is ignored", "", float,
                   double) {
  using C = std::complex<TestType>;
  using Limits = std::numeric_limits<TestType>;
  for (const index_t gap : {0, 2}) {
    const index_t m = 3, ld = m + gap;
    std::vector<C> h(std::size_t(ld * 4), C(Limits::quiet_NaN())), y(std::size_t(ld * 2), C(Limits::infinity()));
    const Block<C> H{h.data(), m, 4, ld}, Y{y.data(), m, 2, ld};
    for (const auto& a : {H, Y})
      for (index_t j = 0; j < a.cols; ++j)
        for (index_t i = 0; i < m; ++i) a(i, j) = {Limits::max(), -Limits::denorm_min()};
    SearchReport first;
    const auto finite = [&] {
      first = {};
      return kernels::mimo::finite_batch<TestType>({h.data(), m, 4, ld}, {y.data(), m, 2, ld}, {&first, 1, 1, 1});
    };
    CHECK((finite() && first.flags == 0));
    for (const TestType bad : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()})
      for (C* const x : {&H(0, 0), &H(2, 3), &Y(0, 0), &Y(2, 1)}) {
        const C kept = std::exchange(*x, C(0, bad));
        CHECK((!finite() && first.flags == SearchReport::not_finite));
        *x = C(bad, 0);
        CHECK(!finite());
        *x = kept;
      }
  }
}

TEST_CASE("searches on cores refuse a tile that is not finite, like those on a GPU") {
  auto p = problem<double>({2, 2, 20, 1}, "qpsk", "rayleigh", 9);
  p.y(1, 5) = {0, std::numeric_limits<double>::quiet_NaN()};
  HostMatrix<int> labels(2, 20);
  const auto flags = [&]<class Kernel>(SearchForm form, const typename Kernel::Args& args, auto... work) {
    const auto lists = tesela::mimo::lists_of(p.alphabets, form);
    std::vector<SearchReport> reports(20);
    Kernel::cpu(args, {{p.h.data(), 2, 40, 2}}, {{p.y.data(), 2, 20, 2}},
                {{lists.columns.data(), 1, lists.columns.cols(), 1}},
                {{lists.points.data(), 1, lists.points.cols(), 1}}, {{labels.data(), 2, 20, 2}},
                {{reports.data(), 1, 20, 1}}, work...);
    return reports[0].flags;
  };
  CHECK(flags.operator()<BruteSearch<double>>(SearchForm::complex, {2, 1, 16}) == SearchReport::not_finite);
  CHECK(flags.operator()<SphereSearch<double>>(SearchForm::real, {.streams = 2, .n0 = p.n0}, Scratch<double>{}) ==
        SearchReport::not_finite);
}
