#pragma once

#include "codelets/sine_transform.hpp"

#include <cmath>

// Sine transforms as steps that a core and a GPU take alike (Machine: see toeplitz_steps.hpp). Internal to codelets/.

namespace tesela::toeplitz {

/// Where number i of the n sines (from 0) stands in the sine basis.
TESELA_BOTH constexpr index_t sine_place(index_t n, index_t i) { return i / 2 + (i % 2) * cauchy_rows(n, 0); }

/// (0, x, 0, ...), n + 2 zeros behind n numbers.
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

/// Y = S X, to the sine basis or back; Y may be X.
template <class Machine, class T>
void sine_transform(const Machine& machine, bool back, index_t n, index_t k, const T* x, index_t ld_x, T* y,
                    index_t ld_y, T* work) {
  const auto scale = static_cast<T>(-std::sqrt(2 / static_cast<double>(n + 1)));
  machine.each(sine_rows(n), k, SineIn<T>{x, n, ld_x, back, work});
  machine.real_to_complex(2 * (n + 1), k, work, sine_rows(n));
  machine.each(n, k, SineOut<T>{work, scale, n, !back, y, ld_y});
}

}  // namespace tesela::toeplitz
