#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/least_squares/internal/glm_parts.hpp>
#include <tesela/algorithms/support/internal/column_blocks.hpp>
#include <tesela/codelets/least_squares/r_factor.hpp>
#include <tesela/codelets/support/tile_kernels.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/minimum_norm.hpp>

#include <cmath>
#include <limits>

namespace tesela::detail {

using namespace kernels;

template <class T>
Glm<T> glm_not_finite(index_t r) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  Glm<T> answer;
  answer.status = SolveStatus::not_finite;
  answer.condition = answer.condition_b = answer.backward_error.error = nan;
  answer.distances.assign(static_cast<std::size_t>(r), nan);
  answer.tolerances = answer.distances;
  answer.consistent.assign(static_cast<std::size_t>(r), false);
  return answer;
}

template <class T>
std::vector<real_t<T>> norms_of_columns(Graph& g, const TileMatrix<T>& A) {
  using Real = real_t<T>;
  std::vector<Real> all(static_cast<std::size_t>(A.n()));
  if (A.m() == 0 || A.n() == 0) return all;
  const TileMatrix<Real> norms(g.runtime(), A.n(), A.mt(), {A.tile_shape().nb, 1}, "norms");
  for (index_t j = 0; j < A.nt(); ++j)
    for (index_t i = 0; i < A.mt(); ++i) g.insert<ColumnNorms<T>>({}, A(i, j), norms(j, i));
  constexpr Real most = std::numeric_limits<Real>::max();
  norms.read_each_tile([&](const auto& column, index_t first, index_t) {
    for (index_t k = 0; k < column.rows; ++k) {
      Real& norm = all[static_cast<std::size_t>(first + k)];
      norm = std::min(most, std::hypot(norm, std::min(column(k, 0), most)));
    }
  });
  return all;
}

bool Size::graded() const {
  constexpr int little = 6;
  const auto [least, most] = std::minmax_element(of_columns.begin(), of_columns.end());
  return !of_columns.empty() && *most - *least > little;
}

template <class T>
Size scale_into_range(Graph& g, const TileMatrix<T>& A) {
  using Real = real_t<T>;
  const std::vector<Real> norms = norms_of_columns(g, A);
  Size size;
  Real most = 0, least = std::numeric_limits<Real>::max();
  for (const Real norm : norms) {
    most = std::max(most, norm);
    if (norm > 0) least = std::min(least, norm);
  }
  if (most == 0) return size.norms.assign(norms.size(), 0), size.of_columns.assign(norms.size(), 0), size;
  if (std::abs(std::ilogb(most)) > std::numeric_limits<Real>::max_exponent / 8) {  // fourth powers must not overflow
    size.exponent = std::ilogb(most);
    A.for_each_tile(
        [&](const Tile<T>& tile, index_t, index_t) { g.insert<ScalePowerOfTwo<T>>({-size.exponent}, tile); });
  }
  for (const Real norm : norms) {
    size.norms.push_back(std::ldexp(static_cast<double>(norm), -size.exponent));
    size.of_columns.push_back(std::ilogb(norm > 0 ? norm : least) - size.exponent);
    size.norm = std::hypot(size.norm, size.norms.back());
  }
  return size;
}

template <class T>
std::vector<int> scale_columns_into_range(Graph& g, const TileMatrix<T>& A) {
  using Real = real_t<T>;
  const std::vector<Real> norms = norms_of_columns(g, A);
  const auto far = [](Real norm) {
    return norm > 0 && std::abs(std::ilogb(norm)) > std::numeric_limits<Real>::max_exponent / 2;
  };
  std::vector<int> exponents(norms.size(), 0);
  if (std::none_of(norms.begin(), norms.end(), far)) return exponents;
  int most = std::numeric_limits<int>::min(), least = std::numeric_limits<int>::max();
  for (const Real norm : norms)
    if (norm > 0) most = std::max(most, std::ilogb(norm)), least = std::min(least, std::ilogb(norm));
  const bool as_one = most - least <= std::numeric_limits<Real>::max_exponent / 2;
  for (std::size_t j = 0; j < norms.size(); ++j) exponents[j] = as_one ? most : norms[j] > 0 ? std::ilogb(norms[j]) : 0;
  A.for_each_tile([&](const Tile<T>& tile, index_t, index_t first) {
    const auto block = tile.update();
    for (index_t j = 0; j < block.cols; ++j)
      scale_by_power_of_two(std::span(block.data + j * block.ld, static_cast<std::size_t>(block.rows)),
                            -exponents[static_cast<std::size_t>(first + j)]);
  });
  return exponents;
}

template <class T>
void transform_first_rows(HostMatrix<T>& c, Op op, const HostMatrix<T>& turn) {
  const HostMatrix<T> before = rows_of(c, 0, turn.rows());
  if (before.size() > 0)
    blas::gemm(op, Op::none, turn.rows(), c.cols(), turn.rows(), T(1), turn.data(), turn.ld(), before.data(),
               before.ld(), T(0), c.data(), c.ld());
}

template <class T>
void transform_first_rows(const TileMatrix<T>& B, const HostMatrix<T>& turn) {
  const index_t k = turn.rows();
  HostMatrix<T> rows = first_rows(B, k).rows;
  transform_first_rows(rows, Op::none, turn);
  B.for_each_tile([&](Tile<T> tile, index_t row, index_t column) {
    if (row >= k) return;
    const auto block = tile.update();
    for (index_t j = 0; j < block.cols; ++j)
      std::copy_n(&rows(row, column + j), std::min(block.rows, k - row), block.data + j * block.ld);
  });
}

template <class T>
HostMatrix<T> rows_of(const HostMatrix<T>& c, index_t first, index_t count) {
  HostMatrix<T> result(count, c.cols());
  for (index_t j = 0; j < c.cols() && count > 0; ++j) std::copy_n(&c(first, j), count, &result(0, j));
  return result;
}

template <class T>
HostMatrix<T> minus_product(Graph& g, const HostMatrix<T>& c, const TileMatrix<T>& B, const LeastNorm<T>& s) {
  HostMatrix<T> e = c.clone();
  if (s.U.size() == 0 || c.size() == 0) return e;
  HostMatrix<T> product;
  if (s.BU.size() > 0) {
    product = s.BU.clone();
  } else {
    product = HostMatrix<T>(c.rows(), c.cols());
    const auto [mb, nb] = B.tile_shape();
    const index_t r = std::min<index_t>(c.cols(), 256);
    const auto u = TileMatrix<T>::map(g.runtime(), s.U.data(), s.U.rows(), c.cols(), s.U.ld(), {nb, r}, "U");
    const auto w = TileMatrix<T>::map(g.runtime(), product.data(), c.rows(), c.cols(), product.ld(), {mb, r}, "BU");
    gemm(g, Op::none, Op::none, T(1), B, u, T(0), w, {.kernel = GemmKernel::cublas});
    g.wait();
    w.bring_home();
  }
  scale_by_power_of_two(std::span(product.data(), static_cast<std::size_t>(product.size())), -s.exponent);
  for (index_t k = 0; k < e.size(); ++k) e.data()[k] -= product.data()[k];
  return e;
}

namespace {

/// Returns S of B V = [0 S] in host memory.
template <class T>
HostMatrix<T> s_on_host(Graph& g, const RqFactorization<T>& of_b) {
  HostMatrix<T> S(of_b.m(), std::min(of_b.m(), of_b.n()));
  const TileShape tile = of_b.transposed().factors().tile_shape();
  const auto s = TileMatrix<T>::map(g.runtime(), S.data(), S.rows(), S.cols(), S.ld(), {tile.nb, tile.mb}, "S");
  of_b.extract(g, s);
  g.wait();
  s.bring_home();
  return S;
}

}  // namespace

template <class T>
HostMatrix<T> beyond(Graph& g, const RqFactorization<T>& of_b, index_t n) {
  const HostMatrix<T> S = s_on_host(g, of_b);
  HostMatrix<T> K(n, S.cols() - (S.rows() - n));
  for (index_t j = 0; j < K.cols() && n > 0; ++j) std::copy_n(&S(0, j), n, &K(0, j));
  return K;
}

template <class T>
HostMatrix<T> spread_of(Graph& g, HostMatrix<T> R, HostMatrix<T> K, int exponent, const std::vector<int>& of_columns) {
  const std::vector<int> of_r = scale_columns(R);
  triangular_solve(g, Op::none, R, K);
  for (index_t j = 0; j < K.cols(); ++j)
    for (index_t i = 0; i < K.rows(); ++i)
      K(i, j) = times_power_of_two(
          K(i, j), exponent - of_r[static_cast<std::size_t>(i)] - of_columns[static_cast<std::size_t>(i)]);
  return K;
}

template <class T>
std::optional<LeastNorm<T>> solve_by_rq(Graph& g, const RqFactorization<T>& of_b, const HostMatrix<T>& C2, double rcond,
                                        double norm_b, bool multipliers) {
  const index_t m = of_b.m(), p = of_b.n(), q = C2.rows(), r = C2.cols(), k = std::min(m, p);
  if (p < q) return std::nullopt;
  const HostMatrix<T> S = s_on_host(g, of_b);
  LeastNorm<T> s;
  s.finite = all_finite(S);
  if (!s.finite) return s;
  HostMatrix<T> S22(q, q);
  for (index_t j = 0; j < q; ++j)
    for (index_t i = 0; i < q; ++i) S22(i, j) = i <= j ? S(m - q + i, k - q + j) : T(0);
  s.exponent = largest_exponent(S22.size(), S22.data());
  scale_by_power_of_two(std::span(S22.data(), static_cast<std::size_t>(S22.size())), -s.exponent);
  s.norm = static_cast<double>(euclidean_norm(S22.size(), S22.data()));
  if (q > 0) s.condition = triangle_condition(S22, false);
  if (!clearly_regular(s.condition, relative_rcond(s, rcond, norm_b))) return std::nullopt;
  s.rank = q;
  s.distances.assign(static_cast<std::size_t>(r), 0.0);
  HostMatrix<T> v = C2.clone();
  triangular_solve(g, Op::none, S22, v);
  s.BU = HostMatrix<T>::zeros(m, r);
  s.U = HostMatrix<T>::zeros(p, r);
  if (v.size() > 0) {
    blas::gemm(Op::none, Op::none, m, r, q, T(1), &S(0, k - q), S.ld(), v.data(), v.ld(), T(0), s.BU.data(), s.BU.ld());
    for (index_t j = 0; j < r; ++j) std::copy_n(&v(0, j), q, &s.U(p - q, j));
    const index_t mb = of_b.transposed().factors().tile_shape().mb;
    const auto u = TileMatrix<T>::map(g.runtime(), s.U.data(), p, r, s.U.ld(), {mb, std::min<index_t>(r, 256)}, "U");
    of_b.apply(g, Side::left, adjoint<T>, u);
    g.wait();
    u.bring_home();
  }
  if (multipliers) {
    triangular_solve(g, adjoint<T>, S22, v);
    s.L = std::move(v);
  }
  return s;
}

namespace {

/// Computes errors and sizes of s.X from the norms of R's columns and from R X.
template <class T>
void measure(SolvedTriangle<T>& s, const std::vector<real_t<T>>& norms, HostMatrix<T> product,
             const HostMatrix<T>& right) {
  for (index_t k = 0; k < product.size(); ++k) product.data()[k] -= right.data()[k];
  for (const real_t<T> norm : column_norms(product)) s.errors.push_back(static_cast<double>(norm));
  for (index_t c = 0; c < right.cols(); ++c) {
    double size = 0;
    for (index_t j = 0; j < s.X.rows(); ++j)
      size += static_cast<double>(norms[static_cast<std::size_t>(j)]) * magnitude(s.X(j, c));
    s.sizes.push_back(size);
  }
}

/// Replaces the sizes by ||R||_F ||x||_2 in the original units of x: each x_j of a solution of least norm has errors of
/// the size of the largest one.
template <class T>
void measure_as_a_whole(SolvedTriangle<T>& s, const std::vector<real_t<T>>& norms) {
  int most = std::numeric_limits<int>::min();
  double norm = 0;
  for (std::size_t j = 0; j < norms.size(); ++j)
    if (norms[j] > 0) most = std::max(most, s.exponents[j]);
  for (std::size_t j = 0; j < norms.size(); ++j)
    if (norms[j] > 0) norm = std::hypot(norm, std::ldexp(static_cast<double>(norms[j]), s.exponents[j] - most));
  for (index_t k = 0; k < s.X.cols() && norm > 0; ++k) {
    double size = 0;
    for (index_t j = 0; j < s.X.rows(); ++j)
      if (s.X(j, k) != T(0)) size = std::hypot(size, std::ldexp(magnitude(s.X(j, k)), most - s.exponents[at(j)]));
    if (std::isfinite(norm * size)) s.sizes[at(k)] = norm * size;
  }
}

}  // namespace

template <class T>
SolvedTriangle<T> solve_triangle(Graph& g, HostMatrix<T> R, HostMatrix<T> right, bool regular, double rcond) {
  const index_t k = R.rows(), n = R.cols(), r = right.cols();
  SolvedTriangle<T> s;
  s.exponents = scale_columns(R);
  const std::vector<real_t<T>> norms = column_norms(R);
  bool as_a_whole = false;
  if (regular) {
    s.X = right.clone();
    triangular_solve(g, Op::none, R, s.X);
  } else {
    HostMatrix<T> original = R.clone();
    for (index_t j = 0; j < n && k > 0; ++j)
      scale_by_power_of_two(std::span(&original(0, j), static_cast<std::size_t>(k)),
                            s.exponents[static_cast<std::size_t>(j)]);
    MinimumNorm<T> found = minimum_norm(std::move(original), right.clone(), rcond);
    s.original_units = found.original_units;
    as_a_whole = found.rank < n && found.original_units;
    s.X = std::move(found.X);
    unscale(s.X, std::vector<int>(static_cast<std::size_t>(r), 0),
            [&](index_t j) { return -s.exponents[static_cast<std::size_t>(j)]; });
  }
  HostMatrix<T> product = HostMatrix<T>::zeros(k, r);
  if (right.size() > 0 && n > 0)
    blas::gemm(Op::none, Op::none, k, r, n, T(1), R.data(), R.ld(), s.X.data(), s.X.ld(), T(0), product.data(),
               product.ld());
  measure(s, norms, std::move(product), right);
  if (as_a_whole) measure_as_a_whole(s, norms);
  return s;
}

template <class T>
std::optional<TileR<T>> resident_r_if_regular(Graph& g, const QrFactorization<T>& of_a, double rcond) {
  const TileMatrix<T>& factors = of_a.factors();
  const index_t n = factors.n(), rows = std::min(factors.m(), factors.tile_shape().mb);
  if (n == 0 || rows < n || !GpuRoom(g.runtime()).holds<T>({rows + n, n})) return std::nullopt;
  TileR<T> kept{ResidentTriangle<T>::of_qr(g, factors), {}, 0};
  kept.norms = kept.triangle.norms(g);
  for (const real_t<T> norm : kept.norms)
    if (!(norm > 0 && norm < std::numeric_limits<real_t<T>>::max())) return std::nullopt;
  kept.condition = kept.triangle.condition(g, kept.norms);
  if (!clearly_regular(4 * kept.condition, rcond)) return std::nullopt;
  return kept;
}

template <class T>
SolvedTriangle<T> solve_triangle(Graph& g, const TileR<T>& R, HostMatrix<T> right) {
  SolvedTriangle<T> s;
  s.exponents.assign(R.norms.size(), 0);
  s.X = right.clone();
  R.triangle.solve(g, Op::none, s.X);
  measure(s, R.norms, R.triangle.product(g, Op::none, s.X), right);
  return s;
}

template <class T>
void divide_rows(HostMatrix<T>& X, const std::vector<int>& exponents) {
  for (index_t j = 0; j < X.cols(); ++j)
    for (std::size_t i = 0; i < exponents.size(); ++i) {
      T& element = X(static_cast<index_t>(i), j);
      element = times_power_of_two(element, -exponents[i]);
    }
}

template <class T>
HostMatrix<T> with_rows_at(HostMatrix<T> X, const std::vector<index_t>& places) {
  if (places.empty()) return X;
  HostMatrix<T> result(X.rows(), X.cols());
  for (index_t j = 0; j < X.cols(); ++j)
    for (index_t i = 0; i < X.rows(); ++i) result(places[static_cast<std::size_t>(i)], j) = X(i, j);
  return result;
}

namespace {

/// Returns the largest possible size of B2 u for right-hand side j; each column of a graded B counts with its norm.
template <class T>
double size_of_product(const LeastNorm<T>& s, const Size& b, index_t j, double u_norm) {
  if (!b.graded()) return s.norm * u_norm;
  double size = 0;
  for (index_t i = 0; i < s.U.rows(); ++i)
    size += std::ldexp(b.norms[static_cast<std::size_t>(i)], -s.exponent) * magnitude(s.U(i, j));
  return size;
}

}  // namespace

template <class T>
void judge(Glm<T>& answer, const LeastNorm<T>& s, const SolvedTriangle<T>& x, const HostMatrix<T>& c,
           const HostMatrix<T>& e, Shape a, const Size& b, const FactorProperties& factors) {
  const auto p = static_cast<index_t>(b.norms.size());
  const double eps = static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()),
               cuts = 2 * ((s.norm > 0 ? s.cut / s.norm : 0) + factors.cut),
               tolerance =
                   static_cast<double>(std::max<index_t>({a.rows, p, 1})) * eps + (factors.chosen_rcond ? cuts : 0);
  const index_t k = answer.rank, r = c.cols();
  const auto u_norms = column_norms(s.U), c_norms = column_norms(c), above = column_norms(rows_of(c, 0, k)),
             below = column_norms(rows_of(c, k, a.rows - k)), rest = column_norms(rows_of(e, k, a.rows - k));
  answer.backward_error = {0, rounding_bound<T>(std::max({a.rows, a.cols, p})), cuts};
  for (index_t column = 0; column < r; ++column) {
    const auto j = static_cast<std::size_t>(column);
    const double of_u = size_of_product(s, b, column, static_cast<double>(u_norms[j])), of_x = x.sizes[j],
                 left = static_cast<double>(rest[j]);
    const double size = factors.graded ? std::ldexp(of_x, factors.exponent_below) + of_u + static_cast<double>(below[j])
                                       : of_x + of_u + static_cast<double>(c_norms[j]);
    answer.distances.push_back(s.distances[j]);
    answer.tolerances.push_back(tolerance * size);
    answer.consistent.push_back(s.distances[j] <= tolerance * size);
    if (!answer.consistent.back()) answer.status = SolveStatus::inconsistent;
    const auto over = [](double error, double size_of) { return error == 0 ? 0 : error / size_of; };
    const double error = factors.graded
                             ? std::max(over(x.errors[j], of_x + static_cast<double>(above[j])), over(left, size))
                             : over(std::hypot(x.errors[j], left), size);
    if (answer.consistent.back() && !(error <= answer.backward_error.error)) answer.backward_error.error = error;
  }
  if (answer.status == SolveStatus::inconsistent) return;
  if (answer.rank < std::min(a.rows, a.cols)) answer.status = SolveStatus::rank_deficient;
  if (!answer.backward_error.good()) answer.status = SolveStatus::inaccurate;
}

TESELA_FUNCTIONS_FOR_NUMBERS(norms_of_columns, scale_into_range, scale_columns_into_range, glm_not_finite,
                             minus_product, solve_by_rq)
TESELA_FUNCTIONS_FOR_NUMBERS(beyond, spread_of, judge, divide_rows, with_rows_at)
#define TESELA_INSTANTIATE(T)                                                                        \
  template void transform_first_rows(const TileMatrix<T>&, const HostMatrix<T>&);                    \
  template void transform_first_rows(HostMatrix<T>&, Op, const HostMatrix<T>&);                      \
  template HostMatrix<T> rows_of(const HostMatrix<T>&, index_t, index_t);                            \
  template SolvedTriangle<T> solve_triangle(Graph&, HostMatrix<T>, HostMatrix<T>, bool, double);     \
  template std::optional<TileR<T>> resident_r_if_regular(Graph&, const QrFactorization<T>&, double); \
  template SolvedTriangle<T> solve_triangle(Graph&, const TileR<T>&, HostMatrix<T>);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela::detail
