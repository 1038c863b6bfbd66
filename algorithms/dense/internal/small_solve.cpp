#include <tesela/algorithms/dense/internal/direct_estimates.hpp>
#include <tesela/algorithms/dense/internal/small_solve.hpp>
#include <tesela/algorithms/dense/range_scaling.hpp>
#include <tesela/host/lapack/lapack.hpp>

#include <numeric>
#include <utility>

namespace tesela::detail {
namespace {

/// Returns the first column that is not finite, from 1, or 0.
template <class T>
index_t not_finite_column(const MatrixView<T>& b) {
  for (index_t j = 0; j < b.cols; ++j)
    if (!std::all_of(b.data + j * b.ld, b.data + j * b.ld + b.rows, [](T x) { return is_finite(x); })) return j + 1;
  return 0;
}

template <class T>
void judge(const MatrixView<T>& b, DirectSolve& result) {
  if (const index_t column = not_finite_column(b); column > 0) {
    result.status = DirectStatus::not_finite;
    result.place = column;
  }
}

/// Returns the place of the first diagonal element that is not accepted, from 1, or 0.
template <class T, class F>
index_t first_refused(const MatrixView<T>& a, F accepted) {
  for (index_t i = 0; i < a.rows; ++i)
    if (!accepted(a.data[i + i * a.ld])) return i + 1;
  return 0;
}

/// Multiplies element (i, j) by 2^exponent(i, j).
template <class T, class F>
void scale_elements(const MatrixView<T>& a, const F& exponent) {
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = 0; i < a.rows; ++i)
      a.data[i + j * a.ld] = times_power_of_two(a.data[i + j * a.ld], exponent(i, j));
}

template <class T>
struct HostSystem {
  const MatrixView<T>&a, &b;
  std::vector<int> swaps = {};

  index_t n() const { return a.rows; }
  HostMatrix<T> product(Op op, const HostMatrix<T>& X) const {
    HostMatrix<T> y(n(), X.cols());
    blas::gemm(op, Op::none, n(), X.cols(), n(), T(1), a.data, a.ld, X.data(), X.ld(), T(0), y.data(), y.ld());
    return y;
  }
  template <class F>
  void visit(const F& f) const {
    for (index_t j = 0; j < n(); ++j)
      for (index_t i = 0; i < n(); ++i) f(i, j, largest_part(a.data[i + j * a.ld]));
  }
  bool leaves_range(const Exponents& rows_of_a, const Exponents& columns, const HostMatrix<T>& across) const {
    SystemRange range{.rows = rows_of_a, .columns = columns};
    for (index_t j = 0; j < n(); ++j) {
      bool zero = true;
      for (index_t k = 0; k < across.cols(); ++k) zero = zero && across(j, k) == T(0);
      range.vanished = range.vanished || zero;
    }
    Block<const T> right;
    right.data = b.data, right.rows = b.rows, right.cols = b.cols, right.ld = b.ld;
    range.add_right_hand_sides<T>(right);
    return range.leaves<T>();
  }
  index_t factor() {
    swaps.resize(at(n()));
    lapack::getrf(n(), n(), a.data, a.ld, swaps.data());
    return first_refused(a, [](T u) { return u != T(0) && is_finite(u); });
  }
  void apply(T* x, index_t columns, index_t ld) const {
    for (index_t j = 0; j < columns; ++j)
      for (index_t i = 0; i < n(); ++i) std::swap(x[i + j * ld], x[swaps[at(i)] - 1 + j * ld]);
    blas::solve_unit_lower(Op::none, n(), columns, a.data, a.ld, x, ld);
    blas::trsm(Op::none, n(), columns, a.data, a.ld, x, ld);
  }
  void solve(HostMatrix<T>& probes, DirectSolve& result) const {
    apply(b.data, b.cols, b.ld);
    judge(b, result);
    apply(probes.data(), probes.cols(), probes.ld());
  }
  static bool may_scale_rows(const Exponents& sizes_of_rows) { return spread(sizes_of_rows) > small_spread; }
  template <class F>
  void scale_matrix(const F& exponent) const {
    scale_elements(a, exponent);
  }
  void scale_right_hand_sides(const Exponents& exponents) const {
    scale_elements(b, [&](index_t i, index_t) { return -exponents[at(i)]; });
  }
  void check_solution(DirectSolve& result) const { judge(b, result); }
  std::vector<index_t> rows() const {
    std::vector<index_t> order(at(n()));
    std::iota(order.begin(), order.end(), index_t{0});
    for (std::size_t i = 0; i < order.size(); ++i) std::swap(order[i], order[static_cast<std::size_t>(swaps[i] - 1)]);
    return order;
  }
  double growth(const Exponents& of_rows, const Exponents& of_columns) const {
    const std::vector<index_t> order = rows();
    double most_yet = 0;
    for (index_t j = 0; j < n(); ++j)
      for (index_t i = 0; i <= j; ++i) {
        const int exponent = of_rows[at(order[at(i)])] + of_columns[at(j)];
        const double size = std::abs(times_power_of_two(with_parts<T, double>(a.data[i + j * a.ld]), -exponent));
        if (!(size <= most_yet)) most_yet = size;
      }
    return most_yet;
  }
};

template <class T>
struct PositiveHostSystem {
  const MatrixView<T>&a, &b;

  index_t factor() const { return cholesky_here(a).place; }
  void apply(T* x, index_t columns, index_t ld) const {
    blas::trsm(adjoint<T>, a.rows, columns, a.data, a.ld, x, ld);
    blas::trsm(Op::none, a.rows, columns, a.data, a.ld, x, ld);
  }
  void solve(HostMatrix<T>& probes, DirectSolve& result) const {
    apply(b.data, b.cols, b.ld);
    judge(b, result);
    apply(probes.data(), probes.cols(), probes.ld());
  }
};

}  // namespace

template <class T>
std::optional<DirectSolve> lu_solve_here(const MatrixView<T>& a, const MatrixView<T>& b) {
  HostSystem<T> system{a, b};
  return solve_with_estimates<T>(system, true);
}

template <class T>
DirectSolve cholesky_solve_here(const MatrixView<T>& a, std::span<const T> diagonal, const MatrixView<T>& b) {
  PositiveHostSystem<T> system{a, b};
  return solve_positive_with_estimates<T>(system, diagonal);
}

template <class T>
DirectSolve cholesky_here(const MatrixView<T>& a) {
  DirectSolve result;
  const index_t n = a.rows;
  result.place = lapack::potrf(n, a.data, a.ld);
  if (result.place == 0) result.place = first_refused(a, [](T r) { return real_part(r) > 0 && is_finite(r); });
  if (result.place > 0) result.status = DirectStatus::not_positive;
  for (index_t j = 0; j < n; ++j) std::fill(a.data + j + 1 + j * a.ld, a.data + n + j * a.ld, T(0));
  return result;
}

TESELA_FUNCTIONS_FOR_NUMBERS(lu_solve_here, cholesky_solve_here, cholesky_here)

}  // namespace tesela::detail
