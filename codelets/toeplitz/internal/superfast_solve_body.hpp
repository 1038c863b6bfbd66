#pragma once

#include <tesela/codelets/toeplitz/internal/refined_solve_body.hpp>
#include <tesela/codelets/toeplitz/internal/sine_transform_body.hpp>
#include <tesela/codelets/toeplitz/superfast/superfast_solve.hpp>

// Refinement between the products of superfast_solve.hpp as steps that are common to a core and a GPU. Internal to
// codelets/.

namespace tesela::kernels::toeplitz {

template <class T>
struct CopyRows {
  const T* from;
  index_t ld_from;
  T* to;
  index_t ld_to;
  TESELA_BOTH void operator()(index_t i, index_t j) const { to[i + j * ld_to] = from[i + j * ld_from]; }
};

/// Returns order n if the skeleton of a root reports a breakdown.
template <class T>
struct RootBroken {
  const T* roots[2];
  index_t count, n;
  TESELA_BOTH index_t operator()() const {
    for (index_t i = 0; i < count; ++i)
      if (roots[i][1] != T(0)) return n;
    return 0;
  }
};

template <class Machine, class T>
void superfast_begin(Machine& machine, const RefinedSolveArgs<T>& args, const In<T>& spectrum, const InOut<T>& b,
                     double* outcome, T* state, const Out<T>& sine, T* work) {
  const Refinement<Machine, T> solve{machine, args, spectrum, b, outcome, state, work};
  solve.begin();
  sine_transform(machine, false, b.rows, b.cols, solve.right(), solve.rows(), sine.data, sine.ld, work);
}

template <class Machine, class T>
void superfast_improve(Machine& machine, const SuperfastImproveArgs<T>& args, const In<T>& spectrum, const InOut<T>& b,
                       double* outcome, T* state, const Out<T>& sine, T* work, std::span<const In<T>> parts) {
  const index_t n = b.rows, k = b.cols;
  const Refinement<Machine, T> solve{machine, args, spectrum, b, outcome, state, work};
  index_t start = 0;
  for (const In<T>& part : parts) {
    machine.each(part.rows, k, CopyRows<T>{part.data, part.ld, solve.d() + start, solve.rows()});
    start += part.rows;
  }
  sine_transform(machine, true, n, k, solve.d(), solve.rows(), solve.d(), solve.rows(), work);
  if (args.first)
    solve.first();
  else
    solve.improve();
  sine_transform(machine, false, n, k, solve.r(), solve.rows(), sine.data, sine.ld, work);
}

template <class Machine, class T>
void superfast_end(Machine& machine, const RefinedSolveArgs<T>& args, const In<T>& spectrum, const InOut<T>& b,
                   double* outcome, T* state, int* info, std::span<const In<T>> roots) {
  RootBroken<T> broken{{}, static_cast<index_t>(roots.size()), b.rows};
  for (std::size_t i = 0; i < roots.size(); ++i) broken.roots[i] = roots[i].data;
  Refinement<Machine, T>{machine, args, spectrum, b, outcome, state, nullptr}.finish(broken, info);
}

}  // namespace tesela::kernels::toeplitz
