#include "tools/problems/givens/givens_data.hpp"

#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::bench {
namespace {

double norm(const std::vector<double>& x) {
  double sum = 0;
  for (const double e : x) sum += e * e;
  return std::sqrt(sum);
}

std::vector<double> minus(std::vector<double> x, const std::vector<double>& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] -= y[i];
  return x;
}

std::size_t bytes(index_t rows, index_t cols, std::size_t element) {
  return static_cast<std::size_t>(rows * cols) * element;
}

}  // namespace

template <class T>
GivensData<T>::GivensData(Runtime& runtime, const GivensCase& what)
    : runtime_(&runtime),
      what_(what),
      a_(runtime, bytes(what.m, what.n, sizeof(T))),
      r_(runtime, bytes(what.m, what.n, sizeof(T))),
      q_(runtime, what.with_q ? bytes(what.m, what.m, sizeof(T)) : 0) {
  const Generator<T> element{Pattern::uniform, 0, what.n, what.seed};
  T* const a = static_cast<T*>(a_.data());
  parallel_for(what.n, [=](index_t j) {
    for (index_t i = 0; i < what.m; ++i)
      a[i + j * what.m] = what.band() && std::abs(i - j) > what.half_width ? T(0) : element(i, j);
  });
}

template <class T>
void GivensData<T>::copy_a_to_r() const {
  parallel_for(what_.n, [from = a(), to = r(), m = what_.m](index_t j) { std::copy_n(from + j * m, m, to + j * m); });
}

/// op(X) v for a matrix without gaps, of which only the upper trapezoid counts when `upper`.
template <class T>
std::vector<double> GivensData<T>::times(const T* x, index_t rows, index_t cols, bool transposed, bool upper,
                                         const std::vector<double>& v) const {
  std::vector<double> y(static_cast<std::size_t>(transposed ? cols : rows), 0.0);
  for (index_t j = 0; j < cols; ++j) {
    const T* const column = x + j * rows;
    const index_t end = upper ? std::min(rows, j + 1) : rows;
    double sum = 0;
    for (index_t i = 0; i < end; ++i)
      if (transposed)
        sum += static_cast<double>(column[i]) * v[static_cast<std::size_t>(i)];
      else
        y[static_cast<std::size_t>(i)] += static_cast<double>(column[i]) * v[static_cast<std::size_t>(j)];
    if (transposed) y[static_cast<std::size_t>(j)] = sum;
  }
  return y;
}

template <class T>
double GivensData<T>::verify(const std::string& peer, const std::function<void()>& run) const {
  const index_t m = what_.m, n = what_.n;
  std::fill_n(r(), m * n, std::numeric_limits<T>::quiet_NaN());
  if (what_.with_q) std::fill_n(q(), m * m, std::numeric_limits<T>::quiet_NaN());
  run();
  double frobenius = 0;
  for (index_t e = 0; e < m * n; ++e) frobenius += static_cast<double>(a()[e]) * static_cast<double>(a()[e]);
  frobenius = std::sqrt(frobenius);
  std::vector<double> x(static_cast<std::size_t>(n));
  const Generator<double> element{Pattern::uniform, 0, 1, what_.seed + 99};
  for (index_t j = 0; j < n; ++j) x[static_cast<std::size_t>(j)] = element(j, 0);

  const double bound = (sizeof(T) == 8 ? 5e-15 : 5e-6) * std::sqrt(static_cast<double>(n));
  const std::vector<double> ax = times(a(), m, n, false, false, x), rx = times(r(), m, n, false, true, x);
  double error = 0;
  if (what_.with_q) {
    const std::vector<double> back = times(q(), m, m, true, false, times(q(), m, m, false, false, ax));
    error = std::max(norm(minus(times(q(), m, m, false, false, rx), ax)) / (frobenius * norm(x) * bound),
                     norm(minus(back, ax)) / (norm(ax) * 20 * bound));
    if (std::isnan(norm(back)) || std::isnan(norm(rx))) error = std::numeric_limits<double>::quiet_NaN();
  } else {
    error = norm(minus(times(r(), m, n, true, true, rx), times(a(), m, n, true, false, ax))) /
            (frobenius * frobenius * norm(x) * bound);
  }
  if (!(error <= 1))
    throw WrongResult(fmt::format("bench givens: {}: {} x {}: the error is {:.3g} times its bound", peer, m, n, error));
  return error;
}

template class GivensData<float>;
template class GivensData<double>;

}  // namespace tesela::bench
