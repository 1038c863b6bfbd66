#pragma once

#include "tests/support/tridiagonal_eig_kinds.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

// LAPACK's solvers for symmetric tridiagonal eigenproblems as references. A program that includes this header must link
// LAPACK.
extern "C" {
void dsterf_(const int*, double*, double*, int*);
void dstedc_(const char*, const int*, double*, double*, double*, const int*, double*, const int*, int*, const int*,
             int*, std::size_t);
}

namespace tesela::test {

/// Returns the exponent of a power of two near the largest entry. References are computed in double with entries of
/// size 1.
template <class T>
int size_exponent(const SymmetricTridiagonal<T>& t) {
  double most = 0;
  for (const auto* band : {&t.d, &t.e})
    for (const T x : *band) most = std::max(most, std::abs(static_cast<double>(x)));
  return most > 0 ? std::ilogb(most) : 0;
}

/// Returns the eigenvalues times 2^-size_exponent(t) in ascending order, by dsterf.
template <class T>
std::vector<double> reference_values(const SymmetricTridiagonal<T>& t) {
  const int exponent = size_exponent(t), n = static_cast<int>(t.n());
  std::vector<double> d, e;
  for (const T x : t.d) d.push_back(std::ldexp(static_cast<double>(x), -exponent));
  for (const T x : t.e) e.push_back(std::ldexp(static_cast<double>(x), -exponent));
  e.push_back(0);
  int info = 0;
  if (n > 0) dsterf_(&n, d.data(), e.data(), &info);
  REQUIRE(info == 0);
  return d;
}

/// Returns ||T||_2 times 2^-size_exponent from the values.
inline double norm_of(const std::vector<double>& values) {
  return values.empty() ? 0 : std::max(std::abs(values.front()), std::abs(values.back()));
}

/// Runs dstedc on T; returns values in d and vectors in z (n x n).
inline int stedc(std::vector<double>& d, std::vector<double>& e, std::vector<double>& z) {
  const int n = static_cast<int>(d.size()), lwork = 1 + 4 * n + n * n, liwork = 3 + 5 * n;
  std::vector<double> work(static_cast<std::size_t>(lwork));
  std::vector<int> iwork(static_cast<std::size_t>(liwork));
  int info = 0;
  dstedc_("I", &n, d.data(), e.data(), z.data(), &n, work.data(), &lwork, iwork.data(), &liwork, &info, 1);
  return info;
}

}  // namespace tesela::test
