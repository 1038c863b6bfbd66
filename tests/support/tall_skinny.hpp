#pragma once

// Shared by the tests of tall-and-skinny QR.

#include "tests/support/matrices.hpp"
#include "tests/support/padded.hpp"
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

/// Returns max |R^H R - A^H A|(j, k) / (||a_j|| ||a_k||) for scaled columns in units of T's epsilon; infinite for NaN,
/// for nonzeros below R's diagonal and for a diagonal that is not real.
template <class T>
double gram_error(const Padded<T>& a, const Padded<T>& r) {
  const auto e = exponents(a);
  const auto A = scaled(a, e), R = scaled(r, e);
  double worst = 0;
  for (index_t j = 0; j < a.n; ++j) {
    for (index_t i = j + 1; i < a.n; ++i)
      if (r(i, j) != T(0)) return std::numeric_limits<double>::infinity();
    if (r(j, j) != T(real_part(r(j, j))) && is_finite(r(j, j))) return std::numeric_limits<double>::infinity();
    for (index_t k = 0; k <= j; ++k) {
      using Sum = with_parts<T, long double>;
      const auto product = [](auto x, auto y) { return tesela::times(converted<Sum>(x), conj(converted<Sum>(y))); };
      Sum gram = 0;
      long double size_j = 0, size_k = 0;
      for (index_t i = 0; i < a.m; ++i) {
        gram += product(A(i, j), A(i, k));
        size_j += real_part(product(A(i, j), A(i, j)));
        size_k += real_part(product(A(i, k), A(i, k)));
      }
      for (index_t i = 0; i <= k; ++i) gram -= product(R(i, j), R(i, k));
      const double size = static_cast<double>(std::sqrt(size_j) * std::sqrt(size_k));
      const double error = static_cast<double>(std::abs(gram)) / (size > 0 ? size : 1);
      if (!(error <= worst)) worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    }
  }
  return worst / static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
}

/// Returns max | |R| - |R of LAPACK's geqrf| | over the rows that A determines, relative to the norm of the column, in
/// units of T's epsilon.
template <class T>
double lapack_error(const Padded<T>& a, const Padded<T>& r) {
  const auto e = exponents(a);
  auto A = scaled(a, e);
  const auto R = scaled(r, e);
  std::vector<with_parts<T, double>> tau(static_cast<std::size_t>(a.n));
  lapack::geqrf(a.m, a.n, A.data(), A.ld, tau.data());
  double worst = 0;
  for (index_t j = 0; j < a.n; ++j) {
    double norm = 0;
    for (index_t i = 0; i <= std::min(j, a.m - 1); ++i) norm = std::hypot(norm, std::abs(A(i, j)));
    for (index_t i = 0; i < a.n && norm > 0; ++i) {
      const double expected = i <= j && i < a.m ? std::abs(A(i, j)) : 0;
      const double error = std::abs(std::abs(R(i, j)) - expected) / norm;
      if (!(error <= worst)) worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    }
  }
  return worst / static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
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
