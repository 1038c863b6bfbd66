#include <tesela/algorithms/least_squares/total_least_squares.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/support/centred.hpp>
#include <tesela/algorithms/svd/svd.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack_svd.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/filled.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tesela {

using namespace kernels;
namespace {

HostMatrix<double> product(Op op_a, Op op_b, const HostMatrix<double>& a, const HostMatrix<double>& b) {
  const index_t m = op_a == Op::none ? a.rows() : a.cols(), k = op_a == Op::none ? a.cols() : a.rows(),
                n = op_b == Op::none ? b.cols() : b.rows();
  HostMatrix<double> c = HostMatrix<double>::zeros(m, n);
  if (c.size() > 0 && k > 0)
    blas::gemm<double>(op_a, op_b, m, n, k, 1, a.data(), a.ld(), b.data(), b.ld(), 0, c.data(), c.ld());
  return c;
}

/// Columns of a matrix times 2^-exponent, so that their largest element has size 1.
struct Scaled {
  HostMatrix<double> a;
  int exponent = 0;
  double norm = 0;  ///< ||a||_F

  Scaled(const HostMatrix<double>& m, index_t first, index_t end) : a(m.rows(), end - first) {
    double largest = 0;
    for (index_t j = first; j < end; ++j)
      for (index_t i = 0; i < m.rows(); ++i) largest = std::max(largest, std::abs(m(i, j)));
    if (largest > 0 && std::isfinite(largest)) exponent = std::ilogb(largest);
    for (index_t j = first; j < end; ++j)
      for (index_t i = 0; i < m.rows(); ++i) a(i, j - first) = std::ldexp(m(i, j), -exponent);
    norm = euclidean_norm(a.size(), a.data());
  }
};

/// Returns whether B is so small that X loses digits in the singular vectors of [A B].
bool is_small(const Scaled& b, const Scaled& a) {
  return b.norm > 0 && std::ldexp(b.norm, b.exponent - a.exponent) < a.norm / 8;
}

/// Adds factor Y to X.
void add(double factor, const HostMatrix<double>& y, HostMatrix<double>& x) {
  for (index_t k = 0; k < x.size(); ++k) x.data()[k] += factor * y.data()[k];
}

/// Divides row i by s(i).
void divide_rows(const std::vector<double>& s, HostMatrix<double>& x) {
  for (index_t j = 0; j < x.cols(); ++j)
    for (index_t i = 0; i < x.rows(); ++i) x(i, j) /= s[at(i)];
}

/// Solves A^T A X - X G = A^T B with G = B^T (B - A X) by steps X = A^+ B + (A^T A)^-1 X G. They keep the digits of an
/// X that a small B makes small. The n largest values of [A B] are not below A's, so that G has the others if the steps
/// converge. Returns 0 x 0 if they do not, or if A has a singular value up to `least` times its norm.
HostMatrix<double> by_steps(Graph& g, const Scaled& a, const Scaled& b, double least) {
  const index_t k = a.a.rows(), n = a.a.cols();
  if (k < n) return {};
  const auto tiles = TileMatrix<double>::map(g.runtime(), a.a.data(), k, n, k,
                                             {std::max<index_t>(k, 1), std::max<index_t>(n, 1)}, "A");
  const Svd<double> found = svd(g, tiles, {});
  if (!found.status.ok() || !(found.values.back() > least * found.norm)) return {};
  const double unit = std::ldexp(1, 2 * (b.exponent - a.exponent));  // of X G over the other terms
  HostMatrix<double> first = product(Op::transpose, Op::none, *found.u, b.a);
  divide_rows(found.values, first);
  HostMatrix<double> y = first.clone();  // V^T X
  for (int step = 0; step < 100; ++step) {
    HostMatrix<double> of_a = y.clone(), rest = b.a.clone();
    for (index_t j = 0; j < y.cols(); ++j)
      for (index_t i = 0; i < n; ++i) of_a(i, j) *= found.values[at(i)];
    add(-1, product(Op::none, Op::none, *found.u, of_a), rest);
    HostMatrix<double> next = product(Op::none, Op::none, y, product(Op::transpose, Op::none, b.a, rest));
    divide_rows(found.values, next);
    divide_rows(found.values, next);
    for (index_t i = 0; i < next.size(); ++i) next.data()[i] *= unit;
    add(1, first, next);
    add(-1, next, y);
    const double change = euclidean_norm(y.size(), y.data());
    y = std::move(next);
    if (change <= std::numeric_limits<double>::epsilon() * euclidean_norm(y.size(), y.data())) {
      HostMatrix<double> x = product(Op::none, Op::none, *found.v, y);
      for (index_t i = 0; i < x.size(); ++i) x.data()[i] = std::ldexp(x.data()[i], b.exponent - a.exponent);
      return x;
    }
  }
  return {};
}

/// Errors of the equation A^T R + X B^T R = 0, R = A X - B.
struct EquationError {
  double all = 0;     ///< in the Frobenius norm, over ||A|| (||A|| ||X|| + ||B||)
  double column = 0;  ///< the largest of a column, over ||A|| (||A|| ||x|| + ||b||) + ||X|| ||B|| ||r||
};
template <class T>
EquationError equation_error(const Scaled& a, const Scaled& b, const HostMatrix<T>& of_data) {
  const auto x = filled<double>(of_data.shape(), [&](index_t i, index_t j) {
    return std::ldexp(static_cast<double>(of_data(i, j)), a.exponent - b.exponent);
  });
  HostMatrix<double> rest = product(Op::none, Op::none, a.a, x);
  add(-1, b.a, rest);
  HostMatrix<double> sum = product(Op::transpose, Op::none, a.a, rest);
  add(std::ldexp(1, 2 * (b.exponent - a.exponent)),
      product(Op::none, Op::none, x, product(Op::transpose, Op::none, b.a, rest)), sum);
  const auto over = [](double error, double size) { return size > 0 ? error / size : 0; };
  const double of_x = euclidean_norm(x.size(), x.data());
  EquationError error{over(euclidean_norm(sum.size(), sum.data()), a.norm * (a.norm * of_x + b.norm))};
  const double coupled = std::ldexp(of_x * b.norm, 2 * (b.exponent - a.exponent));
  for (index_t j = 0; j < x.cols(); ++j) {
    const auto norm = [j](const HostMatrix<double>& c) { return euclidean_norm(c.rows(), c.data() + j * c.ld()); };
    const double size = a.norm * (a.norm * norm(x) + norm(b.a)) + coupled * norm(rest);
    error.column = std::max(error.column, over(norm(sum), size));
  }
  return error;
}

/// Returns the triangle of [A B], or [A B] itself if it has no more rows than columns, in double precision.
template <class T>
HostMatrix<double> triangle(Graph& g, HostMatrix<T> both) {
  const index_t m = both.rows(), n = both.cols();
  const auto in_double = [&](index_t rows, bool upper) {
    return filled<double>({rows, n},
                          [&](index_t i, index_t j) { return upper && i > j ? 0 : static_cast<double>(both(i, j)); });
  };
  if (m <= n) return in_double(m, false);
  const auto tiles = TileMatrix<T>::map(g.runtime(), both.data(), m, n, both.ld(), qr_tile(g.runtime(), m, n), "AB");
  const auto factors = qr(g, tiles);
  g.wait();
  tiles.bring_home();
  return in_double(n, true);
}

/// Returns X = -V12 V22^+ from the last columns of V; 0 x 0 if V22 has a singular value up to `least`.
HostMatrix<double> solution(const HostMatrix<double>& v, index_t n, index_t first, double least) {
  const index_t r = v.rows() - n, q = v.cols() - first;
  HostMatrix<double> v22 = filled<double>({r, q}, [&](index_t i, index_t j) { return v(n + i, first + j); });
  const auto v12 = filled<double>({n, q}, [&](index_t i, index_t j) { return v(i, first + j); });
  HostMatrix<double> u(r, r), wt(r, q);
  std::vector<double> s(at(r));
  if (lapack::gesdd<double>(lapack::SingularVectors::economic, r, q, v22.data(), v22.ld(), s.data(), u.data(), u.ld(),
                            wt.data(), wt.ld()) != 0 ||
      !(s.back() > least))
    return {};
  HostMatrix<double> x = product(Op::none, Op::transpose, v12, wt);  // V12 W
  for (index_t j = 0; j < r; ++j)
    for (index_t i = 0; i < n; ++i) x(i, j) /= -s[at(j)];
  return product(Op::none, Op::transpose, x, u);
}

}  // namespace

const char* description(TlsStatus status) {
  constexpr const char* texts[] = {"ok", "not unique", "nongeneric", "not finite", "inaccurate"};
  return texts[static_cast<int>(status)];
}

template <class T>
TlsError tls_error(const HostMatrix<double>& m, const HostMatrix<T>& x) {
  const index_t n = x.rows(), r = x.cols();
  const Scaled scaled(m, 0, n + r), a(m, 0, n), b(m, n, n + r);
  HostMatrix<double> span = filled<double>({n + r, r}, [&](index_t i, index_t j) {
    return i < n ? static_cast<double>(x(i, j)) : i - n == j ? -1 : 0;
  });
  HostMatrix<double> z(n + r, r), vt(r, r);
  std::vector<double> s(at(r));
  TlsError error;
  error.norm = scaled.norm;
  if (r == 0 || error.norm == 0) return error;
  if (lapack::gesdd<double>(lapack::SingularVectors::economic, n + r, r, span.data(), span.ld(), s.data(), z.data(),
                            z.ld(), vt.data(), vt.ld()) != 0)
    error.invariance = std::numeric_limits<double>::quiet_NaN();
  const HostMatrix<double> mz = product(Op::none, Op::none, scaled.a, z);
  HostMatrix<double> gradient = product(Op::transpose, Op::none, scaled.a, mz);
  const HostMatrix<double> inside = product(Op::none, Op::none, z, product(Op::transpose, Op::none, z, gradient));
  for (index_t k = 0; k < gradient.size(); ++k) gradient.data()[k] -= inside.data()[k];
  error.invariance += euclidean_norm(gradient.size(), gradient.data()) / (error.norm * error.norm);
  const EquationError equation = equation_error(a, b, x);
  error.column = equation.column;
  if (is_small(b, a)) error.invariance = std::max(error.invariance, equation.all);
  error.correction = std::ldexp(euclidean_norm(mz.size(), mz.data()), scaled.exponent);
  error.norm = std::ldexp(error.norm, scaled.exponent);
  return error;
}

template <class T>
TotalLeastSquares<T> tls(Graph& g, MatrixView<T> a, MatrixView<T> b, const TlsOptions& options) {
  require(b.rows == a.rows, "tls", "B", b.shape(), "; A has ", a.rows, " rows");
  const index_t m = a.rows, n = a.cols, r = b.cols, all = n + r;
  HostMatrix<T> both(m, all);
  {
    const HostMatrix<T> left = copy_of<T>(g.runtime(), a), right = copy_of<T>(g.runtime(), b);
    if (left.size() > 0) std::copy_n(left.data(), left.size(), both.data());
    if (right.size() > 0) std::copy_n(right.data(), right.size(), &both(0, n));
  }
  TotalLeastSquares<T> answer;
  const auto without = [&](TlsStatus status) {
    answer.status = status;
    if (status == TlsStatus::not_finite) answer.backward_error.error = std::numeric_limits<double>::quiet_NaN();
    answer.X = {};
    answer.intercepts.clear();
    return std::move(answer);
  };
  if (!all_finite(both)) return without(TlsStatus::not_finite);
  std::vector<double> means;
  if (options.intercept) means = centre(both);
  if (!all_finite(both)) return without(TlsStatus::not_finite);
  const HostMatrix<double> reduced = triangle(g, std::move(both));
  const index_t k = reduced.rows();
  const auto tiles = TileMatrix<double>::map(g.runtime(), reduced.data(), k, all, reduced.ld(),
                                             {std::max<index_t>(k, 1), std::max<index_t>(all, 1)}, "R");
  const Svd<double> found = svd(g, tiles, {.vectors = SvdVectors::all});
  if (!found.status.ok()) return without(TlsStatus::not_finite);
  answer.values = found.values;
  answer.values.resize(at(all));
  std::vector<double> ratios;
  for (const double value : answer.values) ratios.push_back(found.norm > 0 ? value / found.norm : 0);
  answer.X = HostMatrix<T>::zeros(n, r);
  if (n > 0 && r > 0) {
    const double rounding = std::min(
        10 * static_cast<double>(std::max(m, all)) * static_cast<double>(std::numeric_limits<T>::epsilon()), 0.1);
    answer.gap = ratios[at(n - 1)] - ratios[at(n)];
    index_t first = n;
    while (first > 0 && !(ratios[at(first - 1)] - ratios[at(n)] > rounding)) --first;
    const double distance = first > 0 ? ratios[at(first - 1)] - ratios[at(n)] : 1;
    const Scaled of_a(reduced, 0, n), of_b(reduced, n, all);
    HostMatrix<double> x;
    if (first == n && is_small(of_b, of_a)) x = by_steps(g, of_a, of_b, rounding);
    if (x.size() == 0) x = solution(*found.v, n, first, rounding / distance);
    if (x.size() == 0) return without(TlsStatus::nongeneric);
    answer.X = filled<T>(x.shape(), [&](index_t i, index_t j) { return static_cast<T>(x(i, j)); });
    if (!all_finite(answer.X)) return without(TlsStatus::not_finite);
    if (first < n) answer.status = TlsStatus::not_unique;
  }
  double rest = 0;  // squares would underflow
  for (index_t i = n; i < all; ++i) rest = std::hypot(rest, ratios[at(i)]);
  answer.correction = rest * found.norm;
  const TlsError error = tls_error(reduced, answer.X);
  const double missed = error.norm > 0 ? std::abs(error.correction - answer.correction) / error.norm : 0;
  answer.backward_error = {std::max(error.invariance, missed), rounding_bound<T>(std::max(m, all))};
  answer.column_error = {error.column, std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon()))};
  if (!answer.backward_error.good() || !answer.column_error.good()) answer.status = TlsStatus::inaccurate;
  for (index_t j = 0; options.intercept && j < r; ++j) {
    double& constant = answer.intercepts.emplace_back(means[at(n + j)]);
    for (index_t i = 0; i < n; ++i) constant -= means[at(i)] * static_cast<double>(answer.X(i, j));
    if (!std::isfinite(constant)) return without(TlsStatus::not_finite);
  }
  return answer;
}

template <class T>
TotalLeastSquares<T> tls(Runtime& runtime, MatrixView<T> a, MatrixView<T> b, const TlsOptions& options) {
  Graph g(runtime);
  return tls(g, a, b, options);
}

#define TESELA_INSTANTIATE(T)                                                                 \
  template TlsError tls_error(const HostMatrix<double>&, const HostMatrix<T>&);               \
  template TotalLeastSquares<T> tls(Graph&, MatrixView<T>, MatrixView<T>, const TlsOptions&); \
  template TotalLeastSquares<T> tls(Runtime&, MatrixView<T>, MatrixView<T>, const TlsOptions&);
TESELA_FOR_REALS(TESELA_INSTANTIATE)

}  // namespace tesela
