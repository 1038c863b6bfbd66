#include <tesela/codelets/least_squares/minimum_norm.hpp>
#include <tesela/codelets/least_squares/spectral_condition.hpp>
#include <tesela/codelets/libraries/blas.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace tesela::kernels {
namespace {

constexpr int steps = 8;

/// Of no pattern that a triangle could have.
template <class T>
std::vector<T> start(index_t n) {
  std::vector<T> x(static_cast<std::size_t>(n));
  std::uint32_t state = 1;
  for (T& value : x) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<T>(state >> 8) / static_cast<T>(1 << 24) - T(0.5);
  }
  return x;
}

/// The root of the growth of x by twice(x), in the last step.
template <class T>
double growth(index_t n, const auto& twice) {
  std::vector<T> x = start<T>(n);
  double norm = 0;
  for (int k = 0; k < steps; ++k) {
    const T size = euclidean_norm(n, x.data());
    for (T& value : x) value /= size;
    twice(x);
    norm = static_cast<double>(euclidean_norm(n, x.data()));
  }
  return std::sqrt(norm);
}

}  // namespace

template <class T>
double spectral_condition(const HostMatrix<T>& R) {
  const index_t n = R.cols();
  if (n == 0) return 1;
  std::vector<T> y(static_cast<std::size_t>(n));
  const double largest = growth<T>(n, [&](std::vector<T>& x) {
    blas::gemm(Op::none, Op::none, n, 1, n, T(1), R.data(), R.ld(), x.data(), n, T(0), y.data(), n);
    blas::gemm(Op::transpose, Op::none, n, 1, n, T(1), R.data(), R.ld(), y.data(), n, T(0), x.data(), n);
  });
  const double inverse = growth<T>(n, [&](std::vector<T>& x) {
    blas::trsm(Op::transpose, n, 1, R.data(), R.ld(), x.data(), n);
    blas::trsm(Op::none, n, 1, R.data(), R.ld(), x.data(), n);
  });
  return largest * inverse;
}

template double spectral_condition(const HostMatrix<float>&);
template double spectral_condition(const HostMatrix<double>&);

}  // namespace tesela::kernels
