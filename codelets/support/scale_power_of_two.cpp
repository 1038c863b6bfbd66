#include <tesela/codelets/support/scale_power_of_two.hpp>

#include <cmath>

namespace tesela::kernels {

template <class T>
void ScalePowerOfTwo<T>::cpu(const Args& args, InOut<T> a) {
  const int half = args.exponent / 2;
  const T first = std::ldexp(T(1), half), second = std::ldexp(T(1), args.exponent - half);
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = 0; i < a.rows; ++i) a(i, j) = a(i, j) * first * second;
}

template struct ScalePowerOfTwo<float>;
template struct ScalePowerOfTwo<double>;

}  // namespace tesela::kernels
