#include "algorithms/tridiagonal.hpp"

#include "machine.hpp"
#include "tiles/host_matrix.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace tesela;

namespace {

extern "C" void dgtsv_(const int* n, const int* nrhs, double* dl, double* d, double* du, double* b, const int* ldb,
                       int* info);

enum class Kind { dominant, uniform, zero_diagonal, tiny_diagonal, scaled_rows };

/// Systems in columns, in double precision, and what the tests ask of them.
template <class T>
struct Systems {
  index_t n, k;
  std::vector<T> dl, d, du, b;

  Systems(index_t n_, index_t k_, Kind kind, unsigned seed = 1) : n(n_), k(k_) {
    const auto count = static_cast<std::size_t>(n * k);
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (auto* v : {&dl, &d, &du, &b}) v->resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      double scale = 1;
      const double l = uniform(random), u = uniform(random), r = uniform(random), c = uniform(random);
      if (kind == Kind::scaled_rows) scale = std::pow(10, (sizeof(T) == 8 ? 150 : 15) * uniform(random));
      const bool last_of_odd = n % 2 == 1 && static_cast<index_t>(i) % n == n - 1;
      const double diagonal = kind == Kind::dominant                                ? std::copysign(2.2, c)
                              : kind == Kind::zero_diagonal                         ? (last_of_odd ? 1.0 : 0.0)
                              : kind == Kind::tiny_diagonal && !last_of_odd         ? 1e-20 * c
                                                                                    : c;
      const double away = kind == Kind::zero_diagonal || kind == Kind::tiny_diagonal ? 1 : 0;
      dl[i] = static_cast<T>(scale * (l + std::copysign(away, l)));
      d[i] = static_cast<T>(scale * diagonal);
      du[i] = static_cast<T>(scale * (u + std::copysign(away, u)));
      b[i] = static_cast<T>(scale * r);
    }
  }

  /// The largest componentwise backward error of x over all rows: |A x - b| / (|A| |x| + |b|).
  double componentwise_error(const std::vector<T>& x, bool periodic) const {
    long double worst = 0;
    for (index_t s = 0; s < k; ++s)
      for (index_t i = 0; i < n; ++i) {
        const auto at = [&](const std::vector<T>& v, index_t j) -> long double {
          return v[static_cast<std::size_t>(j + s * n)];
        };
        const long double terms[3] = {i > 0 || periodic ? at(dl, i) * at(x, (i + n - 1) % n) : 0, at(d, i) * at(x, i),
                                      i + 1 < n || periodic ? at(du, i) * at(x, (i + 1) % n) : 0};
        long double sum = -at(b, i), size = std::abs(at(b, i));
        for (const long double term : terms) sum += term, size += std::abs(term);
        const long double error = size > 0 ? std::abs(sum) / size : std::abs(sum);
        if (!(error <= worst)) worst = error;
      }
    return static_cast<double>(worst);
  }
};

/// x by tridiagonal_solve on whatever workers `runtime` has; the corners poisoned unless they count.
template <class T>
std::vector<T> solve(Runtime& runtime, Systems<T> s, TileShape tile, bool periodic, Status* status = nullptr) {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  if (!periodic)
    for (index_t j = 0; j < s.k && s.n > 0; ++j)
      s.dl[static_cast<std::size_t>(j * s.n)] = s.du[static_cast<std::size_t>((j + 1) * s.n - 1)] = nan;
  {
    const auto map = [&](std::vector<T>& v) {
      return TileMatrix<T>::map(runtime, v.data(), s.n, s.k, std::max<index_t>(s.n, 1), tile);
    };
    const Tridiagonal<T> A{map(s.dl), map(s.d), map(s.du)};
    const TileMatrix<T> B = map(s.b);
    Graph g(runtime);
    tridiagonal_solve(g, A, B, {SystemsIn::columns, periodic});
    const Status result = g.wait();
    if (status != nullptr)
      *status = result;
    else
      CHECK(result.info == 0);
    B.bring_home();
  }
  return s.b;
}

}  // namespace

TEMPLATE_TEST_CASE("tridiagonal_solve solves what LAPACK solves", "[tridiagonal]", float, double) {
  Runtime runtime({.gpus = 0});
  const Kind kind = GENERATE(Kind::dominant, Kind::uniform, Kind::zero_diagonal, Kind::tiny_diagonal, Kind::scaled_rows);
  const bool periodic = GENERATE(false, true);
  for (const index_t n : {1, 2, 3, 15, 16, 17, 100, 255, 256, 257, 1000, 4321})
    for (const index_t mb : {n, index_t{1}, index_t{7}, index_t{300}}) {
      if (ceil_div(n, mb) > 300) continue;
      if (periodic && n < 3 && kind != Kind::dominant) continue;
      const Systems<TestType> systems(n, 1, kind);
      const auto x = solve(runtime, systems, {mb, 1}, periodic);
      const double error = systems.componentwise_error(x, periodic), bound = 1e5 * std::numeric_limits<TestType>::epsilon();
      INFO("kind " << static_cast<int>(kind) << " n " << n << " mb " << mb << " periodic " << periodic);
      CHECK(error <= bound);
    }
}
