#include <tesela/codelets/support/internal/multiversion.hpp>
#include <tesela/codelets/tridiagonal/internal/tridiagonal_factors_body.hpp>
#include <tesela/codelets/tridiagonal/internal/tridiagonal_lanes.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal_factors.hpp>

#include <algorithm>
#include <type_traits>

namespace tesela::kernels {
namespace tridiagonal {
namespace {

/// As many systems as N holds, from one on; element i of system w is b[i row + w system]. strange[w] becomes a row,
/// counted from 1, whose unknown is not finite, or 0.
template <class T, class N>
struct Several {
  static constexpr index_t width = std::is_same_v<T, N> ? 1 : index_t{64} / index_t{sizeof(T)};
  const Factors<const T>& factors;
  T* b;
  index_t row, system;
  N buffer[block_rows];

  TESELA_INLINE void load(index_t first, index_t count) {
    T* const to = reinterpret_cast<T*>(buffer);
    if (row == 1)
      for (index_t w = 0; w < width; ++w)
        for (index_t i = 0; i < count; ++i) to[i * width + w] = b[first + i + w * system];
    else
      for (index_t i = 0; i < count; ++i)
        for (index_t w = 0; w < width; ++w) to[i * width + w] = b[(first + i) * row + w * system];
  }
  /// Of buffer rows `from` … count - 1; row 0 is row `first`.
  TESELA_INLINE void store(index_t first, index_t from, index_t count) {
    const T* const data = reinterpret_cast<const T*>(buffer);
    if (row == 1)
      for (index_t w = 0; w < width; ++w)
        for (index_t i = from; i < count; ++i) b[first + i + w * system] = data[i * width + w];
    else
      for (index_t i = from; i < count; ++i)
        for (index_t w = 0; w < width; ++w) b[(first + i) * row + w * system] = data[i * width + w];
  }

  TESELA_INLINE void solve(index_t* strange) {
    const index_t n = factors.n;
    const auto at = [this](index_t i) -> N& { return buffer[i]; };
    Down<T, N> down;
    for (index_t first = 0; first < n; first += block_rows) {
      const index_t count = std::min(block_rows, n - first);
      load(first, count);
      down(factors, first, count, at);
      store(first - 1, first == 0 ? 1 : 0, count);
    }
    buffer[0] = down.current;
    store(n - 1, 0, 1);
    Up<T, N> up;
    for (index_t w = 0; w < width; ++w) strange[w] = 0;
    for (index_t first = (n - 1) / block_rows * block_rows; first >= 0; first -= block_rows) {
      const index_t count = std::min(block_rows, n - first);
      load(first, count);
      const N found = up(factors, first, count, at);
      store(first, 0, count);
      const T* const data = reinterpret_cast<const T*>(buffer);
      for (index_t w = 0; w < width; ++w)
        if (reinterpret_cast<const T*>(&found)[w] != T(0) && strange[w] == 0)
          for (index_t i = count - 1; i >= 0 && strange[w] == 0; --i)
            if (data[i * width + w] * T(0) != T(0)) strange[w] = first + i + 1;
    }
  }
};

/// target_clones takes no template.
#define TESELA_FACTORED_SOLVE(T, N) \
  TESELA_MULTIVERSION void solve(Several<T, N>& several, index_t* strange) { several.solve(strange); }
TESELA_FACTORED_SOLVE(float, float)
TESELA_FACTORED_SOLVE(double, double)
TESELA_FACTORED_SOLVE(float, VectorOf<float>::type)
TESELA_FACTORED_SOLVE(double, VectorOf<double>::type)

}  // namespace
}  // namespace tridiagonal

using namespace tridiagonal;

template <class T>
void TridiagonalFactor<T>::cpu(const Args&, In<T> dl, In<T> d, In<T> du, Out<T> factors, Out<int> kept,
                               InOut<int> info) {
  const auto stride = [](const In<T>& band) { return band.cols == 1 ? 1 : band.ld; };
  const index_t broken = factor(dl.data, stride(dl), d.data, stride(d), du.data, stride(du),
                                Factors<T>{factors.data, factors.rows, factors.ld});
  *kept.data = *info.data = row_status(broken);
}

template <class T>
void TridiagonalFactoredSolve<T>::cpu(const Args& args, In<T> factors, In<int> kept, InOut<T> b, InOut<int> info) {
  using Vector = typename VectorOf<T>::type;
  constexpr index_t width = Several<T, Vector>::width;
  if (*kept.data != 0) {
    *info.data = *kept.data;
    return;
  }
  const bool columns = args.systems == SystemsIn::columns;
  const index_t systems = columns ? b.cols : b.rows, n = factors.rows, row = columns ? 1 : b.ld,
                system = columns ? b.ld : 1;
  const Factors<const T> whole{factors.data, n, factors.ld};
  for (index_t s = 0; s < systems;) {
    index_t strange[width];
    const bool many = s + width <= systems;
    T* const first = b.data + s * system;
    if (many) {
      Several<T, Vector> several{whole, first, row, system, {}};
      tridiagonal::solve(several, strange);
    } else {
      Several<T, T> one{whole, first, row, system, {}};
      tridiagonal::solve(one, strange);
    }
    for (index_t w = 0; w < (many ? width : 1); ++w, ++s)
      if (strange[w] > 0 && *info.data == 0) *info.data = row_status(strange[w] + n * s);
  }
}

template struct TridiagonalFactor<float>;
template struct TridiagonalFactor<double>;
template struct TridiagonalFactoredSolve<float>;
template struct TridiagonalFactoredSolve<double>;

}  // namespace tesela::kernels
