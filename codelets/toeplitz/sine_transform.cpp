#include <tesela/codelets/toeplitz/internal/sine_transform_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_host.hpp>
#include <tesela/codelets/toeplitz/sine_transform.hpp>
#include <tesela/host/blas.hpp>

namespace tesela::kernels {

template <class T>
void SineTransform<T>::cpu(const Args& args, In<T> x, Out<T> y, Scratch<T> work) {
  toeplitz::Host machine;
  toeplitz::sine_transform(machine, args.back, x.rows, x.cols, x.data, x.ld, y.data, y.ld, work.data);
}

template <class T>
void FromSineBasis<T>::cpu(const Args& args, In<T> x, In<index_t> places, Scratch<T> work,
                           std::span<const InOut<T>> v) {
  toeplitz::pairs_from_sine_basis(toeplitz::Host{}, x, places, args.first, v, work.data, index_t{1});
}

template <class T>
void OrthogonalizeAgainst<T>::cpu(const Args& args, In<T> y, InOut<T> x, Scratch<T> work) {
  for (std::size_t part = 0; part < 2; ++part) {
    const index_t columns = args.columns[part], others = args.others[part];
    const index_t first = part == 0 ? 0 : cauchy_rows(x.rows, 0), rows = cauchy_rows(x.rows, static_cast<int>(part));
    if (columns == 0 || others == 0 || rows == 0) continue;
    const T* const against = &y(first, args.ends[part] - others);
    blas::gemm<T>(Op::transpose, Op::none, others, columns, rows, 1, against, y.ld, &x(first, 0), x.ld, 0, work.data,
                  work.ld);
    blas::gemm<T>(Op::none, Op::none, rows, columns, others, -1, against, y.ld, work.data, work.ld, 1, &x(first, 0),
                  x.ld);
    for (index_t j = 0; j < columns; ++j) {
      const T norm = blas::nrm2(rows, &x(first, j));
      for (index_t a = first; norm > 0 && a < first + rows; ++a) x(a, j) /= norm;
    }
  }
}

TESELA_STRUCTS_FOR_REALS(SineTransform, FromSineBasis, OrthogonalizeAgainst)

}  // namespace tesela::kernels
