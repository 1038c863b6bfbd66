#pragma once

#include <tesela/codelets/mimo/search_alphabet.hpp>
#include <tesela/runtime/codelet.hpp>

#include <cmath>
#include <cstdint>

namespace tesela::kernels {

/// Method for the QR factorizations of R P for many permutations P.
enum class OrderingBuild : std::uint8_t {
  full,    ///< each by reflectors from the first column on
  prefix,  ///< in lexicographic order: the factorization of equal first columns is reused
};

/// Layout of QR factorizations of n x n matrices, in groups of eight: element e of the k-th is at (e 8 + k % 8, k / 8).
/// They have n^2 elements: R, and below its diagonal the reflectors v, whose factors are 2 / (1 + ||v||^2), or 0 if v
/// is zero. R must be of about unit size.
struct OrderedQrs {
  static constexpr index_t together = 8, most = 11;  ///< size of a group, and largest n
};

/// Factors R P for the permutations of numbers first … first + count - 1 in lexicographic order, from
/// 0 … n - 1 on. r: R, n x n, n <= 11.
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
    return all * (args.build == OrderingBuild::full ? 4 * n * n * n / 3 : 4 * n * n);  // two and a half columns
  }
  static void cpu(const Args& args, In<double> r, Out<double> packed);
  static void cuda(CudaContext& context, const Args& args, In<double> r, Out<double> packed);
};

/// Factors R P for given permutations, as `full`: the columns of orders below its first row.
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

/// Computes each signal's order of the columns by |H^T x|, ascending, from these products (n x K). A column of picks
/// ((1 + n) x K) becomes its number in lexicographic order and the order.
struct GradientOrder {
  static constexpr auto name = "gradient_order";
  static constexpr std::uint32_t color = 0xccb974;
  struct Args {
    auto cost_key() const { return 0; }
  };
  static void cpu(const Args& args, In<double> products, Out<int> picks);
  static void cuda(CudaContext& context, const Args& args, In<double> products, Out<int> picks);
};

/// Finds for each of some real signals x (n x K) the s with the least ||x - H s||, all with one H (n x n), as
/// SphereSearch, but from existing factorizations.
///
/// packed   factorizations Q R 2^-exponent P of H, for R0's columns.
/// picks    (1 + n) x K: a column has the position of the signal's factorization and its order.
/// base     n x (n + 1): H 2^-exponent = Q0 R0, packed as by LAPACK's geqrf, and its factors.
/// labels   n x K: the columns' points.
struct OrderedSearch {
  static constexpr auto name = "ordered_search";
  static constexpr std::uint32_t color = 0xdd8452;
  struct Args {
    int exponent = 0;
    bool zero = false;      ///< H is zero
    bool in_order = false;  ///< the k-th factorization belongs to the k-th signal, independent of picks
    double reach = 0;       ///< sum over columns of their norm times largest amplitude, scaled
    auto cost_key() const { return 0; }
  };
  static void cpu(const Args& args, In<double> h, In<double> base, In<double> packed, In<double> x, In<int> picks,
                  In<SearchColumn> columns, In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports);
  static void cuda(CudaContext& context, const Args& args, In<double> h, In<double> base, In<double> packed,
                   In<double> x, In<int> picks, In<SearchColumn> columns, In<SearchPoint> points, Out<int> labels,
                   Out<SearchReport> reports);
};

}  // namespace tesela::kernels
