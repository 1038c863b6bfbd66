#include "tools/bench/mimo/mimo_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tesela::bench {
namespace {

struct Rotation {
  double c = 1, s = 0;
};

/// Returns the rotation that makes [a; b] into [r; 0]; b is not 0 (Algorithm 4.8).
Rotation rotation(double a, double b) {
  if (std::abs(b) > std::abs(a)) {
    const double t = -a / b, s = 1 / std::sqrt(1 + t * t);
    return {t * s, s};
  }
  const double t = -b / a, c = 1 / std::sqrt(1 + t * t);
  return {c, t * c};
}

/// Returns the rotation as one number (Algorithm 4.10).
double number_of(const Rotation& g) {
  if (g.c == 0) return 0;
  return std::abs(g.s) < std::abs(g.c) ? std::copysign(g.s / 2, g.c * g.s) : std::copysign(2 / g.c, g.s * g.c);
}

template <int N>
void factor(double* a) {
  for (int j = 0; j < N; ++j)
    for (int i = N - 1; i > j; --i) {
      if (a[i + j * N] == 0) continue;
      const Rotation g = rotation(a[i - 1 + j * N], a[i + j * N]);
      for (int k = j; k < N; ++k) {
        const double up = a[i - 1 + k * N], low = a[i + k * N];
        a[i - 1 + k * N] = g.c * up - g.s * low, a[i + k * N] = g.s * up + g.c * low;
      }
      a[i + j * N] = number_of(g);
    }
}

template <int N>
void factor_all(const HostMatrix<double>& r, double* packed) {
  int order[N];
  std::iota(order, order + N, 0);
  do {
    for (int j = 0; j < N; ++j) std::copy_n(&r(0, order[j]), N, packed + j * N);
    factor<N>(packed);
    packed += N * N;
  } while (std::next_permutation(order, order + N));
}

}  // namespace

void rotation_table(const HostMatrix<double>& r, double* packed) {
  switch (r.rows()) {
    case 2: return factor_all<2>(r, packed);
    case 4: return factor_all<4>(r, packed);
    case 6: return factor_all<6>(r, packed);
    case 8: return factor_all<8>(r, packed);
    default: return factor_all<10>(r, packed);
  }
}

}  // namespace tesela::bench
