#include <tesela/codelets/tridiagonal/internal/row_status.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal_scale.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal_walk.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tesela::kernels {

using detail::counts;
using detail::Walk;

namespace {

/// A tile by equation and system; a single system's holds for all.
template <class T>
struct Turned {
  Block<T> block;
  bool columns;

  Turned(const Block<T>& tile, SystemsIn systems) : block(tile), columns(systems == SystemsIn::columns) {}
  index_t equations() const { return columns ? block.rows : block.cols; }
  index_t systems() const { return columns ? block.cols : block.rows; }
  T& operator()(index_t e, index_t s) const {
    if (systems() == 1) s = 0;
    return columns ? block(e, s) : block(s, e);
  }
};
template <class Tile>
Turned(const Tile&, SystemsIn) -> Turned<std::remove_pointer_t<decltype(Tile::data)>>;

/// Calls f(e, s) in the order of memory; for each system, equations come in their order.
template <class T, class F>
void for_each(const Turned<T>& tile, F f) {
  const index_t equations = tile.equations(), systems = tile.systems();
  if (tile.columns) {
    for (index_t s = 0; s < systems; ++s)
      for (index_t e = 0; e < equations; ++e) f(e, s);
  } else {
    for (index_t e = 0; e < equations; ++e)
      for (index_t s = 0; s < systems; ++s) f(e, s);
  }
}

}  // namespace

template <class T>
void TridiagonalExponents<T>::cpu(const Args& args, Out<index_t> exponents, std::span<const In<T>> bands) {
  const Turned g(exponents, args.systems);
  try {
    std::vector<Walk<T>> walks(static_cast<std::size_t>(g.systems()));
    index_t first = 0;
    for (std::size_t tile = 0; tile < bands.size(); tile += 3) {
      const Turned dl(bands[tile], args.systems), d(bands[tile + 1], args.systems), du(bands[tile + 2], args.systems);
      const index_t equations = d.equations();
      const Turned<index_t> part(args.systems == SystemsIn::columns
                                     ? Block<index_t>{&exponents(first, 0), equations, exponents.cols, exponents.ld}
                                     : Block<index_t>{&exponents(0, first), exponents.rows, equations, exponents.ld},
                                 args.systems);
      for_each(part, [&](index_t e, index_t s) {
        const T left = first + e > 0 ? dl(e, s) : T(0);
        part(e, s) = walks[static_cast<std::size_t>(s)].step(left, d(e, s), du(e, s));
      });
      first += equations;
    }
    const index_t n = g.equations();
    for (index_t s = 0; args.periodic && n > 2 && s < g.systems(); ++s) {
      const auto row = [&](index_t i, T(&to)[3]) {
        const index_t tile = 3 * (i / Turned(bands[1], args.systems).equations()),
                      e = i % Turned(bands[1], args.systems).equations();
        for (index_t k = 0; k < 3; ++k) to[k] = Turned(bands[static_cast<std::size_t>(tile + k)], args.systems)(e, s);
      };
      T zeroth[3], second[3];
      row(0, zeroth);
      row(1, second);
      walks[static_cast<std::size_t>(s)].come_round(zeroth, second, g(1, s), n);
    }
    for_each(g, [&](index_t e, index_t s) { g(e, s) = walks[static_cast<std::size_t>(s)].closed(g(e, s), e); });
    for_each(g, [&](index_t e, index_t s) { g(e, s) = walks[static_cast<std::size_t>(s)].bounded(g(e, s)); });
  } catch (...) {
    tesela::detail::report_exception(name);
  }
}

template <class T>
void TridiagonalScale<T>::cpu(const Args& args, In<T> dl, In<T> d, In<T> du, In<index_t> exponents, Out<T> scaled_dl,
                              Out<T> scaled_d, Out<T> scaled_du, Out<index_t> rows) {
  const Turned from_dl(dl, args.systems), from_d(d, args.systems), from_du(du, args.systems);
  const Turned to_dl(scaled_dl, args.systems), to_d(scaled_d, args.systems), to_du(scaled_du, args.systems);
  const Turned g(exponents, args.systems);
  const Turned by(rows, args.systems);
  const index_t n = g.equations();
  for_each(by, [&](index_t e, index_t s) {
    const index_t i = args.first + e;
    const T row[3] = {i > 0 || args.periodic ? from_dl(e, s) : T(0), from_d(e, s),
                      i < n - 1 || args.periodic ? from_du(e, s) : T(0)};
    const index_t column[3] = {g(i > 0 ? i - 1 : n - 1, s), g(i, s), g(i < n - 1 ? i + 1 : 0, s)};
    bool any = false;
    index_t largest = 0;
    for (int k = 0; k < 3; ++k)
      if (counts(row[k])) {
        const index_t size = std::ilogb(row[k]) + column[k];
        largest = any ? std::max(largest, size) : size;
        any = true;
      }
    // Both scalings in one: their product may overflow or vanish where neither result does.
    const auto scaled = [&](int k) { return std::scalbn(row[k], static_cast<int>(column[k] - largest)); };
    to_dl(e, s) = scaled(0), to_d(e, s) = scaled(1), to_du(e, s) = scaled(2);
    by(e, s) = -largest;
  });
}

template <class T>
void TridiagonalNoSize<T>::cpu(const Args&, Out<index_t> sizes) {
  for (index_t s = 0; s < sizes.cols; ++s) sizes(0, s) = -none, sizes(1, s) = none;
}

template <class T>
void TridiagonalSize<T>::cpu(const Args& args, In<T> b, In<index_t> rows, InOut<index_t> sizes) {
  const Turned x(b, args.systems);
  const Turned by(rows, args.systems);
  for_each(x, [&](index_t e, index_t s) {
    if (!counts(x(e, s))) return;
    const index_t size = std::ilogb(x(e, s)) + by(e, s);
    sizes(0, s) = std::max(sizes(0, s), size);
    sizes(1, s) = std::min(sizes(1, s), size);
  });
}

template <class T>
void TridiagonalScaleVector<T>::cpu(const Args& args, InOut<T> b, In<index_t> exponents, In<index_t> sizes,
                                    InOut<int> info) {
  const Turned x(b, args.systems);
  const Turned by(exponents, args.systems);
  for_each(x, [&](index_t e, index_t s) {
    const index_t most = sizes(0, s), least = sizes(1, s), power = by(args.first + e, s);
    const index_t middle =
        most < least ? 0 : std::max(least + (most - least) / 2, most - TridiagonalExponents<T>::limit);
    const index_t total = args.by == ScaleBy::rows      ? power - middle
                          : args.by == ScaleBy::columns ? power + middle
                                                        : -power - middle;
    x(e, s) = std::scalbn(x(e, s), static_cast<int>(total));
    if (!std::isfinite(x(e, s)) && info(0, 0) == 0) info(0, 0) = row_status(e + 1 + args.n * s);
  });
}

template struct TridiagonalExponents<float>;
template struct TridiagonalExponents<double>;
template struct TridiagonalScale<float>;
template struct TridiagonalScale<double>;
template struct TridiagonalNoSize<float>;
template struct TridiagonalNoSize<double>;
template struct TridiagonalSize<float>;
template struct TridiagonalSize<double>;
template struct TridiagonalScaleVector<float>;
template struct TridiagonalScaleVector<double>;

}  // namespace tesela::kernels
