#include <tesela/codelets/svd/small_svd.hpp>
#include <tesela/host/lapack/lapack_svd.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace tesela::kernels {
namespace {

/// The matrices of a task, one after the other by gesdd in double precision, because gesdd deflates at 64 eps.
template <class T>
class Decomposition {
  using Wide = std::complex<double>;

 public:
  Decomposition(const typename SmallSvd<T>::Args& args, index_t m)
      : args_(args),
        m_(m),
        k_(std::min(m, args.columns)),
        kind_(args.u_columns == 0                            ? lapack::SingularVectors::none
              : args.u_columns == k_ && args.v_columns == k_ ? lapack::SingularVectors::economic
                                                             : lapack::SingularVectors::all),
        a_(size(m, args.columns)),
        u_(size(m, args.u_columns)),
        vt_(size(args.v_columns, args.columns)),
        s_(size(k_, 1)) {}

  /// Decomposes a matrix. Returns info.
  int operator()(const T* a, index_t ld, real_t<T>* values, T* u, index_t ldu, T* v, index_t ldv) {
    const index_t n = args_.columns;
    real_t<T> largest = 0;
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < m_; ++i) {
        const T x = a[i + j * ld];
        if (!is_finite(x)) return -static_cast<int>(1 + i + j * m_);
        largest = std::max(largest, largest_part(x));
      }
    const int exponent = largest > 0 ? std::ilogb(largest) : 0;
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < m_; ++i)
        a_[static_cast<std::size_t>(i + j * m_)] = times_power_of_two(Wide(a[i + j * ld]), -exponent);
    if (lapack::gesdd(kind_, m_, n, a_.data(), m_, s_.data(), u_.data(), m_, vt_.data(),
                      std::max<index_t>(args_.v_columns, 1)) != 0)
      return 1;
    std::transform(s_.begin(), s_.end(), values,
                   [&](double value) { return static_cast<real_t<T>>(std::ldexp(value, exponent)); });
    for (index_t j = 0; j < args_.u_columns; ++j)
      for (index_t i = 0; i < m_; ++i) u[i + j * ldu] = T(u_[static_cast<std::size_t>(i + j * m_)]);
    for (index_t j = 0; j < args_.v_columns; ++j)
      for (index_t i = 0; i < n; ++i) v[i + j * ldv] = T(conj(vt_[static_cast<std::size_t>(j + i * args_.v_columns)]));
    return 0;
  }

 private:
  static std::size_t size(index_t rows, index_t columns) { return static_cast<std::size_t>(rows * columns); }

  const typename SmallSvd<T>::Args& args_;
  index_t m_, k_;
  lapack::SingularVectors kind_;
  std::vector<Wide> a_, u_, vt_;
  std::vector<double> s_;
};

template <class T>
void decompose_all(const typename SmallSvd<T>::Args& args, const In<T>& a, const Out<real_t<T>>& values,
                   const Out<T>& u, const Out<T>& v, const Out<int>& info) {
  Decomposition<T> decompose(args, a.rows);
  for (index_t k = 0; k < values.cols; ++k) {
    T *const of_u = u.data + k * args.u_columns * u.ld, *const of_v = v.data + k * args.v_columns * v.ld;
    info(0, k) = decompose(&a(0, k * args.columns), a.ld, &values(0, k), of_u, u.ld, of_v, v.ld);
    if (info(0, k) == 0) continue;
    constexpr real_t<T> nan = std::numeric_limits<real_t<T>>::quiet_NaN();
    std::fill_n(&values(0, k), values.rows, nan);
    for (index_t j = 0; j < args.u_columns; ++j) std::fill_n(of_u + j * u.ld, u.rows, T(nan, nan));
    for (index_t j = 0; j < args.v_columns; ++j) std::fill_n(of_v + j * v.ld, v.rows, T(nan, nan));
  }
}

}  // namespace

template <>
void SmallSvd<std::complex<float>>::cpu(const Args& args, In<std::complex<float>> a, Out<float> values,
                                        Out<std::complex<float>> u, Out<std::complex<float>> v, Out<int> info,
                                        Scratch<std::complex<float>>) {
  decompose_all<std::complex<float>>(args, a, values, u, v, info);
}
template <>
void SmallSvd<std::complex<double>>::cpu(const Args& args, In<std::complex<double>> a, Out<double> values,
                                         Out<std::complex<double>> u, Out<std::complex<double>> v, Out<int> info,
                                         Scratch<std::complex<double>>) {
  decompose_all<std::complex<double>>(args, a, values, u, v, info);
}

}  // namespace tesela::kernels
