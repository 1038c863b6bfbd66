#include <tesela/codelets/toeplitz/cauchy.hpp>

#if TESELA_HAVE_CUDA

#include <tesela/codelets/toeplitz/internal/cauchy_launch.hpp>

namespace tesela::kernels {

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

template decltype(CauchyInvert<float>::cuda) CauchyInvert<float>::cuda;
template decltype(CauchyInvert<double>::cuda) CauchyInvert<double>::cuda;
template decltype(CauchyCount<float>::cuda) CauchyCount<float>::cuda;
template decltype(CauchyCount<double>::cuda) CauchyCount<double>::cuda;

}  // namespace tesela::kernels

#endif
