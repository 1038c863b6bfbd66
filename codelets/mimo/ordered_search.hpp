#pragma once

#include <tesela/codelets/mimo/ordered_qr.hpp>
#include <tesela/codelets/mimo/search_alphabet.hpp>
#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

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
    OrderingBuild build = OrderingBuild::full;
    int exponent = 0;
    bool zero = false;      ///< H is zero
    bool in_order = false;  ///< the k-th factorization belongs to the k-th signal, independent of picks
    double reach = 0;       ///< sum over columns of their norm times largest amplitude, scaled
    auto cost_key() const { return static_cast<int>(build); }
  };
  static void cpu(const Args& args, In<double> h, In<double> base, In<double> packed, In<double> x, In<int> picks,
                  In<SearchColumn> columns, In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports);
  static void cuda(CudaContext& context, const Args& args, In<double> h, In<double> base, In<double> packed,
                   In<double> x, In<int> picks, In<SearchColumn> columns, In<SearchPoint> points, Out<int> labels,
                   Out<SearchReport> reports);
};

}  // namespace tesela::kernels
