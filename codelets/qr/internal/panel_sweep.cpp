#include <tesela/codelets/qr/internal/householder.hpp>

#include <algorithm>

#define HWY_TARGET_INCLUDE "tesela/codelets/qr/internal/panel_sweep.cpp"
#include <tesela/codelets/support/internal/vectors_inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::internal::HWY_NAMESPACE {
namespace {

using namespace kernels::HWY_NAMESPACE;

/// Processes columns first … first + count - 1 of one chunk of rows: a_i -= v weight_i, sum_i += x . a_i.
template <class T, int count, bool update, bool dot>
HWY_INLINE void columns(const PanelPass<T>& pass, index_t first, index_t rows, const T* v, const T* x, T* a,
                        index_t ld) {
  constexpr index_t step = lanes<T>;
  Vec<T> sums[count], weights[count];
  for (int c = 0; c < count; ++c) {
    sums[c] = zeros<T>();
    weights[c] = update ? all(pass.weights[first + c]) : zeros<T>();
  }
  const auto take = [&](int c, const Vec<T>& vi, const Vec<T>& xi, Vec<T>& ai) HWY_ATTR {
    if constexpr (update) ai = hn::NegMulAdd(vi, weights[c], ai);
    if constexpr (dot) sums[c] = hn::MulAdd(xi, ai, sums[c]);
  };
  Vec<T> vi = zeros<T>(), xi = zeros<T>();
  index_t i = 0;
  for (; i + step <= rows; i += step) {
    if constexpr (update) vi = load(v + i);
    if constexpr (dot) xi = load(x + i);
    for (int c = 0; c < count; ++c) {
      Vec<T> ai = load(a + i + c * ld);
      take(c, vi, xi, ai);
      if constexpr (update) store(a + i + c * ld, ai);
    }
  }
  // A vector padded with zeros: the compiler would round a loop over the last rows differently depending on ld.
  if (const index_t rest = rows - i; rest > 0) {
    if constexpr (update) vi = load_first(v + i, rest);
    if constexpr (dot) xi = load_first(x + i, rest);
    for (int c = 0; c < count; ++c) {
      Vec<T> ai = load_first(a + i + c * ld, rest);
      take(c, vi, xi, ai);
      if constexpr (update) store_first(a + i + c * ld, ai, rest);
    }
  }
  if constexpr (dot)
    for (int c = 0; c < count; ++c) pass.sums[first + c] += sum<T>(sums[c]);
}

template <class T, bool update, bool dot>
HWY_INLINE void column_range(const PanelPass<T>& pass, index_t begin, index_t end, index_t rows, const T* v, const T* x,
                             T* a, index_t ld) {
  index_t c = begin;
  for (; c + 4 <= end; c += 4) columns<T, 4, update, dot>(pass, c, rows, v, x, a + c * ld, ld);
  if (end - c == 3) columns<T, 3, update, dot>(pass, c, rows, v, x, a + c * ld, ld);
  if (end - c == 2) columns<T, 2, update, dot>(pass, c, rows, v, x, a + c * ld, ld);
  if (end - c == 1) columns<T, 1, update, dot>(pass, c, rows, v, x, a + c * ld, ld);
}

template <class T, bool update, bool dot>
HWY_INLINE void run(const PanelPass<T>& pass, const PanelRows<T>& panel) {
  // A chunk of two columns stays in the first-level cache while the other columns stream through it.
  constexpr index_t chunk = 512;
  const index_t x_column = pass.v + 1;
  for (index_t at = 0; at < panel.rows; at += chunk) {
    const index_t rows = std::min(chunk, panel.rows - at), ld = panel.ld;
    T *const a = panel.data + at, *const v = a + pass.v * ld, *const x = a + x_column * ld;
    if constexpr (update) {
      for (index_t i = 0; i < rows; ++i) v[i] *= pass.scale;
      if (x_column >= pass.width) continue;
      columns<T, 1, true, false>(pass, x_column, rows, v, x, x, ld);
    }
    column_range<T, update, dot>(pass, x_column + 1, pass.width, rows, v, x, a, ld);
    if constexpr (dot) column_range<T, false, true>(pass, 0, x_column + 1, rows, v, x, a, ld);
  }
}

template <class T>
void sweep(const PanelPass<T>& pass, const PanelRows<T>& panel) {
  if (pass.weights != nullptr && pass.sums != nullptr)
    run<T, true, true>(pass, panel);
  else if (pass.weights != nullptr)
    run<T, true, false>(pass, panel);
  else
    run<T, false, true>(pass, panel);
}

}  // namespace
}  // namespace tesela::kernels::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tesela::kernels::internal {

template <class T>
void sweep(const PanelPass<T>& pass, const PanelRows<T>& panel) {
  TESELA_BEST_TARGET(sweep<T>)(pass, panel);
}

template void sweep(const PanelPass<float>&, const PanelRows<float>&);
template void sweep(const PanelPass<double>&, const PanelRows<double>&);

}  // namespace tesela::kernels::internal
#endif
