#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

// Divide and conquer for the singular values of a bidiagonal matrix, in double precision. A half with n rows
// has n or n + 1 columns: `extra` is 0 or 1. Both its matrices of vectors are square of order n + extra. The last right
// vector then spans the null space, and the last left vector the last unit vector, for the row between the halves.
//
// A merge is the singular value problem of the matrix with first row z and the rest of the diagonal d, d(0) = 0 < d(1)
// < …: its squares solve 1 + sum z(i)^2 / (d(i)^2 - x^2) = 0. The tiles are as for the eigenproblem's kernels
// (codelets/eigen/tridiagonal/secular.hpp), but distances are between squares: root^2 = pole^2 + distance.

/// Computes all values of a small bidiagonal matrix and its vectors by divide and conquer on a core (LAPACK lasd0).
///
/// b        n x 2: diagonal, and super-diagonal with n - 1 + extra entries.
/// values   n x 1, in any order.
/// left     (n + extra) x (n + extra), as above; column j belongs to value j.
/// right    the same.
/// info     1 + the row where it did not converge.
struct BidiagonalLeaf {
  static constexpr auto name = "bidiagonal_leaf";
  static constexpr std::uint32_t color = 0x8172b3;
  struct Args {
    index_t extra = 0;
  };
  static double flops(const Args&, Shape b, Shape, Shape, Shape, Shape) {
    const auto n = static_cast<double>(b.rows);
    return 12 * n * n * n;
  }
  static void cpu(const Args& args, In<double> b, Out<double> values, Out<double> left, Out<double> right,
                  InOut<int> info);
};

/// Computes all values of a bidiagonal matrix to nearly full relative accuracy by the dqds algorithm (LAPACK lasq1).
///
/// b        n x 2: diagonal, and super-diagonal with n - 1 entries.
/// values   n x 1, descending.
/// info     nonzero if a value did not converge.
struct BidiagonalValues {
  static constexpr auto name = "bidiagonal_values";
  static constexpr std::uint32_t color = 0x64b5cd;
  struct Args {};
  static double flops(const Args&, Shape b, Shape, Shape) {
    const auto n = static_cast<double>(b.rows);
    return 20 * n * n;
  }
  static void cpu(const Args& args, In<double> b, Out<double> values, InOut<int> info);
};

/// Computes roots args.first … as SecularRoots does, rho = 1.
struct SingularRoots {
  static constexpr auto name = "singular_roots";
  static constexpr std::uint32_t color = 0xdd8452;
  struct Args {
    index_t first = 0;  ///< number of the first value
  };
  static double flops(const Args&, Shape poles, Shape roots) {
    return 48 * static_cast<double>(poles.rows) * static_cast<double>(roots.rows);
  }
  static void cpu(const Args& args, In<double> poles, Out<double> roots);
  static void cuda(CudaContext& context, const Args& args, In<double> poles, Out<double> roots);
};

/// Computes the weights as SecularWeights does.
struct SingularWeights {
  static constexpr auto name = "singular_weights";
  static constexpr std::uint32_t color = 0xc9703c;
  struct Args {
    index_t first = 0;  ///< number of the first value
  };
  static double flops(const Args&, std::span<const Shape> shapes) {
    return 8 * static_cast<double>(shapes[0].rows) * static_cast<double>(shapes[1].rows);
  }
  static void cpu(const Args& args, In<double> poles, Out<double> weights, Scratch<double> work,
                  std::span<const In<double>> roots);
  static void cuda(CudaContext& context, const Args& args, In<double> poles, Out<double> weights, Scratch<double> work,
                   std::span<const In<double>> roots);
};

/// Computes the unit singular vectors of all roots of this tile, as SecularVectors does: right vectors weight / (pole^2
/// - root^2), left vectors pole times that, but -1 at the pole 0.
struct SingularVectorPairs {
  static constexpr auto name = "singular_vectors";
  static constexpr std::uint32_t color = 0xe0a080;
  struct Args {};
  static double flops(const Args&, std::span<const Shape> shapes) {
    return 12 * static_cast<double>(shapes[0].rows) * static_cast<double>(shapes[2].rows);
  }
  static void cpu(const Args& args, In<double> poles, In<index_t> order, In<double> roots, Out<double> right,
                  Out<double> left, Scratch<double> work, std::span<const In<double>> weights);
  static void cuda(CudaContext& context, const Args& args, In<double> poles, In<index_t> order, In<double> roots,
                   Out<double> right, Out<double> left, Scratch<double> work, std::span<const In<double>> weights);
};

}  // namespace tesela::kernels
