#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// Solves X = op(R)^-1 X (BLAS trsm) with R upper triangular, n x n; the strict lower triangle is not read. X has n
/// rows and takes part from `column` on. A zero on the diagonal gives infinities and NaN.
template <class T>
struct Trsm {
  static constexpr auto name = "trsm";
  static constexpr std::uint32_t color = 0xda8bc3;
  struct Args {
    Op op = Op::none;
    index_t column = 0;
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(op); }
  };
  static double flops(const Args& args, Shape r, Shape x) {
    return static_cast<double>(r.rows) * static_cast<double>(r.rows) * static_cast<double>(x.cols - args.column);
  }
  static void cpu(const Args& args, In<T> r, InOut<T> x);
  static void cuda(CudaContext& context, const Args& args, In<T> r, InOut<T> x);
};

}  // namespace tesela::kernels
