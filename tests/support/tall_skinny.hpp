#pragma once

// Shared by the tests of tall-and-skinny QR.

#include "tests/support/matrices.hpp"
#include "tests/support/padded.hpp"
#include "tests/support/precise_products.hpp"
#include <tesela/algorithms/qr/tall_skinny.hpp>
#include <tesela/host/lapack/lapack.hpp>

namespace tesela::test {

/// Returns the orthonormal factor of a random matrix.
inline Padded<double> orthonormal(index_t m, index_t n, std::uint64_t seed) {
  auto factors = Padded<double>::random(m, n, seed);
  Padded<double> q(m, n, 0);
  for (index_t j = 0; j < n; ++j) q(j, j) = 1;
  std::vector<double> tau(static_cast<std::size_t>(n));
  lapack::geqrf(m, n, factors.data(), factors.ld, tau.data());
  lapack::ormqr(Op::none, m, n, n, factors.data(), factors.ld, tau.data(), q.data(), q.ld);
  return q;
}

/// Returns the powers of two that scale columns to near 1.
template <class T>
std::vector<int> exponents(const Padded<T>& a) {
  std::vector<int> e(static_cast<std::size_t>(a.n), 0);
  for (index_t j = 0; j < a.n; ++j) {
    real_t<T> most = 0;
    for (index_t i = 0; i < a.m; ++i) most = std::max(most, largest_part(a(i, j)));
    if (most > 0) e[static_cast<std::size_t>(j)] = std::ilogb(most);
  }
  return e;
}

template <class T>
Padded<with_parts<T, double>> scaled(const Padded<T>& a, const std::vector<int>& e) {
  using Wide = with_parts<T, double>;
  Padded<Wide> s(a.m, a.n);
  for (index_t j = 0; j < a.n; ++j)
    for (index_t i = 0; i < a.m; ++i)
      s(i, j) = times_power_of_two(converted<Wide>(a(i, j)), -e[static_cast<std::size_t>(j)]);
  return s;
}

/// Returns `count` scaled rows from `first` on.
template <class T>
HostMatrix<with_parts<T, double>> scaled_rows(const Padded<T>& a, const std::vector<int>& e, index_t first,
                                              index_t count) {
  using Wide = with_parts<T, double>;
  HostMatrix<Wide> rows(count, a.n);
  for (index_t j = 0; j < a.n; ++j)
    for (index_t i = 0; i < count; ++i)
      rows(i, j) = times_power_of_two(converted<Wide>(a(first + i, j)), -e[static_cast<std::size_t>(j)]);
  return rows;
}

/// Returns max |R^H R - A^H A|(j, k) / (||a_j|| ||a_k||) for scaled columns in units of T's epsilon; infinite for NaN,
/// for nonzeros below R's diagonal and for a diagonal that is not real.
template <class T>
double gram_error(const Padded<T>& a, const Padded<T>& r) {
  using Wide = with_parts<T, double>;
  constexpr index_t at_once = 8192;
  for (index_t j = 0; j < a.n; ++j) {
    for (index_t i = j + 1; i < a.n; ++i)
      if (r(i, j) != T(0)) return infinity;
    if (r(j, j) != T(real_part(r(j, j))) && is_finite(r(j, j))) return infinity;
  }
  const auto e = exponents(a);
  PreciseProducts<Wide> gram({a.n, a.n}, 8 * static_cast<double>(a.m + 1));  // scaled parts are below 2
  const auto add = [&](int sign, const HostMatrix<Wide>& x) { gram.add(sign, adjoint<Wide>, x, x); };
  for (index_t i = 0; i < a.m; i += at_once) add(1, scaled_rows(a, e, i, std::min(at_once, a.m - i)));
  std::vector<double> sizes;
  for (index_t j = 0; j < a.n; ++j) sizes.push_back(std::sqrt(real_part(gram(j, j))));
  add(-1, scaled_rows(r, e, 0, a.n));
  double worst = 0;
  for (index_t j = 0; j < a.n; ++j)
    for (index_t k = 0; k <= j; ++k) {
      const double size = sizes[static_cast<std::size_t>(j)] * sizes[static_cast<std::size_t>(k)];
      const double error = std::abs(gram(j, k)) / (size > 0 ? size : 1);
      if (!(error <= worst)) worst = std::isnan(error) ? infinity : error;
    }
  return worst / static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
}

/// R of LAPACK's geqrf for scaled columns.
template <class T>
struct LapackR {
  std::vector<int> e;
  Padded<with_parts<T, double>> r;

  explicit LapackR(const Padded<T>& a) : e(exponents(a)), r(scaled(a, e)) {
    std::vector<with_parts<T, double>> tau(static_cast<std::size_t>(a.n));
    lapack::geqrf(a.m, a.n, r.data(), r.ld, tau.data());
  }
};

/// Returns max | |R| - |R of LAPACK's geqrf| | over the rows that A determines, relative to the norm of the column, in
/// units of T's epsilon.
template <class T>
double lapack_error(const LapackR<T>& known, const Padded<T>& r) {
  const auto& A = known.r;
  const auto R = scaled(r, known.e);
  double worst = 0;
  for (index_t j = 0; j < r.n; ++j) {
    double norm = 0;
    for (index_t i = 0; i <= std::min(j, A.m - 1); ++i) norm = std::hypot(norm, std::abs(A(i, j)));
    for (index_t i = 0; i < r.n && norm > 0; ++i) {
      const double expected = i <= j && i < A.m ? std::abs(A(i, j)) : 0;
      const double error = std::abs(std::abs(R(i, j)) - expected) / norm;
      if (!(error <= worst)) worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    }
  }
  return worst / static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
}
template <class T>
double lapack_error(const Padded<T>& a, const Padded<T>& r) {
  return lapack_error(LapackR<T>(a), r);
}

template <class T>
Padded<T> r_of(Runtime& runtime, const Padded<T>& a, TileShape tile, const TallSkinnyOptions& options = {}) {
  Padded<T> r(a.n, a.n);
  {
    const auto A = a.map(runtime, tile, "A");
    const auto R = r.map(runtime, {std::max<index_t>(a.n, 1), std::max<index_t>(a.n, 1)}, "R");
    Graph g(runtime);
    tall_skinny_r(g, A, R, options);
    REQUIRE(g.wait().ok());
  }
  REQUIRE(r.intact());
  return r;
}

inline std::vector<double> singular_values(Padded<double> a) { return lapack::gesvd(a.m, a.n, a.data(), a.ld); }

}  // namespace tesela::test
