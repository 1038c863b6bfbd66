#include <tesela/codelets/tridiagonal/internal/tridiagonal_factors_body.hpp>
#include <tesela/codelets/tridiagonal/internal/tridiagonal_rows.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal_factors.hpp>

#include <algorithm>

#define HWY_TARGET_INCLUDE "tesela/codelets/tridiagonal/tridiagonal_factors.cpp"
#include <tesela/codelets/support/internal/vectors_inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::tridiagonal::HWY_NAMESPACE {
namespace {

using namespace kernels::HWY_NAMESPACE;

template <class N, class T>
TESELA_INLINE N in_all(T number) {
  if constexpr (OneNumber<N>)
    return number;
  else
    return hn::Set(hn::DFromV<N>(), number);
}
#include <tesela/codelets/tridiagonal/internal/factored_substitution_body.hpp>

/// The numbers of several real systems, or of one complex system.
template <class T>
struct Lanes {
  using type = Vec<T>;
};
template <class T>
struct Lanes<std::complex<T>> {
  using type = std::complex<T>;
};

/// Solves for as many systems as N holds; element i of system w is b[i row + w system]. strange[w] becomes a row,
/// counted from 1, whose unknown is not finite, or 0.
template <class T, class N>
struct Several {
  static constexpr index_t width = index_t{sizeof(N)} / index_t{sizeof(T)};
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
  /// Stores buffer rows `from` … count - 1; row 0 is row `first`.
  TESELA_INLINE void store(index_t first, index_t from, index_t count) {
    const T* const data = reinterpret_cast<const T*>(buffer);
    if (row == 1)
      for (index_t w = 0; w < width; ++w)
        for (index_t i = from; i < count; ++i) b[first + i + w * system] = data[i * width + w];
    else
      for (index_t i = from; i < count; ++i)
        for (index_t w = 0; w < width; ++w) b[(first + i) * row + w * system] = data[i * width + w];
  }

  HWY_NOINLINE void solve(index_t* strange) {
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

/// Solves for `systems` right-hand sides; element i of system s is b[i row + s system]. Returns the row of the first
/// unknown that is not finite, counted from 1 through all systems, or 0.
template <class T>
index_t solve_all(const Factors<const T>& factors, T* b, index_t systems, index_t row, index_t system) {
  using Many = Several<T, typename Lanes<T>::type>;
  constexpr index_t width = Many::width;
  index_t first_strange = 0;
  for (index_t s = 0; s < systems;) {
    index_t strange[width];
    const bool many = s + width <= systems;
    if (many)
      Many{factors, b + s * system, row, system, {}}.solve(strange);
    else
      Several<T, T>{factors, b + s * system, row, system, {}}.solve(strange);
    for (index_t w = 0; w < (many ? width : 1); ++w, ++s)
      if (strange[w] > 0 && first_strange == 0) first_strange = strange[w] + factors.n * s;
  }
  return first_strange;
}

}  // namespace
}  // namespace tesela::kernels::tridiagonal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tesela::kernels {
namespace tridiagonal {
namespace {

template <class T>
index_t solve_all(const Factors<const T>& factors, T* b, index_t systems, index_t row, index_t system) {
  return TESELA_BEST_TARGET(solve_all<T>)(factors, b, systems, row, system);
}

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
  if (*kept.data != 0) {
    *info.data = *kept.data;
    return;
  }
  const bool columns = args.systems == SystemsIn::columns;
  const index_t systems = columns ? b.cols : b.rows, n = factors.rows, row = columns ? 1 : b.ld,
                system = columns ? b.ld : 1;
  const Factors<const T> whole{factors.data, n, factors.ld};
  const index_t strange = solve_all(whole, b.data, systems, row, system);
  if (strange > 0 && *info.data == 0) *info.data = row_status(strange);
}

TESELA_STRUCTS_FOR_NUMBERS(TridiagonalFactor, TridiagonalFactoredSolve)

}  // namespace tesela::kernels
#endif
