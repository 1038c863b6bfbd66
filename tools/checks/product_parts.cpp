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

/// Replaces each number, real or complex, by its sum over the ranks.
template <class Wide>
void sum_all(const Runtime& runtime, std::vector<Wide>& x) {
  constexpr std::size_t parts = sizeof(Wide) / sizeof(double);
  sum_over_ranks(runtime, {reinterpret_cast<double*>(x.data()), parts * x.size()});
}

/// Returns element (i, j) of op(X).
template <class T>
with_parts<T, double> at(Op op, const HostMatrix<T>& x, index_t i, index_t j) {
  return apply_to(op, with_parts<T, double>(op == Op::none ? x(i, j) : x(j, i)));
}

}  // namespace

template <class T>
ProductError product_error(const Runtime& runtime, const ProductParts<T>& p, const std::vector<index_t>& rows) {
  const auto [m, n] = p.c_part.whole();
  if (m == 0 || n == 0) return {};
  using Wide = with_parts<T, double>;
  using Widest = with_parts<T, long double>;
  const auto r = static_cast<index_t>(rows.size());
  const bool plain_a = p.op_a == Op::none, plain_b = p.op_b == Op::none;
  const CyclicPart &a_rows = plain_a ? p.a_part.rows : p.a_part.columns,
                   &a_inner = plain_a ? p.a_part.columns : p.a_part.rows,
                   &b_inner = plain_b ? p.b_part.rows : p.b_part.columns,
                   &b_columns = plain_b ? p.b_part.columns : p.b_part.rows;
  const index_t k = a_inner.size, inner = b_inner.count(), columns = b_columns.count();

  // The rows of op(A), on all ranks.
  std::vector<Wide> a(static_cast<std::size_t>(r * k));
  for (index_t l = 0; l < a_inner.count(); ++l)
    for (index_t s = 0; s < r; ++s)
      if (const index_t row = rows[static_cast<std::size_t>(s)]; a_rows.here(row))
        a[static_cast<std::size_t>(s + a_inner.global(l) * r)] = at(p.op_a, p.a, a_rows.before(row), l);
  sum_all(runtime, a);
  long double norm_a = 0;
  double largest_a = 0;
  for (const Wide value : a) {
    norm_a += std::norm(Widest(value));
    largest_a = std::max(largest_a, largest_part(value));
  }
  const int exponent_a = largest_a > 0 ? std::ilogb(largest_a) : 0;

  // Their products with the local part of op(B), summed over the ranks with other rows of it.
  Sums sums;
  for (index_t j = 0; j < p.b.cols(); ++j)
    for (index_t i = 0; i < p.b.rows(); ++i) {
      const Wide value = p.b(i, j);
      sums.norm_b += std::norm(Widest(value));
      if (value != Wide(0)) sums.exponent_b = std::max(sums.exponent_b, std::ilogb(largest_part(value)));
    }
  const Sums of_b = agree(runtime, sums);
  const int exponent_b = std::max(of_b.exponent_b, -5000);
  std::vector<Wide> here(static_cast<std::size_t>(r * inner)), product(static_cast<std::size_t>(r * n));
  for (index_t l = 0; l < inner; ++l)
    for (index_t s = 0; s < r; ++s)
      here[static_cast<std::size_t>(s + l * r)] =
          times_power_of_two(a[static_cast<std::size_t>(s + b_inner.global(l) * r)], -exponent_a);
  constexpr index_t width = 256;
  std::vector<Wide> b(static_cast<std::size_t>(inner * width)), c(static_cast<std::size_t>(r * width));
  for (index_t first = 0; first < columns && inner > 0 && r > 0; first += width) {
    const index_t count = std::min(width, columns - first);
    for (index_t j = 0; j < count; ++j)
      for (index_t l = 0; l < inner; ++l)
        b[static_cast<std::size_t>(l + j * inner)] = times_power_of_two(at(p.op_b, p.b, l, first + j), -exponent_b);
    blas::gemm<Wide>(Op::none, Op::none, r, count, inner, 1, here.data(), r, b.data(), inner, 0, c.data(), r);
    for (index_t j = 0; j < count; ++j)
      std::copy_n(c.data() + j * r, r, product.data() + b_columns.global(first + j) * r);
  }
  sum_all(runtime, product);

  const Widest alpha = p.alpha, beta = p.beta;
  sums = {};
  for (index_t j = 0; j < p.c.cols(); ++j) {
    for (index_t i = 0; i < p.c.rows(); ++i) sums.finite &= is_finite(p.c(i, j));
    for (index_t s = 0; s < r; ++s) {
      const index_t row = rows[static_cast<std::size_t>(s)];
      if (!p.c_part.rows.here(row)) continue;
      const index_t i = p.c_part.rows.before(row);
      const auto whole = static_cast<std::size_t>(s + p.c_part.columns.global(j) * r);
      Widest reference = alpha * times_power_of_two(Widest(product[whole]), exponent_a + exponent_b);
      if (p.beta != T(0)) {
        const Widest before = p.c_before(i, j);
        reference += beta * before;
        sums.norm_c += std::norm(before);
      }
      sums.error += std::norm(Widest(p.c(i, j)) - reference);
    }
  }
  const Sums all = agree(runtime, sums);
  return product_error_of({.error = all.error,
                           .norm_a = norm_a,
                           .norm_b = of_b.norm_b,
                           .norm_c = all.norm_c,
                           .alpha = std::abs(alpha),
                           .beta = std::abs(beta),
                           .smallest = static_cast<long double>(std::numeric_limits<real_t<T>>::min()),
                           .rows = r,
                           .n = n,
                           .k = k,
                           .finite = all.finite});
}

#define TESELA_INSTANTIATE(T) \
  template ProductError product_error(const Runtime&, const ProductParts<T>&, const std::vector<index_t>&);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
