#include <tesela/codelets/givens/givens_list.hpp>
#include <tesela/codelets/givens/givens_window.hpp>
#include <tesela/codelets/givens/rotation.hpp>

namespace tesela::kernels {
namespace {

template <class T>
void apply_list(const internal::RotationList& list, Side side, bool forward, const T* v, index_t ldv, Strided<T> c,
                index_t columns) {
  const std::int32_t count = list.end(list.stages() - 1);
  for (std::int32_t n = 0; n < count; ++n) {
    const std::int32_t* x = list.entry(forward ? n : count - 1 - n);
    const index_t row = x[0], pivot = x[1];
    const Rotation<T> rotation = for_side(side, unpack(v[row + x[2] * ldv]));
    if (rotation == Rotation<T>{}) continue;
    for (index_t u = 0; u < columns; ++u)
      forward ? rotate(rotation, c(pivot, u), c(row, u)) : rotate_back(rotation, c(pivot, u), c(row, u));
  }
}

}  // namespace

template <class T>
void GivensListPanel<T>::cpu(const Args& args, InOut<T> a, In<std::int32_t> in) {
  const internal::RotationList list{in.data};
  if (list.stages() == 0) return;
  T* const panel = a.data + args.col * a.ld;
  for (std::int32_t n = 0; n < list.end(list.stages() - 1); ++n) {
    const std::int32_t* x = list.entry(n);
    const index_t row = x[0], pivot = x[1];
    T* const column = panel + x[2] * a.ld;
    const Annihilation<T> annihilation = givens(column[pivot], column[row]);
    column[pivot] = annihilation.r;
    column[row] = annihilation.rho;
    for (index_t u = x[2] + 1; u < args.width; ++u)
      rotate(annihilation.rotation, panel[pivot + u * a.ld], panel[row + u * a.ld]);
  }
  const index_t next = args.col + args.width;
  apply_list(list, Side::left, true, panel, a.ld, Strided<T>{a.data + next * a.ld, 1, a.ld}, a.cols - next);
}

template <class T>
void GivensListApply<T>::cpu(const Args& args, In<T> v, In<std::int32_t> in, InOut<T> c) {
  const internal::RotationList list{in.data};
  if (list.stages() == 0) return;
  const bool left = args.side == Side::left;
  apply_list(list, args.side, args.forward(), v.data + args.col * v.ld, v.ld,
             left ? Strided<T>{c.data, 1, c.ld} : Strided<T>{c.data, c.ld, 1}, left ? c.cols : c.rows);
}

TESELA_STRUCTS_FOR_NUMBERS(GivensListPanel, GivensListApply)

}  // namespace tesela::kernels
