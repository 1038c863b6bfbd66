#include <tesela/codelets/eigen/small_eig.hpp>
#include <tesela/host/lapack/lapack.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace tesela::kernels {
namespace {

/// Solves the matrices one after the other by heevd in double precision.
template <class T>
void solve_all(bool vectors, const InOut<T>& a, const Out<real_t<T>>& values, const Out<int>& info) {
  using Wide = std::complex<double>;
  const index_t n = a.rows;
  std::vector<Wide> x(static_cast<std::size_t>(n * n));
  std::vector<double> w(static_cast<std::size_t>(n));
  const auto solve = [&](T* one, real_t<T>* found) {
    real_t<T> largest = 0;
    for (index_t j = 0; j < n; ++j)
      for (index_t i = j; i < n; ++i) {
        if (!is_finite(one[i + j * a.ld])) return -static_cast<int>(1 + i + j * n);
        largest = std::max(largest, largest_part(one[i + j * a.ld]));
      }
    const int exponent = largest > 0 ? std::ilogb(largest) : 0;
    for (index_t j = 0; j < n; ++j)
      for (index_t i = j; i < n; ++i)  // LAPACK reads the upper triangle
        x[static_cast<std::size_t>(j + i * n)] = times_power_of_two(conj(Wide(one[i + j * a.ld])), -exponent);
    if (const int failure = lapack::syevd(n, x.data(), n, w.data(), vectors); failure > 0)
      return static_cast<int>(std::min<index_t>(failure, n));
    std::transform(w.begin(), w.end(), found,
                   [&](double value) { return static_cast<real_t<T>>(std::ldexp(value, exponent)); });
    for (index_t j = 0; vectors && j < n; ++j) {
      const Wide* const column = &x[static_cast<std::size_t>(j * n)];
      const auto largest_at =
          std::max_element(column, column + n, [](Wide p, Wide q) { return std::abs(p) < std::abs(q); }) - column;
      const double size = std::abs(column[largest_at]);
      for (index_t i = 0; i < n; ++i) one[i + j * a.ld] = T(times(column[i], conj(column[largest_at]) / size));
      one[largest_at + j * a.ld] = static_cast<real_t<T>>(size);
    }
    return 0;
  };
  for (index_t k = 0; k < values.cols; ++k) {
    info(0, k) = solve(&a(0, k * n), &values(0, k));
    if (info(0, k) != 0) std::fill_n(&values(0, k), n, std::numeric_limits<real_t<T>>::quiet_NaN());
  }
}

}  // namespace

template <>
void SmallEig<std::complex<float>>::cpu(const Args& args, InOut<std::complex<float>> a, Out<float> values,
                                        Out<int> info) {
  solve_all<std::complex<float>>(args.vectors, a, values, info);
}
template <>
void SmallEig<std::complex<double>>::cpu(const Args& args, InOut<std::complex<double>> a, Out<double> values,
                                         Out<int> info) {
  solve_all<std::complex<double>>(args.vectors, a, values, info);
}

}  // namespace tesela::kernels
