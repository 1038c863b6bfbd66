#include <tesela/codelets/libraries/blas.hpp>
#include <tesela/codelets/libraries/lapack.hpp>
#include <tesela/codelets/toeplitz/internal/sine_transform_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_host.hpp>
#include <tesela/codelets/toeplitz/lanczos.hpp>
#include <tesela/codelets/toeplitz/levinson.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace tesela::kernels {
namespace lanczos {

bool ritz_values(index_t n, double* d, double* e, double* last) {
  std::fill_n(last, n, 0.0);
  if (n > 0) last[n - 1] = 1;
  constexpr double eps = std::numeric_limits<double>::epsilon();
  for (index_t l = 0; l < n; ++l) {
    for (int iterations = 0;; ++iterations) {
      index_t m = l;
      while (m < n - 1 && std::abs(e[m]) > eps * (std::abs(d[m]) + std::abs(d[m + 1]))) ++m;
      if (m == l) break;
      if (iterations == 60) return false;
      double g = (d[l + 1] - d[l]) / (2 * e[l]), r = std::hypot(g, 1.0);
      g = d[m] - d[l] + e[l] / (g + std::copysign(r, g));
      double s = 1, c = 1, p = 0;
      index_t i = m - 1;
      for (; i >= l; --i) {
        const double f = s * e[i], b = c * e[i];
        r = std::sqrt(f * f + g * g);
        e[i + 1] = r;
        if (r == 0) {  // the matrix splits here
          d[i + 1] -= p;
          e[m] = 0;
          break;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        const double z = last[i + 1];
        last[i + 1] = s * last[i] + c * z;
        last[i] = c * last[i] - s * z;
      }
      if (i >= l) continue;
      d[l] -= p;
      e[l] = g;
      e[m] = 0;
    }
  }
  return true;
}

namespace {

enum Coefficient : std::uint8_t { alpha, beta, gamma, delta };

/// y -= V (V' y), V having `columns` columns of one part; what was taken along the last column.
template <class T>
T project(index_t rows, index_t columns, const T* v, index_t ld, T* y, T* h) {
  if (rows == 0) return T(0);
  blas::gemv<T>(Op::transpose, rows, columns, 1, v, ld, y, 0, h);
  blas::gemv<T>(Op::none, rows, columns, -1, v, ld, h, 1, y);
  return h[columns - 1];
}

/// r = x - (C - sigma I) y.
template <class T>
void residual(const In<T>& c, const In<T>& tables, double sigma, const T* x, const T* y, T* r, T* z) {
  cauchy::multiply(c.rows, tables.data, tables.ld, c.data, c.ld, y, r, z);
  for (index_t a = 0; a < c.rows; ++a) r[a] = x[a] - (r[a] - static_cast<T>(sigma) * y[a]);
}

/// Orthogonalizes y, the product with basis vector k, and writes the next vector and the coefficients. h: as many
/// numbers as there are basis vectors.
template <class T>
void advance(index_t k, const InOut<T>& slot, T* y, T* h, double* coefficients) {
  const index_t n = slot.rows;
  for (int part = 0; part < 2; ++part) {
    const index_t first = part * cauchy_rows(n, 0), rows = cauchy_rows(n, part);
    T *const basis = &slot(first, 3), *const yp = y + first, *const next = basis + (k + 1) * slot.ld;
    const T before = blas::nrm2(rows, yp);
    // The three-term recurrence first: what the second pass finds is small then, and one such pass is enough.
    const index_t recent = std::min<index_t>(k + 1, 2);
    T along = project(rows, recent, basis + (k + 1 - recent) * slot.ld, slot.ld, yp, h);
    along += project(rows, k + 1, basis, slot.ld, yp, h);
    T left = blas::nrm2(rows, yp);
    if (!(left > 4 * std::numeric_limits<T>::epsilon() * before)) left = 0;
    for (index_t a = 0; a < rows; ++a) next[a] = left > 0 ? yp[a] / left : T(0);
    coefficients[2 * part] = static_cast<double>(along);
    coefficients[2 * part + 1] = static_cast<double>(left);
  }
}

template <class T>
void step(const In<T>& c, const In<T>& tables, double sigma, bool refine, index_t k, const InOut<T>& slot, T* work,
          double* coefficients) {
  const index_t n = c.rows;
  T *const v = &slot(0, 3), *const y = work, *const r = y + n, *const more = r + n, *const h = more + n,
           *const z = h + slot.cols;
  cauchy::multiply(n, tables.data, tables.ld, slot.data, slot.ld, v + k * slot.ld, y, z);
  if (refine) {
    residual(c, tables, sigma, v + k * slot.ld, y, r, z);
    cauchy::multiply(n, tables.data, tables.ld, slot.data, slot.ld, r, more, z);
    for (index_t a = 0; a < n; ++a) y[a] += more[a];
  }
  advance(k, slot, y, h, coefficients);
}

template <class T>
void levinson_step(const In<T>& t, double sigma, index_t k, const InOut<T>& slot, T* work, double* coefficients) {
  const index_t n = t.rows;
  T *const transform = work, *const y = transform + sine_rows(n), *const recursion = y + n,
           *const h = recursion + levinson_work_rows(n);
  const toeplitz::Host core;
  toeplitz::sine_transform(core, true, n, 1, &slot(0, 3 + k), slot.ld, y, n, transform);
  const bool solved = levinson_solve(n, t.data, sigma, y, recursion);
  toeplitz::sine_transform(core, false, n, 1, y, n, y, n, transform);
  advance(k, slot, y, h, coefficients);
  if (!solved) std::fill_n(coefficients, 4, std::numeric_limits<double>::quiet_NaN());
}

/// Whether a coefficient is not finite.
bool broken(const Block<double>& history) {
  for (index_t k = 1; k <= static_cast<index_t>(history(0, 0)); ++k)
    for (int i = 0; i < 4; ++i)
      if (!std::isfinite(history(i, k))) return true;
  return false;
}

/// The steps of one part up to where its space became invariant, as a tridiagonal matrix: d and e (d.size() long).
void tridiagonal(const Block<double>& history, int part, std::vector<double>& d, std::vector<double>& e) {
  const auto steps = static_cast<index_t>(history(0, 0));
  d.clear();
  e.clear();
  for (index_t k = 0; k < steps; ++k) {
    d.push_back(history(2 * part, k + 1));
    e.push_back(history(2 * part + 1, k + 1));
    if (e.back() == 0) break;
  }
  if (d.size() == 1 && d[0] == 0 && e[0] == 0) d.clear(), e.clear();  // the part is empty, or its start was
}

struct Ritz {
  double value, distance;
  index_t column;
};

/// The converged eigenvalues in the interval, at most `wanted`, nearest to its middle.
std::vector<Ritz> converged(const LanczosGoal& goal, index_t wanted, double left_over, const std::vector<double>& theta,
                            const std::vector<double>& last) {
  std::vector<Ritz> found;
  for (std::size_t j = 0; j < theta.size(); ++j) {
    const double value = goal.shift + 1 / theta[j];
    if (value >= goal.low - goal.slack && value <= goal.high + goal.slack &&
        left_over * std::abs(last[j]) <= goal.tolerance * std::abs(theta[j]))
      found.push_back({value, std::abs(value - (goal.low + goal.high) / 2), static_cast<index_t>(j)});
  }
  if (static_cast<index_t>(found.size()) > wanted) {
    std::sort(found.begin(), found.end(), [](const Ritz& a, const Ritz& b) { return a.distance < b.distance; });
    found.resize(static_cast<std::size_t>(wanted));
  }
  std::sort(found.begin(), found.end(), [](const Ritz& a, const Ritz& b) { return a.value < b.value; });
  return found;
}

}  // namespace
}  // namespace lanczos

using namespace lanczos;

Shape lanczos_histories(index_t capacity) { return {4, LanczosTest::at_a_time * (capacity + 1)}; }

Shape lanczos_work(index_t n, index_t capacity, index_t slots) {
  // Transforms and result of each slot's product; for each share of 1024 rows on a GPU, sums over the basis, twice.
  const index_t shares = (cauchy_rows(n, 0) + 1023) / 1024;
  return {4 * cauchy_length(n) + 3 * n + (4 * shares + 1) * (capacity + 4), slots};
}

Shape levinson_lanczos_work(index_t n, index_t capacity, index_t slots) {
  // First of all a report and a shift in doubles (and one more, for alignment); then transform, vector and recursion,
  // on a GPU its result and sums.
  const index_t shares = (cauchy_rows(n, 0) + 1023) / 1024;
  return {
      2 * (levinson_report_rows + 2) + sine_rows(n) + 2 * n + levinson_work_rows(n) + (4 * shares + 1) * (capacity + 4),
      slots};
}

template <class T>
void LanczosStart<T>::cpu(const Args& args, In<T> inverse, In<T> starts, Out<T> slot) {
  for (index_t j = 0; j < 3; ++j) std::copy_n(&inverse(0, 3 * args.shift + j), slot.rows, &slot(0, j));
  std::copy_n(&starts(0, args.start), slot.rows, &slot(0, 3));
}

template <class T>
void CauchyQuality<T>::cpu(const Args&, In<T> c, In<T> tables, In<double> sigma, In<T> inverse, In<T> starts,
                           Out<double> quality, Scratch<T> work) {
  const index_t n = c.rows;
  T *const y = work.data, *const r = y + n, *const z = r + n;
  for (index_t s = 0; s < sigma.rows; ++s) {
    cauchy::multiply(n, tables.data, tables.ld, &inverse(0, 3 * s), inverse.ld, starts.data, y, z);
    residual(c, tables, sigma(s, 0), starts.data, y, r, z);
    for (int part = 0; part < 2; ++part)
      quality(part, s) = static_cast<double>(blas::nrm2(cauchy_rows(n, part), r + part * cauchy_rows(n, 0)));
  }
}

template <class T>
void LanczosSteps<T>::cpu(const Args& args, In<T> c, In<T> tables, Out<double> coefficients, Scratch<T> work,
                          std::span<const InOut<T>> slots) {
  for (std::size_t s = 0; s < slots.size(); ++s)
    for (int k = 0; k < args.steps; ++k)
      step<T>(c, tables, args.shift[s], args.refine, args.first[s] + k, slots[s], work.data,
              &coefficients(0, static_cast<index_t>(s) * args.steps + k));
}

template <class T>
void LevinsonLanczosSteps<T>::cpu(const Args& args, In<T> t, Out<double> coefficients, Scratch<T> work,
                                  std::span<const InOut<T>> slots) {
  for (std::size_t s = 0; s < slots.size(); ++s)
    for (int k = 0; k < args.steps; ++k)
      levinson_step<T>(t, args.shift[s], args.first[s] + k, slots[s], work.data,
                       &coefficients(0, static_cast<index_t>(s) * args.steps + k));
}

void LanczosTest::cpu(const Args& args, In<double> coefficients, InOut<double> histories, Out<index_t> verdicts) {
  const index_t columns = histories.cols / at_a_time;
  std::vector<double> d, e, last;
  for (index_t s = 0; s < at_a_time; ++s) {
    const One& one = args.of[static_cast<std::size_t>(s)];
    verdicts(0, s) = verdicts(1, s) = 0;
    if (one.steps == 0) continue;
    const Block<double> history{&histories(0, s * columns), histories.rows, columns, histories.ld};
    if (one.restart) history(0, 0) = 0;
    const auto done = static_cast<index_t>(history(0, 0));
    for (index_t k = 0; k < one.steps; ++k)
      for (int i = 0; i < 4; ++i) history(i, 1 + done + k) = coefficients(i, one.first + k);
    history(0, 0) = static_cast<double>(done + one.steps);
    if (broken(history)) {
      verdicts(0, s) = verdicts(1, s) = -1;
      continue;
    }
    for (int part = 0; part < 2; ++part) {
      const index_t wanted = one.goal.wanted[static_cast<std::size_t>(part)];
      if (!one.test || wanted == 0) continue;
      tridiagonal(history, part, d, e);
      if (d.empty()) continue;
      const double left_over = e.back();
      last.resize(d.size());
      if (!ritz_values(static_cast<index_t>(d.size()), d.data(), e.data(), last.data())) continue;
      verdicts(part, s) = static_cast<index_t>(converged(one.goal, wanted, left_over, d, last).size());
    }
  }
}

template <class T>
void RitzSelect<T>::cpu(const Args& args, In<double> histories, Out<T> z) {
  const index_t columns = histories.cols / LanczosTest::at_a_time;
  const Block<double> history{const_cast<double*>(&histories(0, args.which * columns)), histories.rows, columns,
                              histories.ld};
  for (index_t j = 0; j < z.cols; ++j) {
    const int part = j < z.cols / 2 ? 0 : 1;
    const bool wanted = j - part * (z.cols / 2) < args.goal.wanted[static_cast<std::size_t>(part)];
    std::fill_n(&z(0, j), z.rows, wanted ? std::numeric_limits<T>::quiet_NaN() : T(0));
  }
  std::vector<double> d, e, vectors;
  for (int part = 0; part < 2; ++part) {
    tridiagonal(history, part, d, e);
    const auto k = static_cast<index_t>(d.size());
    if (k == 0) continue;
    const double left_over = e.back();
    vectors.resize(static_cast<std::size_t>(k * k));
    if (lapack::stemr(k, d.data(), e.data(), vectors.data(), k) != 0) continue;
    std::vector<double> last(static_cast<std::size_t>(k));
    for (index_t j = 0; j < k; ++j)
      last[static_cast<std::size_t>(j)] = vectors[static_cast<std::size_t>(k - 1 + j * k)];
    const index_t most = z.cols / 2, wanted = std::min(most, args.goal.wanted[static_cast<std::size_t>(part)]);
    // The tests' last components came from QL steps, these did not: where both are rounding, they may differ.
    auto chosen = converged(args.goal, wanted, left_over, d, last);
    LanczosGoal lenient = args.goal;
    lenient.tolerance *= 100;
    if (static_cast<index_t>(chosen.size()) < wanted) chosen = converged(lenient, wanted, left_over, d, last);
    index_t column = part * most;
    for (const Ritz& r : chosen) {
      for (index_t i = 0; i < k; ++i)
        z(i, column) = static_cast<T>(vectors[static_cast<std::size_t>(i + r.column * k)]);
      for (index_t i = k; i < z.rows; ++i) z(i, column) = 0;
      ++column;
    }
  }
}

template <class T>
void RitzPairs<T>::cpu(const Args&, In<T> c, In<T> tables, In<T> slot, In<T> z, Out<T> x, Out<double> pairs,
                       Scratch<T> work) {
  const index_t n = c.rows, count = x.cols;
  T *const y = work.data, *const zp = y + n;
  for (int part = 0; part < 2; ++part) {
    const index_t first = part * cauchy_rows(n, 0), rows = cauchy_rows(n, part);
    if (rows > 0)
      blas::gemm<T>(Op::none, Op::none, rows, count, z.rows, 1, &slot(first, 3), slot.ld, &z(0, part * count), z.ld, 0,
                    &x(first, 0), x.ld);
  }
  for (index_t j = 0; j < count; ++j) {
    for (int part = 0; part < 2; ++part) {
      const index_t first = part * cauchy_rows(n, 0), rows = cauchy_rows(n, part);
      const T norm = blas::nrm2(rows, &x(first, j));
      for (index_t a = first; norm > 0 && a < first + rows; ++a) x(a, j) /= norm;
    }
    cauchy::multiply(n, tables.data, tables.ld, c.data, c.ld, &x(0, j), y, zp);
    for (int part = 0; part < 2; ++part) {
      const index_t first = part * cauchy_rows(n, 0), rows = cauchy_rows(n, part);
      double value = 0, residual = 0;
      for (index_t a = first; a < first + rows; ++a) value += static_cast<double>(x(a, j)) * static_cast<double>(y[a]);
      for (index_t a = first; a < first + rows; ++a) {
        const double r = static_cast<double>(y[a]) - value * static_cast<double>(x(a, j));
        residual += r * r;
      }
      pairs(2 * part, j) = value;
      pairs(2 * part + 1, j) = std::sqrt(residual);
    }
  }
}

template struct LanczosStart<float>;
template struct LanczosStart<double>;
template struct CauchyQuality<float>;
template struct CauchyQuality<double>;
template struct LanczosSteps<float>;
template struct LanczosSteps<double>;
template struct LevinsonLanczosSteps<float>;
template struct LevinsonLanczosSteps<double>;
template struct RitzSelect<float>;
template struct RitzSelect<double>;
template struct RitzPairs<float>;
template struct RitzPairs<double>;

}  // namespace tesela::kernels
