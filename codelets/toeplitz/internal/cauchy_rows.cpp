#include <tesela/codelets/toeplitz/internal/cauchy_rows.hpp>

#include <cmath>

#define HWY_TARGET_INCLUDE "tesela/codelets/toeplitz/internal/cauchy_rows.cpp"
#include <tesela/codelets/support/internal/vectors_inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::cauchy::HWY_NAMESPACE {
namespace {

using namespace kernels::HWY_NAMESPACE;

/// Vectors of rows that share a pivot's numbers: enough to hide the latency of one behind the others.
constexpr int run_concurrently = 4;

template <class T>
HWY_INLINE void find_largest_of(const Block<T>& b, index_t k) {
  Vec<T> best = zeros<T>();
  for (index_t i = k * chunk; i < (k + 1) * chunk; i += lanes<T>) {
    const Vec<T> size = hn::Mul(hn::Abs(load(b.d + i)), load(b.left + i));
    best = hn::IfThenElse(hn::Gt(size, best), size, best);  // NaN is not larger
  }
  const T most = hn::GetLane(hn::MaxOfLanes(Tag<T>(), best));
  b.largest[k] = most;
  index_t at = k * chunk;
  for (const index_t end = at + chunk - 1; at < end && !(b.left[at] != T(0) && std::abs(b.d[at]) == most);) ++at;
  b.best[k] = at;
}

template <class T>
void find_largest(const Block<T>& b) {
  for (index_t k = 0; k < b.chunks; ++k) find_largest_of(b, k);
}

template <bool keep, class T>
HWY_INLINE void sweep_chunk(const Block<T>& b, index_t k, const Pivot<T>* pivots, int count, T* kept) {
  constexpr index_t step = lanes<T>;
  for (index_t i = k * chunk; i < (k + 1) * chunk; i += run_concurrently * step) {
    Vec<T> g[run_concurrently], h[run_concurrently], d[run_concurrently];
    for (int u = 0; u < run_concurrently; ++u) {
      g[u] = load(b.g + i + u * step);
      h[u] = load(b.h + i + u * step);
      d[u] = load(b.d + i + u * step);
    }
    for (int q = 0; q < count; ++q) {
      const Pivot<T>& p = pivots[q];
      const Vec<T> gp = all(p.g), hp = all(p.h), inverse = all(p.inverse);
      for (int u = 0; u < run_concurrently; ++u) {
        const Vec<T> w = hn::Mul(load(p.sums + i + u * step), load(p.differences + i + u * step));
        const Vec<T> c = hn::Mul(hn::MulSub(g[u], hp, hn::Mul(h[u], gp)), w), l = hn::Mul(c, inverse);
        g[u] = hn::NegMulAdd(l, gp, g[u]);
        h[u] = hn::NegMulAdd(l, hp, h[u]);
        d[u] = hn::NegMulAdd(l, c, d[u]);
        if constexpr (keep) store(kept + q * b.chunks * chunk + i + u * step, l);
      }
    }
    for (int u = 0; u < run_concurrently; ++u) {
      store(b.g + i + u * step, g[u]);
      store(b.h + i + u * step, h[u]);
      store(b.d + i + u * step, d[u]);
    }
  }
}

template <class T>
void sweep_rows(const Block<T>& b, const Pivot<T>* pivots, int count, T* kept) {
  for (index_t k = 0; k < b.chunks; ++k) {
    if (kept != nullptr)
      sweep_chunk<true>(b, k, pivots, count, kept);
    else
      sweep_chunk<false>(b, k, pivots, count, kept);
    find_largest_of(b, k);
  }
}

}  // namespace
}  // namespace tesela::kernels::cauchy::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tesela::kernels::cauchy {

template <class T>
void find_largest(const Block<T>& b) {
  TESELA_BEST_TARGET(find_largest<T>)(b);
}
template <class T>
void sweep_rows(const Block<T>& b, const Pivot<T>* pivots, int count, T* kept) {
  TESELA_BEST_TARGET(sweep_rows<T>)(b, pivots, count, kept);
}

template void find_largest(const Block<float>&);
template void find_largest(const Block<double>&);
template void sweep_rows(const Block<float>&, const Pivot<float>*, int, float*);
template void sweep_rows(const Block<double>&, const Pivot<double>*, int, double*);

}  // namespace tesela::kernels::cauchy
#endif
