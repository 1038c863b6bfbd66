#include <tesela/codelets/support/fill.hpp>

namespace tesela::kernels {

template <class T>
void Fill<T>::cpu(const Args& args, Out<T> a) {
  if (a.rows > 0 && a.cols > 0) require_size(args.generator);
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = 0; i < a.rows; ++i) a(i, j) = args.generator(args.row + i, args.column + j);
}

template <class T>
void Scal<T>::cpu(const Args& args, InOut<T> a) {
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = 0; i < a.rows; ++i) a(i, j) *= args.alpha;
}

TESELA_STRUCTS_FOR_NUMBERS(Fill, Scal)

}  // namespace tesela::kernels
