#include <tesela/algorithms/least_squares/total_least_squares.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/support/centred.hpp>
#include <tesela/algorithms/svd/svd.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack_svd.hpp>
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

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

HostMatrix<double> product(Op op_a, Op op_b, const HostMatrix<double>& a, const HostMatrix<double>& b) {
  const index_t m = op_a == Op::none ? a.rows() : a.cols(), k = op_a == Op::none ? a.cols() : a.rows(),
                n = op_b == Op::none ? b.cols() : b.rows();
  HostMatrix<double> c = HostMatrix<double>::zeros(m, n);
  if (c.size() > 0 && k > 0)
    blas::gemm<double>(op_a, op_b, m, n, k, 1, a.data(), a.ld(), b.data(), b.ld(), 0, c.data(), c.ld());
  return c;
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
  double largest = 0;
  for (index_t k = 0; k < m.size(); ++k) largest = std::max(largest, std::abs(m.data()[k]));
  const int unit = largest > 0 && std::isfinite(largest) ? std::ilogb(largest) : 0;
  const auto scaled = filled<double>(m.shape(), [&](index_t i, index_t j) { return std::ldexp(m(i, j), -unit); });
  HostMatrix<double> span = filled<double>({n + r, r}, [&](index_t i, index_t j) {
    return i < n ? static_cast<double>(x(i, j)) : i - n == j ? -1 : 0;
  });
  HostMatrix<double> z(n + r, r), vt(r, r);
  std::vector<double> s(at(r));
  TlsError error;
  error.norm = euclidean_norm(scaled.size(), scaled.data());
  if (r == 0 || error.norm == 0) return error;
  if (lapack::gesdd<double>(lapack::SingularVectors::economic, n + r, r, span.data(), span.ld(), s.data(), z.data(),
                            z.ld(), vt.data(), vt.ld()) != 0)
    error.invariance = std::numeric_limits<double>::quiet_NaN();
  const HostMatrix<double> mz = product(Op::none, Op::none, scaled, z);
  HostMatrix<double> gradient = product(Op::transpose, Op::none, scaled, mz);
  const HostMatrix<double> inside = product(Op::none, Op::none, z, product(Op::transpose, Op::none, z, gradient));
  for (index_t k = 0; k < gradient.size(); ++k) gradient.data()[k] -= inside.data()[k];
  error.invariance += euclidean_norm(gradient.size(), gradient.data()) / (error.norm * error.norm);
  error.correction = std::ldexp(euclidean_norm(mz.size(), mz.data()), unit);
  error.norm = std::ldexp(error.norm, unit);
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
  bool hidden = false;  // whether rounding errors hide X
  if (n > 0 && r > 0) {
    const double rounding = std::min(
        10 * static_cast<double>(std::max(m, all)) * static_cast<double>(std::numeric_limits<T>::epsilon()), 0.1);
    answer.gap = ratios[at(n - 1)] - ratios[at(n)];
    index_t first = n;
    while (first > 0 && !(ratios[at(first - 1)] - ratios[at(n)] > rounding)) --first;
    const double distance = first > 0 ? ratios[at(first - 1)] - ratios[at(n)] : 1;
    const HostMatrix<double> x = solution(*found.v, n, first, rounding / distance);
    if (x.size() == 0) return without(TlsStatus::nongeneric);
    answer.X = filled<T>(x.shape(), [&](index_t i, index_t j) { return static_cast<T>(x(i, j)); });
    if (!all_finite(answer.X)) return without(TlsStatus::not_finite);
    if (first < n) answer.status = TlsStatus::not_unique;
    // X has the size of B over A. Rounding errors of V have the size of eps.
    const double of_a = euclidean_norm(k * n, reduced.data()), of_b = euclidean_norm(k * r, &reduced(0, n));
    hidden = of_b > 0 && of_b * distance < 100 * std::numeric_limits<double>::epsilon() * of_a;
  }
  double squares = 0;
  for (index_t i = n; i < all; ++i) squares += ratios[at(i)] * ratios[at(i)];
  answer.correction = std::sqrt(squares) * found.norm;
  const TlsError error = tls_error(reduced, answer.X);
  const double missed = error.norm > 0 ? std::abs(error.correction - answer.correction) / error.norm : 0;
  answer.backward_error = {std::max(error.invariance, missed), rounding_bound<T>(std::max(m, all))};
  if (hidden || !answer.backward_error.good()) answer.status = TlsStatus::inaccurate;
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
TESELA_INSTANTIATE(float)
TESELA_INSTANTIATE(double)
#undef TESELA_INSTANTIATE

}  // namespace tesela
