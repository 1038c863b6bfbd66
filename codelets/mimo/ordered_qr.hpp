#pragma once

#include <tesela/runtime/codelet.hpp>

#include <cmath>
#include <cstdint>

namespace tesela::kernels {

/// How the QR factorizations of R P for many permutations P are found.
enum class OrderingBuild : std::uint8_t {
  full,       ///< each by reflectors from the beginning
  neighbour,  ///< in an order in which the next one swaps two neighbours: one rotation, and Q is kept whole
  prefix,     ///< in lexicographic order: what equal first columns share is kept
};

/// QR factorizations of n x n matrices stand eight by eight, element e of the k-th at (e 8 + k % 8, k / 8). Of
/// neighbour they have 2 n^2 elements, R and then Q^T; of the others n^2: R, and below its diagonal the reflectors v,
/// whose factors are 2 / (1 + ||v||^2), or 0 where v is zero. R must be of about unit size.
struct OrderedQrs {
  static constexpr index_t together = 8, most = 11;
  static index_t numbers(index_t n, OrderingBuild build) { return (build == OrderingBuild::neighbour ? 2 : 1) * n * n; }
};

/// Those of R P for the permutations of numbers first … first + count - 1 in lexicographic order, 0 … n - 1 without its
/// first n - 2 places having one choice only: count is a multiple of (n - 2)!. r: R, n x n, n <= 11.
struct OrderedQr {
  static constexpr auto name = "ordered_qr";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args {
    index_t n = 0;
    OrderingBuild build = OrderingBuild::full;
    index_t first = 0, count = 0;
    auto cost_key() const { return n * 4 + static_cast<index_t>(build); }
  };
  static double flops(const Args& args, Shape, Shape) {
    const auto n = static_cast<double>(args.n), all = static_cast<double>(args.count);
    const double swap = 6 * (2 * n), last = 4 * n * n;  // one rotation; two and a half columns, in the mean
    return all * (args.build == OrderingBuild::full        ? 4 * n * n * n / 3
                  : args.build == OrderingBuild::neighbour ? swap
                                                           : last);
  }
  static void cpu(const Args& args, In<double> r, Out<double> packed);
  static void cuda(CudaContext& context, const Args& args, In<double> r, Out<double> packed);
};

/// Those of given permutations, as `full`: the columns of orders below its first row.
struct ListedQr {
  static constexpr auto name = "listed_qr";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args {
    auto cost_key() const { return 0; }
  };
  static double flops(const Args&, Shape r, Shape orders, Shape) {
    return 4 * std::pow(static_cast<double>(r.rows), 3) / 3 * static_cast<double>(orders.cols);
  }
  static void cpu(const Args& args, In<double> r, In<int> orders, Out<double> packed);
  static void cuda(CudaContext& context, const Args& args, In<double> r, In<int> orders, Out<double> packed);
};

}  // namespace tesela::kernels
