#include <tesela/codelets/eigen/tridiagonal/sturm.hpp>

#include <algorithm>
#include <limits>

#define HWY_TARGET_INCLUDE "tesela/codelets/eigen/tridiagonal/sturm.cpp"
#include <tesela/codelets/eigen/internal/lanes_inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::sturm::HWY_NAMESPACE {
namespace {

using namespace eigen::HWY_NAMESPACE;

/// Vectors of points that are counted together, so that one's division overlaps another's.
constexpr int groups = 4;
template <class T>
constexpr index_t together = groups* lanes<T>;

/// Counts negative pivots at one point per lane. No pivot must be kept from zero: q = 0 makes the next pivot -infinity
/// and the one after it d - x, the limit for small positive q. -0 does not occur (prepare). If T splits into blocks,
/// nothing is divided between them, so 0 / 0 does not occur, and each block is counted separately.
template <class T>
HWY_INLINE void count_lanes(index_t n, const T* d, const T* squares, const T* x, index_t* counts) {
  Vec<T> at[groups], q[groups];
  hn::Vec<hn::RebindToSigned<Tag<T>>> negative[groups];
  constexpr hn::RebindToSigned<Tag<T>> whole;
  for (int g = 0; g < groups; ++g) {
    at[g] = hn::Add(load(x + g * lanes<T>), zeros<T>());
    q[g] = all(T(1));  // not read
    negative[g] = hn::Zero(whole);
  }
  for (index_t i = 0; i < n; ++i) {
    const Vec<T> di = all(d[i]), square = all(squares[i]);
    if (squares[i] == T(0))
      for (int g = 0; g < groups; ++g) q[g] = hn::Sub(di, at[g]);
    else
      for (int g = 0; g < groups; ++g) q[g] = hn::Sub(hn::Sub(di, at[g]), hn::Div(square, q[g]));
    // A mask's lanes are -1 if true.
    for (int g = 0; g < groups; ++g)
      negative[g] = hn::Add(negative[g], hn::BitCast(whole, hn::VecFromMask(Tag<T>(), hn::Lt(q[g], zeros<T>()))));
  }
  HWY_ALIGN hn::TFromD<decltype(whole)> found[lanes<T>];
  for (int g = 0; g < groups; ++g) {
    hn::Store(negative[g], whole, found);
    for (index_t l = 0; l < lanes<T>; ++l) counts[g * lanes<T> + l] = -static_cast<index_t>(found[l]);
  }
}

template <class T>
void count(index_t n, const T* diagonal, const T* squares, index_t points, const T* x, index_t* counts) {
  for (index_t k = 0; k < points; k += together<T>) {
    const index_t some = std::min(points - k, together<T>);
    T at[together<T>];
    index_t found[together<T>];
    for (index_t l = 0; l < together<T>; ++l) at[l] = x[k + std::min(l, some - 1)];
    count_lanes(n, diagonal, squares, at, found);
    std::copy_n(found, some, counts + k);
  }
}

}  // namespace
}  // namespace tesela::kernels::sturm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tesela::kernels {
namespace sturm {

template <class T>
void prepare(index_t n, const T* d, const T* e, T* diagonal, T* squares) {
  for (index_t i = 0; i < n; ++i) {
    diagonal[i] = d[i] + T(0);  // turns -0 into 0
    squares[i] = i == 0 ? T(0) : e[i - 1] * e[i - 1];
    if (squares[i] < std::numeric_limits<T>::min()) squares[i] = 0;
  }
}

template <class T>
void count(index_t n, const T* diagonal, const T* squares, index_t points, const T* x, index_t* counts) {
  TESELA_BEST_TARGET(count<T>)(n, diagonal, squares, points, x, counts);
}

TESELA_FUNCTIONS_FOR_REALS(prepare)
template void count(index_t, const float*, const float*, index_t, const float*, index_t*);
template void count(index_t, const double*, const double*, index_t, const double*, index_t*);

}  // namespace sturm

template <class T>
void SturmCount<T>::cpu(const Args&, In<T> t, In<T> points, Out<index_t> counts) {
  sturm::count(t.rows, &t(0, 0), &t(0, 1), points.rows, points.data, counts.data);
}

template <class T>
void SturmBisect<T>::cpu(const Args& args, In<T> t, In<index_t> wanted, InOut<T> intervals) {
  constexpr index_t together = 128 / sizeof(T);  // whole vectors on every vector unit
  for (index_t first = 0; first < wanted.rows; first += together) {
    const index_t some = std::min(together, wanted.rows - first);
    T* const low = &intervals(first, 0);
    T* const high = &intervals(first, 1);
    T middle[together];
    index_t below[together];
    for (int h = 0; h < args.halvings; ++h) {
      for (index_t l = 0; l < some; ++l) middle[l] = (low[l] + high[l]) / 2;
      sturm::count(t.rows, &t(0, 0), &t(0, 1), some, middle, below);
      for (index_t l = 0; l < some; ++l) (below[l] <= wanted(first + l, 0) ? low[l] : high[l]) = middle[l];
    }
  }
}

TESELA_STRUCTS_FOR_REALS(SturmCount, SturmBisect)

}  // namespace tesela::kernels
#endif
