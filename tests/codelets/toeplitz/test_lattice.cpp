#include "tests/support/test.hpp"
#include "tests/support/vector_targets.hpp"
#include <tesela/codelets/toeplitz/internal/lattice.hpp>
#include <tesela/tiles/generator.hpp>

using namespace tesela;
using namespace tesela::kernels;

namespace {

template <class T>
std::vector<T> numbers(index_t n, std::uint64_t seed, T scale = 1) {
  const Generator<T> uniform{Pattern::uniform, T(0), 0, seed};
  std::vector<T> x(static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = scale * uniform(i, 0);
  return x;
}

template <class T>
double largest_difference(const std::vector<T>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double here = std::abs(static_cast<double>(a[i]) - b[i]);
    if (!(here <= most)) most = here;
  }
  return most;
}

template <class T>
std::vector<double> wide(const std::vector<T>& a) {
  return {a.begin(), a.end()};
}

}  // namespace

TEMPLATE_TEST_CASE("steps on a tile agree with one step after the other", "[toeplitz]", float, double) {
  using T = TestType;
  TESELA_ON_EACH_VECTOR_TARGET();
  for (const index_t count : {128, 256, 384, 1024})
    for (const index_t steps : {0, 128, 256}) {
      auto rho = numbers<T>(steps, 1, T(0.1)), u = numbers<T>(count, 2), v = numbers<T>(count, 3),
           edge = numbers<T>(steps, 4);
      std::vector<T> work(static_cast<std::size_t>(2 * count), std::numeric_limits<T>::quiet_NaN());
      auto a = wide(u), b = wide(v), e = wide(edge);
      for (std::size_t k = 0; k < rho.size(); ++k) {
        for (std::size_t i = 0; i < a.size(); ++i) {
          const double x = a[i], r = static_cast<double>(rho[k]);
          a[i] += r * b[i];
          b[i] += r * x;
        }
        const double leaving = a.back();
        a.insert(a.begin(), e[k]);
        a.pop_back();
        e[k] = leaving;
      }
      lattice_apply<T>({rho.data(), steps, u.data(), v.data(), count, edge.data(), work.data()});
      INFO("count " << count << " steps " << steps);
      double size = 1;
      for (const auto* x : {&a, &b, &e})
        for (const double value : *x) size = std::max(size, std::abs(value));
      const double bound = 100 * static_cast<double>(std::numeric_limits<T>::epsilon()) * size;
      CHECK(largest_difference(u, a) <= bound);
      CHECK(largest_difference(v, b) <= bound);
      CHECK(largest_difference(edge, e) <= bound);
    }
}

TEMPLATE_TEST_CASE("a step in place changes only the pairs of the step", "[toeplitz]", float, double) {
  using T = TestType;
  TESELA_ON_EACH_VECTOR_TARGET();
  for (const index_t k : {0, 1, 5, 64, 126, 127}) {
    auto u = numbers<T>(lattice_grain + lattice_padding, 2), v = numbers<T>(lattice_grain + lattice_padding, 3);
    for (index_t i = lattice_grain; i < lattice_grain + lattice_padding; ++i) v[static_cast<std::size_t>(i)] = 0;
    auto a = wide(u), b = wide(v);
    for (std::size_t p = 0, q = static_cast<std::size_t>(k); q < lattice_grain; ++p, ++q) {
      const double x = a[p];
      a[p] += 0.5 * b[q];
      b[q] += 0.5 * x;
    }
    lattice_step<T>(k, T(0.5), u.data(), v.data());
    INFO("k " << k);
    CHECK(largest_difference(u, a) <= 2 * static_cast<double>(std::numeric_limits<T>::epsilon()));
    CHECK(largest_difference(v, b) <= 2 * static_cast<double>(std::numeric_limits<T>::epsilon()));
  }
}
