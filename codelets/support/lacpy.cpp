#include <tesela/codelets/support/lacpy.hpp>

#include <algorithm>

namespace tesela::kernels {

template <class T>
void Lacpy<T>::cpu(const Args& args, In<T> a, Out<T> b) {
  for (index_t j = 0; j < b.cols; ++j) {
    const index_t diagonal = std::clamp<index_t>(j - args.below, 0, b.rows);  // rows above it
    const T* const from = &a(0, args.column + j);
    T* const to = b.data + j * b.ld;
    switch (args.part) {
      case Part::all: std::copy_n(from, b.rows, to); break;
      case Part::upper: {
        const index_t kept = std::clamp<index_t>(j - args.below + 1, 0, b.rows);
        std::copy_n(from, kept, to);
        std::fill(to + kept, to + b.rows, T(0));
        break;
      }
      case Part::unit_lower:
        std::fill_n(to, diagonal, T(0));
        std::copy(from + diagonal, from + b.rows, to + diagonal);
        if (j >= args.below && j - args.below < b.rows) to[j - args.below] = T(1);
        break;
    }
  }
}

template <class T>
void Laset<T>::cpu(const Args& args, Out<T> a) {
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = 0; i < a.rows; ++i) a(i, j) = i + args.below == j ? args.diagonal : T(0);
}

TESELA_STRUCTS_FOR_NUMBERS(Lacpy, Laset)

}  // namespace tesela::kernels
