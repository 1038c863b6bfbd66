#pragma once

#include <tesela/codelets/mimo/ordered_qr.hpp>
#include <tesela/codelets/mimo/search_alphabet.hpp>
#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// The order of each signal's columns by |H^T x|, ascending, from these products (n x K): picks ((1 + n) x K) become
/// its number in lexicographic order and the order.
struct GradientOrder {
  static constexpr auto name = "gradient_order";
  static constexpr std::uint32_t color = 0xccb974;
  struct Args {
    auto cost_key() const { return 0; }
  };
  static void cpu(const Args& args, In<double> products, Out<int> picks);
  static void cuda(CudaContext& context, const Args& args, In<double> products, Out<int> picks);
};

/// For each of some real signals x (n x K) the s of least ||x - H s||, all of one H (n x n), as SphereSearch, but with
/// factorizations that are there already: Q R 2^-exponent P of H in `packed`, of which a column of picks ((1 + n) x K)
/// says the place and the order. base (n x (n + 1)): H 2^-exponent = Q0 R0, packed as LAPACK's geqrf, and its factors;
/// `packed` is of R0's columns. labels: the columns' points' (n x K).
struct OrderedSearch {
  static constexpr auto name = "ordered_search";
  static constexpr std::uint32_t color = 0xdd8452;
  struct Args {
    OrderingBuild build = OrderingBuild::full;
    int exponent = 0;
    bool zero = false;      ///< H is
    bool in_order = false;  ///< the k-th factorization is the k-th signal's, whatever picks say
    double reach = 0;       ///< the sum over columns of their norm and largest amplitude, scaled
    auto cost_key() const { return static_cast<int>(build); }
  };
  static void cpu(const Args& args, In<double> h, In<double> base, In<double> packed, In<double> x, In<int> picks,
                  In<SearchColumn> columns, In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports);
  static void cuda(CudaContext& context, const Args& args, In<double> h, In<double> base, In<double> packed,
                   In<double> x, In<int> picks, In<SearchColumn> columns, In<SearchPoint> points, Out<int> labels,
                   Out<SearchReport> reports);
};

}  // namespace tesela::kernels
