#include <tesela/codelets/tridiagonal/internal/tridiagonal_fill_body.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal_fill.hpp>

namespace tesela::kernels {
namespace {

template <class F>
void for_each_element(Shape shape, const F& f) {
  for (index_t j = 0; j < shape.cols; ++j)
    for (index_t i = 0; i < shape.rows; ++i) f(i, j);
}

}  // namespace

template <class T>
void TridiagonalFill<T>::cpu(const Args& args, Out<T> dl, Out<T> d, Out<T> du) {
  for_each_element(d.shape(), internal::FillElement<T>{args, dl, d, du});
}

template <class T>
void TridiagonalProduct<T>::cpu(const Args& args, In<T> dl, In<T> d, In<T> du, In<T> before, In<T> x, In<T> after,
                                Out<T> b) {
  for_each_element(x.shape(), internal::ProductElement<T>{args, dl, d, du, before, x, after, b});
}

TESELA_STRUCTS_FOR_NUMBERS(TridiagonalFill, TridiagonalProduct)

}  // namespace tesela::kernels
