#include <tesela/codelets/toeplitz/internal/lookahead_recursion.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_host.hpp>
#include <tesela/codelets/toeplitz/lookahead.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::kernels {
void LookaheadFactor::cpu(const Args& args, In<double> t, Out<double> generator, Out<double> report) {
  const index_t n = t.rows, rows = generator.rows;
  LookaheadRecursion recursion(n, t.data, t.data + t.ld, args.largest_block);
  report(lookahead_breakdown, 0) = static_cast<double>(recursion.run());
  report(lookahead_largest, 0) = static_cast<double>(recursion.largest_step());
  report(lookahead_steps, 0) = static_cast<double>(recursion.steps());
  report(lookahead_negative, 0) = static_cast<double>(recursion.negative());
  for (index_t j = 0; j < 4; ++j) std::fill_n(generator.data + j * generator.ld, rows, 0.0);
  if (report(lookahead_breakdown, 0) > 0) return;
  const double* const f = recursion.f();
  const double* const q = recursion.q();
  std::copy_n(f, n, generator.data);
  std::reverse_copy(q + 1, q + n + 1, generator.data + generator.ld);
  std::copy_n(q, n, generator.data + 2 * generator.ld);
  std::reverse_copy(f + 1, f + n, generator.data + 3 * generator.ld + 1);
  toeplitz::Host{}.real_to_complex(rows - 2, 4, generator.data, generator.ld);
}

LookaheadInverse::LookaheadInverse(In<double> t, In<double> generator)
    : matrix_(t.rows, t.data, t.data + t.ld),
      generator_(generator),
      n_(t.rows),
      rows_(generator.rows),
      sum_(static_cast<std::size_t>(rows_)),
      part_(static_cast<std::size_t>(rows_)),
      residual_(static_cast<std::size_t>(n_)),
      better_(static_cast<std::size_t>(n_)),
      kept_(static_cast<std::size_t>(n_)) {}

void LookaheadInverse::apply(const double* b, double* x) {
  const toeplitz::Host host;
  const index_t length = rows_ - 2, half = rows_ / 2;
  const double scale = 1 / static_cast<double>(length);
  std::vector<double> right(b, b + n_);
  right.resize(static_cast<std::size_t>(rows_));
  host.real_to_complex(length, 1, right.data(), rows_);
  for (const index_t pair : {0, 2}) {
    part_ = right;
    multiply_transforms(half, scale, generator_.data + (pair + 1) * generator_.ld, true, part_.data());
    host.complex_to_real(length, 1, part_.data(), rows_);
    std::fill(part_.begin() + n_, part_.end(), 0.0);
    host.real_to_complex(length, 1, part_.data(), rows_);
    multiply_transforms(half, pair == 0 ? scale : -scale, generator_.data + pair * generator_.ld, false, part_.data());
    if (pair == 0)
      sum_ = part_;
    else
      std::transform(part_.begin(), part_.end(), sum_.begin(), sum_.begin(), std::plus<>());
  }
  host.complex_to_real(length, 1, sum_.data(), rows_);
  std::copy_n(sum_.data(), n_, x);
}

double LookaheadInverse::residual_norm(const double* b, const double* x) {
  std::copy_n(b, n_, residual_.data());
  matrix_.multiply(-1, x, 1, residual_.data());
  return blas::nrm2(n_, residual_.data());
}

double LookaheadInverse::residual(const double* b, const double* x, double norm) {
  const double r = residual_norm(b, x);
  return r == 0 ? 0 : r / (norm * blas::nrm2(n_, x) + blas::nrm2(n_, b));
}

double LookaheadInverse::solve(const double* b, double* x, double norm, int steps) {
  apply(b, x);
  double r = residual_norm(b, x);
  const auto size = [&] { return norm * blas::nrm2(n_, x) + blas::nrm2(n_, b); };
  for (int step = 0; step < steps && !(r <= std::numeric_limits<double>::epsilon() / 2 * size()); ++step) {
    kept_ = residual_;
    apply(residual_.data(), better_.data());
    for (index_t i = 0; i < n_; ++i) better_[static_cast<std::size_t>(i)] += x[i];
    const double now = residual_norm(b, better_.data());
    if (!(now < r)) break;
    const bool last = now > r / 2;
    std::copy(better_.begin(), better_.end(), x);
    r = now;
    if (last) break;
  }
  return r == 0 ? 0 : r / size();
}

template <class T>
void LookaheadSolve<T>::cpu(const Args& args, In<double> t, In<double> generator, In<double> report, InOut<T> b,
                            Out<double> outcome, InOut<int> info) {
  const index_t n = t.rows;
  const auto broken = static_cast<index_t>(report(lookahead_breakdown, 0));
  index_t bad = broken;
  LookaheadInverse inverse(t, generator);
  std::vector<double> right(static_cast<std::size_t>(n)), x(right.size()), rounded(right.size());
  for (index_t j = 0; j < b.cols; ++j) {
    for (index_t column = 0; column < 4; ++column) outcome(j, column) = 0;
    T* const to = b.data + j * b.ld;
    if (broken != 0) {
      std::fill_n(to, n, T(0));
      outcome(j, 0) = 1;
      continue;
    }
    std::copy_n(to, n, right.begin());
    const int of_b = exponent_of_largest<double>(right), exponent = of_b - args.exponent;
    scale_by_power_of_two<double>(right, -of_b);
    double error = inverse.solve(right.data(), x.data(), args.norm, args.steps);
    bool finite = true;
    for (std::size_t i = 0; i < x.size(); ++i) {
      to[i] = static_cast<T>(std::ldexp(x[i], exponent));
      rounded[i] = std::ldexp(static_cast<double>(to[i]), -exponent);
      finite = finite && std::isfinite(to[i]);
    }
    if (!finite)
      error = std::numeric_limits<double>::infinity();
    else if (rounded != x)
      error = inverse.residual(right.data(), rounded.data(), args.norm);
    outcome(j, 0) = error;
    if (bad == 0 && !(error <= args.tolerance)) bad = n + 1 + j;
  }
  if (info(0, 0) == 0) info(0, 0) = static_cast<int>(std::min<index_t>(bad, std::numeric_limits<int>::max()));
}

template struct LookaheadSolve<float>;
template struct LookaheadSolve<double>;

}  // namespace tesela::kernels
