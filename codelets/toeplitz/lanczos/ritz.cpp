#include <tesela/codelets/toeplitz/cauchy_product.hpp>
#include <tesela/codelets/toeplitz/internal/cauchy_part_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_host.hpp>
#include <tesela/codelets/toeplitz/lanczos/ritz.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>

#include <cmath>
#include <limits>
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

/// Returns whether a coefficient is not finite.
bool broken(const Block<double>& history) {
  for (index_t k = 1; k <= static_cast<index_t>(history(0, 0)); ++k)
    for (int i = 0; i < 4; ++i)
      if (!std::isfinite(history(i, k))) return true;
  return false;
}

/// Forms the tridiagonal matrix of the steps of one part, up to the step that made its space invariant: d and e
/// (d.size() long).
void tridiagonal(const Block<double>& history, int part, std::vector<double>& d, std::vector<double>& e) {
  const auto steps = static_cast<index_t>(history(0, 0));
  d.clear();
  e.clear();
  for (index_t k = 0; k < steps; ++k) {
    d.push_back(history(2 * part, k + 1));
    e.push_back(history(2 * part + 1, k + 1));
    if (e.back() == 0) break;
  }
  if (d.size() == 1 && d[0] == 0 && e[0] == 0) d.clear(), e.clear();  // the part is empty, or its start was zero
}

struct Ritz {
  double value, distance;
  index_t column;
};

/// Returns the converged eigenvalues in the interval, at most `wanted`, nearest to its middle.
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
  const index_t columns = histories.cols / LanczosTest::at_a_time, most = args.part < 0 ? z.cols / 2 : z.cols;
  const Block<double> history{const_cast<double*>(&histories(0, args.which * columns)), histories.rows, columns,
                              histories.ld};
  std::vector<double> d, e, vectors;
  for (int part = std::max(0, args.part); part < (args.part < 0 ? 2 : args.part + 1); ++part) {
    const index_t first = args.part < 0 ? part * most : 0,
                  wanted = std::min(most, args.goal.wanted[static_cast<std::size_t>(part)]);
    for (index_t j = 0; j < most; ++j)
      std::fill_n(&z(0, first + j), z.rows, j < wanted ? std::numeric_limits<T>::quiet_NaN() : T(0));
    tridiagonal(history, part, d, e);
    const auto k = static_cast<index_t>(d.size());
    if (k == 0) continue;
    const double left_over = e.back();
    vectors.resize(static_cast<std::size_t>(k * k));
    if (lapack::stemr(k, d.data(), e.data(), vectors.data(), k) != 0) continue;
    std::vector<double> last(static_cast<std::size_t>(k));
    for (index_t j = 0; j < k; ++j)
      last[static_cast<std::size_t>(j)] = vectors[static_cast<std::size_t>(k - 1 + j * k)];
    // The tests computed the last components by QL steps, unlike these; components at rounding level may differ.
    auto chosen = converged(args.goal, wanted, left_over, d, last);
    LanczosGoal lenient = args.goal;
    lenient.tolerance *= 100;
    if (static_cast<index_t>(chosen.size()) < wanted) chosen = converged(lenient, wanted, left_over, d, last);
    index_t column = first;
    for (const Ritz& r : chosen) {
      for (index_t i = 0; i < k; ++i)
        z(i, column) = static_cast<T>(vectors[static_cast<std::size_t>(i + r.column * k)]);
      for (index_t i = k; i < z.rows; ++i) z(i, column) = 0;
      ++column;
    }
  }
}

namespace {

/// Normalizes the columns of one part of X, and computes their Rayleigh quotients and residuals, pairs(0, j) and
/// pairs(1, j). work has 2 cauchy_length(n) numbers, and one for each row.
template <class T>
void measure_pairs(int part, const In<T>& c, const In<T>& tables, T* x, index_t ld, index_t count, double* pairs,
                   index_t ld_pairs, T* work) {
  const index_t n = c.rows, rows = cauchy_rows(n, part), first = part * cauchy_rows(n, 0);
  T *const z = work, *const y = z + 2 * cauchy_length(n);
  for (index_t j = 0; j < count; ++j, x += ld) {
    const T norm = blas::nrm2(rows, x);
    for (index_t a = 0; norm > 0 && a < rows; ++a) x[a] /= norm;
    toeplitz::cauchy_part_product(toeplitz::Host(),
                                  toeplitz::CauchyPart<T>(n, part, tables, c.data + first, c.ld, x, y, z));
    double value = 0, residual = 0;
    for (index_t a = 0; a < rows; ++a) value += static_cast<double>(x[a]) * static_cast<double>(y[a]);
    for (index_t a = 0; a < rows; ++a) {
      const double r = static_cast<double>(y[a]) - value * static_cast<double>(x[a]);
      residual += r * r;
    }
    pairs[j * ld_pairs] = value;
    pairs[j * ld_pairs + 1] = std::sqrt(residual);
  }
}

}  // namespace

Shape ritz_part_work(index_t n, index_t columns) {
  return {cauchy_rows(n, 0) * (columns + 1) + 2 * cauchy_length(n), 1};
}

template <class T>
void RitzPairs<T>::cpu(const Args& args, In<T> c, In<T> tables, In<T> z, Out<T> x, Out<double> pairs, Scratch<T> work,
                       std::span<const In<T>> basis) {
  const index_t n = c.rows, count = x.cols;
  for_each_piece(n, basis, [&](int part, const In<T>& piece, index_t row, index_t at, index_t rows) {
    blas::gemm<T>(Op::none, Op::none, rows, count, z.rows, 1, &piece(row, args.column), piece.ld, &z(0, part * count),
                  z.ld, 0, &x(at, 0), x.ld);
  });
  for (int part = 0; part < 2; ++part)
    measure_pairs(part, c, tables, x.data + part * cauchy_rows(n, 0), x.ld, count, &pairs(2 * part, 0), pairs.ld,
                  work.data);
}

template <class T>
void RitzPairsPart<T>::cpu(const Args& args, In<T> c, In<T> tables, In<T> z, Out<double> pairs, Scratch<T> work,
                           std::span<const In<T>> basis) {
  const index_t rows = cauchy_rows(c.rows, args.part);
  T* const x = work.data;
  index_t at = 0;
  for (const In<T>& piece : basis) {
    blas::gemm<T>(Op::none, Op::none, piece.rows, z.cols, z.rows, 1, piece.data, piece.ld, z.data, z.ld, 0, x + at,
                  rows);
    at += piece.rows;
  }
  measure_pairs(args.part, c, tables, x, rows, z.cols, pairs.data, pairs.ld, x + rows * z.cols);
}

TESELA_STRUCTS_FOR_REALS(RitzSelect, RitzPairs, RitzPairsPart)

}  // namespace tesela::kernels
