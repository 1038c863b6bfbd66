#include "tools/checks/factor_error.hpp"

#include "tools/checks/qr_error_sums.hpp"
#include <tesela/host/blas.hpp>
#include <tesela/host/normal_residual.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <array>
#include <utility>
#include <vector>

namespace tesela {
namespace {

constexpr index_t vectors = 16;
constexpr index_t parts = 16;  ///< of a sum or a search, whatever the number of threads

/// Calls f(part, first, end) for parts of n columns, in parallel if they are large.
template <class F>
void for_each_part(index_t n, const F& f) {
  constexpr index_t large = 512;
  parallel_for(parts, n < large ? parts : 1, [&](index_t first, index_t end) {
    for (index_t part = first; part < end; ++part) f(part, n * part / parts, n * (part + 1) / parts);
  });
}

/// Returns the largest |element(i, j)| for i = begin(j) … end(j) - 1, or NaN if one is NaN.
template <class Rows, class Element>
double largest(index_t n, const Rows& rows, const Element& element) {
  std::array<double, parts> most{};
  for_each_part(n, [&](index_t part, index_t first, index_t last) {
    double found = 0;
    for (index_t j = first; j < last; ++j) {
      const auto [begin, end] = rows(j);
      for (index_t i = begin; i < end; ++i)
        if (const auto x = static_cast<double>(std::abs(element(i, j))); x > found || std::isnan(x)) found = x;
    }
    most[static_cast<std::size_t>(part)] = found;
  });
  double found = 0;
  for (const double x : most)
    if (x > found || std::isnan(x)) found = x;
  return found;
}
template <class T>
double largest(const HostMatrix<T>& a) {
  return largest(
      a.cols(),
      [&](index_t) {
        return std::pair{index_t{0}, a.rows()};
      },
      [&](index_t i, index_t j) { return a(i, j); });
}

/// Returns op(M) X for an n x n matrix with elements element(i, j), and adds their squares to `squares` unless null.
template <class Wide, class Element>
HostMatrix<Wide> product(Op op, index_t n, const Element& element, const HostMatrix<Wide>& x,
                         double* squares = nullptr) {
  constexpr index_t width = 64;  // columns of a panel
  auto y = HostMatrix<Wide>::zeros(n, vectors);
  std::array<HostMatrix<Wide>, parts> sums;
  std::array<double, parts> norms{};
  const blas::Threads one(1);
  for_each_part(n, [&](index_t part, index_t first, index_t last) {
    const auto at = static_cast<std::size_t>(part);
    if (op == Op::none) sums[at] = HostMatrix<Wide>::zeros(n, vectors);
    HostMatrix<Wide> panel(n, width);
    for (index_t column = first; column < last; column += width) {
      const index_t count = std::min(width, last - column);
      for (index_t j = 0; j < count; ++j)
        for (index_t i = 0; i < n; ++i) panel(i, j) = element(i, column + j);
      for (index_t e = 0; squares != nullptr && e < n * count; ++e) norms[at] += std::norm(panel.data()[e]);
      if (op == Op::none)
        blas::gemm<Wide>(op, Op::none, n, vectors, count, 1, panel.data(), n, &x(column, 0), n, 1, sums[at].data(), n);
      else
        blas::gemm<Wide>(op, Op::none, count, vectors, n, 1, panel.data(), n, x.data(), n, 0, &y(column, 0), n);
    }
  });
  for (std::size_t part = 0; part < parts; ++part) {
    for (index_t e = 0; e < sums[part].size(); ++e) y.data()[e] += sums[part].data()[e];
    if (squares != nullptr) *squares += norms[part];
  }
  return y;
}

/// Returns ||P A - F|| / ||A||, where multiply(x) returns F x, with F in units of 2^exponent like A.
template <class T, class Multiply>
double backward(const HostMatrix<T>& a, int exponent, std::span<const index_t> rows, const Multiply& multiply) {
  using Wide = with_parts<T, double>;
  const index_t n = a.rows();
  if (n == 0) return 0;
  HostMatrix<Wide> x(n, vectors);
  const Generator<double> random{Pattern::uniform, 0, n, 4711};
  for (index_t j = 0; j < vectors; ++j)
    for (index_t i = 0; i < n; ++i) x(i, j) = random(i, j) < 0 ? -1 : 1;
  double squares = 0, apart = 0;
  const qr_errors::Scaling scaled(exponent);
  const auto element = [&](index_t i, index_t j) { return scaled(Wide(a(i, j))); };
  const HostMatrix<Wide> ax = product(Op::none, n, element, x, &squares), fx = multiply(x);
  for (index_t j = 0; j < vectors; ++j)
    for (index_t i = 0; i < n; ++i) {
      const Wide difference = ax(rows.empty() ? i : rows[static_cast<std::size_t>(i)], j) - fx(i, j);
      apart += std::norm(difference);
    }
  const double size = std::sqrt(squares), error = std::sqrt(apart / vectors);
  return size > 0 ? error / size : error;
}

/// Returns A times 2^-exponent in double precision.
template <class T>
HostMatrix<with_parts<T, double>> scaled(const HostMatrix<T>& a, int exponent) {
  using Wide = with_parts<T, double>;
  HostMatrix<Wide> copy(a.rows(), a.cols());
  for (index_t e = 0; e < a.size(); ++e) copy.data()[e] = times_power_of_two(Wide(a.data()[e]), -exponent);
  return copy;
}

/// Returns the exponent of the largest magnitude; 0 if that is zero or not finite.
int exponent_of(double most) { return most > 0 && std::isfinite(most) ? std::ilogb(most) : 0; }

}  // namespace

template <class T>
FactorError lu_error(const HostMatrix<T>& a, const HostMatrix<T>& factors, std::span<const index_t> rows) {
  using Wide = with_parts<T, double>;
  const index_t n = a.rows();
  const double most = largest(a);
  const int exponent = exponent_of(most);
  const auto factor = [&](index_t i, index_t j) { return factors(i, j); };
  FactorError error;
  error.multipliers = largest(
      n,
      [&](index_t j) {
        return std::pair{j + 1, n};
      },
      factor);
  const double u = largest(
      n,
      [](index_t j) {
        return std::pair{index_t{0}, j + 1};
      },
      factor);
  if (most > 0) error.growth = u / most;
  error.backward = backward(a, exponent, rows, [&](const HostMatrix<Wide>& x) {
    const qr_errors::Scaling scaled(exponent);
    const auto upper = [&](index_t i, index_t j) { return i <= j ? scaled(Wide(factors(i, j))) : Wide(0); };
    const auto lower = [&](index_t i, index_t j) { return i > j ? Wide(factors(i, j)) : i == j ? Wide(1) : Wide(0); };
    return product(Op::none, n, lower, product(Op::none, n, upper, x));
  });
  return error;
}

template <class T>
FactorError cholesky_error(const HostMatrix<T>& a, const HostMatrix<T>& factors) {
  using Wide = with_parts<T, double>;
  const index_t n = a.rows();
  const int exponent = exponent_of(largest(a)) & ~1;  // R has half of it
  const qr_errors::Scaling scaled(exponent / 2);
  const auto r = [&](index_t i, index_t j) { return i <= j ? scaled(Wide(factors(i, j))) : Wide(0); };
  return {backward(a, exponent, {},
                   [&](const HostMatrix<Wide>& x) { return product(adjoint<T>, n, r, product(Op::none, n, r, x)); })};
}

template <class T>
double solution_error(const HostMatrix<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& x) {
  const blas::Threads threads(blas::threads_for(a.rows()));
  kernels::NormalResidual<T> sums(x);
  sums.add(a.rows(), a.data(), a.ld(), b.data(), b.ld());
  return sums.result().equation_error;
}

template <class T>
double componentwise_error(const HostMatrix<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& x) {
  const index_t n = a.rows();
  const int of_a = exponent_of(largest(a));
  using Wide = with_parts<T, double>;
  using Widest = with_parts<T, long double>;
  const HostMatrix<Wide> scaled_a = scaled(a, of_a);
  std::vector<Wide> residual(static_cast<std::size_t>(n));
  std::vector<double> sizes(residual.size());
  double worst = 0;
  for (index_t k = 0; k < x.cols(); ++k) {
    double most_b = 0, most_x = 0;
    for (index_t i = 0; i < n; ++i) {
      most_b = std::max(most_b, std::abs(Wide(b(i, k))));
      most_x = std::max(most_x, std::abs(Wide(x(i, k))));
    }
    const int unit =
        most_b > 0 ? std::max(of_a + exponent_of(most_x), exponent_of(most_b)) : of_a + exponent_of(most_x);
    for (index_t i = 0; i < n; ++i) {
      Wide& r = residual[static_cast<std::size_t>(i)];
      r = times_power_of_two(Wide(b(i, k)), -unit);
      sizes[static_cast<std::size_t>(i)] = std::abs(r);
    }
    for (index_t j = 0; j < n; ++j) {
      const Wide factor = times_power_of_two(Wide(x(j, k)), of_a - unit);
      const Wide* const column = &scaled_a(0, j);
      for (index_t i = 0; i < n; ++i) {
        const Wide term = times(column[i], factor);
        residual[static_cast<std::size_t>(i)] -= term;
        sizes[static_cast<std::size_t>(i)] += std::abs(term);
      }
    }
    for (index_t i = 0; i < n; ++i) {
      Widest r = residual[static_cast<std::size_t>(i)];
      long double size = sizes[static_cast<std::size_t>(i)];
      if (size < 1e-280L) {  // below this size, terms may have underflowed
        r = b(i, k);
        size = std::abs(r);
        for (index_t j = 0; j < n; ++j) {
          const Widest term = Widest(a(i, j)) * Widest(x(j, k));
          r -= term;
          size += std::abs(term);
        }
      }
      if (size == 0) continue;
      const auto error = static_cast<double>(std::abs(r) / size);
      worst = !(error <= worst) ? error : worst;
    }
  }
  return worst;
}

TESELA_FUNCTIONS_FOR_NUMBERS(lu_error, cholesky_error, solution_error, componentwise_error)

}  // namespace tesela
