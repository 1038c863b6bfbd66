#include "tools/checks/reference.hpp"
#include <tesela/host/blas.hpp>
#include <tesela/runtime/ranks.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

namespace tesela {
namespace {

struct Sums {
  long double error = 0, norm_b = 0, norm_c = 0;
  int exponent_b = std::numeric_limits<int>::min();
  bool finite = true;
};

/// Sums the parts of all ranks, the same on each; long double holds squares that double does not.
Sums agree(const Runtime& runtime, const Sums& mine) {
  Sums all;
  for (const std::string& said : gather_over_ranks(runtime, {reinterpret_cast<const char*>(&mine), sizeof mine})) {
    Sums one;
    std::memcpy(&one, said.data(), sizeof one);
    all.error += one.error;
    all.norm_b += one.norm_b;
    all.norm_c += one.norm_c;
    all.exponent_b = std::max(all.exponent_b, one.exponent_b);
    all.finite &= one.finite;
  }
  return all;
}

/// Returns element (i, j) of op(X).
template <class T>
double at(Op op, const HostMatrix<T>& x, index_t i, index_t j) {
  return static_cast<double>(op == Op::none ? x(i, j) : x(j, i));
}

}  // namespace

template <class T>
ProductError product_error(const Runtime& runtime, const ProductParts<T>& p, const std::vector<index_t>& rows) {
  const auto [m, n] = p.c_part.whole();
  if (m == 0 || n == 0) return {};
  const auto r = static_cast<index_t>(rows.size());
  const bool plain_a = p.op_a == Op::none, plain_b = p.op_b == Op::none;
  const CyclicPart &a_rows = plain_a ? p.a_part.rows : p.a_part.columns,
                   &a_inner = plain_a ? p.a_part.columns : p.a_part.rows,
                   &b_inner = plain_b ? p.b_part.rows : p.b_part.columns,
                   &b_columns = plain_b ? p.b_part.columns : p.b_part.rows;
  const index_t k = a_inner.size, inner = b_inner.count(), columns = b_columns.count();

  // The rows of op(A), on all ranks.
  std::vector<double> a(static_cast<std::size_t>(r * k), 0.0);
  for (index_t l = 0; l < a_inner.count(); ++l)
    for (index_t s = 0; s < r; ++s)
      if (const index_t row = rows[static_cast<std::size_t>(s)]; a_rows.here(row))
        a[static_cast<std::size_t>(s + a_inner.global(l) * r)] = at(p.op_a, p.a, a_rows.before(row), l);
  sum_over_ranks(runtime, a);
  long double norm_a = 0;
  double largest_a = 0;
  for (const double value : a) {
    norm_a += static_cast<long double>(value) * value;
    largest_a = std::max(largest_a, std::abs(value));
  }
  const int exponent_a = largest_a > 0 ? std::ilogb(largest_a) : 0;

  // Their products with the local part of op(B), summed over the ranks with other rows of it.
  Sums sums;
  for (index_t j = 0; j < p.b.cols(); ++j)
    for (index_t i = 0; i < p.b.rows(); ++i) {
      const auto value = static_cast<double>(p.b(i, j));
      sums.norm_b += static_cast<long double>(value) * value;
      if (value != 0) sums.exponent_b = std::max(sums.exponent_b, std::ilogb(value));
    }
  const Sums of_b = agree(runtime, sums);
  const int exponent_b = std::max(of_b.exponent_b, -5000);
  std::vector<double> here(static_cast<std::size_t>(r * inner)), product(static_cast<std::size_t>(r * n), 0.0);
  for (index_t l = 0; l < inner; ++l)
    for (index_t s = 0; s < r; ++s)
      here[static_cast<std::size_t>(s + l * r)] =
          std::ldexp(a[static_cast<std::size_t>(s + b_inner.global(l) * r)], -exponent_a);
  constexpr index_t width = 256;
  std::vector<double> b(static_cast<std::size_t>(inner * width)), c(static_cast<std::size_t>(r * width));
  for (index_t first = 0; first < columns && inner > 0 && r > 0; first += width) {
    const index_t count = std::min(width, columns - first);
    for (index_t j = 0; j < count; ++j)
      for (index_t l = 0; l < inner; ++l)
        b[static_cast<std::size_t>(l + j * inner)] = std::ldexp(at(p.op_b, p.b, l, first + j), -exponent_b);
    blas::gemm<double>(Op::none, Op::none, r, count, inner, 1.0, here.data(), r, b.data(), inner, 0.0, c.data(), r);
    for (index_t j = 0; j < count; ++j)
      std::copy_n(c.data() + j * r, r, product.data() + b_columns.global(first + j) * r);
  }
  sum_over_ranks(runtime, product);

  const auto alpha = static_cast<long double>(p.alpha), beta = static_cast<long double>(p.beta);
  sums = {};
  for (index_t j = 0; j < p.c.cols(); ++j) {
    for (index_t i = 0; i < p.c.rows(); ++i) sums.finite &= std::isfinite(p.c(i, j));
    for (index_t s = 0; s < r; ++s) {
      const index_t row = rows[static_cast<std::size_t>(s)];
      if (!p.c_part.rows.here(row)) continue;
      const index_t i = p.c_part.rows.before(row);
      const auto whole = static_cast<std::size_t>(s + p.c_part.columns.global(j) * r);
      long double reference = alpha * std::ldexp(static_cast<long double>(product[whole]), exponent_a + exponent_b);
      if (p.beta != T(0)) {
        const auto before = static_cast<long double>(p.c_before(i, j));
        reference += beta * before;
        sums.norm_c += before * before;
      }
      const long double difference = static_cast<long double>(p.c(i, j)) - reference;
      sums.error += difference * difference;
    }
  }
  const Sums all = agree(runtime, sums);
  return product_error_of({.error = all.error,
                           .norm_a = norm_a,
                           .norm_b = of_b.norm_b,
                           .norm_c = all.norm_c,
                           .alpha = alpha,
                           .beta = beta,
                           .smallest = static_cast<long double>(std::numeric_limits<T>::min()),
                           .rows = r,
                           .n = n,
                           .k = k,
                           .finite = all.finite});
}

template ProductError product_error(const Runtime&, const ProductParts<float>&, const std::vector<index_t>&);
template ProductError product_error(const Runtime&, const ProductParts<double>&, const std::vector<index_t>&);

}  // namespace tesela
