#include <tesela/codelets/toeplitz/internal/gohberg_semencul_body.hpp>
#include <tesela/codelets/toeplitz/internal/gradients_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_host.hpp>
#include <tesela/codelets/toeplitz/transform_solves.hpp>

namespace tesela::kernels {

template <class T>
void GohbergSemenculGenerator<T>::cpu(const Args&, In<T> x, Out<T> generator) {
  toeplitz::Host host;
  toeplitz::generator(host, x.data, x.rows, generator.data, generator.rows);
}

template <class T>
void GohbergSemenculSolve<T>::cpu(const Args& args, In<T> spectrum, In<T> x, In<T> generator, In<double> report,
                                  InOut<T> b, Out<double> outcome, InOut<int> info, Scratch<T> work) {
  toeplitz::Host host;
  toeplitz::gohberg_semencul_solve(host, args, spectrum, x.data, generator, report.data, b, outcome.data, info.data,
                                   work.data);
}

TESELA_STRUCTS_FOR_REALS(GohbergSemenculGenerator, GohbergSemenculSolve)

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

TESELA_STRUCTS_FOR_REALS(ToeplitzChan, ToeplitzGradientsSolve)

}  // namespace tesela::kernels
