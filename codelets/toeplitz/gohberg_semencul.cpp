#include <tesela/codelets/toeplitz/gohberg_semencul.hpp>
#include <tesela/codelets/toeplitz/internal/gohberg_semencul_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_host.hpp>

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

template struct GohbergSemenculGenerator<float>;
template struct GohbergSemenculGenerator<double>;
template struct GohbergSemenculSolve<float>;
template struct GohbergSemenculSolve<double>;

}  // namespace tesela::kernels
