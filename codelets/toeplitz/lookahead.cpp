#include <tesela/codelets/toeplitz/internal/lookahead_recursion.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_host.hpp>
#include <tesela/codelets/toeplitz/levinson.hpp>
#include <tesela/codelets/toeplitz/lookahead.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::kernels {

template <class T>
void LookaheadFactor<T>::cpu(const Args& args, In<T> t, Out<T> generator, Out<double> report) {
  const index_t n = t.rows, rows = generator.rows;
  LookaheadRecursion<T> recursion(n, t.data, t.data + t.ld, args.largest_block);
  report(lookahead_breakdown, 0) = static_cast<double>(recursion.run());
  report(lookahead_largest, 0) = static_cast<double>(recursion.largest_step());
  report(lookahead_steps, 0) = static_cast<double>(recursion.steps());
  report(lookahead_negative, 0) = static_cast<double>(recursion.negative());
  for (index_t j = 0; j < 4; ++j) std::fill_n(&generator(0, j), rows, T(0));
  if (report(lookahead_breakdown, 0) > 0) return;
  const T *const f = recursion.f(), *const q = recursion.q();
  std::copy_n(f, n, generator.data);
  std::copy_n(q, n, &generator(0, 2));
  for (index_t i = 0; i < n; ++i) generator(i, 1) = conj(q[n - i]);
  for (index_t i = 1; i < n; ++i) generator(i, 3) = conj(f[n - i]);
  for (index_t j = 0; j < 4; ++j) transform_forward(toeplitz_length(n), &generator(0, j));
}

template <class T>
void finish_generator(index_t n, const Out<T>& generator, const double* recursion, const Out<double>& report) {
  report(lookahead_breakdown, 0) = recursion[levinson_breakdown];
  report(lookahead_largest, 0) = 1;
  report(lookahead_steps, 0) = static_cast<double>(n);
  report(lookahead_negative, 0) = recursion[levinson_negative];
  const T* const x = generator.data;
  for (index_t j = 0; j < 4; ++j)
    std::fill(&generator(0, j) + (j == 0 ? n : 0), &generator(0, j) + generator.rows, T(0));
  if (report(lookahead_breakdown, 0) > 0) return;
  const auto first = real_part(x[0]);
  for (index_t i = 0; i < n; ++i) {
    generator(i, 1) = x[i] / first;
    if (i == 0) continue;
    generator(i, 3) = conj(x[n - i]);
    generator(i, 2) = generator(i, 3) / first;
  }
  for (index_t j = 0; j < 4; ++j) transform_forward(toeplitz_length(n), &generator(0, j));
}

template <class T>
void HermitianGenerator<T>::cpu(const Args&, In<T> inverse, In<double> recursion, Out<T> generator,
                                Out<double> report) {
  std::copy_n(inverse.data, inverse.rows, generator.data);
  finish_generator(inverse.rows, generator, recursion.data, report);
}

template <class S>
LookaheadInverse<S>::LookaheadInverse(In<S> t, In<S> generator)
    : matrix_(t.rows, t.data, t.data + t.ld),
      generator_(generator),
      n_(t.rows),
      rows_(generator.rows),
      sum_(static_cast<std::size_t>(rows_)),
      part_(static_cast<std::size_t>(rows_)),
      residual_(static_cast<std::size_t>(n_)),
      better_(static_cast<std::size_t>(n_)),
      kept_(static_cast<std::size_t>(n_)) {}

template <class S>
void LookaheadInverse<S>::apply(const S* b, S* x) {
  const index_t length = toeplitz_length(n_);
  const double scale = 1 / static_cast<double>(length);
  std::vector<S> right(b, b + n_);
  right.resize(static_cast<std::size_t>(rows_));
  transform_forward(length, right.data());
  for (const index_t pair : {0, 2}) {
    part_ = right;
    multiply_transforms(rows_, scale, generator_.data + (pair + 1) * generator_.ld, true, part_.data());
    transform_backward(length, part_.data());
    std::fill(part_.begin() + n_, part_.end(), S(0));
    transform_forward(length, part_.data());
    multiply_transforms(rows_, pair == 0 ? scale : -scale, generator_.data + pair * generator_.ld, false, part_.data());
    if (pair == 0)
      sum_ = part_;
    else
      std::transform(part_.begin(), part_.end(), sum_.begin(), sum_.begin(), std::plus<>());
  }
  transform_backward(length, sum_.data());
  std::copy_n(sum_.data(), n_, x);
}

template <class S>
double LookaheadInverse<S>::residual_norm(const S* b, const S* x) {
  std::copy_n(b, n_, residual_.data());
  matrix_.multiply(-1, x, 1, residual_.data());
  return blas::nrm2(n_, residual_.data());
}

template <class S>
double LookaheadInverse<S>::residual(const S* b, const S* x, double norm) {
  const double r = residual_norm(b, x);
  return r == 0 ? 0 : r / (norm * blas::nrm2(n_, x) + blas::nrm2(n_, b));
}

template <class S>
double LookaheadInverse<S>::solve(const S* b, S* x, double norm, int steps) {
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
void LookaheadSolve<T>::cpu(const Args& args, In<with_parts<T, double>> t, In<with_parts<T, double>> generator,
                            In<double> report, InOut<T> b, Out<double> outcome, InOut<int> info) {
  using Wide = with_parts<T, double>;
  const index_t n = t.rows;
  const auto broken = static_cast<index_t>(report(lookahead_breakdown, 0));
  index_t bad = broken;
  LookaheadInverse<Wide> inverse(t, generator);
  std::vector<Wide> right(static_cast<std::size_t>(n)), x(right.size()), rounded(right.size());
  for (index_t j = 0; j < b.cols; ++j) {
    for (index_t column = 0; column < 4; ++column) outcome(j, column) = 0;
    T* const to = b.data + j * b.ld;
    if (broken != 0) {
      std::fill_n(to, n, T(0));
      outcome(j, 0) = 1;
      continue;
    }
    std::copy_n(to, n, right.begin());
    const int of_b = exponent_of_largest<Wide>(right), exponent = of_b - args.exponent;
    scale_by_power_of_two<Wide>(right, -of_b);
    double error = inverse.solve(right.data(), x.data(), args.norm, args.steps);
    bool finite = true;
    for (std::size_t i = 0; i < x.size(); ++i) {
      to[i] = converted<T>(times_power_of_two(x[i], exponent));
      rounded[i] = times_power_of_two(converted<Wide>(to[i]), -exponent);
      finite = finite && is_finite(to[i]);
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

template struct LookaheadFactor<double>;
template struct LookaheadFactor<std::complex<double>>;
template struct HermitianGenerator<std::complex<double>>;
template void finish_generator(index_t, const Out<std::complex<double>>&, const double*, const Out<double>&);
template class LookaheadInverse<double>;
template class LookaheadInverse<std::complex<double>>;
TESELA_STRUCTS_FOR_NUMBERS(LookaheadSolve)

}  // namespace tesela::kernels
