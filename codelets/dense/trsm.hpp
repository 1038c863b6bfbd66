#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// BLAS trsm: X = op(R)^-1 X with R upper triangular, n x n; what stands below its diagonal is not read. X is n x any,
/// and its columns from `column` on take part. A zero on the diagonal gives infinities and NaN.
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
