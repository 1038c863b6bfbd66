#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

// Eigenproblem of D + rho z z^T with a diagonal D: d(0) < d(1) < …, rho > 0, no z(i) zero, ||z|| = 1 or slightly less.
//
// A tile of `poles` is k x 2: d and z. Root j lies between d(j) and d(j + 1), the last one above d(k - 1). `roots` has
// one row per root: the nearest pole, the root's distance from it, and the number of iterations. Differences of poles
// and roots are computed from the first two, each with a relative error of a few eps; all later steps depend on this
// accuracy. `work` serves GPUs, for tiles one below the other: at least k x 2.

/// Computes roots args.first … of f(x) = 1 / rho + sum z(i)^2 / (d(i) - x), one per row of `roots` (x 3), by rational
/// interpolation with two poles (R.-C. Li, LAPACK Working Note 89), safeguarded by bisection.
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

/// Computes weights(i) (x 1), from i = args.first on: the z(i), up to a common factor, for which the computed roots are
/// exact (M. Gu, S. Eisenstat, SIAM J. Matrix Anal. Appl. 16, 1995). `roots` are all roots, tile by tile.
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

/// Computes the unit eigenvectors weight / (pole - root) of args.count roots of this tile from args.first on.
///
/// vectors  k rows, one column per root: at least args.count. Row r belongs to pole order(r).
/// weights  all weights, tile by tile.
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

/// Computes two products with the same vectors for all roots of this tile, without storing the vectors.
///
/// upper    1 x u; new_upper(j) becomes its product with the first u components of vector j.
/// lower    1 x l; new_lower(j) becomes its product with the last l components. u and l are args.upper and args.lower,
///          since no tile is empty.
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
