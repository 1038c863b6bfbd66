#include <tesela/codelets/tridiagonal/internal/tridiagonal_refinement_body.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal_refinement.hpp>

#include <algorithm>

namespace tesela::kernels {

using namespace tridiagonal;

template <class T, class L>
void TridiagonalConvert<T, L>::cpu(const Args& args, In<T> dl, In<T> d, In<T> du, Out<L> to_dl, Out<L> to_d,
                                   Out<L> to_du) {
  for_each_row(args.systems, d.shape(), convert_row<T, L>(args, dl, d, du, to_dl, to_d, to_du));
}

template <class T>
void TridiagonalResidual<T>::cpu(const Args& args, In<T> dl, In<T> d, In<T> du, In<T> before, In<T> x, In<T> after,
                                 In<T> b, Out<SystemResidual<real_t<T>>> misfits, std::span<const Out<T>> r) {
  const auto row = residual_row<T>(args, dl, d, du, before, x, after, b, r);
  const index_t n = equations(args.systems, x.shape()), systems = count_systems(args.systems, x.shape());
  const bool columns = args.systems == SystemsIn::columns;
  for (index_t c = 0; c < misfits.rows; ++c) {
    const index_t first = c * misfit_rows, end = std::min(first + misfit_rows, n);
    for (index_t s = 0; s < systems; ++s) {
      SystemResidual<real_t<T>> own{};  // in registers
      for (index_t e = first; columns && e < end; ++e) worsen(own, row(e, s));
      misfits(c, s) = own;
    }
    for (index_t e = first; !columns && e < end; ++e)
      for (index_t s = 0; s < systems; ++s) worsen(misfits(c, s), row(e, s));
  }
}

template <class T>
void TridiagonalEvaluate<T>::cpu(const Args& args, Out<SystemResidual<T>> whole, Out<Verdict<T>> verdict,
                                 std::span<const In<SystemResidual<T>>> tiles) {
  verdict(0, 0) = {};
  for (index_t s = 0; s < whole.cols; ++s) {
    SystemResidual<T>& system = whole(0, s) = {};
    for (const In<SystemResidual<T>>& tile : tiles)
      for (index_t c = 0; c < tile.rows; ++c) worsen(system, tile(c, s));
    system.correction = correction_for(system, args.tolerance, args.componentwise);
    worsen(verdict(0, 0), verdict_on(system, args.n, s));
  }
}

template <class T>
void TridiagonalSelectBetter<T>::cpu(const Args& args, InOut<T> x, In<T> y, In<SystemResidual<real_t<T>>> of_x,
                                     In<SystemResidual<real_t<T>>> of_y) {
  for_each_row(args.systems, x.shape(), select_better_element<T>(args.systems, x, y, of_x, of_y));
}

template <class T, class L>
void TridiagonalDemote<T, L>::cpu(const Args& args, In<T> r, In<SystemResidual<real_t<T>>> whole, Out<L> y) {
  for_each_row(args.systems, y.shape(),
               DemoteElement<T, L>{system_view<const T>(args.systems, r), whole.data, whole.ld,
                                   system_view<L>(args.systems, y)});
}

template <class T, class L>
void TridiagonalCorrect<T, L>::cpu(const Args& args, In<L> y, In<SystemResidual<real_t<T>>> whole, InOut<T> x) {
  for_each_row(args.systems, x.shape(),
               CorrectElement<T, L>{system_view<const L>(args.systems, y), whole.data, whole.ld,
                                    system_view<T>(args.systems, x)});
}

TESELA_STRUCTS_FOR_NUMBERS(TridiagonalResidual, TridiagonalSelectBetter)
#define TESELA_INSTANTIATE(T)               \
  template struct TridiagonalConvert<T, T>; \
  template struct TridiagonalDemote<T, T>;  \
  template struct TridiagonalCorrect<T, T>;
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)
#define TESELA_INSTANTIATE_MIXED(T, L)      \
  template struct TridiagonalConvert<T, L>; \
  template struct TridiagonalDemote<T, L>;  \
  template struct TridiagonalCorrect<T, L>;
TESELA_INSTANTIATE_MIXED(double, float)
TESELA_INSTANTIATE_MIXED(std::complex<double>, std::complex<float>)
TESELA_STRUCTS_FOR_REALS(TridiagonalEvaluate)

}  // namespace tesela::kernels
