#include <tesela/codelets/dense/transpose.hpp>

#include <algorithm>

namespace tesela::kernels {

template <class T>
void Transpose<T>::cpu(const Args&, In<T> a, Out<T> b) {
  constexpr index_t block = 16;  // square of both matrices, so that each cache line is read and written once
  for (index_t j0 = 0; j0 < a.cols; j0 += block)
    for (index_t i0 = 0; i0 < a.rows; i0 += block)
      for (index_t i = i0; i < std::min(i0 + block, a.rows); ++i)
        for (index_t j = j0; j < std::min(j0 + block, a.cols); ++j) b(j, i) = a(i, j);
}

template struct Transpose<float>;
template struct Transpose<double>;

}  // namespace tesela::kernels
