#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

// Operations of conjugate gradients on a part of their vectors, n x 1.

/// Computes sum = a^T b.
struct GradientProduct {
  static constexpr auto name = "gradient_product";
  static constexpr std::uint32_t color = 0xdbdb8d;
  struct Args {};
  static double flops(const Args&, Shape a, Shape, Shape) { return 2 * static_cast<double>(a.rows); }
  static void cpu(const Args& args, In<double> a, In<double> b, Out<double> sum);
  static void cuda(CudaContext& context, const Args& args, In<double> a, In<double> b, Out<double> sum);
};

/// Computes x += step p, r -= step q, sum = r^T r.
struct GradientStep {
  static constexpr auto name = "gradient_step";
  static constexpr std::uint32_t color = 0x9edae5;
  struct Args {
    double step = 0;
  };
  static double flops(const Args&, Shape p, Shape, Shape, Shape, Shape) { return 6 * static_cast<double>(p.rows); }
  static void cpu(const Args& args, In<double> p, In<double> q, InOut<double> x, InOut<double> r, Out<double> sum);
  static void cuda(CudaContext& context, const Args& args, In<double> p, In<double> q, InOut<double> x, InOut<double> r,
                   Out<double> sum);
};

/// Computes p = r + turn p.
struct GradientDirection {
  static constexpr auto name = "gradient_turn";
  static constexpr std::uint32_t color = 0xc7c7c7;
  struct Args {
    double turn = 0;
  };
  static double flops(const Args&, Shape r, Shape) { return 2 * static_cast<double>(r.rows); }
  static void cpu(const Args& args, In<double> r, InOut<double> p);
  static void cuda(CudaContext& context, const Args& args, In<double> r, InOut<double> p);
};

}  // namespace tesela::kernels
