#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

// Sturm counts of a symmetric tridiagonal matrix T with entries of size at most 1: the number of eigenvalues below x is
// the number of negative pivots of T - x I = L D L^T. A tile of T is n x 2: the diagonal, and in row i > 0 of column 1
// the square of e(i - 1) (sturm::prepare). Counts do not decrease as x grows, since IEEE arithmetic is monotonic (J.
// Demmel, I. Dhillon, H. Ren, ETNA 3, 1995). All workers get the same counts, because they compute the same differences
// and quotients.

/// Sets counts(k) to the number of eigenvalues below points(k), both k x 1.
template <class T>
struct SturmCount {
  static constexpr auto name = "sturm_count";
  static constexpr std::uint32_t color = 0x55a868;
  struct Args {};
  static double flops(const Args&, Shape t, Shape points, Shape) {
    return 3 * static_cast<double>(t.rows) * static_cast<double>(points.rows);
  }
  static void cpu(const Args& args, In<T> t, In<T> points, Out<index_t> counts);
  static void cuda(CudaContext& context, const Args& args, In<T> t, In<T> points, Out<index_t> counts);
};

/// Bisects intervals. Row k of `intervals` (k x 2) holds the ends of an interval with eigenvalue number wanted(k),
/// counted from 0. It is halved `halvings` times, with its middle rounded to a number each time.
template <class T>
struct SturmBisect {
  static constexpr auto name = "sturm_bisect";
  static constexpr std::uint32_t color = 0x4c9a5d;
  struct Args {
    int halvings = 0;
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(halvings); }
  };
  static double flops(const Args& args, Shape t, Shape wanted, Shape) {
    return 3.0 * args.halvings * static_cast<double>(t.rows) * static_cast<double>(wanted.rows);
  }
  static void cpu(const Args& args, In<T> t, In<index_t> wanted, InOut<T> intervals);
  static void cuda(CudaContext& context, const Args& args, In<T> t, In<index_t> wanted, InOut<T> intervals);
};

namespace sturm {

/// Fills a tile of T from its diagonal d (n) and off-diagonal e (n - 1).
template <class T>
void prepare(index_t n, const T* d, const T* e, T* diagonal, T* squares);

/// Sets counts[k] to the number of eigenvalues below x[k], k = 0 … points - 1.
template <class T>
void count(index_t n, const T* diagonal, const T* squares, index_t points, const T* x, index_t* counts);

}  // namespace sturm
}  // namespace tesela::kernels
