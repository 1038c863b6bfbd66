#pragma once

#include "tests/support/shared_runtime.hpp"
#include "tests/support/test.hpp"
#include <tesela/codelets/dense/product_form.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/matrix_view.hpp>

#include <algorithm>
#include <limits>
#include <vector>

/// Matrices of real and complex numbers for tests with one body for four types. Complex numbers have random phases, so
/// that a missing conjugate fails.
namespace tesela::test {

template <class T>
constexpr double eps = static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());

template <class T>
HostMatrix<T> uniform(index_t m, index_t n, std::uint64_t seed) {
  return generate<T>({m, n}, {.pattern = Pattern::uniform, .seed = seed});
}

/// Returns a matrix with these singular values.
template <class T>
HostMatrix<T> of_values(index_t m, index_t n, const std::vector<double>& s, std::uint64_t seed = 7) {
  return filled<T>({m, n}, kernels::ProductForm<T>(m, n, s, seed));
}

template <class T>
double size_of(const HostMatrix<T>& a) {
  return static_cast<double>(a.size() > 0 ? blas::nrm2(a.size(), a.data()) : 0);
}

template <class T>
HostMatrix<T> minus(const HostMatrix<T>& a, const HostMatrix<T>& b) {
  REQUIRE(a.shape() == b.shape());
  return filled<T>(a.shape(), [&](index_t i, index_t j) { return a(i, j) - b(i, j); });
}

/// Returns ||A - B||_F.
template <class T>
double apart(const HostMatrix<T>& a, const HostMatrix<T>& b) {
  return size_of(minus(a, b));
}

/// Returns op(A) B.
template <class T>
HostMatrix<T> times(Op op, const HostMatrix<T>& a, const HostMatrix<T>& b) {
  const Shape s = apply(op, a.shape());
  REQUIRE(s.cols == b.rows());
  HostMatrix<T> c = HostMatrix<T>::zeros(s.rows, b.cols());
  if (c.size() > 0 && s.cols > 0)
    blas::gemm(op_for<T>(op), Op::none, s.rows, b.cols(), s.cols, T(1), a.data(), a.ld(), b.data(), b.ld(), T(0),
               c.data(), c.ld());
  return c;
}
template <class T>
HostMatrix<T> times(const HostMatrix<T>& a, const HostMatrix<T>& b) {
  return times(Op::none, a, b);
}

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

/// LAPACK's solution of least norm by gelsd.
template <class T>
struct Gelsd {
  HostMatrix<T> X;
  index_t rank;
};
template <class T>
Gelsd<T> gelsd(const HostMatrix<T>& a, const HostMatrix<T>& b, double rcond) {
  const index_t m = a.rows(), n = a.cols(), r = b.cols();
  HostMatrix<T> factors = a.clone(), x = HostMatrix<T>::zeros(std::max(m, n), r);
  for (index_t j = 0; j < r; ++j)
    for (index_t i = 0; i < m; ++i) x(i, j) = b(i, j);
  const index_t rank = lapack::gelsd(m, n, r, factors.data(), factors.ld(), x.data(), x.ld(), rcond).rank;
  return {filled<T>({n, r}, [&](index_t i, index_t j) { return x(i, j); }), rank};
}

/// Calls solve(graph, A, B) for copies of a and b in tiles.
template <class T, class Solve>
auto in_tiles(const HostMatrix<T>& a, const HostMatrix<T>& b, TileShape tile, const Solve& solve) {
  HostMatrix<T> A = a.clone(), B = b.clone();
  Graph g(runtime());
  return solve(g, MatrixView(A).in_tiles(runtime(), tile, "A"), MatrixView(B).in_tiles(runtime(), {tile.mb, 2}, "B"));
}

}  // namespace tesela::test
