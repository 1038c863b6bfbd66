#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

// The eigenproblem of D + rho z z^T, D diagonal: d(0) < d(1) < …, rho > 0, no z(i) zero, ||z|| = 1 or a little less. A
// tile of `poles` is k x 2: d and z. Root j lies between d(j) and d(j + 1), the last one behind d(k - 1). `roots` has a
// row for each: the nearest pole, the root's distance from it, and the iterations it took. Differences of poles and
// roots come from these two numbers, each right to a few eps of itself: all that follows stands on that.

/// Roots args.first … of f(x) = 1 / rho + sum z(i)^2 / (d(i) - x), as many as `roots` (x 3) has rows: each by rational
/// interpolation with two poles (R.-C. Li, LAPACK Working Note 89), kept between its ends by halving.
template <class T>
struct SecularRoots {
  static constexpr auto name = "secular_roots";
  static constexpr std::uint32_t color = 0xdd8452;
  struct Args {
    T rho = 1;
    index_t first = 0;
  };
  static double flops(const Args&, Shape poles, Shape roots) {
    return 40 * static_cast<double>(poles.rows) * static_cast<double>(roots.rows);
  }
  static void cpu(const Args& args, In<T> poles, Out<T> roots);
};

/// weights(i) (x 1), i from args.first on: that z(i), but for one factor for all, for which the computed roots are the
/// exact ones (M. Gu, S. Eisenstat, SIAM J. Matrix Anal. Appl. 16, 1995). `roots` are all of them, tile by tile.
template <class T>
struct SecularWeights {
  static constexpr auto name = "secular_weights";
  static constexpr std::uint32_t color = 0xc9703c;
  struct Args {
    index_t first = 0;
  };
  static double flops(const Args&, std::span<const Shape> shapes) {
    return 4 * static_cast<double>(shapes[0].rows) * static_cast<double>(shapes[1].rows);
  }
  static void cpu(const Args& args, In<T> poles, Out<T> weights, std::span<const In<T>> roots);
};

/// The unit eigenvectors of roots args.first … of this tile, a column of `vectors` (k rows) each: weight / (pole -
/// root). Row r is that of pole order(r). `weights` are all, tile by tile.
template <class T>
struct SecularVectors {
  static constexpr auto name = "secular_vectors";
  static constexpr std::uint32_t color = 0xe0a080;
  struct Args {
    index_t first = 0;
  };
  static double flops(const Args&, std::span<const Shape> shapes) {
    return 5 * static_cast<double>(shapes[3].rows) * static_cast<double>(shapes[3].cols);
  }
  static void cpu(const Args& args, In<T> poles, In<index_t> order, In<T> roots, Out<T> vectors,
                  std::span<const In<T>> weights);
};

}  // namespace tesela::kernels
