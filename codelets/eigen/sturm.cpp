#include <tesela/codelets/eigen/internal/lanes.hpp>
#include <tesela/codelets/eigen/sturm.hpp>
#include <tesela/codelets/support/internal/multiversion.hpp>

#include <algorithm>
#include <limits>

namespace tesela::kernels {
namespace sturm {
namespace {

/// Vectors of points that are counted side by side, so that one's division hides behind another's.
constexpr int groups = 4;
template <class T>
constexpr index_t lanes = groups* LanesOf<T>::count;

/// Negative pivots at as many points as there are lanes. No pivot needs to be kept from zero: q = 0 makes the next one
/// -infinity and the one behind it d - x, as the limit of small positive q does; -0 does not occur (prepare). Where T
/// falls into blocks nothing is divided, so that 0 / 0 does not occur either, and a block's counts are its own.
template <class T>
TESELA_INLINE void count_lanes(index_t n, const T* d, const T* squares, const T* x, index_t* counts) {
  using Vector = Lanes<T>;
  Vector at[groups], q[groups];
  decltype(at[0] < at[0]) negative[groups];  // -1 in lanes where true
  for (int g = 0; g < groups; ++g)
    for (int l = 0; l < LanesOf<T>::count; ++l) {
      at[g][l] = x[g * LanesOf<T>::count + l] + T(0);
      q[g][l] = 1;  // of no block; read by none
      negative[g][l] = 0;
    }
  for (index_t i = 0; i < n; ++i) {
    const T square = squares[i];
    if (square == T(0))
      for (int g = 0; g < groups; ++g) q[g] = d[i] - at[g];
    else
      for (int g = 0; g < groups; ++g) q[g] = (d[i] - at[g]) - square / q[g];
    for (int g = 0; g < groups; ++g) negative[g] += q[g] < T(0);
  }
  for (int g = 0; g < groups; ++g)
    for (int l = 0; l < LanesOf<T>::count; ++l) counts[g * LanesOf<T>::count + l] = -negative[g][l];
}

TESELA_MULTIVERSION void several(index_t n, const float* d, const float* squares, const float* x, index_t* counts) {
  count_lanes(n, d, squares, x, counts);
}
TESELA_MULTIVERSION void several(index_t n, const double* d, const double* squares, const double* x, index_t* counts) {
  count_lanes(n, d, squares, x, counts);
}

}  // namespace

template <class T>
void prepare(index_t n, const T* d, const T* e, T* diagonal, T* squares) {
  for (index_t i = 0; i < n; ++i) {
    diagonal[i] = d[i] + T(0);  // no -0
    squares[i] = i == 0 ? T(0) : e[i - 1] * e[i - 1];
    if (squares[i] < std::numeric_limits<T>::min()) squares[i] = 0;
  }
}

template <class T>
void count(index_t n, const T* diagonal, const T* squares, index_t points, const T* x, index_t* counts) {
  for (index_t k = 0; k < points; k += lanes<T>) {
    const index_t some = std::min(points - k, lanes<T>);
    T at[lanes<T>];
    index_t found[lanes<T>];
    for (index_t l = 0; l < lanes<T>; ++l) at[l] = x[k + std::min(l, some - 1)];
    several(n, diagonal, squares, at, found);
    std::copy_n(found, some, counts + k);
  }
}

template void prepare(index_t, const float*, const float*, float*, float*);
template void prepare(index_t, const double*, const double*, double*, double*);
template void count(index_t, const float*, const float*, index_t, const float*, index_t*);
template void count(index_t, const double*, const double*, index_t, const double*, index_t*);

}  // namespace sturm

template <class T>
void SturmCount<T>::cpu(const Args&, In<T> t, In<T> points, Out<index_t> counts) {
  sturm::count(t.rows, &t(0, 0), &t(0, 1), points.rows, points.data, counts.data);
}

template <class T>
void SturmBisect<T>::cpu(const Args& args, In<T> t, In<index_t> wanted, InOut<T> intervals) {
  constexpr index_t lanes = sturm::lanes<T>;
  for (index_t first = 0; first < wanted.rows; first += lanes) {
    const index_t some = std::min(lanes, wanted.rows - first);
    T* const low = &intervals(first, 0);
    T* const high = &intervals(first, 1);
    T middle[lanes];
    index_t below[lanes];
    for (int h = 0; h < args.halvings; ++h) {
      for (index_t l = 0; l < some; ++l) middle[l] = (low[l] + high[l]) / 2;
      sturm::count(t.rows, &t(0, 0), &t(0, 1), some, middle, below);
      for (index_t l = 0; l < some; ++l) (below[l] <= wanted(first + l, 0) ? low[l] : high[l]) = middle[l];
    }
  }
}

template struct SturmCount<float>;
template struct SturmCount<double>;
template struct SturmBisect<float>;
template struct SturmBisect<double>;

}  // namespace tesela::kernels
