#include "tests/support/four_types.hpp"
#include "tests/support/padded.hpp"
#include "tests/support/run_kernel.hpp"
#include <tesela/codelets/dense/block_trsm.hpp>
#include <tesela/codelets/dense/cholesky.hpp>
#include <tesela/codelets/dense/getrf.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <array>

using namespace tesela::kernels;
using namespace tesela::test;

namespace {

template <class T>
const T& nan = nan_of<T>;

template <class T>
with_parts<T, double> wide(T x) {
  return with_parts<T, double>(x);
}
template <class T>
constexpr double eps_of = static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());

template <template <class> class Access, class T>
Access<T> whole(HostMatrix<T>& a) {
  return {{a.data(), a.rows(), a.cols(), a.ld()}};
}

template <class T>
double apart(const HostMatrix<T>& a, const HostMatrix<T>& b, index_t first = 0) {
  double most = 0;
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = first; i < a.rows(); ++i) {
      const double d = std::abs(wide(a(i, j)) - wide(b(i, j)));
      most = !(d <= most) ? d : most;
    }
  return most;
}

template <class T>
T root_of(index_t n) {
  return T(std::sqrt(static_cast<real_t<T>>(n)));
}

template <class T>
struct Column {
  HostMatrix<T> a, v, c;
  HostMatrix<int> swaps;
  HostMatrix<double> zero;
};

/// w columns of m rows, factored from `row` on (NaN above), and the update of other columns.
template <class T>
Column<T> factor(Runtime* runtime, index_t m, index_t w, index_t row, Pivoting pivoting, index_t others) {
  const Generator<T> random{Pattern::uniform, 7, -1, 1};
  Column<T> x{HostMatrix<T>(m, w), HostMatrix<T>(w, w), HostMatrix<T>(m, others), HostMatrix<int>(w, 1),
              HostMatrix<double>::zeros(1, 1)};
  for (index_t j = 0; j < w; ++j)
    for (index_t i = 0; i < m; ++i)
      x.a(i, j) =
          i < row ? nan<T> : random(i, j) + (i == row + j && pivoting == Pivoting::none ? T(2) * root_of<T>(w) : T(0));
  for (index_t j = 0; j < others; ++j)
    for (index_t i = 0; i < m; ++i) x.c(i, j) = i < row ? nan<T> : random(i, 1000 + j);
  HostMatrix<int> work(getrf_work<T>(m), 1);
  HostMatrix<T> space(inverted_block, std::max<index_t>(others, 1));
  run_kernel<Getrf<T>>(runtime, {row, pivoting}, whole<InOut>(x.a), whole<Out>(x.v), whole<Out>(x.swaps),
                       whole<InOut>(x.zero), whole<Scratch>(work));
  run_kernel<LuUpdate<T>>(runtime, {row, pivoting}, In<T>{{x.a.data(), m, w, m}}, In<T>{{x.v.data(), w, w, w}},
                          In<int>{{x.swaps.data(), w, 1, w}}, whole<InOut>(x.c), whole<Scratch>(space));
  return x;
}

/// Checks P (A C) = L (U U') with L^-H in V.
template <class T>
void check(Runtime* runtime, index_t m, index_t w, index_t row, Pivoting pivoting, index_t others = 40) {
  CAPTURE(m, w, row, static_cast<int>(pivoting));
  const double bound = 60 * std::sqrt(static_cast<double>(w)) * eps_of<T>;
  Column<T> x = factor<T>(runtime, m, w, row, pivoting, others);
  const Column<T> known = factor<T>(nullptr, m, w, row, pivoting, others);
  REQUIRE(x.zero(0, 0) == 0);
  bool same = true;
  for (index_t i = 0; i < w; ++i) same = same && x.swaps(i, 0) == known.swaps(i, 0);
  // Single precision may decide a close comparison of pivots differently.
  CHECK((same || (pivoting == Pivoting::tournament && sizeof(real_t<T>) == 4)));
  if (same) {
    CHECK(apart(x.a, known.a, row) <= 100 * bound);
    CHECK(apart(x.c, known.c, row) <= 100 * bound);
  }
  const Generator<T> random{Pattern::uniform, 7, -1, 1};
  std::vector<index_t> rows(static_cast<std::size_t>(m));
  for (index_t i = 0; i < m; ++i) rows[static_cast<std::size_t>(i)] = i;
  for (index_t i = 0; i < w; ++i)
    std::swap(rows[static_cast<std::size_t>(row + i)], rows[static_cast<std::size_t>(x.swaps(i, 0))]);
  using Wide = with_parts<T, double>;
  const index_t height = m - row, all = w + others;
  HostMatrix<Wide> given(height, all), l = HostMatrix<Wide>::zeros(height, w), u = HostMatrix<Wide>::zeros(w, all);
  for (index_t j = 0; j < all; ++j)
    for (index_t i = 0; i < height; ++i) {
      const index_t from = rows[static_cast<std::size_t>(row + i)];
      given(i, j) = wide(j < w ? random(from, j) : random(from, 1000 + j - w));
      if (j < w && from == row + j && pivoting == Pivoting::none) given(i, j) += wide(T(2) * root_of<T>(w));
      if (j < w) l(i, j) = i > j ? wide(x.a(row + i, j)) : Wide(i == j ? 1 : 0);
      if (i < w && (j >= w || i <= j)) u(i, j) = wide(j < w ? x.a(row + i, j) : x.c(row + i, j - w));
    }
  HostMatrix<Wide> rest = given.clone();
  blas::gemm(Op::none, Op::none, height, all, w, Wide(1), l.data(), l.ld(), u.data(), u.ld(), Wide(-1), rest.data(),
             rest.ld());
  double worst = 0;
  for (index_t j = 0; j < all; ++j) {
    double above = 0;  // the largest element of U that has a factor in L
    for (index_t i = 0; i < height; ++i) {
      const double size = std::max(std::abs(given(i, j)), above);
      const double error = std::abs(rest(i, j) + (i >= w && j >= w ? wide(x.c(row + i, j - w)) : Wide(0))) / size;
      worst = !(error <= worst) ? error : worst;
      if (i < w) above = std::max(above, std::abs(u(i, j)));
    }
  }
  CHECK(worst <= bound);
  double inverse = 0;  // L^H V = I in the diagonal blocks
  for (index_t j = 0; j < w; ++j)
    for (index_t i = j / inverted_block * inverted_block; i <= j; ++i) {
      auto sum = wide(T(i == j ? -1 : 0));
      for (index_t k = i; k <= j; ++k)
        sum += conj(wide(k == i ? T(1) : x.a(row + k, i))) * wide(x.v(k % inverted_block, j));
      inverse = !(std::abs(sum) <= inverse) ? std::abs(sum) : inverse;
    }
  CHECK(inverse <= 1e3 * bound);
}

template <class T>
void check_row_update(Runtime* runtime, Op op, bool symmetric) {
  const Generator<T> random{Pattern::uniform, 7, -1, 1};
  const index_t n = 40, a_column = symmetric ? 0 : 13, column = symmetric ? 0 : 5;
  const HostMatrix<T> a = generate<T>({n, 90}, random),
                      b = generate<T>({n, 70}, Generator<T>{Pattern::uniform, 0, 0, 2});
  const auto c_of = [&] { return generate<T>({n, symmetric ? n : 70}, Generator<T>{Pattern::uniform, 0, 0, 3}); };
  HostMatrix<T> c = c_of();
  const HostMatrix<T> before = c_of();
  const In<T> left{{a.data(), n, symmetric ? n : 90, n}},
      right{{symmetric ? a.data() : b.data(), n, symmetric ? n : 70, n}};
  run_kernel<RowUpdate<T>>(runtime, {op, a_column, column, symmetric}, left, right, whole<InOut>(c));
  double worst = 0;
  for (index_t j = 0; j < c.cols(); ++j)
    for (index_t i = 0; i < (symmetric ? j + 1 : n); ++i) {
      auto sum = wide(before(i, j));
      for (index_t k = 0; k < n && j >= column; ++k)
        sum -= wide(op == Op::none ? a(i, a_column + k) : apply_to(op, a(k, a_column + i))) * wide(right(k, j));
      if (symmetric && i == j) sum = real_part(sum);
      worst = std::max(worst, std::abs(sum - wide(symmetric && i == j ? T(real_part(c(i, j))) : c(i, j))));
    }
  CHECK(worst <= (is_complex<T> ? 100 : 50) * eps_of<T>);
}

}  // namespace

KERNEL_TEMPLATE_TEST_CASE("Getrf, LuUpdate and RowUpdate factor", "", FOUR_TYPES) {
  using T = TestType;
  for (const Pivoting pivoting : {Pivoting::none, Pivoting::tournament})
    for (const auto& [m, w, row] :
         {std::tuple{1, 1, 0}, {5, 1, 2}, {40, 32, 8}, {40, 33, 0}, {100, 64, 36}, {300, 70, 11}, {700, 97, 30}})
      check<T>(runtime, m, w, row, pivoting);
  check_row_update<T>(runtime, Op::transpose, false);
  check_row_update<T>(runtime, adjoint<T>, false);
  check_row_update<T>(runtime, Op::none, false);
  check_row_update<T>(runtime, adjoint<T>, true);
  if (runtime == nullptr) return;
  check<TestType>(runtime, 1100, 300, 20, Pivoting::tournament);
  check<TestType>(runtime, 1300, 1050, 20, Pivoting::none, 70);
}

GPU_TEMPLATE_TEST_CASE("Getrf, LuUpdate and RowUpdate factor under a sanitizer", "[sanitize]", FOUR_TYPES) {
  for (const Pivoting pivoting : {Pivoting::none, Pivoting::tournament})
    check<TestType>(&runtime, 100, 70, 11, pivoting);
  check<TestType>(&runtime, 600, 33, 0, Pivoting::tournament);
  check_row_update<TestType>(&runtime, Op::none, false);
}

namespace {

/// Checks op(R) X = B to a few n eps for an R whose rows differ in size by 2^span.
template <class T>
void check(Runtime* runtime, Op op, index_t n, index_t columns, int span) {
  CAPTURE(n, columns, op, span);
  const Generator<T> random{Pattern::uniform, 3, -1, 1};
  const auto power = [&](index_t i) { return static_cast<int>(i * span / n); };
  const index_t height = std::min(n, inverted_block);
  HostMatrix<T> r(n, n), v(height, n), x(n, columns), work(inverted_block, columns);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) {
      const T element = i == j ? T(2) * root_of<T>(n) + random(i, j) : random(i, j);
      r(i, j) = i <= j ? times_power_of_two(element, power(i)) : nan<T>;  // not to be read below the diagonal
    }
  for (index_t j = 0; j < columns; ++j)
    for (index_t i = 0; i < n; ++i) x(i, j) = random(i, n + j);
  const HostMatrix<T> b = x.clone();
  const In<T> factor{{r.data(), n, n, n}};
  run_kernel<InvertBlocks<T>>(runtime, {}, factor, Out<T>{{v.data(), height, n, height}});
  run_kernel<BlockTrsm<T>>(runtime, {op}, factor, In<T>{{v.data(), height, n, height}},
                           InOut<T>{{x.data(), n, columns, n}},
                           Scratch<T>{{work.data(), inverted_block, columns, inverted_block}});
  // op(R) X - B, and the sums of the terms' magnitudes.
  using Wide = with_parts<T, double>;
  HostMatrix<Wide> upper = HostMatrix<Wide>::zeros(n, n), wide_x(n, columns), rest(n, columns);
  HostMatrix<double> of_r = HostMatrix<double>::zeros(n, n), of_x(n, columns), sizes(n, columns);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i <= j; ++i) upper(i, j) = wide(r(i, j)), of_r(i, j) = std::abs(upper(i, j));
  for (index_t e = 0; e < x.size(); ++e) {
    wide_x.data()[e] = wide(x.data()[e]), of_x.data()[e] = std::abs(wide_x.data()[e]);
    rest.data()[e] = wide(b.data()[e]), sizes.data()[e] = std::abs(rest.data()[e]);
  }
  blas::gemm(op, Op::none, n, columns, n, Wide(1), upper.data(), n, wide_x.data(), n, Wide(-1), rest.data(), n);
  blas::gemm(op == Op::none ? op : Op::transpose, Op::none, n, columns, n, 1.0, of_r.data(), n, of_x.data(), n, 1.0,
             sizes.data(), n);
  double worst = 0;
  for (index_t e = 0; e < x.size(); ++e) {
    const double error = std::abs(rest.data()[e]) / sizes.data()[e];
    worst = !(error <= worst) ? error : worst;
  }
  CAPTURE(worst / eps_of<T>);
  CHECK(worst <= 4 * static_cast<double>(n + 8) * eps_of<T>);
}

template <class T>
void check_all(Runtime* runtime, std::vector<index_t> orders) {
  for (const index_t n : orders)
    for (const Op op : {Op::none, Op::transpose, adjoint<T>})
      for (const int span : {0, -40}) {
        check<T>(runtime, op, n, 1, span);
        check<T>(runtime, op, n, 19, span);
      }
}

}  // namespace

KERNEL_TEMPLATE_TEST_CASE("InvertBlocks and BlockTrsm solve", "", FOUR_TYPES) {
  check_all<TestType>(runtime, {1, 2, 31, 33, 64, 65, 100, 512, 513});
  if (runtime != nullptr) check_all<TestType>(runtime, {700, 1100});
}

GPU_TEMPLATE_TEST_CASE("InvertBlocks and BlockTrsm solve under a sanitizer", "[sanitize]", FOUR_TYPES) {
  for (const Op op : {Op::none, adjoint<TestType>}) {
    check<TestType>(&runtime, op, 100, 3, 0);
    check<TestType>(&runtime, op, 530, 3, 0);
  }
}

namespace {

void check(Runtime* runtime, Shape c, const RowGram<double>::Args& args) {
  const index_t m = 20 + std::max(args.row + c.rows, args.other_row + c.cols - args.column);
  const Generator<double> random{Pattern::uniform, 3, -1, 1};
  std::array<HostMatrix<double>, 2> a{HostMatrix<double>(m, 3), HostMatrix<double>(m, 2)};
  std::vector<In<double>> tiles;
  for (HostMatrix<double>& one : a) {
    for (index_t j = 0; j < one.cols(); ++j)
      for (index_t i = 0; i < m; ++i) one(i, j) = random(i, j + 10 * std::ssize(tiles));
    tiles.push_back({{one.data(), m, one.cols(), m}});
  }
  HostMatrix<double> found(c.rows, c.cols);
  std::fill_n(found.data(), found.size(), std::numeric_limits<double>::quiet_NaN());
  run_kernel<RowGram<double>>(runtime, args, Out<double>{{found.data(), c.rows, c.cols, c.rows}},
                              std::span<const In<double>>(tiles));
  double most = 0;
  bool zeros = true;
  for (index_t j = 0; j < c.cols; ++j)
    for (index_t i = 0; i < c.rows; ++i) {
      const index_t row = args.row + i, other = args.other_row + j - args.column;
      double sum = -found(i, j);
      for (const HostMatrix<double>& one : a)
        for (index_t k = 0; k < one.cols() && j >= args.column; ++k) sum += one(row, k) * one(other, k);
      if (j < args.column || other < args.row + i / gram_strip * gram_strip)
        zeros = zeros && found(i, j) == 0;
      else
        most = std::isfinite(sum) ? std::max(most, std::abs(sum)) : INFINITY;
    }
  CAPTURE(c.rows, c.cols, args.row, args.other_row, args.column);
  CHECK(zeros);
  CHECK(most <= 1e-14);
}

}  // namespace

KERNEL_TEST_CASE("products of rows are correct at and right of the diagonal", "[sanitize]") {
  check(runtime, {40, 70}, {5, 5, 0});
  check(runtime, {40, 70}, {25, 25, 20});
  check(runtime, {40, 70}, {5, 45, 0});
  check(runtime, {40, 30}, {60, 5, 0});
  check(runtime, {2100, 2130}, {7, 7, 0});
  check(runtime, {2100, 90}, {7, 2080, 15});
}
