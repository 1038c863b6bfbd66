#include <tesela/codelets/econometrics/equation_bases.hpp>

#include <algorithm>
#include <bit>

namespace tesela::kernels {

std::uint64_t EquationBases::Args::cost_key() const {
  return static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(work)));
}

Shape equation_bases_work(index_t rows, index_t regressors, index_t count, bool with_gpu) {
  const index_t n = regressors;
  if (!with_gpu) return equation_work(rows, n, false);
  return {32, ceil_div(count * (2 * rows * n + 4 * n * n + 2), index_t{32})};
}

void EquationBases::cpu(const Args& args, In<double> a, In<int> picks, Out<double> r, Scratch<double> work,
                        std::span<const Out<double>> q) {
  const index_t n = r.rows;
  for (index_t i = 0; i < args.count; ++i) {
    const Out<double>& own = q[static_cast<std::size_t>(i)];
    for (index_t j = own.cols; j < n; ++j) {
      std::fill_n(&r(0, n * i + j), n, 0.0);
      r(j, n * i + j) = 1;
    }
    EquationBasis::cpu({}, a, In<int>{{picks.data + 2 * i * (n + 2), 2, own.cols + 2, 2}}, own,
                       Out<double>{{&r(0, n * i), own.cols, own.cols, r.ld}}, work);
  }
}

}  // namespace tesela::kernels
