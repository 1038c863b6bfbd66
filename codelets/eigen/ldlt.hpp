#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

// A - sigma I = L D L^T without pivoting, by tiles, to count negative pivots. `mass` gathers for each row i the sum of
// l(i, k)^2 |d(k)|: the computed factors are those of A - sigma I + E with |E| <= n eps |L| |D| |L|^T, and no element
// of that product is larger than the largest mass (Higham, "Accuracy and stability of numerical algorithms", ch. 11).

/// B = the lower triangle of A - sigma I in a square tile of its diagonal, B = A in another one.
template <class T>
struct ShiftedCopy {
  static constexpr auto name = "shifted_copy";
  static constexpr std::uint32_t color = 0x8c8c8c;
  struct Args {
    T sigma = 0;  ///< 0 for a tile beside the diagonal
  };
  static void cpu(const Args& args, In<T> a, Out<T> b);
  static void cuda(CudaContext& context, const Args& args, In<T> a, Out<T> b);
};

/// S = A - sigma B, each element rounded once.
template <class T>
struct ShiftedPair {
  static constexpr auto name = "shifted_pair";
  static constexpr std::uint32_t color = 0x8c8c8c;
  struct Args {
    T sigma = 0;
  };
  static void cpu(const Args& args, In<T> a, In<T> b, Out<T> s);
  static void cuda(CudaContext& context, const Args& args, In<T> a, In<T> b, Out<T> s);
};

/// A = L D L^T of a diagonal tile: unit L below the diagonal, D on it; what stands above is not read, and lost.
/// `negative` (1 x 1) <- how many of D are below zero.
template <class T>
struct Ldlt {
  static constexpr auto name = "ldlt";
  static constexpr std::uint32_t color = 0xc44e52;
  struct Args {};
  static double flops(const Args&, Shape a, Shape, Shape) {
    const auto n = static_cast<double>(a.rows);
    return n * n * n / 3;
  }
  static void cpu(const Args& args, InOut<T> a, InOut<double> mass, Out<double> negative);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a, InOut<double> mass, Out<double> negative);
};

/// Below a factored diagonal tile: W = A L^-T, A = W D^-1.
template <class T>
struct LdltPanel {
  static constexpr auto name = "ldlt_panel";
  static constexpr std::uint32_t color = 0x55a868;
  struct Args {};
  static double flops(const Args&, Shape diagonal, Shape a, Shape, Shape) {
    const auto n = static_cast<double>(diagonal.rows);
    return n * n * static_cast<double>(a.rows);
  }
  static void cpu(const Args& args, In<T> diagonal, InOut<T> a, Out<T> w, InOut<double> mass);
  static void cuda(CudaContext& context, const Args& args, In<T> diagonal, InOut<T> a, Out<T> w, InOut<double> mass);
};

}  // namespace tesela::kernels
