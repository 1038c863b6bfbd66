#pragma once

#include <tesela/codelets/toeplitz/sine_transform.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

// Sine transforms as steps that are common to a core and a GPU (Machine: see toeplitz_body.hpp). Internal to codelets/.

namespace tesela::kernels::toeplitz {

/// Returns the position in the sine basis of number i of the n sines (from 0).
TESELA_BOTH constexpr index_t sine_place(index_t n, index_t i) { return i / 2 + (i % 2) * cauchy_rows(n, 0); }

/// Computes (0, x, 0, ...), with n + 2 zeros after n numbers.
template <class T>
struct SineIn {
  const T* x;
  index_t n, ld;
  bool sorted;
  T* to;
  TESELA_BOTH void operator()(index_t i, index_t j) const {
    T value = 0;
    if (i > 0 && i <= n) value = x[(sorted ? sine_place(n, i - 1) : i - 1) + j * ld];
    to[i + j * sine_rows(n)] = value;
  }
};

template <class T>
struct SineOut {
  const T* from;
  T scale;
  index_t n;
  bool sort;
  T* y;
  index_t ld;
  TESELA_BOTH void operator()(index_t i, index_t j) const {
    y[(sort ? sine_place(n, i) : i) + j * ld] = scale * from[2 * (i + 1) + 1 + j * sine_rows(n)];
  }
};

/// Computes Y = S X, to the sine basis or back; Y may be X.
template <class Machine, class T>
void sine_transform(const Machine& machine, bool back, index_t n, index_t k, const T* x, index_t ld_x, T* y,
                    index_t ld_y, T* work) {
  const auto scale = static_cast<T>(-std::sqrt(2 / static_cast<double>(n + 1)));
  machine.each(sine_rows(n), k, SineIn<T>{x, n, ld_x, back, work});
  machine.real_to_complex(2 * (n + 1), k, work, sine_rows(n));
  machine.each(n, k, SineOut<T>{work, scale, n, !back, y, ld_y});
}

/// Works as SineIn, from the order of the sine basis; a half of a column that is not wanted counts as zeros.
template <class T>
struct PairIn {
  const T* x;
  index_t n, ld;
  const index_t* places;
  index_t ld_places;
  T* to;
  TESELA_BOTH void operator()(index_t i, index_t j) const {
    const bool inside = i > 0 && i <= n && places[j + (i - 1) % 2 * ld_places] >= 0;
    to[i + j * sine_rows(n)] = inside ? x[sine_place(n, i - 1) + j * ld] : T(0);
  }
};

/// Copies the symmetric and the skew part of each transform to their columns, if these are in [first, first + columns).
template <class T>
struct PairOut {
  const T* from;
  T scale;
  index_t n;
  const index_t* places;
  index_t ld_places, first, columns;
  T* y;
  index_t ld;
  TESELA_BOTH void operator()(index_t i, index_t j) const {
    const T *const sines = from + j * sine_rows(n) + 3, here = sines[2 * i], mirrored = sines[2 * (n - 1 - i)];
    for (int part = 0; part < 2; ++part) {
      const index_t column = places[j + part * ld_places] - first;
      if (column >= 0 && column < columns)
        y[i + column * ld] = scale * (part == 0 ? here + mirrored : here - mirrored) / 2;
    }
  }
};

/// Runs FromSineBasis with `room` columns of work.
template <class Machine, class T>
void pairs_from_sine_basis(const Machine& machine, In<T> x, In<index_t> places, index_t first,
                           std::span<const InOut<T>> v, T* work, index_t room) {
  const index_t n = x.rows;
  const auto scale = static_cast<T>(-std::sqrt(2 / static_cast<double>(n + 1)));
  // Powers of two at a time, because each number of transforms has a plan.
  for (index_t j = 0, k = 0; j < x.cols; j += k) {
    k = static_cast<index_t>(std::bit_floor(static_cast<std::size_t>(std::min(room, x.cols - j))));
    machine.each(sine_rows(n), k, PairIn<T>{x.data + j * x.ld, n, x.ld, places.data + j, places.ld, work});
    machine.real_to_complex(2 * (n + 1), k, work, sine_rows(n));
    index_t from = first;
    for (const InOut<T>& tile : v) {
      machine.each(n, k, PairOut<T>{work, scale, n, places.data + j, places.ld, from, tile.cols, tile.data, tile.ld});
      from += tile.cols;
    }
  }
}

}  // namespace tesela::kernels::toeplitz
