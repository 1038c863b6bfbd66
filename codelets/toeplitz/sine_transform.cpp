#include <tesela/codelets/toeplitz/internal/sine_transform_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_host.hpp>
#include <tesela/codelets/toeplitz/sine_transform.hpp>

namespace tesela::kernels {

template <class T>
void SineTransform<T>::cpu(const Args& args, In<T> x, Out<T> y, Scratch<T> work) {
  toeplitz::Host machine;
  toeplitz::sine_transform(machine, args.back, x.rows, x.cols, x.data, x.ld, y.data, y.ld, work.data);
}

template struct SineTransform<float>;
template struct SineTransform<double>;

}  // namespace tesela::kernels
