#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

// The eigenproblem of D + rho z z^T, D diagonal: d(0) < d(1) < …, rho > 0, no z(i) zero, ||z|| = 1 or a little less. A
// tile of `poles` is k x 2: d and z. Root j lies between d(j) and d(j + 1), the last one behind d(k - 1). `roots` has a
// row for each: the nearest pole, the root's distance from it, and the iterations it took. Differences of poles and
// roots come from these two numbers, each right to a few eps of itself: all that follows stands on that. `work` is a
// GPU's, for tiles that stand one below the other: k x 2 at least.

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
  static void cuda(CudaContext& context, const Args& args, In<T> poles, Out<T> roots);
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
  static void cpu(const Args& args, In<T> poles, Out<T> weights, Scratch<T> work, std::span<const In<T>> roots);
  static void cuda(CudaContext& context, const Args& args, In<T> poles, Out<T> weights, Scratch<T> work,
                   std::span<const In<T>> roots);
};

/// The unit eigenvectors of args.count roots of this tile from args.first on, a column of `vectors` (k rows, as many
/// columns at least) each: weight / (pole - root). Row r is that of pole order(r). `weights` are all, tile by tile.
template <class T>
struct SecularVectors {
  static constexpr auto name = "secular_vectors";
  static constexpr std::uint32_t color = 0xe0a080;
  struct Args {
    index_t first = 0, count = 0;
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(count); }
  };
  static double flops(const Args& args, std::span<const Shape> shapes) {
    return 6 * static_cast<double>(shapes[0].rows) * static_cast<double>(args.count);
  }
  static void cpu(const Args& args, In<T> poles, In<index_t> order, In<T> roots, Out<T> vectors, Scratch<T> work,
                  std::span<const In<T>> weights);
  static void cuda(CudaContext& context, const Args& args, In<T> poles, In<index_t> order, In<T> roots, Out<T> vectors,
                   Scratch<T> work, std::span<const In<T>> weights);
};

/// The same vectors for all roots of this tile, of which nothing is kept but two products: new_upper(j) = upper times
/// the first of column j's components, as many as `upper` (1 x u) has, and new_lower(j) = lower (1 x l) times its last
/// ones. u and l are args.upper and args.lower, since no tile
/// is empty.
template <class T>
struct SecularRows {
  static constexpr auto name = "secular_rows";
  static constexpr std::uint32_t color = 0xe0a080;
  struct Args {
    index_t upper = 0, lower = 0;
  };
  static double flops(const Args&, std::span<const Shape> shapes) {
    return 8 * static_cast<double>(shapes[0].rows) * static_cast<double>(shapes[2].rows);
  }
  static void cpu(const Args& args, In<T> poles, In<index_t> order, In<T> roots, In<T> upper, In<T> lower,
                  Out<T> new_upper, Out<T> new_lower, Scratch<T> work, std::span<const In<T>> weights);
  static void cuda(CudaContext& context, const Args& args, In<T> poles, In<index_t> order, In<T> roots, In<T> upper,
                   In<T> lower, Out<T> new_upper, Out<T> new_lower, Scratch<T> work, std::span<const In<T>> weights);
};

}  // namespace tesela::kernels
