#pragma once

#include "tests/support/matrices.hpp"
#include "tests/support/toeplitz.hpp"
#include <tesela/algorithms/toeplitz/toeplitz_solve.hpp>

#include <random>

// Toeplitz matrices of real and complex numbers that need not be symmetric: dense references and our solution.

namespace tesela::test {

template <class T>
using Wide = with_parts<T, double>;

/// First column and first row, whose first number is NaN because nobody may read it.
template <class T>
struct GeneralMatrix {
  HostMatrix<T> c, r;
  index_t n() const { return c.rows(); }
  Wide<T> operator()(index_t i, index_t j) const { return converted<Wide<T>>(i >= j ? c(i - j, 0) : r(j - i, 0)); }
};

/// Returns the matrix with these numbers t(i - j).
template <class T, class F>
GeneralMatrix<T> general_matrix(index_t n, const F& t) {
  return {filled<T>({n, 1}, [&](index_t i, index_t) { return static_cast<T>(t(i)); }),
          filled<T>({n, 1},
                    [&](index_t i, index_t) { return i == 0 ? T(real_t<T>(not_a_number)) : static_cast<T>(t(-i)); })};
}

template <class T>
HostMatrix<Wide<T>> dense(const GeneralMatrix<T>& a) {
  return filled<Wide<T>>({a.n(), a.n()}, a);
}

template <class T>
struct Answer {
  HostMatrix<T> x;
  ToeplitzSolution solution;
};

/// Solves by the facade for arrays, with padding below B that must stay.
template <class T>
Answer<T> answer(Runtime& runtime, const GeneralMatrix<T>& a, const HostMatrix<T>& b,
                 ToeplitzMethod method = ToeplitzMethod::automatic, T sigma = 0) {
  const index_t n = b.rows(), k = b.cols();
  HostMatrix<T> padded = filled<T>({n + 3, k}, [&](index_t i, index_t j) { return i < n ? b(i, j) : T(-77); });
  Answer<T> result;
  result.solution =
      toeplitz_solve<T>(runtime, a.c, a.r, sigma, MatrixView<T>(padded.data(), {n, k}, padded.ld()), {method});
  for (index_t j = 0; j < k; ++j)
    for (index_t i = n; i < n + 3; ++i) CHECK(padded(i, j) == T(-77));
  result.x = filled<T>({n, k}, [&](index_t i, index_t j) { return padded(i, j); });
  return result;
}

/// Solves by elimination with partial pivoting in long double.
template <class T>
HostMatrix<double> extended_solve(const GeneralMatrix<T>& a, const HostMatrix<T>& b) {
  const index_t n = a.n(), k = b.cols();
  const auto at = [n](index_t i, index_t j) { return static_cast<std::size_t>(i + j * n); };
  std::vector<long double> m(at(0, n + k));
  for (index_t j = 0; j < n + k; ++j)
    for (index_t i = 0; i < n; ++i) m[at(i, j)] = j < n ? a(i, j) : static_cast<double>(b(i, j - n));
  for (index_t p = 0; p < n; ++p) {
    index_t best = p;
    for (index_t i = p; i < n; ++i)
      if (std::abs(m[at(i, p)]) > std::abs(m[at(best, p)])) best = i;
    for (index_t j = p; j < n + k; ++j) std::swap(m[at(p, j)], m[at(best, j)]);
    for (index_t i = p + 1; i < n; ++i) {
      const long double l = m[at(i, p)] / m[at(p, p)];
      for (index_t j = p; l != 0 && j < n + k; ++j) m[at(i, j)] -= l * m[at(p, j)];
    }
  }
  HostMatrix<double> x(n, k);
  for (index_t c = 0; c < k; ++c)
    for (index_t i = n - 1; i >= 0; --i) {
      long double sum = m[at(i, n + c)];
      for (index_t j = i + 1; j < n; ++j) sum -= m[at(i, j)] * m[at(j, n + c)];
      m[at(i, n + c)] = sum / m[at(i, i)];
      x(i, c) = static_cast<double>(m[at(i, n + c)]);
    }
  return x;
}

/// Returns the 2-norm condition by LAPACK's singular values.
template <class T>
double singular_value_condition(const GeneralMatrix<T>& a) {
  HostMatrix<double> full = dense(a);
  const std::vector<double> s = lapack::gesvd(a.n(), a.n(), full.data(), full.ld());
  return s.front() / s.back();
}

/// Returns a matrix of kind 0 ... strange_kinds - 1; most have singular or almost singular leading minors.
inline constexpr int strange_kinds = 12;
template <class T>
GeneralMatrix<T> strange_matrix(index_t n, int kind, bool symmetric, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> small(-1, 1);
  std::vector<double> numbers(static_cast<std::size_t>(2 * n + 1));
  for (double& value : numbers) value = kind == 1 ? small(random) : normal(random);
  return general_matrix<T>(n, [&](index_t k) {
    const index_t d = std::abs(k);
    const auto far = static_cast<double>(d);
    const double v = numbers[static_cast<std::size_t>(symmetric ? d : k + n)];
    switch (kind) {
      case 2: return d == 0 ? 0 : v;             // the first minor vanishes
      case 3: return 3 * d < n ? 0 : v;          // many consecutive minors vanish
      case 4: return 3 * d < n ? 1e-10 * v : v;  // they almost vanish
      case 5: return d == 0 ? 1e-10 : v;
      case 6: return std::pow(k < 0 ? 0.5 : symmetric ? 0.5 : -0.8, far);  // Kac, Murdock and Szego
      case 7: return std::cos(0.3 * far) + 1e-5 * v;                       // almost of rank 2
      case 8: return d % 2 == 0 ? 0 : v;
      case 9: return (symmetric ? d == n / 2 : k == n / 2 || k == n / 2 - n) ? 1.0 : 0.0;  // permutations
      case 10: return d <= 1 ? 1 + (d == 1 ? 1e-10 * v : 0) : v;  // the second minor almost vanishes
      case 11: return d == 0 ? 2.5 : d == 1 ? -1 : 0.01 * v / far;
      default: return v;
    }
  });
}

}  // namespace tesela::test
