#include <tesela/codelets/toeplitz/cauchy_solve.hpp>
#include <tesela/codelets/toeplitz/internal/cauchy_body.hpp>
#include <tesela/codelets/toeplitz/internal/cauchy_factor_body.hpp>
#include <tesela/codelets/toeplitz/internal/cauchy_rows.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_host.hpp>
#include <tesela/host/blas.hpp>

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

TESELA_STRUCTS_FOR_REALS(CauchyInverseSolve)

template <class T>
void CauchyFactor<T>::cpu(const Args& args, In<T> c, Out<T> factors, Out<double> report, Scratch<T>) {
  const index_t rows = factors.rows;
  cauchy::factor<T>(c, args.sigma, args.part, {factors.data, factors.ld, &factors(0, rows), &factors(0, rows + 1)},
                    report.data);
}

template <class T>
void CauchyFactoredSolve<T>::cpu(const Args& args, In<T> spectrum, In<T> factors_0, In<T> factors_1,
                                 In<double> report_0, In<double> report_1, InOut<T> b, Out<double> outcome,
                                 InOut<int> info, Scratch<T> work) {
  toeplitz::Host machine;
  toeplitz::cauchy_factored_solve(machine, args, spectrum, factors_0, factors_1, report_0.data, report_1.data, b,
                                  outcome.data, info.data, work.data,
                                  [](Op op, index_t m, index_t n, const T* l, index_t ldl, T* x, index_t ldx) {
                                    blas::solve_unit_lower(op, m, n, l, ldl, x, ldx);
                                  });
}

TESELA_STRUCTS_FOR_REALS(CauchyFactor, CauchyFactoredSolve)

}  // namespace tesela::kernels
