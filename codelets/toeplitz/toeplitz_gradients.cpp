#include <tesela/codelets/toeplitz/internal/gradients_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_host.hpp>
#include <tesela/codelets/toeplitz/toeplitz_gradients.hpp>

namespace tesela::kernels {

template <class T>
void ToeplitzChan<T>::cpu(const Args&, In<T> t, Out<T> eigenvalues, Out<double> broken, Scratch<T> work) {
  toeplitz::Host host;
  toeplitz::chan(host, t, eigenvalues.data, eigenvalues.rows, broken.data, work.data);
}

template <class T>
void ToeplitzGradientsSolve<T>::cpu(const Args& args, In<T> spectrum, In<T> eigenvalues, In<double> broken, InOut<T> b,
                                    Out<double> outcome, InOut<int> info, Scratch<T> work, Scratch<double> numbers) {
  toeplitz::Host host;
  toeplitz::gradients_solve(host, args, spectrum, eigenvalues, broken, b, outcome.data, info.data, work.data,
                            numbers.data);
}

template struct ToeplitzChan<float>;
template struct ToeplitzChan<double>;
template struct ToeplitzGradientsSolve<float>;
template struct ToeplitzGradientsSolve<double>;

}  // namespace tesela::kernels
