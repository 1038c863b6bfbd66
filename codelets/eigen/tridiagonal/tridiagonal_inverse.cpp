#include <tesela/codelets/eigen/tridiagonal/tridiagonal_inverse.hpp>
#include <tesela/host/lapack/lapack.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#define HWY_TARGET_INCLUDE "tesela/codelets/eigen/tridiagonal/tridiagonal_inverse.cpp"
#include <tesela/codelets/eigen/internal/lanes_inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::inverse_iteration::HWY_NAMESPACE {
namespace {

using namespace eigen::HWY_NAMESPACE;

/// Vectors of columns that are solved together, so that one's division overlaps another's.
constexpr int groups = 2;
template <class T>
constexpr index_t together = groups* lanes<T>;

/// Solves (T - shift I) y = y for one column per lane. A row of `work` has 1 / pivot, the two entries to its right in
/// U, and y, each for all columns. Writes the sums of squares of y.
template <class T>
HWY_INLINE void solve_lanes(index_t n, const T* d, const T* e, const T* shifts, T* work, T* squares) {
  constexpr index_t wide = together<T>;
  Vec<T> shift[groups], pivot[groups], right[groups], y[groups];
  for (int g = 0; g < groups; ++g) {
    shift[g] = load(shifts + g * lanes<T>);
    pivot[g] = hn::Sub(all(d[0]), shift[g]);
    right[g] = all(n > 1 ? e[0] : T(0));
    y[g] = load(work + 3 * wide + g * lanes<T>);
  }
  const Vec<T> one = all(T(1)), none = zeros<T>();
  for (index_t i = 0; i + 1 < n; ++i) {
    T* const row = work + 4 * wide * i;
    const Vec<T> below = all(e[i]), size = hn::Abs(below), next = all(i + 2 < n ? e[i + 1] : T(0));
    for (int g = 0; g < groups; ++g) {
      const auto exchange = hn::Lt(hn::Abs(pivot[g]), size);
      const Vec<T> diagonal = hn::Sub(all(d[i + 1]), shift[g]), yn = load(row + 7 * wide + g * lanes<T>);
      const Vec<T> inverse = hn::Div(one, hn::IfThenElse(exchange, below, pivot[g])),
                   factor = hn::Mul(hn::IfThenElse(exchange, pivot[g], below), inverse),
                   u1 = hn::IfThenElse(exchange, diagonal, right[g]), u2 = hn::IfThenElse(exchange, next, none),
                   yp = hn::IfThenElse(exchange, yn, y[g]);
      store(row + g * lanes<T>, inverse);
      store(row + wide + g * lanes<T>, u1);
      store(row + 2 * wide + g * lanes<T>, u2);
      store(row + 3 * wide + g * lanes<T>, yp);
      pivot[g] = hn::NegMulAdd(factor, u1, hn::IfThenElse(exchange, right[g], diagonal));
      right[g] = hn::NegMulAdd(factor, u2, hn::IfThenElse(exchange, none, next));
      y[g] = hn::NegMulAdd(factor, yp, hn::IfThenElse(exchange, y[g], yn));
    }
  }
  const T tiny = std::numeric_limits<T>::epsilon() * std::numeric_limits<T>::epsilon();
  for (int g = 0; g < groups; ++g) {
    T* const row = work + 4 * wide * (n - 1) + g * lanes<T>;
    const Vec<T> kept = hn::IfThenElse(hn::Lt(hn::Abs(pivot[g]), all(tiny)), all(tiny), pivot[g]);
    Vec<T> after = none, after2 = none, sum = none;
    store(row, hn::Div(one, kept));
    store(row + wide, none);
    store(row + 2 * wide, none);
    store(row + 3 * wide, y[g]);
    for (index_t i = n; i-- > 0;) {
      T* const at = work + 4 * wide * i + g * lanes<T>;
      const Vec<T> left = hn::NegMulAdd(load(at + wide), after, load(at + 3 * wide)),
                   x = hn::Mul(hn::NegMulAdd(load(at + 2 * wide), after2, left), load(at));
      store(at + 3 * wide, x);
      sum = hn::MulAdd(x, x, sum);
      after2 = after;
      after = x;
    }
    store(squares + g * lanes<T>, sum);
  }
}

/// Runs one step on all columns. Returns the first column whose solution is not large, or -1.
template <class T>
index_t step(const Block<const T>& t, const T* shifts, const Block<T>& x, T* work) {
  constexpr index_t wide = together<T>;
  const index_t n = t.rows;
  const T least = T(1) / (T(100) * std::numeric_limits<T>::epsilon() * std::sqrt(static_cast<T>(n)));
  index_t weak = -1;
  for (index_t first = 0; first < x.cols; first += wide) {
    const index_t some = std::min(wide, x.cols - first);
    T at[wide], squares[wide];
    T* column[wide];
    for (index_t l = 0; l < wide; ++l) {
      at[l] = shifts[first + std::min(l, some - 1)];
      column[l] = &x(0, first + std::min(l, some - 1));
    }
    for (index_t i = 0; i < n; ++i)
      for (index_t l = 0; l < wide; ++l) work[4 * wide * i + 3 * wide + l] = column[l][i];
    solve_lanes(n, &t(0, 0), &t(0, 1), at, work, squares);
    for (index_t l = 0; l < some; ++l) {
      const T norm = std::sqrt(squares[l]), scale = T(1) / norm;
      if (!(norm >= least && std::isfinite(norm)) && weak < 0) weak = first + l;
      for (index_t i = 0; i < n; ++i) column[l][i] = work[4 * wide * i + 3 * wide + l] * scale;
    }
  }
  return weak;
}

}  // namespace
}  // namespace tesela::kernels::inverse_iteration::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tesela::kernels {
namespace inverse_iteration {
namespace {

template <class T>
index_t best_step(const Block<const T>& t, const T* shifts, const Block<T>& x, T* work) {
  return TESELA_BEST_TARGET(step<T>)(t, shifts, x, work);
}

}  // namespace
}  // namespace inverse_iteration

template <class T>
void InverseStep<T>::cpu(const Args& args, In<T> t, In<T> shifts, InOut<T> x, Scratch<T> work, InOut<int> info) {
  const index_t weak = inverse_iteration::best_step<T>(t, shifts.data, x, work.data);
  if (args.last && weak >= 0 && *info.data == 0) *info.data = static_cast<int>(weak) + 1;
}

template <class T>
void OrthonormalizeClusters<T>::cpu(const Args&, In<index_t> first, InOut<T> x) {
  for (index_t begin = 0, end = 0; begin < x.cols; begin = end) {
    while (end < x.cols && (end == begin || first(end, 0) == first(begin, 0))) ++end;
    const index_t k = end - begin;
    std::vector<T> tau(static_cast<std::size_t>(k));
    lapack::geqrf(x.rows, k, &x(0, begin), x.ld, tau.data());
    lapack::orgqr(x.rows, k, &x(0, begin), x.ld, tau.data());
  }
}

TESELA_STRUCTS_FOR_REALS(InverseStep, OrthonormalizeClusters)

}  // namespace tesela::kernels
#endif
