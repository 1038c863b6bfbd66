#include <tesela/codelets/econometrics/equation_gram.hpp>
#include <tesela/codelets/econometrics/internal/equation_columns.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>

#include <algorithm>
#include <limits>
#include <vector>

namespace tesela::kernels {
namespace {

using equation::Picks;

void one_equation(const In<double>& a, const In<double>& gram, const Picks& picks, const Block<double>& facts,
                  double* residual, const Block<double>& R) {
  const index_t r = picks.r;
  std::vector<double> change(static_cast<std::size_t>(r)), product(change), more(change);
  for (index_t p = 0; p < r; ++p) {
    std::fill_n(&R(0, p), r, 0.0);
    const int c = picks.column(p), y = picks.column(r);
    if (c < 0) {
      R(p, p) = 1;
      continue;
    }
    for (index_t i = 0; i <= p; ++i) R(i, p) = gram(std::min(picks.column(i), c), std::max(picks.column(i), c));
    product[static_cast<std::size_t>(p)] = gram(std::min(c, y), std::max(c, y));
  }
  if (lapack::potrf(r, R.data, R.ld) != 0) {
    facts(r, 0) = std::numeric_limits<double>::quiet_NaN();
    return;
  }
  equation::invert(R, facts);
  const auto solve = [&](std::vector<double>& through, double* x) {
    blas::trsm(Op::transpose, r, 1, R.data, R.ld, through.data(), r);
    std::copy_n(through.data(), r, x);
    blas::trsm(Op::none, r, 1, R.data, R.ld, x, r);
  };
  solve(product, &facts(0, 0));
  std::copy_n(&a(0, picks.column(r)), a.rows, residual);
  equation::subtract(a, picks, &facts(0, 0), residual);
  for (index_t p = 0; p < r; ++p) {
    if (picks.column(p) < 0) continue;
    const double* column = &a(0, picks.column(p));
    double sum = 0;
    for (index_t i = 0; i < picks.height(p); ++i) sum += column[i] * residual[i];
    more[static_cast<std::size_t>(p)] = sum;
  }
  solve(more, change.data());
  for (index_t p = 0; p < r; ++p) {
    facts(p, 0) += change[static_cast<std::size_t>(p)];
    product[static_cast<std::size_t>(p)] += more[static_cast<std::size_t>(p)];
  }
  equation::subtract(a, picks, change.data(), residual);
  equation::state(R, picks, product.data(), facts);
}

}  // namespace

Shape equation_gram_work(index_t regressors, index_t count, bool with_gpu) {
  const index_t r = regressors;
  return {r, with_gpu ? count * (2 * r + 8) : r};
}

void EquationGram::cpu(const Args& args, In<double> a, In<double> gram, In<int> picks, Out<double> facts,
                       Out<double> residual, Scratch<double> work) {
  const index_t r = facts.rows - 1;
  for (index_t i = 0; i < args.count; ++i)
    one_equation(a, gram, {picks.data + 2 * i * (r + 2), r}, {&facts(0, 4 * i), r + 1, 4, facts.ld},
                 residual.data + i * residual.ld, {work.data, r, r, r});
}

}  // namespace tesela::kernels
