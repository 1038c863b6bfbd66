#include "tests/support/shared_runtime.hpp"
#include <tesela/algorithms/tridiagonal/cyclic_reduction.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal_checked.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal_factorization.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal_methods.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal_refinement.hpp>

#include <functional>
#include <random>

using namespace tesela;

// Powers of two in A and B scale X exactly for every method.

namespace {

enum class Kind { dominant, uniform, zero_diagonal, scaled_columns };

template <class T>
struct Problem {
  index_t n = 0, k = 1;
  std::vector<T> dl, d, du, b;  // n x k, or k x n in rows

  Problem(index_t n_, index_t k_, Kind kind, unsigned seed = 1) : n(n_), k(k_) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<T> uniform(-1, 1);
    for (index_t s = 0; s < k; ++s) {
      std::vector<int> column(static_cast<std::size_t>(n), 0);
      for (int& c : column)
        if (kind == Kind::scaled_columns) c = static_cast<int>((sizeof(T) == 8 ? 20 : 4) * uniform(random));
      for (index_t i = 0; i < n; ++i) {
        const auto scaled = [&](T x, index_t j) {
          return std::ldexp(x, column[static_cast<std::size_t>((j + n) % n)]);
        };
        const T l = uniform(random), c = uniform(random), u = uniform(random);
        const bool zero = kind == Kind::zero_diagonal && !(n % 2 == 1 && i == n - 1);
        dl.push_back(scaled(kind == Kind::zero_diagonal ? std::copysign(T(1), l) + l / 64 : l, i - 1));
        d.push_back(scaled(zero ? T(0) : kind == Kind::dominant ? std::copysign(T(2.2), c) : c, i));
        du.push_back(scaled(kind == Kind::zero_diagonal ? std::copysign(T(1), u) + u / 64 : u, i + 1));
        b.push_back(uniform(random));
      }
    }
  }

  Problem times(int of_a, int of_b) const {
    Problem p = *this;
    for (auto* v : {&p.dl, &p.d, &p.du})
      for (T& x : *v) x = std::ldexp(x, of_a);
    for (T& x : p.b) x = std::ldexp(x, of_b);
    return p;
  }
};

/// The solution and status of one method.
template <class T>
struct Answer {
  std::vector<T> x;
  bool ok = false;
};

template <class T>
using Tiles = TileMatrix<T>;
template <class T>
using Method = std::function<bool(Graph&, const Tridiagonal<T>&, const Tiles<T>& B, const Tiles<T>& X)>;

/// Solves in tiles of mb equations and all systems.
template <class T>
Answer<T> solve(Runtime& runtime, Problem<T> p, index_t mb, bool in_rows, const Method<T>& method) {
  Answer<T> answer{p.b, false};
  {
    const auto map = [&](std::vector<T>& v) {
      const index_t m = in_rows ? p.k : p.n, n = in_rows ? p.n : p.k;
      return Tiles<T>::map(runtime, v.data(), m, n, m, in_rows ? TileShape{p.k, mb} : TileShape{mb, p.k});
    };
    const Tridiagonal<T> A{map(p.dl), map(p.d), map(p.du)};
    const auto B = map(p.b), X = map(answer.x);
    Graph g(runtime);
    answer.ok = method(g, A, B, X);
    X.bring_home();
  }
  return answer;
}

template <class T>
struct Named {
  std::string name;
  Method<T> method;
  bool pivots = true, one_system = false, one_tile = false;
  bool narrow = false;  ///< computes in single precision internally
};

template <class T>
std::vector<Named<T>> methods(SystemsIn systems) {
  using G = Graph;
  using A3 = Tridiagonal<T>;
  using M = Tiles<T>;
  const auto plain = [systems](bool periodic, bool equilibrate) {
    return [=](G& g, const A3& A, const M&, const M& X) {
      tridiagonal_solve(g, A, X, {systems, periodic, equilibrate});
      return g.wait().ok();
    };
  };
  const auto checked = [systems](bool periodic, bool equilibrate) {
    return [=](G& g, const A3& A, const M& B, const M& X) {
      return tridiagonal_solve_checked(g, A, B, X, {systems, periodic, equilibrate}).good();
    };
  };
  const auto refined = [systems](bool mixed) {
    return [=](G& g, const A3& A, const M&, const M& X) {
      RefinementOptions options{systems, false, mixed};
      return tridiagonal_solve_refined(g, A, X, options).converged;
    };
  };
  const auto reduced = [](CyclicReduction variant) {
    return [=](G& g, const A3& A, const M&, const M& X) {
      cyclic_reduction(g, A, X, {.variant = variant, .cut = 20});
      return g.wait().ok();
    };
  };
  const auto classic = [](auto solve) {
    return [=](G& g, const A3& A, const M&, const M& X) {
      solve(g, A, X);
      return g.wait().ok();
    };
  };
  const auto factored = [systems](G& g, const A3& A, const M&, const M& X) {
    const TridiagonalFactorization<T> factors(g, A);
    factors.solve(g, X, systems);
    return g.wait().ok();
  };
  std::vector<Named<T>> all{{"solve", plain(false, false)},
                            {"solve, periodic", plain(true, false)},
                            {"solve, equilibrated", plain(false, true)},
                            {"solve, periodic, equilibrated", plain(true, true)},
                            {"checked", checked(false, false)},
                            {"checked, periodic, equilibrated", checked(true, true)},
                            {"refined", refined(false)}};
  if (sizeof(T) == 8) all.push_back({"mixed", refined(true), true, false, false, true});
  if (systems == SystemsIn::rows) return all;
  all.push_back({"factored", factored, true, true, true});
  all.push_back({"gtsv", classic(&gtsv<T>), true, true});
  all.push_back({"thomas", classic(&thomas<T>), false, true});
  all.push_back({"cr", reduced(CyclicReduction::plain), false, true});
  all.push_back({"cr-hybrid", reduced(CyclicReduction::hybrid), false, true});
  all.push_back({"cr-shared", reduced(CyclicReduction::shared), false, true});
  all.push_back({"cr-coalesced", reduced(CyclicReduction::coalesced), false, true});
  return all;
}

/// Exponents of A and B; X has their difference.
template <class T>
std::vector<std::pair<int, int>> powers() {
  constexpr int f = sizeof(T) == 8 ? 9 : 1;
  std::vector<std::pair<int, int>> all;
  for (const int p : {-100, 1, 100}) {
    all.emplace_back(f * p, f * p);
    all.emplace_back(f * p, 0);
    all.emplace_back(0, f * p);
  }
  return all;
}

/// Returns the number of methods for which there were workers.
template <class T>
int check_powers(Runtime& runtime, index_t n, index_t k, index_t mb, Kind kind) {
  int methods_checked = 0;
  for (const bool in_rows : {false, true})
    for (const Named<T>& m : methods<T>(in_rows ? SystemsIn::rows : SystemsIn::columns)) {
      if ((m.one_system && k > 1) || (m.one_tile && mb < n)) continue;
      if (!m.pivots && kind != Kind::dominant && kind != Kind::uniform) continue;
      if (m.narrow && kind == Kind::scaled_columns) continue;  // does not converge
      const Problem<T> p(n, k, kind);
      Answer<T> one;
      try {
        one = solve(runtime, p, mb, in_rows, m.method);
      } catch (const NoWorkerError&) {  // some methods need a core
        continue;
      }
      ++methods_checked;
      for (const auto& [of_a, of_b] : powers<T>()) {
        const Answer<T> other = solve(runtime, p.times(of_a, of_b), mb, in_rows, m.method);
        index_t differ = 0;
        for (std::size_t i = 0; i < one.x.size(); ++i)
          differ += std::ldexp(one.x[i], of_b - of_a) == other.x[i] ? 0 : 1;
        INFO(m.name << ", n " << n << " k " << k << " mb " << mb << " kind " << static_cast<int>(kind) << " in rows "
                    << in_rows << ": A 2^" << of_a << ", B 2^" << of_b << ": " << differ << " differ, ok " << one.ok
                    << " and " << other.ok);
        CHECK(other.ok == one.ok);
        CHECK(differ == 0);
      }
    }
  return methods_checked;
}

}  // namespace

TEMPLATE_TEST_CASE("powers of two in A and B scale X exactly", "[tridiagonal]", float, double) {
  Runtime runtime({.gpus = 0});
  for (const Kind kind : {Kind::dominant, Kind::uniform, Kind::zero_diagonal, Kind::scaled_columns})
    for (const auto& [n, k, mb] : {std::tuple<index_t, index_t, index_t>{1, 1, 1},
                                   {2, 1, 2},
                                   {7, 40, 7},
                                   {300, 1, 300},
                                   {300, 1, 64},
                                   {1100, 1, 1100}})
      check_powers<TestType>(runtime, n, k, mb, kind);
}

GPU_TEMPLATE_TEST_CASE("powers of two in A and B scale X exactly on a GPU", "[tridiagonal]", float, double) {
  for (const Kind kind : {Kind::dominant, Kind::uniform, Kind::zero_diagonal, Kind::scaled_columns})
    for (const auto& [n, k, mb] :
         {std::tuple<index_t, index_t, index_t>{2, 1, 2}, {7, 40, 7}, {1100, 1, 1100}, {1100, 1, 300}})
      CHECK(check_powers<TestType>(runtime, n, k, mb, kind) >= 4);  // plain and refined, in columns and rows
}
