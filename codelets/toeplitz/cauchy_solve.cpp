#include <tesela/codelets/toeplitz/cauchy_solve.hpp>
#include <tesela/codelets/toeplitz/internal/cauchy_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_host.hpp>

#include <algorithm>

namespace tesela::kernels {

Shape cauchy_solve_work(index_t n, index_t k) {
  const index_t rows = toeplitz_rows(toeplitz_length(n));
  return {4 * rows + std::max({rows, sine_rows(n), cauchy_work(n, 1).rows}), k};
}

template <class T>
void CauchyInverseSolve<T>::cpu(const Args& args, In<T> spectrum, In<T> tables, In<T> inverse, In<double> report,
                                InOut<T> b, Out<double> outcome, InOut<int> info, Scratch<T> work) {
  toeplitz::Host machine;
  toeplitz::cauchy_inverse_solve(machine, args, spectrum, tables, inverse, report, b, outcome.data, info.data,
                                 work.data);
}

template struct CauchyInverseSolve<float>;
template struct CauchyInverseSolve<double>;

}  // namespace tesela::kernels
