#include "codelets/reference.hpp"

#include "codelets/blas.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>

namespace tesela {
namespace {

double square(double x) { return x * x; }

/// Columns [first, first + count) of op(X), an r-row matrix, in double.
template <class T>
std::vector<double> columns_of(Op op, const T* x, Shape stored, index_t first, index_t count) {
  const index_t rows = apply(op, stored).rows;
  std::vector<double> out(static_cast<std::size_t>(rows * count));
  for (index_t j = 0; j < count; ++j)
    for (index_t i = 0; i < rows; ++i)
      out[static_cast<std::size_t>(i + j * rows)] =
          static_cast<double>(op == Op::none ? x[i + (first + j) * stored.rows] : x[(first + j) + i * stored.rows]);
  return out;
}

}  // namespace

template <class T>
double product_error(const ProductProblem<T>& p, const std::vector<index_t>& rows) {
  const auto r = static_cast<index_t>(rows.size());
  double norm_a = 0, norm_b = 0, error = 0;
  std::vector<double> a(static_cast<std::size_t>(r * p.k));
  for (index_t l = 0; l < p.k; ++l)
    for (index_t i = 0; i < r; ++i) {
      const index_t row = rows[static_cast<std::size_t>(i)];
      const double value = static_cast<double>(p.op_a == Op::none ? p.a[row + l * p.m] : p.a[l + row * p.k]);
      a[static_cast<std::size_t>(i + l * r)] = value;
      norm_a += square(value);
    }
  const blas::Threads all_cores(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  constexpr index_t width = 512;  // columns at once: B in double need not fit in memory as a whole
  for (index_t first = 0; first < p.n; first += width) {
    const index_t count = std::min(width, p.n - first);
    const auto b = columns_of(p.op_b, p.b, apply(p.op_b, {p.k, p.n}), first, count);
    for (const double value : b) norm_b += square(value);
    std::vector<double> c(static_cast<std::size_t>(r * count), 0.0);
    if (r > 0 && p.k > 0)
      blas::gemm<double>(Op::none, Op::none, r, count, p.k, static_cast<double>(p.alpha), a.data(), r, b.data(), p.k,
                         0.0, c.data(), r);
    for (index_t j = 0; j < count; ++j)
      for (index_t i = 0; i < r; ++i) {
        const index_t at = rows[static_cast<std::size_t>(i)] + (first + j) * p.m;
        double reference = c[static_cast<std::size_t>(i + j * r)];
        if (p.beta != T(0)) reference += static_cast<double>(p.beta) * static_cast<double>(p.c_before[at]);
        error += square(static_cast<double>(p.c[at]) - reference);
      }
  }
  const double scale = std::sqrt(norm_a) * std::sqrt(norm_b);
  return scale > 0 ? std::sqrt(error) / scale : std::sqrt(error);
}

std::vector<index_t> sample_rows(index_t m, index_t count, std::uint64_t seed) {
  std::vector<index_t> rows;
  if (count >= m) {
    for (index_t i = 0; i < m; ++i) rows.push_back(i);
    return rows;
  }
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<index_t> any(0, m - 1);
  while (static_cast<index_t>(rows.size()) < count) {
    const index_t row = any(random);
    if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

template double product_error(const ProductProblem<float>&, const std::vector<index_t>&);
template double product_error(const ProductProblem<double>&, const std::vector<index_t>&);

}  // namespace tesela
