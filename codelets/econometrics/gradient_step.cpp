#include <tesela/codelets/econometrics/gradient_step.hpp>

#include <numeric>

namespace tesela::kernels {
namespace {

double product(index_t n, const double* a, const double* b) {
  constexpr int at_once = 8;  // sums, for a core's vectors
  double sums[at_once] = {};
  index_t k = 0;
  for (; k + at_once <= n; k += at_once)
    for (index_t l = 0; l < at_once; ++l) sums[l] += a[k + l] * b[k + l];
  for (; k < n; ++k) sums[0] += a[k] * b[k];
  return std::accumulate(sums, sums + at_once, 0.0);
}

}  // namespace

void GradientProduct::cpu(const Args&, In<double> a, In<double> b, Out<double> sum) {
  sum(0, 0) = product(a.rows, a.data, b.data);
}

void GradientStep::cpu(const Args& args, In<double> p, In<double> q, InOut<double> x, InOut<double> r,
                       Out<double> sum) {
  for (index_t k = 0; k < x.rows; ++k) x.data[k] += args.step * p.data[k];
  for (index_t k = 0; k < r.rows; ++k) r.data[k] -= args.step * q.data[k];
  sum(0, 0) = product(r.rows, r.data, r.data);
}

void GradientDirection::cpu(const Args& args, In<double> r, InOut<double> p) {
  for (index_t k = 0; k < p.rows; ++k) p.data[k] = r.data[k] + args.turn * p.data[k];
}

}  // namespace tesela::kernels
