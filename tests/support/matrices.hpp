#pragma once

#include "tests/support/four_types.hpp"
#include "tests/support/test.hpp"
#include <tesela/codelets/dense/product_form.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/tile_matrix.hpp>

/// Matrices of real and complex numbers in host memory, for tests with one body for four types. Random complex numbers
/// have random phases, so that a missing conjugate fails.
namespace tesela::test {

using Matrix = HostMatrix<double>;

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double epsilon = std::numeric_limits<double>::epsilon();

template <class T>
constexpr double eps = static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());

template <class F>
Matrix made(index_t m, index_t n, const F& element) {
  return filled<double>({m, n}, element);
}

template <class T = double>
HostMatrix<T> random(index_t m, index_t n, std::uint64_t seed) {
  return generate<T>({m, n}, {.pattern = Pattern::uniform, .seed = seed});
}

/// Returns a matrix with these singular values.
template <class T = double>
HostMatrix<T> of_values(index_t m, index_t n, const std::vector<double>& s, std::uint64_t seed = 7) {
  return filled<T>({m, n}, kernels::ProductForm<T>(m, n, s, seed));
}

inline Matrix of_rank(index_t m, index_t n, index_t rank, std::uint64_t seed) {
  return of_values(m, n, kernels::spectrum(rank, 1), seed);
}

template <class T = double>
HostMatrix<T> identity(index_t n) {
  return filled<T>({n, n}, [](index_t i, index_t j) { return i == j ? T(1) : T(0); });
}

/// Returns A in double precision.
template <class T>
HostMatrix<with_parts<T, double>> wide(const HostMatrix<T>& a) {
  using Wide = with_parts<T, double>;
  return filled<Wide>(a.shape(), [&](index_t i, index_t j) { return converted<Wide>(a(i, j)); });
}

/// Returns ||A||_F. Squares are long double, whose range holds the square of any double.
template <class T>
double norm(const HostMatrix<T>& a) {
  long double sum = 0;
  for (index_t k = 0; k < a.size(); ++k) sum += std::norm(with_parts<T, long double>(a.data()[k]));
  return static_cast<double>(std::sqrt(sum));
}

template <class T>
HostMatrix<T> minus(const HostMatrix<T>& a, const HostMatrix<T>& b) {
  REQUIRE(a.shape() == b.shape());
  return filled<T>(a.shape(), [&](index_t i, index_t j) { return a(i, j) - b(i, j); });
}

/// Returns ||A - B||_F.
template <class T>
double distance(const HostMatrix<T>& a, const HostMatrix<T>& b) {
  REQUIRE(a.shape() == b.shape());
  long double sum = 0;
  for (index_t k = 0; k < a.size(); ++k) sum += std::norm(with_parts<T, long double>(a.data()[k] - b.data()[k]));
  return static_cast<double>(std::sqrt(sum));
}

/// Returns A^H.
template <class T>
HostMatrix<T> adjoint_of(const HostMatrix<T>& a) {
  return filled<T>({a.cols(), a.rows()}, [&](index_t i, index_t j) { return conj(a(j, i)); });
}

/// Returns op(A) op(B).
template <class T>
HostMatrix<T> product(Op op_a, const HostMatrix<T>& a, Op op_b, const HostMatrix<T>& b) {
  const Shape s = apply(op_a, a.shape()), t = apply(op_b, b.shape());
  REQUIRE(s.cols == t.rows);
  HostMatrix<T> c = HostMatrix<T>::zeros(s.rows, t.cols);
  if (c.size() > 0 && s.cols > 0)
    blas::gemm(op_for<T>(op_a), op_for<T>(op_b), s.rows, t.cols, s.cols, T(1), a.data(), a.ld(), b.data(), b.ld(), T(0),
               c.data(), c.ld());
  return c;
}
template <class T>
HostMatrix<T> product(Op op, const HostMatrix<T>& a, const HostMatrix<T>& b) {
  return product(op, a, Op::none, b);
}
template <class T>
HostMatrix<T> product(const HostMatrix<T>& a, const HostMatrix<T>& b) {
  return product(Op::none, a, Op::none, b);
}

/// Returns 2^e A.
template <class T>
HostMatrix<T> times_two_to(int e, const HostMatrix<T>& a) {
  return filled<T>(a.shape(), [&](index_t i, index_t j) { return times_power_of_two(a(i, j), e); });
}

/// Returns A above B.
template <class T>
HostMatrix<T> above(const HostMatrix<T>& a, const HostMatrix<T>& b) {
  return filled<T>({a.rows() + b.rows(), a.cols()},
                   [&](index_t i, index_t j) { return i < a.rows() ? a(i, j) : b(i - a.rows(), j); });
}

/// Returns a copy of a in tiles.
template <class T>
TileMatrix<T> tiles(Runtime& runtime, const HostMatrix<T>& a, TileShape tile) {
  TileMatrix<T> A(runtime, a.rows(), a.cols(), tile);
  A.copy_from(a.data(), a.ld());
  return A;
}

/// Returns NaN and infinities, in either part of a complex number.
template <class T>
std::vector<T> not_finite() {
  std::vector<T> numbers;
  for (const double bad : {not_a_number, infinity, -infinity}) {
    const auto part = static_cast<real_t<T>>(bad);
    if constexpr (is_complex<T>)
      numbers.insert(numbers.end(), {T(part, 1), T(1, part)});
    else
      numbers.push_back(part);
  }
  return numbers;
}

}  // namespace tesela::test
