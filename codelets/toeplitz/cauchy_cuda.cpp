#include <tesela/codelets/toeplitz/cauchy.hpp>

#if TESELA_WITH_CUDA

#include <tesela/codelets/toeplitz/internal/cauchy_launch.hpp>

namespace tesela {

template <class T>
void CauchyInvert<T>::cuda(CudaContext& context, const Args&, In<T> c, In<double> sigma, Out<T> inverse,
                           Out<double> report, Scratch<T> table) {
  context.check(cauchy::sweep<T>(context.stream(), {c.data, c.ld, c.rows, sigma.data, sigma.rows, inverse.data,
                                                    inverse.ld, report.data, report.ld, table.data}),
                "cauchy invert");
}

template <class T>
void CauchyCount<T>::cuda(CudaContext& context, const Args&, In<T> c, In<double> sigma, Out<double> report,
                          Scratch<T> table) {
  context.check(cauchy::sweep<T>(context.stream(), {c.data, c.ld, c.rows, sigma.data, sigma.rows, nullptr, 0,
                                                    report.data, report.ld, table.data}),
                "cauchy count");
}

template struct CauchyInvert<float>;
template struct CauchyInvert<double>;
template struct CauchyCount<float>;
template struct CauchyCount<double>;

}  // namespace tesela

#endif
