#include <tesela/codelets/toeplitz/internal/lookahead_recursion.hpp>

#define HWY_TARGET_INCLUDE "tesela/codelets/toeplitz/internal/lookahead_pass.cpp"
#include <tesela/codelets/support/internal/vectors_inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::HWY_NAMESPACE {
namespace {

void update_all(LookaheadPass& pass) {
  constexpr index_t w = lanes<double>;
  const index_t k = pass.k;
  double *const f = pass.f, *const q = pass.q;
  const auto alphas = all(pass.alpha), deltas = all(pass.delta);
  auto f0 = zeros<double>(), f1 = zeros<double>(), z0 = zeros<double>(), z1 = zeros<double>();
  index_t j = 0;
  for (; j + 2 * w <= k; j += 2 * w) {
    const auto a = hn::MulAdd(alphas, load(q + j), load(f + j));
    const auto b = hn::MulAdd(alphas, load(q + j + w), load(f + j + w));
    const auto c = hn::NegMulAdd(deltas, a, load(q + j - 1)), d = hn::NegMulAdd(deltas, b, load(q + j + w - 1));
    store(f + j, a), store(f + j + w, b);
    store(q + j - 1, c), store(q + j + w - 1, d);
    f0 = hn::MulAdd(load(pass.back + j), a, f0), f1 = hn::MulAdd(load(pass.back + j + w), b, f1);
    z0 = hn::MulAdd(load(pass.row + j), c, z0), z1 = hn::MulAdd(load(pass.row + j + w), d, z1);
  }
  double sum_f = 0, sum_z = 0;
  for (; j < k; ++j) {
    f[j] += pass.alpha * q[j];
    q[j - 1] -= pass.delta * f[j];
    sum_f += pass.back[j] * f[j];
    sum_z += pass.row[j] * q[j - 1];
  }
  pass.sum_f = sum<double>(hn::Add(f0, f1)) + sum_f;
  pass.sum_z = sum<double>(hn::Add(z0, z1)) + sum_z;
}

}  // namespace
}  // namespace tesela::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tesela::kernels {

void update(LookaheadPass& pass) { TESELA_BEST_TARGET(update_all)(pass); }

}  // namespace tesela::kernels
#endif
