#include <tesela/codelets/tridiagonal/exponent_recurrence.hpp>
#include <tesela/codelets/tridiagonal/internal/row_status.hpp>
#include <tesela/codelets/tridiagonal/internal/system_view.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal_scale.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tesela::kernels {

using internal::counts;
using internal::Walk;
using namespace tridiagonal;

template <class T>
void TridiagonalExponents<T>::cpu(const Args& args, Out<index_t> exponents, std::span<const In<T>> bands) {
  const auto g = system_view(args.systems, exponents);
  const index_t n = equations(args.systems, exponents.shape()),
                systems = count_systems(args.systems, exponents.shape()),
                each = equations(args.systems, bands[1].shape());
  const auto band = [&](index_t tile) { return channel_view(args.systems, bands[static_cast<std::size_t>(tile)]); };
  std::vector<Walk<T>> walks(static_cast<std::size_t>(systems));
  const auto walk = [&](index_t s) -> Walk<T>& { return walks[static_cast<std::size_t>(s)]; };
  index_t first = 0;
  for (index_t tile = 0; tile < std::ssize(bands); tile += 3) {
    const auto dl = band(tile), d = band(tile + 1), du = band(tile + 2);
    const index_t end = first + equations(args.systems, bands[static_cast<std::size_t>(tile + 1)].shape());
    for_each_row(args.systems, first, end, systems, [&](index_t i, index_t s) {
      const index_t e = i - first;
      g(i, s) = walk(s).step(i > 0 ? dl(e, s) : T(0), d(e, s), du(e, s));
    });
    first = end;
  }
  for (index_t s = 0; args.periodic && n > 2 && s < systems; ++s) {
    const auto row = [&](index_t i, T(&to)[3]) {
      for (index_t k = 0; k < 3; ++k) to[k] = band(3 * (i / each) + k)(i % each, s);
    };
    T zeroth[3], second[3];
    row(0, zeroth);
    row(1, second);
    walk(s).close_cycle(zeroth, second, g(1, s), n);
  }
  for_each_row(args.systems, 0, n, systems, [&](index_t e, index_t s) { g(e, s) = walk(s).closed(g(e, s), e); });
  for_each_row(args.systems, 0, n, systems, [&](index_t e, index_t s) { g(e, s) = walk(s).bounded(g(e, s)); });
}

template <class T>
void TridiagonalScale<T>::cpu(const Args& args, In<T> dl, In<T> d, In<T> du, In<index_t> exponents, Out<T> scaled_dl,
                              Out<T> scaled_d, Out<T> scaled_du, Out<index_t> rows) {
  const auto from_dl = channel_view(args.systems, dl), from_d = channel_view(args.systems, d),
             from_du = channel_view(args.systems, du);
  const auto to_dl = system_view(args.systems, scaled_dl), to_d = system_view(args.systems, scaled_d),
             to_du = system_view(args.systems, scaled_du);
  const auto g = channel_view(args.systems, exponents);
  const auto by = system_view(args.systems, rows);
  const index_t n = equations(args.systems, exponents.shape());
  for_each_row(args.systems, rows.shape(), [&](index_t e, index_t s) {
    const index_t i = args.first + e;
    const T row[3] = {i > 0 || args.periodic ? from_dl(e, s) : T(0), from_d(e, s),
                      i < n - 1 || args.periodic ? from_du(e, s) : T(0)};
    const index_t column[3] = {g(i > 0 ? i - 1 : n - 1, s), g(i, s), g(i < n - 1 ? i + 1 : 0, s)};
    bool any = false;
    index_t largest = 0;
    for (int k = 0; k < 3; ++k)
      if (counts(largest_part(row[k]))) {
        const index_t size = std::ilogb(largest_part(row[k])) + column[k];
        largest = any ? std::max(largest, size) : size;
        any = true;
      }
    // Both scalings in one: their product may overflow or vanish although neither result does.
    const auto scaled = [&](int k) { return times_power_of_two(row[k], static_cast<int>(column[k] - largest)); };
    to_dl(e, s) = scaled(0), to_d(e, s) = scaled(1), to_du(e, s) = scaled(2);
    by(e, s) = -largest;
  });
}

template <class T>
void TridiagonalClearSize<T>::cpu(const Args&, Out<index_t> sizes) {
  for (index_t s = 0; s < sizes.cols; ++s) sizes(0, s) = -none, sizes(1, s) = none;
}

template <class T>
void TridiagonalSize<T>::cpu(const Args& args, In<T> b, In<index_t> rows, InOut<index_t> sizes) {
  const auto x = system_view(args.systems, b);
  const auto by = channel_view(args.systems, rows);
  for_each_row(args.systems, b.shape(), [&](index_t e, index_t s) {
    const real_t<T> part = largest_part(x(e, s));
    if (!counts(part)) return;
    const index_t size = std::ilogb(part) + by(e, s);
    sizes(0, s) = std::max(sizes(0, s), size);
    sizes(1, s) = std::min(sizes(1, s), size);
  });
}

template <class T>
void TridiagonalScaleVector<T>::cpu(const Args& args, InOut<T> b, In<index_t> exponents, In<index_t> sizes,
                                    InOut<int> info) {
  const auto x = system_view(args.systems, b);
  const auto by = channel_view(args.systems, exponents);
  for_each_row(args.systems, b.shape(), [&](index_t e, index_t s) {
    const index_t most = sizes(0, s), least = sizes(1, s), power = by(args.first + e, s);
    const index_t middle =
        most < least ? 0 : std::max(least + (most - least) / 2, most - TridiagonalExponents<T>::limit);
    const index_t total = args.by == ScaleBy::rows      ? power - middle
                          : args.by == ScaleBy::columns ? power + middle
                                                        : -power - middle;
    x(e, s) = times_power_of_two(x(e, s), static_cast<int>(total));
    if (!is_finite(x(e, s)) && info(0, 0) == 0) info(0, 0) = row_status(e + 1 + args.n * s);
  });
}

TESELA_STRUCTS_FOR_NUMBERS(TridiagonalExponents, TridiagonalScale, TridiagonalClearSize, TridiagonalSize,
                           TridiagonalScaleVector)

}  // namespace tesela::kernels
