#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

// Vector operations of Toeplitz and Lanczos recursions, on each column of n x k tiles. rev(x) is x from its last
// element to its first. Sums have the same order in every run.

/// Computes result(j) = x(:, j) . y(:, j), k x 1 (BLAS dot), or x(:, j) . rev(y(:, j)).
template <class T>
struct Dot {
  static constexpr auto name = "dot";
  static constexpr std::uint32_t color = 0x64b5cd;
  struct Args {
    bool reverse = false;
  };
  static void cpu(const Args& args, In<T> x, In<T> y, Out<T> result);
  static void cuda(CudaContext& context, const Args& args, In<T> x, In<T> y, Out<T> result);
};

/// Computes result(j) = ||x(:, j)||_2, without overflow (BLAS nrm2).
template <class T>
struct Norm {
  static constexpr auto name = "norm";
  static constexpr std::uint32_t color = 0x64b5cd;
  struct Args {};
  static void cpu(const Args& args, In<T> x, Out<double> result);
  static void cuda(CudaContext& context, const Args& args, In<T> x, Out<double> result);
};

/// Computes y += alpha x (BLAS axpy), or alpha rev(x).
template <class T>
struct Axpy {
  static constexpr auto name = "axpy";
  static constexpr std::uint32_t color = 0x64b5cd;
  struct Args {
    T alpha = 1;
    bool reverse = false;
  };
  static void cpu(const Args& args, In<T> x, InOut<T> y);
  static void cuda(CudaContext& context, const Args& args, In<T> x, InOut<T> y);
};

/// Computes x = b (alpha rev(x) + x).
template <class T>
struct AxpxbReverse {
  static constexpr auto name = "axpxb_reverse";
  static constexpr std::uint32_t color = 0x64b5cd;
  struct Args {
    T alpha = 1, b = 1;
  };
  static void cpu(const Args& args, InOut<T> x);
  static void cuda(CudaContext& context, const Args& args, InOut<T> x);
};

/// Computes V -= P (P^T V): V, n x k, becomes orthogonal to the m orthonormal columns of P, n x m, for any m. work is m
/// x k. This is one step of classical Gram-Schmidt; two steps give orthogonality to rounding.
template <class T>
struct Reorthogonalize {
  static constexpr auto name = "reorthogonalize";
  static constexpr std::uint32_t color = 0x8172b3;
  struct Args {};
  static double flops(const Args&, Shape p, Shape v, Shape) {
    return 4 * static_cast<double>(p.rows) * static_cast<double>(p.cols) * static_cast<double>(v.cols);
  }
  static void cpu(const Args& args, In<T> p, InOut<T> v, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> p, InOut<T> v, Scratch<T> work);
};

}  // namespace tesela::kernels
