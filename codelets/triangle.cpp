#include "codelets/triangle.hpp"

namespace tesela {

template <class T>
void Identity<T>::cpu(const Args& args, Out<T> a) noexcept {
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = 0; i < a.rows; ++i) a(i, j) = args.row + i == args.column + j ? T(1) : T(0);
}

template <class T>
void UpperTrapezoid<T>::cpu(const Args& args, In<T> a, Out<T> r) noexcept {
  for (index_t j = 0; j < r.cols; ++j)
    for (index_t i = 0; i < r.rows; ++i)
      r(i, j) = detail::upper_element(a.data, a.ld, args.column, args.diagonal, i, j);
}

template struct Identity<float>;
template struct Identity<double>;
template struct UpperTrapezoid<float>;
template struct UpperTrapezoid<double>;

}  // namespace tesela
