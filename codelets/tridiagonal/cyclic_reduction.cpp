#include <tesela/codelets/tridiagonal/cyclic_reduction.hpp>
#include <tesela/codelets/tridiagonal/internal/cyclic_reduction_body.hpp>

#include <algorithm>

namespace tesela::kernels {

Shape cr_work(Reduction how, index_t m, index_t r) {
  if (how == Reduction::packed) return {std::max<index_t>(m, 1), 3 + r};
  return {std::max<index_t>(m / 2, 1), 3};
}

template <class T>
void CrReduce<T>::cpu(const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b, Out<T> work, Scratch<index_t>,
                      Out<int> info, std::span<const Out<T>> edge) {
  const cr::Levels<T> levels{args, dl.data, d.data, du.data, b, work};
  index_t failure = cr::no_failure;
  for (int level = 0; level < args.levels; ++level) {
    const auto from = levels[level];
    const auto to = levels.reduced(level + 1);
    for (index_t k = 0; 2 * k < from.count; ++k)
      if (!cr::reduce_row(from, to, k)) failure = std::min(failure, cr::failure_at(level, 2 * k));
  }
  *info.data = cr::failure_status(failure, args.stride);
  for (const Out<T>& e : edge)
    for (index_t row = 0; row < e.rows; ++row) {
      const auto from = levels[static_cast<int>(std::min<index_t>(row, args.levels))];
      const index_t i = std::max<index_t>(row - args.levels, 0);
      if (i >= from.count) continue;
      const cr::Equation<T> equation = from.equation(i);
      e(row, 0) = equation.dl, e(row, 1) = equation.d, e(row, 2) = equation.du;
      for (index_t j = 0; j < b.cols; ++j) e(row, 3 + j) = from.rhs(i, j);
    }
}

template <class T>
void CrJoin<T>::cpu(const Args& args, Out<T> dl, Out<T> d, Out<T> du, Out<T> b, std::span<const In<T>> edges) {
  cr::for_each_join<T>(args, dl.data, d.data, du.data, b, edges, [](const cr::Join<T>& join) {
    for (index_t k = 0; k < join.rows(); ++k) join(k);
  });
}

template <class T>
void CrSubstitute<T>::cpu(const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> work, InOut<T> b, Scratch<index_t>,
                          Out<int> info, std::span<const In<T>> coarse) {
  const cr::Levels<T> levels{args, dl.data, d.data, du.data, b, work};
  const auto above = [&](index_t j) { return args.coarse_first > 0 ? coarse.front()(args.coarse_first - 1, j) : T(0); };
  const auto top = levels[args.levels];
  for (index_t k = 0; k < top.count; ++k)
    for (index_t j = 0; j < b.cols; ++j) top.rhs(k, j) = coarse.front()(args.coarse_first + k, j);

  index_t first_bad = b.rows, step = index_t{1} << args.levels;
  for (int level = args.levels - 1; level >= 0; --level) {
    step /= 2;
    const auto rows = levels[level], solved = levels[level + 1];
    for (index_t i = 0; i < rows.count; i += 2) {
      const cr::Equation<T> equation = rows.equation(i);
      for (index_t j = 0; j < b.cols; ++j) {
        const bool has_below = i + 1 < rows.count;
        const T below = has_below ? solved.rhs(i / 2, j) : T(0);
        const T x = cr::unknown(equation, rows.rhs(i, j), i > 0 || args.coarse_first > 0,
                                i > 0 ? solved.rhs(i / 2 - 1, j) : above(j), has_below, below);
        if (!cr::finite(x)) first_bad = std::min(first_bad, (i + 1) * step - 1);
        rows.rhs(i, j) = x;
        if (has_below && args.how == Reduction::packed) rows.rhs(i + 1, j) = below;
      }
    }
  }
  *info.data = first_bad < b.rows ? row_status((first_bad + 1) * args.stride) : 0;
}

TESELA_STRUCTS_FOR_NUMBERS(CrReduce, CrJoin, CrSubstitute)

}  // namespace tesela::kernels
