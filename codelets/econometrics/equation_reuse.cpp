#include <tesela/codelets/econometrics/equation_reuse.hpp>
#include <tesela/codelets/econometrics/internal/equation_columns.hpp>
#include <tesela/host/lapack/lapack.hpp>

#include <algorithm>
#include <bit>
#include <vector>

namespace tesela::kernels {

std::uint64_t EquationReuse::Args::cost_key() const {
  return static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(work)));
}

Shape equation_reuse_work(index_t rows, index_t regressors, bool with_gpu) {
  const index_t r = regressors, triangle = r * (r + 1);
  return with_gpu ? Shape{32, ceil_div(triangle + 2 * r * r + 5 * r + 2 * r * rows, index_t{32})} : Shape{r, r + 1};
}

void EquationReuse::cpu(const Args& args, In<double> a, In<double> from, In<int> picks, In<int> plan, In<int> order,
                        Out<double> w, Out<double> facts, Out<double> residual, Scratch<double> work) {
  const equation::Picks own{picks.data, picks.cols - 2}, starts{plan.data, own.r};
  equation::gather(from, starts, w);
  equation::rotate_staircase(starts, w);
  // Below row r the equation's own columns are zero.
  const Block<double> triangle{work.data, own.r, own.r + 1, own.r};
  std::vector<double> tau(static_cast<std::size_t>(own.r));
  for (index_t p = 0; p <= own.r; ++p) std::copy_n(&w(0, p < own.r ? order(0, p) : args.right), own.r, &triangle(0, p));
  lapack::geqrf(own.r, own.r, triangle.data, triangle.ld, tau.data());
  lapack::ormqr(Op::transpose, own.r, 1, own.r, triangle.data, triangle.ld, tau.data(), &triangle(0, own.r),
                triangle.ld);
  equation::finish(a, own, triangle, facts, residual.data);
}

}  // namespace tesela::kernels
