#pragma once

#include "tools/bench/harness/published_rotations.hpp"
#include <tesela/runtime/types.hpp>

#include <array>
#include <string_view>

namespace tesela::bench {

/// Seconds in the study on a GeForce 930MX, for matrices of `int`; 0 if not given.
inline double published_gemm_seconds(std::string_view kernel_and_tile, index_t n) {
  struct Published {
    std::string_view peer;
    index_t n;
    double seconds;
  };
  constexpr std::array table{
      Published{"naive 16", 8000, 42.6},   Published{"naive 16", 10000, 66.6},  Published{"naive 16", 12000, 113.9},
      Published{"naive 32", 8000, 31.2},   Published{"naive 32", 10000, 68.6},  Published{"naive 32", 12000, 113.0},
      Published{"shared 16", 8000, 13.8},  Published{"shared 16", 10000, 25.7}, Published{"shared 16", 12000, 44.4},
      Published{"shared 32", 8000, 11.6},  Published{"shared 32", 12000, 39.6}, Published{"coarse 32", 8000, 8.9},
      Published{"coarse 32", 10000, 17.4}, Published{"coarse 32", 12000, 30.2}};
  for (const Published& p : table)
    if (p.peer == kernel_and_tile && p.n == n) return p.seconds;
  return 0;
}

/// The same for the matrix sums: by element, by row, by column.
inline double published_sum_seconds(std::string_view pattern, index_t n) {
  constexpr std::array<index_t, 3> sizes{2000, 6000, 11000};
  constexpr std::array<std::array<double, 3>, 3> ms{{{21.3, 590.7, 2207}, {21.5, 591.2, 2221}, {3.7, 33.0, 111.6}}};
  for (std::size_t s = 0; s < sizes.size(); ++s)
    if (sizes[s] == n) return ms[pattern == "element" ? 0 : pattern == "row" ? 1 : 2][s] * 1e-3;
  return 0;
}

/// Seconds of QR by plane rotations in diagonal stages, on a Quadro FX 5800 in single precision; 0 if not given.
inline double published_stages_seconds(std::string_view precision, index_t m, index_t n) {
  constexpr std::array<index_t, 7> sizes{64, 256, 512, 1024, 2048, 4096, 8192};
  constexpr std::array<double, 7> seconds{0.543, 0.840, 1.48, 2.75, 5.95, 16.0, 44.5};
  for (std::size_t s = 0; s < sizes.size(); ++s)
    if (m == 8192 && sizes[s] == n && precision == "s") return seconds[s];
  return 0;
}

/// Seconds of R and Q by chains of rotations on a Tesla K20X, including transfers, and by MKL's geqrf and orgqr on 12
/// threads; all in single precision. `matrix` is as in "tridiagonal 5000".
inline double published_chain_seconds(std::string_view precision, std::string_view matrix, std::string_view peer) {
  if (precision != "s" || peer.find(',') != std::string_view::npos) return 0;
  const std::string_view device = peer.starts_with("chain")    ? "K20X"
                                  : peer.starts_with("lapack") ? "MKL on 12 threads"
                                                               : "none";
  const std::size_t blank = matrix.find(' ');
  index_t n = 0;
  if (blank != std::string_view::npos) std::from_chars(matrix.data() + blank + 1, matrix.data() + matrix.size(), n);
  return published_rotation_figure("givens-qr", matrix.substr(0, blank), n, precision, device, "seconds");
}

/// Seconds for all eigenvalues of a random symmetric Toeplitz matrix of order n with at most `per_interval` per
/// interval, in single precision, on a GPU. We know only these two of the study's 80 times (8 orders, 5 interval sizes,
/// a GPU and its host); 0 for all others.
inline double published_toeplitz_seconds(std::string_view precision, bool gpu, index_t n, index_t per_interval) {
  if (precision != "s" || !gpu || n != 2000) return 0;
  return per_interval == 2 ? 1409 : per_interval == 100 ? 50.6 : 0;
}

/// Speedup of cyclic reduction on a GeForce 9800 GTX+, single precision, including transfers, over Thomas's method on
/// its host; 0 if not given.
inline double published_tridiagonal_speedup(std::string_view variant, index_t n) {
  constexpr std::array<double, 5> plain{1.05, 1.12, 1.16, 1.18, 1.19}, shared{1.19, 1.24, 1.29, 1.32, 1.34},
      coalesced{1.25, 1.36, 1.43, 1.47, 1.49};
  for (std::size_t s = 0; s < plain.size(); ++s)
    if (n == index_t{524288} << s)
      return variant == "cr" ? plain[s] : variant == "shared" ? shared[s] : variant == "coalesced" ? coalesced[s] : 0;
  return 0;
}

}  // namespace tesela::bench
